//! What an index directory has besides segments: the manifest, the database, and the locks.

pub(super) mod database;
pub(super) mod lock;
pub(super) mod manifest;
pub(super) mod paths;

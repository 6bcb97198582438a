//! What keeps other runs out of an output directory, local or in an object store.

pub(crate) mod lock;
pub(crate) mod remote_lock;

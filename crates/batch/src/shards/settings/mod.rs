//! The settings of shards, their names, and what they need.

pub(crate) mod check;
pub(crate) mod memory;
pub(crate) mod names;
pub(crate) mod shard_settings;

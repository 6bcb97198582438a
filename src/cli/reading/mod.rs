//! What is read: inputs that are found, on disks or servers, and the flags about them.

pub mod addresses;
pub mod cache_flags;
pub mod found;
pub mod listing;
pub mod max_skipped;
pub mod on_servers;
pub mod reading_flags;
pub mod server_waits;

//! Temporary files for what memory does not hold: sorted runs, spooled bytes, arrays and records.

pub mod record_cursor;
pub mod record_file;
pub mod spill;
pub mod spool;
pub mod table;

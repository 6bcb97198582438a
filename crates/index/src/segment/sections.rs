//! The sections of a segment.

/// Records, end to end, in the order of their documents.
pub const RECORDS: usize = 0;
/// The end of each record, `u64`.
pub const ENDS: usize = 1;
/// Hashes of [names](crate::record::Name), ascending, `u64`; the next sections hold their documents
/// and a filter.
pub const NAMES: usize = 2;
/// Hashes of keys, ascending, `u64`; the next sections hold their documents and a filter.
pub const KEYS: usize = 5;
/// For each distinct fingerprint, in the order of the first table, the start of its documents in
/// the next section, then the end of the last, `u32`; empty if each has one document.
pub const GROUPS: usize = 6;
/// Documents of each distinct fingerprint, ascending, `u32`.
pub const MEMBERS: usize = 7;

/// The fingerprints of a table, ascending.
pub fn values(table: usize) -> usize {
    if table == 0 { 5 } else { 7 + 2 * table }
}

/// The start of each bucket of a table, then the end of the last, `u32`.
pub fn directory(table: usize) -> usize {
    8 + 2 * table
}

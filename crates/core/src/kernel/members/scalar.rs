//! Plain Rust.

use super::table::MemberTable;

pub(super) fn find(table: &MemberTable, hashes: &[u64]) -> u64 {
    let found = hashes.iter().map(|hash| table.contains(*hash));
    found
        .zip(0..)
        .fold(0, |all, (found, place)| all | u64::from(found) << place)
}

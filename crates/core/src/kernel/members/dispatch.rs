//! The kernels of a level.

use super::scalar;
use super::table::{BATCH, MemberTable};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::kernel::Level;

/// The kernel that looks hashes up; all levels give the same results.
#[derive(Clone, Copy, Debug)]
pub struct Members {
    find: fn(&MemberTable, &[u64]) -> u64,
}

impl Members {
    /// The kernel of `level`; the scalar one for NEON, or if this processor lacks `level`.
    pub fn new(level: Level) -> Members {
        Members {
            find: match level {
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 if level.is_available() => {
                    // SAFETY: the guard checked that this processor has AVX2.
                    |table, hashes| unsafe { avx2::find(table, hashes) }
                }
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 if level.is_available() => {
                    // SAFETY: the guard checked that this processor has AVX-512.
                    |table, hashes| unsafe { avx512::find(table, hashes) }
                }
                _ => scalar::find,
            },
        }
    }

    /// Which of `hashes` are in the set, as bits, the first one lowest; O(hashes).
    ///
    /// # Panics
    /// If there are more than [`BATCH`] hashes.
    #[inline]
    pub fn find(&self, table: &MemberTable, hashes: &[u64]) -> u64 {
        assert!(hashes.len() <= BATCH, "{} hashes", hashes.len());
        (self.find)(table, hashes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Hashes that collide in their low bits, and others.
    fn hash() -> impl Strategy<Value = u64> {
        prop_oneof![any::<u64>(), 0..9u64, (u64::MAX - 9)..]
    }

    proptest! {
        #[test]
        fn levels_are_the_standard_set(
            members in prop::collection::vec(hash(), 0..200),
            others in prop::collection::vec(hash(), 0..BATCH),
        ) {
            let set: BTreeSet<u64> = members.iter().copied().collect();
            let members: Vec<u64> = set.iter().copied().collect();
            let table = MemberTable::new(&members).expect("few share their low bits");
            let all: Vec<u64> = members.iter().chain(&others).copied().collect();
            for asked in all.chunks(BATCH).chain([&others[..], &[]]) {
                let expected = asked.iter().zip(0..).fold(0, |all, (hash, place)| {
                    all | u64::from(set.contains(hash)) << place
                });
                for level in Level::available() {
                    prop_assert_eq!(Members::new(level).find(&table, asked), expected);
                }
            }
        }
    }

    #[test]
    fn too_many_with_the_same_low_bits_have_no_table() {
        let alike = |count: u64| -> Vec<u64> { (0..count).map(|hash| hash << 40).collect() };
        assert!(MemberTable::new(&alike(8)).is_some());
        assert!(MemberTable::new(&alike(9)).is_none());
        assert!(MemberTable::new(&[]).is_some());
    }
}

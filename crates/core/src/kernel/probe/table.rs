//! The table, and the result of a lookup.

use std::ops::Range;

use crate::kernel::words::LONG;

/// The number of keys in a line.
pub const LINE_KEYS: usize = 8;
/// The maximum number of slots of a table: a slot fits 16 bits.
pub const MAX_SLOTS: usize = 1 << 16;

#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct ProbeLine(pub(super) [u64; LINE_KEYS]);

/// The number of positions of a line reserved for keys to be dropped: in a table with such keys,
/// and in one that drops only [`LONG`].
const DROPPED_PLACES: (usize, usize) = (2, 1);

/// A set of keys, some of which are recognised only to be dropped. The table does not grow.
#[derive(Clone, Debug)]
pub struct KeyTable {
    pub(super) lines: Vec<ProbeLine>,
    /// The number of positions, at the start of each line, for keys that are dropped.
    pub(super) dropped_places: usize,
    probe: Probe,
}

/// The result of [`KeyTable::probe`]: two lists in the order of the keys.
#[derive(Clone, Debug, Default)]
pub struct Probed {
    pub(super) slots: Vec<u16>,
    pub(super) missed: Vec<u64>,
    pub(super) slot_count: usize,
    pub(super) missed_count: usize,
}

/// Spare capacity after the lists, for stores of whole vectors.
pub(super) const SPARE: usize = 64;

pub(super) type Probe = fn(&KeyTable, &[u64], &mut Probed);

impl KeyTable {
    /// An empty table, as [`KeyTable::new`] makes it, with the kernel `probe`.
    pub(super) fn with_kernel(lines: usize, dropping: bool, probe: Probe) -> KeyTable {
        assert!(
            (1..=MAX_SLOTS / LINE_KEYS).contains(&lines),
            "{lines} lines"
        );
        let mut table = KeyTable {
            lines: vec![ProbeLine::default(); lines],
            dropped_places: if dropping {
                DROPPED_PLACES.0
            } else {
                DROPPED_PLACES.1
            },
            probe,
        };
        table.insert_dropped(LONG);
        table
    }

    /// Adds `key`, which must not be zero or in the table already. Returns its slot, or `None` if
    /// its line is full.
    pub fn insert(&mut self, key: u64) -> Option<u16> {
        self.insert_within(key, self.dropped_places..LINE_KEYS)
    }

    /// Adds `key`, which must not be zero or in the table already, as one that is in neither list
    /// of [`Probed`]. Returns `false` if its line is full.
    pub fn insert_dropped(&mut self, key: u64) -> bool {
        self.insert_within(key, 0..self.dropped_places).is_some()
    }

    fn insert_within(&mut self, key: u64, places: Range<usize>) -> Option<u16> {
        let line = line_of(key, self.lines.len());
        let place = places
            .into_iter()
            .find(|&place| self.lines[line].0[place] == 0)?;
        self.lines[line].0[place] = key;
        Some((line * LINE_KEYS + place) as u16)
    }

    /// The number of slots, used or not.
    pub fn slots(&self) -> usize {
        self.lines.len() * LINE_KEYS
    }

    /// Looks up all `keys`, which must not be zero, and replaces the contents of `found`.
    pub fn probe(&self, keys: &[u64], found: &mut Probed) {
        let capacity = keys.len() + SPARE;
        if found.slots.len() < capacity {
            found.slots.resize(capacity, 0);
            found.missed.resize(capacity, 0);
        }
        (self.probe)(self, keys, found);
    }
}

impl Probed {
    /// The slots of the keys that are in the table and not dropped.
    pub fn slots(&self) -> &[u16] {
        &self.slots[..self.slot_count]
    }

    /// The keys that are not in the table.
    pub fn missed(&self) -> &[u64] {
        &self.missed[..self.missed_count]
    }

    /// Removes the missed keys for which `take` returns `true`.
    pub fn take_missed(&mut self, mut take: impl FnMut(u64) -> bool) {
        let mut kept = 0;
        for place in 0..self.missed_count {
            let key = self.missed[place];
            if !take(key) {
                self.missed[kept] = key;
                kept += 1;
            }
        }
        self.missed_count = kept;
    }
}

/// The line of a key among `lines` lines, at most 2^32.
///
/// Multiplication by `MULTIPLIER` (Knuth, The Art of Computer Programming, vol. 3,
/// 6.4), then the range reduction of Lemire, "Fast Random Integer Generation in an Interval",
/// ACM TOMACS 29, 2019.
#[inline(always)]
pub fn line_of(key: u64, lines: usize) -> usize {
    let hash = key.wrapping_mul(MULTIPLIER) >> 32;
    ((hash * lines as u64) >> 32) as usize
}

/// 2^64 divided by the golden ratio.
pub(super) const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::kernel::Level;
    use proptest::prelude::*;

    proptest! {
        /// Promise (Reproducible answers): Every fast kernel gives the results …
        #[test]
        fn levels_agree_with_a_map(
            members in prop::collection::hash_map(1u64..500, any::<bool>(), 0..200),
            keys in prop::collection::vec(1u64..600, 0..100),
            lines in 1usize..40,
        ) {
            for level in Level::available() {
                let mut table = KeyTable::new(lines, true, level);
                // None: dropped.
                let mut inserted: HashMap<u64, Option<u16>> = HashMap::new();
                for (&key, &dropped) in &members {
                    match dropped {
                        true if table.insert_dropped(key) => drop(inserted.insert(key, None)),
                        true => {}
                        false => inserted.extend(table.insert(key).map(|slot| (key, Some(slot)))),
                    }
                }
                let mut found = Probed::default();
                table.probe(&[7; 150], &mut found);
                table.probe(&[LONG], &mut found);
                prop_assert!(found.slots().is_empty() && found.missed().is_empty());
                table.probe(&keys, &mut found);
                let known = keys.iter().filter_map(|key| inserted.get(key));
                let slots: Vec<u16> = known.copied().flatten().collect();
                let missed = keys.iter().filter(|key| !inserted.contains_key(key));
                prop_assert_eq!(found.slots(), &slots[..]);
                prop_assert_eq!(found.missed(), &missed.copied().collect::<Vec<_>>()[..]);
            }
        }
    }

    #[test]
    fn a_full_line_refuses() {
        let mut table = KeyTable::new(1, false, Level::Scalar);
        for key in 1..=7 {
            assert_eq!(table.insert(key), Some(key as u16));
        }
        assert_eq!(table.insert(8), None);
        assert!(!table.insert_dropped(10));
        let mut table = KeyTable::new(1, true, Level::Scalar);
        assert_eq!(
            (1..=7)
                .map(|key| table.insert(key))
                .filter(Option::is_some)
                .count(),
            6
        );
        assert_eq!(
            (8..=10)
                .map(|key| table.insert_dropped(key))
                .collect::<Vec<_>>(),
            [true, false, false]
        );
    }

    #[test]
    fn the_last_slot_fits_sixteen_bits() {
        let mut table = KeyTable::new(MAX_SLOTS / LINE_KEYS, false, Level::best());
        let slots: Vec<u16> = (1..=20_000).filter_map(|key| table.insert(key)).collect();
        let mut found = Probed::default();
        table.probe(&(1..=20_000).collect::<Vec<_>>(), &mut found);
        assert_eq!(found.slots(), slots);
        assert!(slots.iter().any(|&slot| slot > 65_000));
    }

    #[test]
    fn keys_of_the_last_lines_may_be_missing() {
        let lines = MAX_SLOTS / LINE_KEYS;
        let is_last = |key: &u64| line_of(*key, lines) >= lines - 4;
        let keys: Vec<u64> = (1..).filter(is_last).take(100).collect();
        for level in Level::available() {
            let table = KeyTable::new(lines, false, level);
            let mut found = Probed::default();
            table.probe(&keys, &mut found);
            assert_eq!((found.slots(), found.missed()), (&[][..], &keys[..]));
        }
    }
}

//! Which of these words are in the table, and where?
//!
//! The table is an array of 64-byte lines of eight keys. A key's hash names one line, and the key
//! is in that line or not in the table: one cache line and one comparison a word, no branch. A
//! word found is appended to one list as its *slot* (line × 8 + place in the line), a word not
//! found to another list as its key; counting either list is the business of the caller's loops.
//! (A counter incremented here would chain each probe to the store before it.)

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use super::Level;

/// Keys in a line.
pub const LINE_KEYS: usize = 8;
/// Most slots of a table: a slot fits 16 bits.
pub const MAX_SLOTS: usize = 1 << 16;

#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
struct Line([u64; LINE_KEYS]);

/// A fixed set of keys, some of which are only recognised to be dropped.
#[derive(Clone, Debug)]
pub struct KeyTable {
    lines: Vec<Line>,
    /// For each line, which of its places hold a key that is reported.
    reported: Vec<u8>,
    probe: Probe,
}

/// What [`KeyTable::probe`] found in a run of keys, both lists in the order of the keys.
#[derive(Clone, Debug, Default)]
pub struct Found {
    slots: Vec<u16>,
    missed: Vec<u64>,
    slot_count: usize,
    missed_count: usize,
}

type Probe = fn(&KeyTable, &[u64], &mut Found);

impl KeyTable {
    /// An empty table of `lines` lines, probed by the kernel of `level`, or by the scalar one
    /// where this processor lacks `level`.
    ///
    /// # Panics
    /// If `lines` is zero or gives more than [`MAX_SLOTS`] slots.
    pub fn new(lines: usize, level: Level) -> KeyTable {
        assert!(
            (1..=MAX_SLOTS / LINE_KEYS).contains(&lines),
            "{lines} lines"
        );
        KeyTable {
            lines: vec![Line::default(); lines],
            reported: vec![0; lines],
            probe: select(level),
        }
    }

    /// Adds `key`, which must not be zero nor be in the table; its slot, or `None` if its line is
    /// full. A key that is not `reported` will be in neither list of [`Found`].
    pub fn insert(&mut self, key: u64, reported: bool) -> Option<u16> {
        let line = line_of(key, self.lines.len());
        let place = self.lines[line].0.iter().position(|&taken| taken == 0)?;
        self.lines[line].0[place] = key;
        self.reported[line] |= u8::from(reported) << place;
        Some((line * LINE_KEYS + place) as u16)
    }

    /// The number of slots, used or not.
    pub fn slots(&self) -> usize {
        self.lines.len() * LINE_KEYS
    }

    /// Looks all `keys` up; what `found` held is replaced. Keys must not be zero.
    pub fn probe(&self, keys: &[u64], found: &mut Found) {
        if found.slots.len() < keys.len() {
            found.slots.resize(keys.len(), 0);
            found.missed.resize(keys.len(), 0);
        }
        (self.probe)(self, keys, found);
    }
}

impl Found {
    /// The slots of the keys that are in the table and reported.
    pub fn slots(&self) -> &[u16] {
        &self.slots[..self.slot_count]
    }

    /// The keys that are not in the table.
    pub fn missed(&self) -> &[u64] {
        &self.missed[..self.missed_count]
    }

    /// Moves the missed keys that `is_taken` out of the list and hands each to `take`.
    pub fn take_missed(&mut self, is_taken: impl Fn(u64) -> bool, mut take: impl FnMut(u64)) {
        let mut kept = 0;
        for place in 0..self.missed_count {
            let key = self.missed[place];
            if is_taken(key) {
                take(key);
            } else {
                self.missed[kept] = key;
                kept += 1;
            }
        }
        self.missed_count = kept;
    }
}

/// The line of a key among `lines`, of at most 2^32.
///
/// Multiplication by 2^64 / the golden ratio (Knuth, The Art of Computer Programming, vol. 3,
/// 6.4), then the range reduction of Lemire, "Fast Random Integer Generation in an Interval",
/// ACM TOMACS 29, 2019.
#[inline(always)]
fn line_of(key: u64, lines: usize) -> usize {
    let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    ((hash * lines as u64) >> 32) as usize
}

fn select(level: Level) -> Probe {
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the guard has just found the instructions on this processor.
        Level::Avx2 if level.is_available() => {
            |table, keys, found| unsafe { avx2::probe(table, keys, found) }
        }
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Level::Avx512 if level.is_available() => {
            |table, keys, found| unsafe { avx512::probe(table, keys, found) }
        }
        _ => scalar::probe,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn levels_agree_with_a_map(
            members in prop::collection::hash_map(1u64..500, any::<bool>(), 0..200),
            keys in prop::collection::vec(1u64..600, 0..100),
            lines in 1usize..40,
        ) {
            for level in Level::available() {
                let mut table = KeyTable::new(lines, level);
                let inserted: std::collections::HashMap<u64, Option<u16>> = members
                    .iter()
                    .filter_map(|(&key, &reported)| {
                        Some((key, table.insert(key, reported)?)).map(|(key, slot)| (key, reported.then_some(slot)))
                    })
                    .collect();
                let mut found = Found::default();
                table.probe(&[7; 150], &mut found);
                table.probe(&keys, &mut found);
                let slots: Vec<u16> =
                    keys.iter().filter_map(|key| inserted.get(key).copied().flatten()).collect();
                let missed: Vec<u64> =
                    keys.iter().copied().filter(|key| !inserted.contains_key(key)).collect();
                prop_assert_eq!(found.slots(), &slots[..]);
                prop_assert_eq!(found.missed(), &missed[..]);
            }
        }
    }

    #[test]
    fn a_full_line_refuses() {
        let mut table = KeyTable::new(1, Level::Scalar);
        for key in 1..=8 {
            assert_eq!(table.insert(key, true), Some(key as u16 - 1));
        }
        assert_eq!(table.insert(9, true), None);
    }

    #[test]
    fn the_last_slot_fits_sixteen_bits() {
        let mut table = KeyTable::new(MAX_SLOTS / LINE_KEYS, Level::best());
        let slots: Vec<u16> = (1..=20_000)
            .filter_map(|key| table.insert(key, true))
            .collect();
        let mut found = Found::default();
        table.probe(&(1..=20_000).collect::<Vec<_>>(), &mut found);
        assert_eq!(found.slots(), slots);
        assert!(slots.iter().any(|&slot| slot > 65_000));
    }
}

//! A table of what was seen at least twice, with false positives and without false negatives.

use std::sync::atomic::{AtomicU64, Ordering};

use simtool_core::kernel::hamming::prefetch;

/// How many keys ahead a word of the table is prefetched.
const AHEAD: usize = 16;

/// A table of keys that were inserted at least twice.
///
/// A word has 32 slots of two bits: the lower half says "inserted", the upper half "inserted again".
/// A key has two slots of one word, and counts as repeated if both were used again. The contents do
/// not depend on the order of the insertions. With 32 bits for each different key, about one in
/// sixty of those that were inserted once counts as repeated; with 16 bits, about one in twenty.
pub struct SeenTwice {
    words: Vec<AtomicU64>,
}

impl SeenTwice {
    /// An empty table of at most `bytes` bytes, and of at least 8.
    pub fn new(bytes: usize) -> SeenTwice {
        let words = (bytes / size_of::<u64>()).max(1);
        // The largest power of two that is not more.
        let words = (words / 2 + 1).next_power_of_two();
        SeenTwice {
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Inserts keys; several threads may do so at a time. O(1) time for each.
    pub fn insert_all<T>(&self, items: &[T], key: impl Fn(&T) -> [u64; 2]) {
        for (place, item) in items.iter().enumerate() {
            if let Some(next) = items.get(place + AHEAD) {
                prefetch(&self.words[self.place(key(next))..]);
            }
            self.insert(key(item));
        }
    }

    fn insert(&self, key: [u64; 2]) {
        let word = &self.words[self.place(key)];
        let slots = slots(key);
        if word.load(Ordering::Relaxed) >> 32 & slots == slots {
            return;
        }
        let again = word.fetch_or(slots, Ordering::Relaxed) & slots;
        if again != 0 {
            word.fetch_or(again << 32, Ordering::Relaxed);
        }
    }

    /// Whether a key may have been inserted twice; certainly if it was.
    pub fn is_repeated(&self, key: [u64; 2]) -> bool {
        let slots = slots(key);
        let word = self.words[self.place(key)].load(Ordering::Relaxed);
        word >> 32 & slots == slots
    }

    /// Requests the words of keys from memory, for [`is_repeated`](Self::is_repeated).
    pub fn prefetch(&self, key: [u64; 2]) {
        prefetch(&self.words[self.place(key)..]);
    }

    fn place(&self, [low, _]: [u64; 2]) -> usize {
        // The number of words is a power of two.
        low as usize & (self.words.len() - 1)
    }
}

/// The bits of the two slots of a key.
fn slots([_, high]: [u64; 2]) -> u64 {
    1 << (high >> 59) | 1 << (high >> 54 & 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;
    use xxhash_rust::xxh3::xxh3_128;

    fn key(number: u64) -> [u64; 2] {
        let hash = xxh3_128(&number.to_le_bytes());
        [hash as u64, (hash >> 64) as u64]
    }

    proptest! {
        #[test]
        fn what_was_inserted_twice_is_found_for_any_size(
            numbers in prop::collection::vec(0..60u64, 0..200), bytes in 0..400usize,
        ) {
            let table = SeenTwice::new(bytes);
            table.insert_all(&numbers, |number| key(*number));
            let mut counts: HashMap<u64, u32> = HashMap::new();
            numbers.iter().for_each(|number| *counts.entry(*number).or_default() += 1);
            for (number, count) in counts {
                prop_assert!(count < 2 || table.is_repeated(key(number)));
            }
            prop_assert!(!SeenTwice::new(bytes).is_repeated(key(1)));
        }
    }

    #[test]
    fn few_keys_count_as_repeated_by_accident() {
        let count = 20_000;
        for (bits, most) in [(32, count / 40), (16, count / 12)] {
            let table = SeenTwice::new(1 << 16);
            let numbers: Vec<u64> = (0..(8 << 16) / bits).collect();
            table.insert_all(&numbers, |number| key(*number));
            let wrong = numbers
                .iter()
                .filter(|number| table.is_repeated(key(**number)));
            let share = wrong.count() as u64 * count / numbers.len() as u64;
            assert!(share <= most, "{bits} bits: {share} of {count}");
        }
    }

    #[test]
    fn threads_miss_nothing() {
        let table = SeenTwice::new(1 << 10);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let numbers: Vec<u64> = (0..5000).collect();
                    table.insert_all(&numbers, |number| key(*number));
                });
            }
        });
        assert!((0..5000).all(|number| table.is_repeated(key(number))));
    }
}

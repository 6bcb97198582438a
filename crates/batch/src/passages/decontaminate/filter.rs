//! A filter before the table of n-grams, small enough for the cache.

use std::sync::atomic::{AtomicU64, Ordering};

use simtool_core::kernel::hamming::prefetch;

/// Bits for each key, before the size is rounded up to a power of two.
const KEY_BITS: usize = 16;

/// A set of hashes with false positives and without false negatives: a Bloom filter whose blocks are
/// words of 64 bits. A key has two bits in one word, so it costs at most one cache miss. About one in
/// fifty other keys is found as well.
pub struct Filter {
    words: Vec<AtomicU64>,
    /// How far a key is shifted to the number of its word.
    shift: u32,
}

impl Filter {
    /// An empty filter for `keys` keys.
    pub fn new(keys: usize) -> Filter {
        let words = Filter::words(keys);
        Filter {
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
            shift: 64 - words.trailing_zeros(),
        }
    }

    /// The bytes of a filter for `keys` keys.
    pub fn bytes(keys: usize) -> usize {
        Filter::words(keys) * size_of::<u64>()
    }

    fn words(keys: usize) -> usize {
        // At least two, so that the shift is less than 64.
        (keys.saturating_mul(KEY_BITS) / 64 + 2).next_power_of_two()
    }

    /// Adds a key; several threads may do so at a time.
    pub fn insert(&self, key: u64) {
        self.words[self.place(key)].fetch_or(bits(key), Ordering::Relaxed);
    }

    /// Whether a key may be in the set; certainly if it is.
    #[inline(always)]
    pub fn contains(&self, key: u64) -> bool {
        let bits = bits(key);
        self.words[self.place(key)].load(Ordering::Relaxed) & bits == bits
    }

    /// Requests the word of a key from memory, for [`contains`](Self::contains).
    #[inline(always)]
    pub fn prefetch(&self, key: u64) {
        prefetch(&self.words[self.place(key)..]);
    }

    #[inline(always)]
    fn place(&self, key: u64) -> usize {
        (key >> self.shift) as usize
    }
}

/// The two bits of a key, which are not those of its word.
#[inline(always)]
fn bits(key: u64) -> u64 {
    1 << (key & 63) | 1 << (key >> 6 & 63)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    #[test]
    fn what_was_inserted_is_found_and_little_else() {
        for keys in [0usize, 1, 7, 1000, 50_000] {
            let filter = Filter::new(keys);
            let key = |number: usize| xxh3_64(&number.to_le_bytes());
            (0..keys).for_each(|number| filter.insert(key(number)));
            assert!((0..keys).all(|number| filter.contains(key(number))));
            let others = (keys..keys + 10_000).filter(|number| filter.contains(key(*number)));
            assert!(others.count() < 500, "{keys} keys");
            assert_eq!(Filter::bytes(keys), 8 * filter.words.len());
        }
    }
}

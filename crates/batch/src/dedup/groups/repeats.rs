//! Which digests occur twice, with some others.

/// Bits of each table for each digest, if the memory suffices.
const BITS: u64 = 8;

/// Two tables of a bit for each hash: which ones were inserted, and which ones again. Digests that were
/// inserted once have a hash that was inserted twice with a probability of one in nine, if the tables
/// are of full size.
pub struct Repeats {
    once: Vec<u64>,
    twice: Vec<u64>,
    mask: u64,
}

impl Repeats {
    /// For `digests` digests, in at most about `memory_bytes`.
    pub fn new(digests: u64, memory_bytes: usize) -> Repeats {
        // Two tables, of a power of two.
        let most = (4 * memory_bytes as u64).max(64);
        let wanted = (BITS * digests).max(64).next_power_of_two();
        let bits = wanted.min(1 << most.ilog2());
        let words = vec![0; (bits / 64) as usize];
        Repeats {
            once: words.clone(),
            twice: words,
            mask: bits - 1,
        }
    }

    /// Inserts a digest, whose lowest bits are its hash.
    pub fn insert(&mut self, digest: u64) {
        let (word, bit) = self.place(digest);
        self.twice[word] |= self.once[word] & bit;
        self.once[word] |= bit;
    }

    /// Whether the digest was inserted twice, or another one like it.
    pub fn may_have(&self, digest: u64) -> bool {
        let (word, bit) = self.place(digest);
        self.twice[word] & bit != 0
    }

    fn place(&self, digest: u64) -> (usize, u64) {
        let hash = digest & self.mask;
        ((hash / 64) as usize, 1 << (hash % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    #[test]
    fn repeated_digests_are_found_and_few_others() {
        let digest = |number: u64| xxh3_64(&number.to_le_bytes());
        for (memory_bytes, most) in [(1 << 20, 140), (256, 1000), (0, 1000)] {
            let mut repeats = Repeats::new(1100, memory_bytes);
            assert!(size_of_val(&repeats.once[..]) * 2 <= memory_bytes.max(16));
            let all = (0..1000).chain(900..1000);
            all.for_each(|number| repeats.insert(digest(number)));
            assert!((900..1000).all(|number| repeats.may_have(digest(number))));
            let others = (0..900).filter(|number| repeats.may_have(digest(*number)));
            assert!(others.count() <= most);
        }
    }
}

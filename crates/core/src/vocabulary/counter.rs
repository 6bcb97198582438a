//! Exact counts of the words of a lexicon, and upper bounds for all others.

use super::{Lexicon, Lookup, Term};

/// The counts of one thread. Takes 4 bytes for each slot of the lexicon and for each bucket, and 8
/// more from 2^32 words on.
#[derive(Clone, Debug)]
pub struct Counter {
    slots: Tally,
    buckets: Tally,
    bucket_bits: u32,
}

/// For each bucket the number of occurrences of words outside the lexicon that hash to it.
#[derive(Clone, Debug)]
pub struct Buckets(Vec<u64>);

/// 32-bit counts, which need half the cache, added to 64-bit totals before they can overflow.
#[derive(Clone, Debug)]
struct Tally {
    counts: Vec<u32>,
    carried: Option<Vec<u64>>,
    additions: u32,
}

impl Counter {
    /// A counter with all counts zero; words outside the lexicon are hashed to 2^`bucket_bits`
    /// buckets.
    pub fn new(lexicon: &Lexicon, bucket_bits: u32) -> Counter {
        Counter {
            slots: Tally::new(lexicon.slot_bound()),
            buckets: Tally::new(1 << bucket_bits),
            bucket_bits,
        }
    }

    /// Adds the words of one window.
    pub fn add(&mut self, lookup: &Lookup) {
        for slots in lookup.slots() {
            self.slots.add(slots.iter().map(|&slot| usize::from(slot)));
        }
        let bits = self.bucket_bits;
        let keys = lookup.missed_keys().iter();
        self.buckets.add(keys.map(|&key| bucket_of_key(key, bits)));
        let terms = lookup.missed_terms().iter();
        self.buckets.add(terms.map(|&term| bucket_of(term, bits)));
    }

    /// The count of each slot, and the buckets, over all counters. They must have the same lexicon
    /// and the same number of buckets.
    pub fn merge(counters: Vec<Counter>) -> (Vec<u64>, Buckets) {
        let (slots, buckets) = counters
            .into_iter()
            .map(|one| (one.slots, one.buckets))
            .unzip();
        (Tally::merge(slots), Buckets(Tally::merge(buckets)))
    }
}

impl Buckets {
    #[cfg(test)]
    pub(super) fn from_bounds(bounds: Vec<u64>) -> Buckets {
        Buckets(bounds)
    }

    /// For each bucket an upper bound on the count of every word in it.
    pub fn bounds(&self) -> &[u64] {
        &self.0
    }
}

impl Tally {
    fn new(len: usize) -> Tally {
        Tally {
            counts: vec![0; len],
            carried: None,
            additions: 0,
        }
    }

    #[inline]
    fn add(&mut self, indices: impl ExactSizeIterator<Item = usize>) {
        let additions = indices.len() as u32;
        if self.additions.checked_add(additions).is_none() {
            self.carry();
        }
        self.additions += additions;
        for index in indices {
            self.counts[index] += 1;
        }
    }

    #[cold]
    fn carry(&mut self) {
        let carried = self
            .carried
            .get_or_insert_with(|| vec![0; self.counts.len()]);
        for (total, count) in carried.iter_mut().zip(&mut self.counts) {
            *total += u64::from(std::mem::take(count));
        }
        self.additions = 0;
    }

    fn merge(tallies: Vec<Tally>) -> Vec<u64> {
        let len = tallies
            .iter()
            .map(|tally| tally.counts.len())
            .max()
            .unwrap_or(0);
        let mut totals = vec![0; len];
        for tally in tallies {
            for (total, count) in totals.iter_mut().zip(tally.counts) {
                *total += u64::from(count);
            }
            for (total, carried) in totals.iter_mut().zip(tally.carried.unwrap_or_default()) {
                *total += carried;
            }
        }
        totals
    }
}

/// The bucket of a word with a key, among 2^`bits`.
#[inline]
pub fn bucket_of_key(key: u64, bits: u32) -> usize {
    (key.wrapping_mul(0xd134_2543_de82_ef95) >> (64 - bits)) as usize
}

/// The bucket of any word.
#[inline]
pub(super) fn bucket_of(term: Term, bits: u32) -> usize {
    match term.key() {
        Some(key) => bucket_of_key(key, bits),
        None => (term.mixed() >> (64 - bits)) as usize,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_carried_before_they_overflow() {
        let mut tally = Tally::new(3);
        tally.add([0, 2, 2].into_iter());
        tally.additions = u32::MAX - 1;
        tally.add([2, 1].into_iter());
        assert_eq!((tally.additions, tally.counts.clone()), (2, vec![0, 1, 1]));
        let mut other = Tally::new(3);
        other.add([1].into_iter());
        assert_eq!(Tally::merge(vec![tally, other]), [1, 2, 3]);
    }
}

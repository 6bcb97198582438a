//! Exact counts for the words of a lexicon, upper bounds for all others.

use super::{Lexicon, Lookup, Term};

/// One thread's counts: 12 bytes for each slot of the lexicon and for each bucket.
#[derive(Clone, Debug)]
pub struct Counter {
    slots: Tally,
    buckets: Tally,
    bucket_bits: u32,
}

/// For each bucket the number of words outside the lexicon that fell into it.
#[derive(Clone, Debug)]
pub struct Buckets(Vec<u64>);

/// 32-bit counts, so that half as much cache holds them, carried into 64 bits before they can
/// overflow.
#[derive(Clone, Debug)]
struct Tally {
    counts: Vec<u32>,
    totals: Vec<u64>,
    additions: u32,
}

impl Counter {
    /// All counts zero; words outside the lexicon are thrown into 2^`bucket_bits` buckets.
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

    /// Adds another thread's counts; it must be of the same lexicon and as many buckets.
    pub fn merge(&mut self, other: Counter) {
        self.slots.merge(other.slots);
        self.buckets.merge(other.buckets);
    }

    /// The count of each slot, and the buckets.
    pub fn finish(mut self) -> (Vec<u64>, Buckets) {
        self.slots.carry();
        self.buckets.carry();
        (self.slots.totals, Buckets(self.buckets.totals))
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
            totals: vec![0; len],
            additions: 0,
        }
    }

    #[inline]
    fn add(&mut self, places: impl ExactSizeIterator<Item = usize>) {
        let additions = places.len() as u32;
        if self.additions.checked_add(additions).is_none() {
            self.carry();
        }
        self.additions += additions;
        for place in places {
            self.counts[place] += 1;
        }
    }

    fn carry(&mut self) {
        for (total, count) in self.totals.iter_mut().zip(&mut self.counts) {
            *total += u64::from(std::mem::take(count));
        }
        self.additions = 0;
    }

    fn merge(&mut self, mut other: Tally) {
        other.carry();
        for (total, count) in self.totals.iter_mut().zip(other.totals) {
            *total += count;
        }
    }
}

/// The bucket of a word with a key, among 2^`bits`.
#[inline]
pub(super) fn bucket_of_key(key: u64, bits: u32) -> usize {
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

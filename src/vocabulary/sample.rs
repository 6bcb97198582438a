//! Counting a sample, to guess which words will be frequent.

use std::cmp::Reverse;

use ahash::AHashMap;

use super::Term;
use crate::kernel::words::LONG;
use crate::text::Window;

/// Counts of all words of a sample. Nothing but speed depends on them.
#[derive(Debug, Default)]
pub struct SampleCounter {
    keys: AHashMap<u64, u32>,
    terms: AHashMap<Term, u32>,
}

impl SampleCounter {
    /// Adds the words of one window.
    pub fn add(&mut self, window: Window<'_>) {
        for &key in window.keys().iter().filter(|&&key| key != LONG) {
            *self.keys.entry(key).or_default() += 1;
        }
        for ordinal in window.long_words() {
            let term = Term::from_letters(window.long_word(ordinal));
            *self.terms.entry(term).or_default() += 1;
        }
    }

    /// Adds another thread's counts.
    pub fn merge(&mut self, other: SampleCounter) {
        for (key, count) in other.keys {
            *self.keys.entry(key).or_default() += count;
        }
        for (term, count) in other.terms {
            *self.terms.entry(term).or_default() += count;
        }
    }

    /// The `limit` most frequent of the words seen, the most frequent first.
    pub fn most_frequent(self, limit: usize) -> Vec<Term> {
        let short = self
            .keys
            .into_iter()
            .map(|(key, count)| (count, Term::from_key(key)));
        let long = self.terms.into_iter().map(|(term, count)| (count, term));
        let mut words: Vec<(u32, Term)> = short.chain(long).collect();
        let order = |&(count, term): &(u32, Term)| (Reverse(count), term);
        if words.len() > limit {
            words.select_nth_unstable_by_key(limit, order);
            words.truncate(limit);
        }
        words.sort_unstable_by_key(order);
        words.into_iter().map(|(_, term)| term).collect()
    }
}

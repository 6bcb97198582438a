//! Word counts of a sample, to predict frequent words.

use std::cmp::Reverse;

use ahash::AHashMap;

use super::Term;
use crate::kernel::words::LONG;
use crate::text::Window;

/// Counts of all words of a sample. They affect only speed, not results.
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

    /// The number of words counted, including repetitions.
    pub fn total(&self) -> u64 {
        let counts = self.keys.values().chain(self.terms.values());
        counts.map(|&count| u64::from(count)).sum()
    }

    /// The `limit` most frequent words and their counts, in descending order of count.
    pub fn most_frequent(self, limit: usize) -> Vec<(Term, u32)> {
        let short = self
            .keys
            .into_iter()
            .map(|(key, count)| (Term::from_key(key), count));
        let long = self.terms;
        let mut words: Vec<(Term, u32)> = short.chain(long).collect();
        let order = |&(term, count): &(Term, u32)| (Reverse(count), term);
        if words.len() > limit {
            words.select_nth_unstable_by_key(limit, order);
            words.truncate(limit);
        }
        words.sort_unstable_by_key(order);
        words
    }
}

//! Exact counts of suspects, in bounded memory.

use ahash::AHashMap;

use super::{Suspects, Term};

/// The exact counts of the suspects of one thread, up to a maximum number of words.
#[derive(Debug)]
pub struct ExactCounter<'a> {
    suspects: &'a Suspects,
    counts: AHashMap<Term, u64>,
    max_words: usize,
}

impl<'a> ExactCounter<'a> {
    /// Memory in bytes of a counter per word of its maximum: a map of 33-byte entries, less than
    /// half full in the worst case, the map from which it grew, and merging.
    pub const WORD_BYTES: usize = 140;

    /// A counter of at most `max_words` different words.
    pub fn new(suspects: &'a Suspects, max_words: usize) -> Self {
        ExactCounter {
            suspects,
            counts: AHashMap::new(),
            max_words,
        }
    }

    /// Adds words that the lexicon missed. Returns `false` if there are more distinct suspects than
    /// the maximum; the counts are dropped then.
    #[must_use]
    pub fn add(&mut self, keys: &[u64], terms: &[Term]) -> bool {
        for &key in keys {
            if self.suspects.contains_key(key) {
                *self.counts.entry(Term::from_key(key)).or_default() += 1;
            }
        }
        for &term in terms {
            if self.suspects.contains(term) {
                *self.counts.entry(term).or_default() += 1;
            }
        }
        if self.counts.len() <= self.max_words {
            return true;
        }
        self.counts = AHashMap::new();
        self.max_words = 0;
        false
    }

    /// The sum of the counts. No counter may have exceeded its maximum.
    pub fn merge(counters: Vec<ExactCounter<'a>>) -> AHashMap<Term, u64> {
        let mut merged = AHashMap::new();
        for counter in counters {
            if merged.is_empty() {
                merged = counter.counts;
                continue;
            }
            for (term, count) in counter.counts {
                *merged.entry(term).or_default() += count;
            }
        }
        merged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(counter: &mut ExactCounter<'_>, words: &[&str]) -> bool {
        words.iter().all(|word| {
            let term = Term::from_letters(word.as_bytes());
            match term.key() {
                Some(key) => counter.add(&[key], &[]),
                None => counter.add(&[], &[term]),
            }
        })
    }

    #[test]
    fn counters_add_up() {
        let long = "x".repeat(30);
        let suspects = Suspects::all();
        let mut counters = [(), ()].map(|()| ExactCounter::new(&suspects, 3));
        assert!(add(&mut counters[0], &["a", "b", "a", &long]));
        assert!(add(&mut counters[1], &["a", &long]));
        let merged = ExactCounter::merge(counters.into());
        for (word, count) in [("a", 3), ("b", 1), (&long, 2)] {
            assert_eq!(merged[&Term::from_letters(word.as_bytes())], count);
        }
    }

    #[test]
    fn one_word_too_many_is_told_and_takes_no_memory() {
        let suspects = Suspects::all();
        let mut counter = ExactCounter::new(&suspects, 2);
        assert!(add(&mut counter, &["a", "b", "a"]));
        assert!(!add(&mut counter, &["c"]));
        assert!(!add(&mut counter, &["a"]));
        assert_eq!(counter.counts.len(), 0);
    }
}

//! Exact counts for suspects, in bounded memory.

use std::sync::atomic::{AtomicU64, Ordering};

use ahash::AHashMap;

use super::{Suspects, Term};

/// The part of all words, by [`Term::mixed`], that one reading counts.
///
/// Threads of a reading share it: one that has no room left narrows it for all, and what lies
/// beyond is left to the next reading.
#[derive(Debug)]
pub struct KeyRange {
    first: u64,
    last: AtomicU64,
}

impl KeyRange {
    /// Every word.
    pub fn all() -> KeyRange {
        KeyRange {
            first: 0,
            last: AtomicU64::new(u64::MAX),
        }
    }

    /// The range of the next reading; `None` when all words are counted.
    ///
    /// To be called when the readers of this range have finished.
    pub fn next(&self) -> Option<KeyRange> {
        let first = self.last().checked_add(1)?;
        Some(KeyRange {
            first,
            last: AtomicU64::new(u64::MAX),
        })
    }

    fn last(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }

    fn contains(&self, term: Term) -> bool {
        (self.first..=self.last()).contains(&term.mixed())
    }

    /// Halves the range, unless it is a single value.
    fn narrow(&self) {
        let last = self.last();
        self.last
            .fetch_min(self.first + (last - self.first) / 2, Ordering::Relaxed);
    }
}

/// One thread's exact counts of the suspects within a range.
#[derive(Debug)]
pub struct ExactCounter<'a> {
    suspects: &'a Suspects,
    range: &'a KeyRange,
    counts: AHashMap<Term, u64>,
    most_words: usize,
}

impl<'a> ExactCounter<'a> {
    /// Bytes that a counter takes for each word it has room for: a map of 33-byte entries, at
    /// worst less than half full, beside the map it grew from, and its share of merging.
    pub const WORD_BYTES: usize = 140;

    /// A counter of at most `most_words` different words, but for a range of one value.
    pub fn new(suspects: &'a Suspects, range: &'a KeyRange, most_words: usize) -> Self {
        ExactCounter {
            suspects,
            range,
            counts: AHashMap::new(),
            most_words,
        }
    }

    /// Adds words that the lexicon missed.
    pub fn add(&mut self, keys: &[u64], terms: &[Term]) {
        for &key in keys {
            if self.suspects.contains_key(key) {
                self.add_suspect(Term::from_key(key));
            }
        }
        for &term in terms {
            if self.suspects.contains(term) {
                self.add_suspect(term);
            }
        }
    }

    fn add_suspect(&mut self, term: Term) {
        if !self.range.contains(term) {
            return;
        }
        *self.counts.entry(term).or_default() += 1;
        if self.counts.len() > self.most_words {
            self.range.narrow();
            self.drop_outside();
        }
    }

    fn drop_outside(&mut self) {
        let range = self.range;
        self.counts.retain(|&term, _| range.contains(term));
    }

    /// The counts of all words within the range as it is when every reader has finished.
    pub fn merge(counters: Vec<ExactCounter<'a>>) -> AHashMap<Term, u64> {
        let mut merged = AHashMap::new();
        for mut counter in counters {
            counter.drop_outside();
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

    /// Counts with little room, in as many readings as it takes.
    fn count(words: &[Vec<u8>], most_words: usize) -> (AHashMap<Term, u64>, usize) {
        let suspects = Suspects::all();
        let mut total = AHashMap::new();
        let (mut range, mut readings) = (Some(KeyRange::all()), 0);
        while let Some(current) = range {
            let halves = words.chunks(words.len().div_ceil(2).max(1)).map(|half| {
                let mut counter = ExactCounter::new(&suspects, &current, most_words);
                for word in half {
                    let term = Term::from_letters(word);
                    match term.key() {
                        Some(key) => counter.add(&[key], &[]),
                        None => counter.add(&[], &[term]),
                    }
                }
                counter
            });
            let counted = ExactCounter::merge(halves.collect());
            assert!(counted.len() <= most_words.saturating_mul(2));
            for (term, count) in counted {
                assert!(
                    total.insert(term, count).is_none(),
                    "counted in two readings"
                );
            }
            readings += 1;
            range = current.next();
        }
        (total, readings)
    }

    #[test]
    fn any_room_gives_the_same_counts() {
        let words: Vec<Vec<u8>> = (0..3000u32)
            .map(|number| {
                let number = number * number % 1999;
                let digits = number.to_string();
                let letters = digits.bytes().map(|digit| digit - b'0' + b'a');
                letters.cycle().take(1 + number as usize % 40).collect()
            })
            .collect();
        let (plenty, readings) = count(&words, usize::MAX);
        assert_eq!(readings, 1);
        assert_eq!(plenty.values().sum::<u64>(), 3000);
        for most_words in [1, 10, 500] {
            let (scarce, readings) = count(&words, most_words);
            assert_eq!(scarce, plenty);
            assert!(readings > 1);
        }
    }
}

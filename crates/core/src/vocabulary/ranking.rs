//! The N most frequent words, with a proof that no other word belongs among them.

use std::cmp::Ordering;

use super::Term;
use super::counter::{Buckets, bucket_of, bucket_of_key};

/// A word and its exact count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankedWord<'a> {
    /// The word.
    pub term: Term,
    /// The number of occurrences.
    pub count: u64,
    /// The letters of the word in any case; needed only for a [hashed](Term::is_hashed) word.
    pub letters: Option<&'a [u8]>,
}

/// The best `limit` of the words offered so far, by descending count, then by ascending letters.
#[derive(Clone, Debug)]
pub struct Ranking<'a> {
    limit: usize,
    words: Vec<RankedWord<'a>>,
}

impl Ord for RankedWord<'_> {
    /// Better words are smaller.
    fn cmp(&self, other: &Self) -> Ordering {
        other.count.cmp(&self.count).then_with(|| {
            if !self.term.is_hashed() && !other.term.is_hashed() {
                return self.term.cmp(&other.term);
            }
            let (own, others) = (self.term.letters(), other.term.letters());
            let own = own.as_deref().or(self.letters).unwrap_or_default();
            let others = others.as_deref().or(other.letters).unwrap_or_default();
            let folded = others.iter().map(u8::to_ascii_lowercase);
            own.iter().map(u8::to_ascii_lowercase).cmp(folded)
        })
    }
}

impl PartialOrd for RankedWord<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<'a> Ranking<'a> {
    /// An empty ranking that keeps at most `limit` words.
    pub fn new(limit: usize) -> Ranking<'a> {
        Ranking {
            limit,
            words: Vec::new(),
        }
    }

    /// Offers words, each at most once over all calls. O((words + limit) · log limit) time,
    /// O(limit) memory.
    pub fn offer(&mut self, words: impl IntoIterator<Item = RankedWord<'a>>) {
        for word in words {
            self.words.push(word);
            if self.words.len() >= 2 * self.limit + 1000 {
                self.keep_best();
            }
        }
        self.keep_best();
    }

    fn keep_best(&mut self) {
        if self.words.len() > self.limit {
            self.words.select_nth_unstable(self.limit);
            self.words.truncate(self.limit);
        }
        self.words.sort_unstable();
    }

    /// The minimum count with which another word could enter: at least one.
    pub fn threshold(&self) -> u64 {
        match self.words.get(self.limit.wrapping_sub(1)) {
            Some(last) => last.count,
            None => 1,
        }
    }

    /// The last word, which a better one would replace: its count and its first [`Term::LETTERS`]
    /// letters. `None` while the ranking is not full.
    pub fn last(&self) -> Option<(u64, Term)> {
        let last = self.words.get(self.limit.wrapping_sub(1))?;
        let prefix = match last.letters {
            Some(letters) if last.term.is_hashed() => {
                Term::from_letters(&letters[..letters.len().min(Term::LETTERS)])
            }
            _ => last.term,
        };
        Some((last.count, prefix))
    }

    /// The words, best first.
    pub fn words(&self) -> &[RankedWord<'a>] {
        &self.words
    }

    /// The buckets that may contain a word that belongs in the ranking. If there are none, the
    /// ranking is proven.
    pub fn suspects(&self, buckets: &Buckets) -> Suspects {
        let threshold = self.threshold();
        let mut suspects = Suspects {
            bits: vec![0; buckets.bounds().len().div_ceil(64)],
            bucket_bits: buckets.bounds().len().ilog2(),
            threshold,
            occurrences: 0,
        };
        for (bucket, bound) in buckets
            .bounds()
            .iter()
            .enumerate()
            .filter(|&(_, &bound)| bound >= threshold)
        {
            suspects.bits[bucket / 64] |= 1 << (bucket % 64);
            suspects.occurrences += bound;
        }
        suspects
    }
}

/// The set of buckets whose bound is at least the threshold.
#[derive(Clone, Debug)]
pub struct Suspects {
    bits: Vec<u64>,
    bucket_bits: u32,
    threshold: u64,
    occurrences: u64,
}

impl Suspects {
    /// Every bucket.
    #[cfg(test)]
    pub(super) fn all() -> Suspects {
        Suspects {
            bits: vec![!0; 4],
            bucket_bits: 8,
            threshold: 1,
            occurrences: 0,
        }
    }

    /// Whether the ranking is proven.
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|&bits| bits == 0)
    }

    /// The number of buckets.
    pub fn len(&self) -> usize {
        self.bits
            .iter()
            .map(|bits| bits.count_ones() as usize)
            .sum()
    }

    /// The minimum count with which a suspect enters the ranking.
    pub fn threshold(&self) -> u64 {
        self.threshold
    }

    /// The number of occurrences of suspect words in the text.
    pub fn occurrences(&self) -> u64 {
        self.occurrences
    }

    /// Whether a word with a key is suspect.
    #[inline]
    pub fn contains_key(&self, key: u64) -> bool {
        self.contains_bucket(bucket_of_key(key, self.bucket_bits))
    }

    /// Whether a word is suspect.
    #[inline]
    pub fn contains(&self, term: Term) -> bool {
        self.contains_bucket(bucket_of(term, self.bucket_bits))
    }

    #[inline]
    fn contains_bucket(&self, bucket: usize) -> bool {
        self.bits[bucket / 64] >> (bucket % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(letters: &str, count: u64) -> RankedWord<'_> {
        let letters = letters.as_bytes();
        RankedWord {
            term: Term::from_letters(letters),
            count,
            letters: Some(letters),
        }
    }

    #[test]
    fn count_down_then_alphabetical() {
        const LONG: &str = "AaronAndAbelAndAbigailAndAbraham";
        let mut ranking = Ranking::new(3);
        assert_eq!(ranking.threshold(), 1);
        ranking.offer([ranked("b", 2), ranked("c", 9)]);
        assert_eq!(ranking.threshold(), 1);
        ranking.offer([ranked("ab", 2), ranked(LONG, 2), ranked("a", 2)]);
        let words: Vec<_> = ranking.words().iter().map(|word| word.letters).collect();
        assert_eq!(words, [Some(&b"c"[..]), Some(b"a"), Some(LONG.as_bytes())]);
        assert_eq!(ranking.threshold(), 2);
        let prefix = Term::from_letters(&LONG.as_bytes()[..Term::LETTERS]);
        assert_eq!(ranking.last(), Some((2, prefix)));
    }

    #[test]
    fn a_tie_is_suspect() {
        let mut ranking = Ranking::new(1);
        ranking.offer([ranked("b", 2)]);
        let mut bounds = vec![0; 128];
        bounds[77] = 1;
        assert!(
            ranking
                .suspects(&Buckets::from_bounds(bounds.clone()))
                .is_empty()
        );
        bounds[78] = 2;
        let suspects = ranking.suspects(&Buckets::from_bounds(bounds));
        assert_eq!((suspects.len(), suspects.threshold()), (1, 2));
        assert_eq!(suspects.occurrences(), 2);
        assert!(suspects.contains_bucket(78) && !suspects.contains_bucket(77));
    }
}

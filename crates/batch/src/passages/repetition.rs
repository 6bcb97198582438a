//! The share of things that occur again, in a sample and in all of which it is a part.

use std::collections::HashMap;

/// The most keys that are held, in 16 bytes each, and 32 more while they are counted.
const MOST_KEYS: usize = 1 << 20;

/// Keys of things, with the documents and chunks in which they were found.
#[derive(Default)]
pub(super) struct Repetition {
    keys: Vec<Sampled>,
    /// The number of all things.
    all: u64,
    chunks: u32,
    documents: u32,
}

#[derive(Clone, Copy)]
struct Sampled {
    key: u64,
    document: u32,
    chunk: u32,
}

/// Shares of things and of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Repeated {
    /// The share of the things that occur at least twice.
    pub things: f64,
    /// The share of the things that occurred earlier.
    pub copies: f64,
    /// The share of the documents that have a thing that occurs at least twice.
    pub documents: f64,
    /// The share of the documents that have a thing that occurred earlier.
    pub with_copies: f64,
}

impl Repetition {
    /// Adds a chunk of `documents` documents with its things, each with the number of its document.
    pub fn add(&mut self, documents: u32, things: impl Iterator<Item = (u64, u32)>) {
        let first = self.documents;
        let chunk = self.chunks;
        for (key, number) in things {
            self.all += 1;
            if self.keys.len() < MOST_KEYS {
                self.keys.push(Sampled {
                    key,
                    document: first + number,
                    chunk,
                });
            }
        }
        self.documents += documents;
        self.chunks += 1;
    }

    /// The number of things.
    pub fn count(&self) -> u64 {
        self.all
    }

    /// The shares in something that is `factor` times as large as the sample.
    ///
    /// The share grows with the size. How fast it grows is seen in the sample: each half of its
    /// chunks alone has fewer repeated things than both together. If each thing had at most one copy,
    /// the share would double with the size; if all copies were in the same documents, it would not
    /// grow.
    pub fn extrapolated(&self, factor: f64) -> Repeated {
        let factor = factor * self.all as f64 / self.keys.len().max(1) as f64;
        let whole = self.shares(|_| true);
        let halves = [0, 1].map(|half| self.shares(|sampled| sampled.chunk % 2 == half));
        let extrapolate = |of: fn(&Repeated) -> f64| {
            let half = halves.iter().map(of).sum::<f64>() / 2.0;
            extrapolated(half, of(&whole), factor)
        };
        Repeated {
            things: extrapolate(|repeated| repeated.things),
            copies: extrapolate(|repeated| repeated.copies),
            documents: extrapolate(|repeated| repeated.documents),
            with_copies: extrapolate(|repeated| repeated.with_copies),
        }
    }

    /// The shares in a part of the sample.
    fn shares(&self, is_in: impl Fn(&Sampled) -> bool) -> Repeated {
        let mut counts: HashMap<u64, u32, ahash::RandomState> = HashMap::default();
        let part = || self.keys.iter().filter(|sampled| is_in(sampled));
        part().for_each(|sampled| *counts.entry(sampled.key).or_default() += 1);
        let [mut all, mut repeated, mut copies] = [Counted::default(); 3];
        for sampled in part() {
            all.add(sampled);
            match counts.insert(sampled.key, SEEN) {
                Some(SEEN) => {
                    repeated.add(sampled);
                    copies.add(sampled);
                }
                Some(2..) => repeated.add(sampled),
                _ => {}
            }
        }
        let share = |some: u64, all: u64| some as f64 / all.max(1) as f64;
        Repeated {
            things: share(repeated.things, all.things),
            copies: share(copies.things, all.things),
            documents: share(repeated.documents, all.documents),
            with_copies: share(copies.documents, all.documents),
        }
    }
}

/// Instead of the count of a thing: it occurred earlier.
const SEEN: u32 = u32::MAX;

/// Things, and documents with one of them.
#[derive(Clone, Copy, Default)]
struct Counted {
    things: u64,
    documents: u64,
    last: Option<u32>,
}

impl Counted {
    /// Adds a thing. Those of a document come one after another.
    fn add(&mut self, sampled: &Sampled) {
        self.things += 1;
        let document = Some(sampled.document);
        self.documents += u64::from(self.last != document);
        self.last = document;
    }
}

/// The share in a whole of `factor` times the sample, which has the share `whole`; half of the sample
/// has the share `half`.
fn extrapolated(half: f64, whole: f64, factor: f64) -> f64 {
    let growth = match half > 0.0 {
        true => (whole / half).log2().clamp(0.0, 1.0),
        false => 1.0,
    };
    let found = whole * factor.max(1.0).powf(growth);
    // Most of what a sample does not repeat is not repeated at all.
    found.min(whole + (1.0 - whole) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_grow_as_the_sample_shows() {
        assert_eq!(extrapolated(0.1, 0.1, 100.0), 0.1);
        assert!((extrapolated(0.01, 0.02, 10.0) - 0.2).abs() < 1e-9);
        assert_eq!(extrapolated(0.0, 0.001, 10.0), 0.01);
        assert_eq!(extrapolated(0.0, 0.0, 10.0), 0.0);
        assert_eq!(extrapolated(0.4, 0.8, 1000.0), 0.9);
    }

    /// A sample of documents with two things each. In a tenth of the documents, the first one is
    /// that of an earlier document, anywhere in the whole.
    #[test]
    fn copies_are_estimated_from_a_sample() {
        let documents = 100_000u64;
        let thing = |document: u64| match document % 10 {
            0 => document.wrapping_mul(0x9e37_79b9_7f4a_7c15) % documents.max(1),
            _ => document,
        };
        let mut repetition = Repetition::default();
        for chunk in 0..100 {
            let first = chunk * documents / 100;
            let things = (0..200u32).flat_map(|number| {
                let document = first + u64::from(number);
                [(thing(document), number), (u64::MAX - document, number)]
            });
            repetition.add(200, things);
        }
        assert_eq!(repetition.count(), 40_000);
        let found = repetition.extrapolated(5.0);
        // About a tenth of the documents have a copy, and nearly as many are copied.
        assert!((0.08..0.3).contains(&found.documents), "{found:?}");
        assert!((0.04..0.15).contains(&found.things), "{found:?}");
        assert!((0.04..0.15).contains(&found.with_copies), "{found:?}");
        assert!((0.02..0.075).contains(&found.copies), "{found:?}");
    }

    #[test]
    fn copies_are_what_occurred_earlier() {
        let mut repetition = Repetition::default();
        repetition.add(2, [(1, 0), (2, 0), (1, 1)].into_iter());
        repetition.add(2, [(1, 0), (3, 1)].into_iter());
        let found = repetition.extrapolated(1.0);
        let expected = Repeated {
            things: 0.6,
            copies: 0.4,
            documents: 0.75,
            with_copies: 0.5,
        };
        assert_eq!(found, expected);
    }
}

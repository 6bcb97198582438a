//! SpotSigs: multisets of function words and the content words that follow them.
//!
//! Each antecedent word starts a spot. Its chain is found by steps of the antecedent's distance,
//! skipping stop words and antecedents. The sketch is the multiset of spots by ascending hash: a
//! 64-bit hash and a 32-bit count each, little-endian. Source: Theobald, Siddharth and Paepcke,
//! "SpotSigs: Robust and Efficient Near Duplicate Detection in Large Web Collections", SIGIR 2008.
//!
//! Documents A, B are near if Σmin ≥ θ Σmax over the counts of their spots. They share a key: let x
//! be their first shared spot by hash. All shared spots are at or after x, so A has at least Σmin ≥
//! θ Σmax ≥ θ |A| spots from x on. A document emits every spot from which on it has that many, so
//! both emit x. And |A| ≥ Σmin ≥ θ |B|, so the totals of near documents are in the same partition
//! or in adjacent ones. Each document uses its own partition and the next.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::sketch::features::vectors::{Feature, SimilarityRule, VectorMeasure, Vectors};
use crate::sketch::method::entry::{Entry, Statistics};
use crate::sketch::method::parameter::{Domain, Parameter};
use crate::sketch::method::{Compare, Method, Needs, Score, SketchScratch, TokenizedDocument};
use crate::text::WordSet;
use crate::text::shingles::little_endian;

/// The registry entry of SpotSigs.
pub const ENTRY: Entry = Entry {
    name: "spot-signatures",
    summary: "SpotSigs: multisets of what follows function words, by weighted Jaccard",
    description: "\
A spot is a function word with the content words that follow it. Spots are common in sentences, \
and rare in menus, lists and advertisements, so that articles are recognised within different page \
frames. Documents are near if the weighted Jaccard similarity of their spots is large enough. No \
pair is missed.
Designed for English: the antecedents are forms of to be, to have and to do, articles, that, and \
modal verbs. These and the stop words are skipped between content words. Documents with few spots, \
such as those in other languages, are not compared.
Costs 12 bytes per spot. Theobald, Siddharth and Paepcke, SpotSigs: Robust and Efficient Near \
Duplicate Detection in Large Web Collections, SIGIR 2008.",
    measured: "3.1 times the time of simhash per document; 10^4 and 10^5 documents are joined in \
               0.16 and 3.1 s; words are skipped one by one; the join grows faster than the \
               collection, as rare spots become less rare",
    parameters: &[
        Parameter {
            name: "similarity",
            meaning: "least weighted Jaccard similarity",
            default: "0.44",
            domain: Domain::Share,
        },
        Parameter {
            name: "chain",
            meaning: "words of content in a spot",
            default: "1",
            domain: Domain::Integer(1, 10),
        },
        Parameter {
            name: "least-spots",
            meaning: "documents with fewer spots are not compared",
            default: "4",
            domain: Domain::Integer(1, 1000),
        },
    ],
    statistics: |_| Statistics::Nothing,
    build: |values, setting| {
        let stop_words = setting.stop_words(true);
        let mut parameters = values.list();
        parameters.push(("skipped", stop_words.to_string()));
        Ok(Box::new(SpotSignatures {
            antecedents: WordSet::new(ANTECEDENTS.map(|word| xxh3_64(word.as_bytes()))),
            stop_words,
            chain: values.integer("chain") as usize,
            min_spots: values.integer("least-spots"),
            least: values.share("similarity"),
            parameters,
        }))
    },
};

/// Words that start a spot.
const ANTECEDENTS: [&str; 27] = [
    "is", "that", "the", "a", "an", "be", "been", "are", "was", "were", "will", "would", "could",
    "can", "should", "shall", "may", "might", "must", "do", "does", "did", "have", "has", "had",
    "this", "these",
];

/// The antecedent with distance 2; all others have distance 1.
const FARTHER: &str = "is";

/// The SpotSigs method.
#[derive(Clone, Debug)]
struct SpotSignatures {
    antecedents: WordSet,
    stop_words: WordSet,
    chain: usize,
    min_spots: u64,
    /// Numerator and denominator.
    least: (u64, u64),
    /// The parameters as configured.
    parameters: Vec<(&'static str, String)>,
}

/// A spot and its count.
type Entries<'a> = &'a [[u8; 12]];

fn entries(sketch: &[u8]) -> Entries<'_> {
    let (entries, rest) = sketch.as_chunks();
    assert!(rest.is_empty(), "{} bytes of spots", sketch.len());
    entries
}

fn entry(bytes: &[u8; 12]) -> (u64, u64) {
    let number = |bytes: &[u8]| {
        let low_first = bytes.iter().rev();
        low_first.fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    (number(&bytes[..8]), number(&bytes[8..]))
}

fn total(entries: Entries<'_>) -> u64 {
    entries.iter().map(|bytes| entry(bytes).1).sum()
}

impl SpotSignatures {
    /// Lists in `next`, for each position and the end, the first position from there on with a
    /// content word, or the number of words.
    fn content(&self, words: &[u64], next: &mut Vec<u64>) {
        next.clear();
        next.resize(words.len() + 1, words.len() as u64);
        for (place, &word) in words.iter().enumerate().rev() {
            let passed = self.stop_words.contains(word) | self.antecedents.contains(word);
            next[place] = if passed {
                next[place + 1]
            } else {
                place as u64
            };
        }
    }

    /// Replaces `spots` by the hash of each spot.
    fn spots(&self, words: &[u64], scratch: &mut SketchScratch) {
        let SketchScratch {
            names: next,
            kept: parts,
            short: spots,
            ..
        } = scratch;
        self.content(words, next);
        let farther = xxh3_64(FARTHER.as_bytes());
        spots.clear();
        for (place, &word) in words.iter().enumerate() {
            if !self.antecedents.contains(word) {
                continue;
            }
            let distance = if word == farther { 2 } else { 1 };
            parts.clear();
            parts.push(word);
            let mut at = place;
            while parts.len() <= self.chain && at + distance < words.len() {
                at = next[at + distance] as usize;
                parts.extend(words.get(at));
            }
            if parts.len() > self.chain {
                spots.push(xxh3_64(&little_endian(parts)));
            }
        }
    }

    /// The partition of documents with `total` spots. Partition i starts at b(i); b(i+1) is at
    /// least twice b(i), and so large that θ b(i+1) > b(i). So near documents are at most one
    /// partition apart.
    fn partition(&self, total: u64) -> u64 {
        let (n, d) = self.least;
        let mut next = 1_u128;
        let mut partition = 0;
        loop {
            next = (next * 2).max(next * u128::from(d) / u128::from(n) + 1);
            if u128::from(total) < next {
                return partition;
            }
            partition += 1;
        }
    }
}

impl Compare for SpotSignatures {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        self.parameters.clone()
    }

    fn is_sketch(&self, bytes: &[u8]) -> bool {
        bytes.as_chunks::<12>().1.is_empty()
    }

    /// The first spots by hash, in two partitions.
    fn keys(&self, sketch: &[u8], emit: &mut dyn FnMut(u64)) {
        let entries = entries(sketch);
        let total = total(entries);
        let (n, d) = self.least;
        let needed = u128::from(total) * u128::from(n);
        let partition = self.partition(total);
        let mut from_here = total;
        for (spot, count) in entries.iter().map(entry) {
            if u128::from(from_here) * u128::from(d) < needed {
                break;
            }
            for partition in [partition, partition + 1] {
                emit(xxh3_64_with_seed(&spot.to_le_bytes(), partition));
            }
            from_here -= count;
        }
    }

    /// The sum of the smaller counts divided by that of the larger ones.
    fn score(&self, a: &[u8], b: &[u8]) -> Score {
        let (a, b) = (entries(a), entries(b));
        let (mut i, mut j, mut smaller) = (0, 0, 0);
        while i < a.len() && j < b.len() {
            let ((spot_a, count_a), (spot_b, count_b)) = (entry(&a[i]), entry(&b[j]));
            if spot_a == spot_b {
                smaller += count_a.min(count_b);
            }
            i += usize::from(spot_a <= spot_b);
            j += usize::from(spot_b <= spot_a);
        }
        Score::Fraction(smaller, total(a) + total(b) - smaller)
    }

    fn accepts(&self, score: &Score) -> bool {
        score.reaches(self.least)
    }

    fn vectors(&self) -> Option<Vectors<'_>> {
        let rule = SimilarityRule {
            measure: VectorMeasure::Jaccard,
            least: self.least,
            parts: 1,
        };
        Some(Vectors::new(rule, |sketch, emit| {
            for (name, weight) in entries(sketch).iter().map(entry) {
                emit(Feature {
                    part: 0,
                    name,
                    weight,
                });
            }
        }))
    }
}

impl Method for SpotSignatures {
    fn needs(&self) -> Needs {
        Needs::HASHES
    }

    fn sketch(
        &self,
        document: TokenizedDocument<'_>,
        scratch: &mut SketchScratch,
        out: &mut Vec<u8>,
    ) -> bool {
        self.spots(document.short, scratch);
        let spots = &mut scratch.short;
        if (spots.len() as u64) < self.min_spots {
            return false;
        }
        spots.sort_unstable();
        for run in spots.chunk_by(u64::eq) {
            let count = u32::try_from(run.len()).unwrap_or(u32::MAX);
            out.extend_from_slice(&run[0].to_le_bytes());
            out.extend_from_slice(&count.to_le_bytes());
        }
        true
    }
}

#[cfg(test)]
mod tests;

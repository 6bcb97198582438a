//! How many documents of the sample lower thresholds would remove.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::sample::LowerSample;
use crate::dedup::decision::Decision;
use crate::table::bits::Bits;

/// What a lower threshold would remove of the sample.
#[derive(Clone, Debug, PartialEq)]
pub struct LowerThreshold {
    /// The threshold, in thousandths.
    pub thousandths: u32,
    /// How many kept documents of the sample it would remove, at most.
    pub removed: u64,
    /// The pairs that it accepts and the next higher threshold does not: one for each document.
    pub pairs: Vec<Decision>,
}

/// How many documents of a sample lower thresholds would remove, for the summary.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LowerCounts {
    /// The number of documents in the sample; 0 if lower thresholds are not looked at.
    sampled: u64,
    /// The number of documents from which it was taken: those of the input that differ in their words.
    of: u64,
    /// The thresholds, the highest first.
    thresholds: Vec<LowerCount>,
}

/// A threshold, and how many kept documents of the sample it would remove, at most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct LowerCount {
    similarity: f64,
    dropped: u64,
}

impl LowerCounts {
    /// Of the thresholds of a run.
    pub fn of(sample: &LowerSample, thresholds: &[LowerThreshold]) -> LowerCounts {
        let count = |threshold: &LowerThreshold| LowerCount {
            similarity: f64::from(threshold.thousandths) / 1000.0,
            dropped: threshold.removed,
        };
        LowerCounts {
            sampled: sample.sampled,
            of: sample.leaders,
            thresholds: thresholds.iter().map(count).collect(),
        }
    }
}

/// What each of `thresholds`, in thousandths and the highest first, would remove besides the `dropped`
/// documents; nothing without a sample.
pub fn lower_thresholds(
    thresholds: impl Iterator<Item = u32>,
    sample: &LowerSample,
    dropped: &Bits,
) -> Vec<LowerThreshold> {
    if sample.sampled == 0 {
        return Vec::new();
    }
    let lower = thresholds.map(|thousandths| LowerThreshold {
        thousandths,
        removed: 0,
        pairs: Vec::new(),
    });
    let mut lower: Vec<LowerThreshold> = lower.collect();
    let documents = sample.pairs.chunk_by(|a, b| a.document == b.document);
    for pairs in documents.filter(|pairs| !dropped.contains(pairs[0].document)) {
        let of_kept = pairs.iter().filter(|pair| !dropped.contains(pair.kept));
        // Without a kept one, those that are removed show what is near.
        let best = of_kept.max_by(|a, b| compare(a, b));
        let Some(best) = best.or_else(|| pairs.iter().max_by(|a, b| compare(a, b))) else {
            continue;
        };
        let mut accepting = lower
            .iter_mut()
            .skip_while(|threshold| !reaches(best, threshold.thousandths));
        if let Some(first) = accepting.next() {
            first.removed += 1;
            first.pairs.push(*best);
        }
        accepting.for_each(|threshold| threshold.removed += 1);
    }
    lower
}

/// The order of their similarities.
fn compare(a: &Decision, b: &Decision) -> Ordering {
    let product = |x: &Decision, y: &Decision| u64::from(x.verified[0]) * u64::from(y.verified[1]);
    product(a, b).cmp(&product(b, a))
}

fn reaches(pair: &Decision, thousandths: u32) -> bool {
    1000 * u64::from(pair.verified[0]) >= u64::from(thousandths) * u64::from(pair.verified[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(document: u32, kept: u32, percent: u32) -> Decision {
        Decision {
            document,
            kept,
            evidence: Decision::NEAR,
            score: [0, 208],
            verified: [percent, 100],
        }
    }

    #[test]
    fn each_kept_document_counts_once_by_its_most_similar_kept_one() {
        let sample = LowerSample {
            pairs: vec![
                // The more similar one of two.
                pair(10, 1, 55),
                pair(10, 2, 72),
                // Document 3 is dropped, so it drops no other.
                pair(11, 3, 79),
                pair(11, 4, 61),
                // Only dropped ones are similar.
                pair(12, 3, 70),
                // Dropped by the run.
                pair(13, 1, 79),
                pair(14, 1, 50),
            ],
            sampled: 20,
            leaders: 40,
        };
        let mut dropped = Bits::none_of(20);
        dropped.insert(3);
        dropped.insert(13);
        let found = lower_thresholds([700, 600, 500].into_iter(), &sample, &dropped);
        let counts = |threshold: &LowerThreshold| {
            let pairs = threshold.pairs.iter();
            let pairs: Vec<[u32; 2]> = pairs.map(|pair| [pair.document, pair.kept]).collect();
            (threshold.thousandths, threshold.removed, pairs)
        };
        let found: Vec<(u32, u64, Vec<[u32; 2]>)> = found.iter().map(counts).collect();
        let expected = [
            (700, 2, vec![[10, 2], [12, 3]]),
            (600, 3, vec![[11, 4]]),
            (500, 4, vec![[14, 1]]),
        ];
        assert_eq!(found, expected);
    }
}

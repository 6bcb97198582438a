//! Measures of the agreement of two clusterings of the same documents.

use ahash::AHashMap;
use serde::Serialize;

use crate::inputs::clustering::{Clustering, pairs_of};

/// Measures of found clusters against the true ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClusterScores {
    /// The adjusted Rand index: 1 for equal clusters, about 0 for random ones.
    ///
    /// Source: Hubert and Arabie, Comparing partitions, Journal of Classification 2, 1985.
    pub adjusted_rand: f64,
    /// B-cubed precision: the mean, over documents, of the proportion of its found cluster that is
    /// in its true cluster.
    ///
    /// Source: Bagga and Baldwin, Algorithms for scoring coreference chains, LREC 1998; Amigó et
    /// al., A comparison of extrinsic clustering evaluation metrics, Information Retrieval 12, 2009.
    pub b_cubed_precision: f64,
    /// B-cubed recall: the mean, over documents, of the proportion of its true cluster that is in
    /// its found cluster.
    pub b_cubed_recall: f64,
}

impl ClusterScores {
    /// Compares clusters on `documents` and on `others` more documents that are alone in both.
    ///
    /// A document that a clustering does not list is alone in it. `None` without documents. O(n log
    /// n).
    pub fn new(
        truth: &Clustering,
        found: &Clustering,
        documents: &[u32],
        others: u64,
    ) -> Option<ClusterScores> {
        let count = documents.len() as u64 + others;
        if count == 0 {
            return None;
        }
        // A cluster is identified by one of its documents; a document alone by itself.
        let of = |clusters: &Clustering, document| clusters.cluster(document).unwrap_or(document);
        let mut cells: Vec<(u32, u32)> = documents
            .iter()
            .map(|&document| (of(truth, document), of(found, document)))
            .collect();
        cells.sort_unstable();
        let mut true_sizes: AHashMap<u32, u64> = AHashMap::new();
        let mut found_sizes: AHashMap<u32, u64> = AHashMap::new();
        for (in_truth, in_found) in &cells {
            *true_sizes.entry(*in_truth).or_default() += 1;
            *found_sizes.entry(*in_found).or_default() += 1;
        }
        let (mut together, mut precision, mut recall) = (0, 0.0, 0.0);
        for cell in cells.chunk_by(|a, b| a == b) {
            let (in_truth, in_found) = cell[0];
            let size = cell.len() as u64;
            together += pairs_of(size);
            let square = size as f64 * size as f64;
            precision += square / found_sizes[&in_found] as f64;
            recall += square / true_sizes[&in_truth] as f64;
        }
        // Sums of integers do not depend on the order.
        let pairs_within = |sizes: &AHashMap<u32, u64>| sizes.values().copied().map(pairs_of).sum();
        Some(ClusterScores {
            adjusted_rand: adjusted_rand(
                together,
                pairs_within(&true_sizes),
                pairs_within(&found_sizes),
                pairs_of(count),
            ),
            b_cubed_precision: (precision + others as f64) / count as f64,
            b_cubed_recall: (recall + others as f64) / count as f64,
        })
    }

    /// The harmonic mean of B-cubed precision and recall, both of which are positive.
    pub fn b_cubed_f1(self) -> f64 {
        let (precision, recall) = (self.b_cubed_precision, self.b_cubed_recall);
        2.0 * precision * recall / (precision + recall)
    }
}

/// The index from the numbers of pairs that are together in both, in the truth, in the found
/// clusters, and of all pairs.
///
/// It is (together - expected) / (mean - expected) with expected = true * found / all and mean =
/// (true + found) / 2. Numerator and denominator are multiplied by 2 * all to be integers. Two
/// clusterings of only single documents, or of one cluster, are equal.
fn adjusted_rand(together: u64, in_truth: u64, in_found: u64, all: u64) -> f64 {
    let [together, in_truth, in_found, all] = [together, in_truth, in_found, all].map(i128::from);
    let expected = in_truth * in_found;
    let above = 2 * (together * all - expected);
    let most = (in_truth + in_found) * all - 2 * expected;
    match most {
        0 => 1.0,
        _ => above as f64 / most as f64,
    }
}

// Promise (Methods and their evaluation): Counts, curves, intervals, clusters and agreement …
#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pair;
    use proptest::prelude::*;

    fn clustering(labels: &[u32]) -> Clustering {
        let numbers = 0..labels.len() as u32;
        let pairs = numbers.flat_map(|a| (0..a).filter_map(move |b| Pair::new(a, b)));
        Clustering::components(pairs.filter(|pair| {
            let [a, b] = pair.documents().map(|document| labels[document as usize]);
            a == b
        }))
    }

    fn compare(truth: &[u32], found: &[u32]) -> ClusterScores {
        let documents: Vec<u32> = (0..truth.len() as u32).collect();
        ClusterScores::new(&clustering(truth), &clustering(found), &documents, 0).unwrap()
    }

    #[test]
    fn rand_indices_are_those_of_scikit_learn() {
        // The examples of sklearn.metrics.adjusted_rand_score's documentation.
        for (truth, found, expected) in [
            ([0, 0, 1, 1], [0, 0, 1, 1], 1.0),
            ([0, 0, 1, 1], [1, 1, 0, 0], 1.0),
            ([0, 0, 1, 2], [0, 0, 1, 1], 4.0 / 7.0),
            ([0, 0, 1, 1], [0, 0, 1, 2], 4.0 / 7.0),
            ([0, 0, 0, 0], [0, 1, 2, 3], 0.0),
            ([0, 0, 1, 1], [0, 1, 0, 1], -0.5),
            ([0, 1, 2, 3], [0, 1, 2, 3], 1.0),
        ] {
            let index = compare(&truth, &found).adjusted_rand;
            assert!(
                (index - expected).abs() < 1e-12,
                "{truth:?} {found:?}: {index}"
            );
        }
    }

    #[test]
    fn b_cubed_is_that_of_bagga_and_baldwin() {
        // Their figures 1 to 3: true chains of 5, 2 and 5; 76 % and 58 % precision.
        let truth = [1, 1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 3];
        let first = compare(&truth, &[1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2]);
        let second = compare(&truth, &[1, 1, 1, 1, 1, 2, 2, 1, 1, 1, 1, 1]);
        assert!((first.b_cubed_precision - 16.0 / 21.0).abs() < 1e-12);
        assert!((second.b_cubed_precision - 7.0 / 12.0).abs() < 1e-12);
        assert_eq!((first.b_cubed_recall, second.b_cubed_recall), (1.0, 1.0));
    }

    #[test]
    fn the_largest_collections_do_not_overflow() {
        let all = pairs_of(u64::from(u32::MAX));
        assert_eq!(adjusted_rand(all, all, all, all), 1.0);
        assert_eq!(adjusted_rand(0, 0, 0, all), 1.0);
        assert!(adjusted_rand(all - 1, all, all - 1, all).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn both_are_their_definitions(
            labels in prop::collection::vec((0u32..4, 0u32..4), 1..14), others in 0usize..4,
        ) {
            let (mut truth, mut found): (Vec<u32>, Vec<u32>) = labels.iter().copied().unzip();
            let documents: Vec<u32> = (0..truth.len() as u32).collect();
            let clusters = [clustering(&truth), clustering(&found)];
            let [in_truth, in_found] = &clusters;
            let scores = ClusterScores::new(in_truth, in_found, &documents, others as u64).unwrap();
            // The others, as documents alone.
            truth.extend((0..others as u32).map(|other| 100 + other));
            found.extend((0..others as u32).map(|other| 100 + other));

            let count = truth.len();
            let (mut both, mut one, mut two, mut all) = (0.0, 0.0, 0.0, 0.0);
            for a in 0..count {
                for b in 0..a {
                    let (same, as_found) = (truth[a] == truth[b], found[a] == found[b]);
                    both += f64::from(u8::from(same && as_found));
                    one += f64::from(u8::from(same));
                    two += f64::from(u8::from(as_found));
                    all += 1.0;
                }
            }
            let expected = if all > 0.0 { one * two / all } else { 0.0 };
            let most = (one + two) / 2.0;
            if (most - expected).abs() > 1e-9 {
                let index = (both - expected) / (most - expected);
                prop_assert!((scores.adjusted_rand - index).abs() < 1e-9);
            } else {
                prop_assert_eq!(scores.adjusted_rand, 1.0);
            }

            let (mut precision, mut recall) = (0.0, 0.0);
            for a in 0..count {
                let size = |labels: &[u32]| labels.iter().filter(|&&l| l == labels[a]).count();
                let shared = (0..count).filter(|&b| truth[a] == truth[b] && found[a] == found[b]);
                let shared = shared.count() as f64;
                precision += shared / size(&found) as f64 / count as f64;
                recall += shared / size(&truth) as f64 / count as f64;
            }
            prop_assert!((scores.b_cubed_precision - precision).abs() < 1e-9);
            prop_assert!((scores.b_cubed_recall - recall).abs() < 1e-9);
        }
    }
}

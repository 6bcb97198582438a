//! Histograms of the scores of near and far pairs.

use crate::sketch::Score;

/// The maximum number of bins for distances.
const MAX_DISTANCE_BINS: u32 = 40;
/// The number of bins for fractions.
const FRACTION_BINS: u32 = 20;

/// The bins of a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Distances, `width` consecutive ones per bin.
    Distance {
        /// The number of distances per bin.
        width: u32,
    },
    /// Fractions from 0 to 1; each bin except the last excludes its upper bound.
    Fraction {
        /// The number of bins.
        bins: u32,
    },
}

/// Counts of the scores of near and far pairs in bins of ascending scores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// The scale of the bins.
    pub scale: Scale,
    /// The numbers of near and far pairs in each bin.
    pub bins: Vec<[u64; 2]>,
    /// The numbers of near and far pairs without a score.
    pub without_score: [u64; 2],
}

impl Histogram {
    /// Counts pairs of a score and whether the pair is near. All scores must be of one kind.
    ///
    /// `None` if no pair has a score.
    pub fn new(pairs: &[(Option<Score>, bool)]) -> Option<Histogram> {
        let scores = || pairs.iter().filter_map(|pair| pair.0);
        let scale = match scores().next()? {
            Score::Fraction(..) => Scale::Fraction {
                bins: FRACTION_BINS,
            },
            Score::Distance(_) => {
                let distances = scores().map(|score| match score {
                    Score::Distance(distance) => distance,
                    Score::Fraction(..) => 0,
                });
                let most = distances.max().unwrap_or(0);
                Scale::Distance {
                    width: most / MAX_DISTANCE_BINS + 1,
                }
            }
        };
        let mut bins = vec![[0, 0]; scale.bin(scores().max_by_key(|&score| scale.bin(score))?) + 1];
        if let Scale::Fraction { bins: count } = scale {
            bins.resize(count as usize, [0, 0]);
        }
        let mut without_score = [0, 0];
        for &(score, is_near) in pairs {
            let counts = score.map_or(&mut without_score, |score| &mut bins[scale.bin(score)]);
            counts[usize::from(!is_near)] += 1;
        }
        Some(Histogram {
            scale,
            bins,
            without_score,
        })
    }
}

impl Scale {
    /// The bin of a score.
    pub fn bin(self, score: Score) -> usize {
        match (self, score) {
            (Scale::Distance { width }, Score::Distance(distance)) => (distance / width) as usize,
            (Scale::Fraction { bins }, Score::Fraction(numerator, denominator)) => {
                let bins = u128::from(bins);
                let bin = u128::from(numerator) * bins / u128::from(denominator.max(1));
                bin.min(bins - 1) as usize
            }
            _ => 0,
        }
    }

    /// The scores of a bin for display: `3`, `4 to 5`, `0.95 to 1`.
    pub fn label(self, bin: usize) -> String {
        match self {
            Scale::Distance { width: 1 } => format!("{bin}"),
            Scale::Distance { width } => {
                let from = bin as u64 * u64::from(width);
                format!("{from} to {}", from + u64::from(width) - 1)
            }
            Scale::Fraction { bins } => {
                let at = |edge: usize| edge as f64 / f64::from(bins);
                format!("{} to {}", at(bin), at(bin + 1))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_counted_by_themselves_or_in_runs() {
        let scored = [(0, true), (2, true), (2, false)].map(|(d, n)| (Some(Score::Distance(d)), n));
        let mut pairs = scored.to_vec();
        pairs.push((None, true));
        let histogram = Histogram::new(&pairs).unwrap();
        assert_eq!(histogram.bins, [[1, 0], [0, 0], [1, 1]]);
        assert_eq!(
            (histogram.scale.label(2), histogram.without_score),
            ("2".into(), [1, 0])
        );
        pairs.push((Some(Score::Distance(u32::MAX)), false));
        let histogram = Histogram::new(&pairs).unwrap();
        assert!(histogram.bins.len() <= MAX_DISTANCE_BINS as usize + 1);
        assert_eq!(
            histogram
                .bins
                .iter()
                .map(|bin| bin[0] + bin[1])
                .sum::<u64>(),
            4
        );
    }

    #[test]
    fn a_fraction_on_an_edge_is_in_the_upper_bin_and_one_in_the_last() {
        let pairs = [(19, 20), (1, 1), (3, 2), (0, 0), (1, 20)];
        let pairs = pairs.map(|(n, d)| (Some(Score::Fraction(n, d)), true));
        let histogram = Histogram::new(&pairs).unwrap();
        assert_eq!(histogram.bins.len(), 20);
        let counts = [0, 1, 18, 19].map(|bin: usize| histogram.bins[bin][0]);
        assert_eq!(counts, [1, 1, 0, 3]);
        assert_eq!(histogram.scale.label(19), "0.95 to 1");
    }

    #[test]
    fn no_scores_make_no_histogram() {
        assert_eq!(Histogram::new(&[(None, true)]), None);
    }
}

//! The judgement of proposed pairs.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::Result;
use simtool_core::sketch::registry::Spec;
use simtool_core::sketch::{Method, Score};
use simtool_core::text::LeastSimilarity;
use simtool_engine::sketcher::Sketched;
use simtool_evaluate::{Judgement, Pair, PairSample, Stratum, Truth};

/// Words of a long run.
const RUN: usize = 25;

/// The methods of a [`Judge`], for a least similarity of shingles of `width` words: that
/// similarity, and the long runs in common. Containment is that of the document with fewer shingles.
///
/// # Errors
/// [`Parameter`](crate::ErrorKind::Parameter) for a similarity of 0 or above 1.
pub(super) fn judging_methods(least: LeastSimilarity, width: usize) -> Result<[Spec; 2]> {
    let (measure, share) = (least.measure.name(), least.share());
    Ok([
        Spec::parse(&format!(
            "shingles:measure={measure},similarity={share},shingle={width}"
        ))?,
        Spec::parse(&format!("shingles:measure=containment,shingle={RUN}"))?,
    ])
}

/// Judges pairs by the truth, and those that it does not know by the shingles in common.
pub struct Judge<'a> {
    /// The methods of [`judging_methods`].
    pub methods: &'a [Box<dyn Method>],
    /// The sketches by these methods.
    pub sketched: Vec<Sketched>,
    /// The truth.
    pub truth: &'a Truth,
}

impl Judge<'_> {
    /// Whether a pair has the least similarity.
    pub fn is_similar(&self, pair: Pair) -> bool {
        self.methods[0].accepts(&self.score(0, pair))
    }

    fn score(&self, method: usize, pair: Pair) -> Score {
        let sketched = &self.sketched[method];
        let sketches = sketched.sketches.all(&*self.methods[method]);
        let [a, b] = pair.documents().map(|number| sketches.get(number as usize));
        self.methods[method].score(a, b)
    }

    /// Whether a pair is one of duplicates. Documents that the truth connects by near pairs are
    /// duplicates, unless it calls the pair itself far.
    fn is_right(&self, pair: Pair) -> bool {
        let clusters = self.truth.clusters();
        match self.truth.judge(pair) {
            Judgement::Near(_) => true,
            Judgement::Far(_) => false,
            Judgement::Unknown => {
                let [a, b] = pair.documents().map(|number| clusters.cluster(number));
                a.is_some() && a == b || self.is_similar(pair)
            }
        }
    }

    /// Judges the sampled pairs of a stratum: all wrong pairs, and those of them with a long run in
    /// common. Uses the current rayon pool.
    pub fn judge(&self, sample: PairSample) -> (Stratum, Stratum) {
        let count = sample.count;
        let pairs = sample.into_pairs();
        let stratum = |wrong| Stratum {
            count,
            judged: pairs.len() as u64,
            wrong,
        };
        let is_wrong = |pair: &&Pair| !self.is_right(**pair);
        let wrong: Vec<&Pair> = (&pairs).into_par_iter().filter(is_wrong).collect();
        let has_run = |pair: &&&Pair| matches!(self.score(1, ***pair), Score::Fraction(1.., _));
        let with_runs = wrong.iter().filter(has_run).count();
        (stratum(wrong.len() as u64), stratum(with_runs as u64))
    }
}

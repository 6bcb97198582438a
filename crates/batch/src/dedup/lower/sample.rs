//! A sample of the leaders, compared with the most similar earlier ones.

use crate::Result;
use simtool_core::sketch::Method;

use super::earlier::{Earlier, EarlierSearch, RankedSketches, SampleMinima};
use super::thresholds::thresholds;
use crate::dedup::decision::{Decision, narrow};
use crate::dedup::job_context::JobContext;
use crate::dedup::near::leaders::{Block, Leaders};
use crate::dedup::near::shingle_sets::{CollectedSets, SetBuffers};

/// The number of leaders in a sample.
pub const SAMPLED: u64 = 2000;

/// Pairs of a sampled leader and an earlier one that a lower threshold would accept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LowerSample {
    /// The pairs, by the sampled document, as decisions of a lower threshold.
    pub pairs: Vec<Decision>,
    /// The number of sampled leaders; 0 if lower thresholds are not looked at.
    pub sampled: u64,
    /// The number of leaders of the input.
    pub leaders: u64,
}

/// Pairs whose shingles are compared after the second reading.
#[derive(Default)]
pub struct ProposedPairs<'a> {
    /// The leaders of all pairs.
    leaders: Option<Leaders<'a>>,
    /// The ranks of both among these, the earlier one first, and the estimated similarity.
    pairs: Vec<([u64; 2], [u32; 2])>,
    sampled: u64,
    of: u64,
}

impl<'a> ProposedPairs<'a> {
    /// The most similar earlier leaders of some of `all`, by the minima of the sketches; nothing if
    /// sketches have none.
    ///
    /// `method` made the sketches. A leader costs about a tenth of a microsecond, and some more if
    /// it is similar to many of the sample.
    ///
    /// # Errors
    /// Errors of temporary files; interruption.
    pub fn find(
        context: &JobContext<'_>,
        method: &dyn Method,
        all: &Leaders<'a>,
    ) -> Result<ProposedPairs<'a>> {
        let others = all.count - all.references;
        if thresholds(context.job).next().is_none() || others == 0 {
            return Ok(ProposedPairs::default());
        }
        let mut block = Block::default();
        let mut sample = SampleMinima::default();
        for number in 0..SAMPLED.min(others) {
            context.progress().check()?;
            let rank = all.references + number * others / SAMPLED.min(others);
            all.read(rank..rank + 1, &mut block)?;
            let sketch = block.all(method).get(0);
            sample.push(method, rank, sketch, block.groups.first().copied());
        }
        let sample = sample.affordable();
        let sampled = sample.ranks().len() as u64;
        let Some(mut found) = EarlierSearch::new(method, &sample, all.references) else {
            return Ok(ProposedPairs::default());
        };
        let compared = match context.only_against() {
            true => 0..all.references,
            false => 0..all.count,
        };
        for batch in all.batches_of(std::slice::from_ref(&compared))? {
            context.progress().check()?;
            all.read(batch, &mut block)?;
            found.add(RankedSketches {
                first: block.first,
                sketches: block.all(method),
                groups: &block.groups,
            });
        }
        let found = found.finish();
        let pairs = || {
            let each = sample.ranks().iter().zip(&found);
            each.flat_map(|(rank, earlier)| earlier.iter().map(|one| (*rank, *one)))
        };
        let mut ranks: Vec<u64> = pairs().flat_map(|(rank, one)| [rank, one.rank]).collect();
        ranks.sort_unstable();
        ranks.dedup();
        let place = |rank: u64| ranks.partition_point(|other| *other < rank) as u64;
        let pair = |(rank, earlier): (u64, Earlier)| {
            let places = [place(earlier.rank), place(rank)];
            (places, sample.estimate(earlier))
        };
        Ok(ProposedPairs {
            pairs: pairs().map(pair).collect(),
            leaders: Some(all.select(ranks.iter().copied(), &context.space)?),
            sampled,
            of: others,
        })
    }

    /// The documents whose sets of shingles are needed.
    pub fn documents(&self) -> impl Iterator<Item = Result<u32>> {
        self.leaders.iter().flat_map(Leaders::documents)
    }

    /// The pairs whose similarity is at least that of the lowest threshold.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn compare(self, context: &JobContext<'_>, sets: &CollectedSets) -> Result<LowerSample> {
        let Some(leaders) = &self.leaders else {
            return Ok(LowerSample::default());
        };
        let documents: Vec<u32> = leaders.documents().collect::<Result<_>>()?;
        let sets = sets.of_ranks(leaders.documents(), leaders.count, &context.space)?;
        let measure = context.job.verification.least.measure;
        let least = thresholds(context.job).last().map_or(0, u64::from);
        let mut buffers = SetBuffers::default();
        let mut pairs = Vec::new();
        for ([earlier, later], score) in self.pairs {
            context.progress().check()?;
            let (shared, all) = sets.similarity(measure, (earlier, later), &mut buffers)?;
            if 1000 * shared >= least * all {
                pairs.push(Decision {
                    document: documents[later as usize],
                    kept: documents[earlier as usize],
                    evidence: Decision::NEAR,
                    score,
                    verified: [narrow(shared), narrow(all)],
                });
            }
        }
        pairs.sort_unstable();
        Ok(LowerSample {
            pairs,
            sampled: self.sampled,
            leaders: self.of,
        })
    }
}

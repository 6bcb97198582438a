//! What lower thresholds would remove, among the documents of a plan's sample.

use crate::Result;
use simtool_core::sketch::Method;
use simtool_corpus::Source;
use simtool_engine::Progress;

use crate::dedup::lower::earlier::{EarlierSearch, RankedSketches, SampleMinima, half_similarity};
use crate::dedup::lower::thresholds::thresholds;
use crate::dedup::report::beginnings::Beginnings;
use crate::dedup::settings::job::DedupJob;
use crate::scope::Scope;
use crate::table::row::{Flags, Row};
use crate::table::segment::Segment;

/// The documents of the sample that are compared with the earlier ones.
const COMPARED: usize = 2000;
/// Fewer say nothing about a collection.
const LEAST_COMPARED: usize = 50;

/// How many documents of the sample have a similar earlier one in it, by thresholds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LowerEstimate {
    /// The number of documents in the sample.
    pub sample: u64,
    /// How many of these were compared with the earlier ones.
    pub compared: u64,
    /// The similarity of the job, then the lower ones.
    pub thresholds: Vec<LowerRate>,
}

/// The documents with an earlier one of at least a similarity.
#[derive(Clone, Debug, PartialEq)]
pub struct LowerRate {
    /// The similarity, in thousandths.
    pub thousandths: u32,
    /// The number of documents that were compared and have such an earlier one.
    pub documents: u64,
    /// The least similar pair that the next higher threshold would not accept: the estimated
    /// similarity, and the beginnings of the texts, the earlier one first.
    pub example: Option<(f64, [String; 2])>,
}

impl LowerEstimate {
    /// Compares the documents of a sample with each other by the minima of their sketches; `None` if
    /// sketches have none, if the job has no lower thresholds, and of fewer than 50 documents.
    ///
    /// # Errors
    /// Errors of reading the examples.
    pub fn of(
        job: &DedupJob,
        method: &dyn Method,
        segment: &Segment,
        sources: &[Source],
    ) -> Result<Option<LowerEstimate>> {
        if thresholds(job).next().is_none() || job.within != Scope::Global || job.against_only {
            return Ok(None);
        }
        let sketches = segment.sketches.all(method);
        let has_words = |row: &Row| !row.flags.has(Flags::EMPTY) && !row.flags.has(Flags::SKIPPED);
        let own = |row: &Row| has_words(row) && !row.flags.has(Flags::REFERENCE);
        let own: Vec<usize> = (0..segment.rows.len())
            .filter(|place| own(&segment.rows[*place]))
            .collect();
        let mut sample = SampleMinima::of_first_half();
        for place in own.iter().step_by(own.len().div_ceil(COMPARED).max(1)) {
            sample.push(method, *place as u64, sketches.get(*place), None);
        }
        let sample = sample.affordable();
        if sample.ranks().len() < LEAST_COMPARED {
            return Ok(None);
        }
        let Some(mut search) = EarlierSearch::new(method, &sample, 0) else {
            return Ok(None);
        };
        search.add(RankedSketches {
            first: 0,
            sketches,
            groups: &[],
        });
        let of_words = |rank: u64| has_words(&segment.rows[rank as usize]);
        let found = sample.ranks().iter().zip(search.finish());
        let nearest: Vec<(f64, [u64; 2])> = found
            .filter_map(|(rank, earlier)| {
                let nearest = earlier.into_iter().find(|one| of_words(one.rank))?;
                let pair = [nearest.rank, *rank];
                let of_pair = pair.map(|rank| sketches.get(rank as usize));
                Some((half_similarity(method, of_pair)?, pair))
            })
            .collect();
        let mut rates = Vec::new();
        let mut above = f64::INFINITY;
        for thousandths in [job.verification.least.thousandths]
            .into_iter()
            .chain(thresholds(job))
        {
            let least = f64::from(thousandths) / 1000.0;
            let accepted = nearest
                .iter()
                .filter(|(similarity, _)| *similarity >= least);
            let only = accepted
                .clone()
                .filter(|(similarity, _)| *similarity < above);
            let example = only.min_by(|a, b| a.0.total_cmp(&b.0));
            let example = example.filter(|_| above.is_finite());
            rates.push(LowerRate {
                thousandths,
                documents: accepted.count() as u64,
                example: match example {
                    Some((similarity, pair)) => {
                        let rows = pair.map(|rank| &segment.rows[rank as usize]);
                        beginnings(job, sources, rows)?.map(|texts| (*similarity, texts))
                    }
                    None => None,
                },
            });
            above = least;
        }
        Ok(Some(LowerEstimate {
            sample: own.len() as u64,
            compared: sample.ranks().len() as u64,
            thresholds: rates,
        }))
    }
}

fn beginnings(job: &DedupJob, sources: &[Source], rows: [&Row; 2]) -> Result<Option<[String; 2]>> {
    let beginnings = Beginnings {
        sources,
        reading: &job.reading,
        progress: &Progress::new(),
    };
    let [earlier, later] = rows;
    let texts = (beginnings.of(earlier)?, beginnings.of(later)?);
    Ok(match texts {
        (Some(earlier), Some(later)) => Some([earlier, later]),
        _ => None,
    })
}

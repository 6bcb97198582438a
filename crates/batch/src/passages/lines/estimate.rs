//! The expected cost of a search for repeated units.

use std::sync::atomic::AtomicBool;

use super::job::{LinesJob, Rule};
use super::memory::{self, Shares};
use super::occurrence::Occurrence;
use super::reading::{UnitFinder, WantedUnits};
use crate::Result;
use crate::estimate::ASSUMED_SHARE;
use crate::estimate::sampling::{Measure, Measured, since};
use crate::passages::decisions::ranges::RemovedRange;
use crate::passages::estimate::cost::{KeptPlaces, PassageEstimate, Readings};
use crate::passages::estimate::costs::{Findings, SampleTotals, SearchCosts};
use crate::passages::first_reading::seen_twice::SeenTwice;
use crate::skeleton::context::text_bytes;
use simtool_corpus::{Chunk, Source};
use simtool_engine::documents::DocumentReader;
use simtool_engine::{Resources, Stage};
use simtool_files::usage::thread_time;

/// Approximate seconds of one thread to sort and count an occurrence of a repeated unit.
const COUNT_SECONDS: f64 = 0.25e-6;
/// Approximate bytes of `spans.jsonl` for a range.
const RANGE_BYTES: f64 = 60.0;

/// Finds the units of a sample.
struct UnitMeasure<'a> {
    documents: DocumentReader<'a>,
    reader: UnitFinder<'a>,
    totals: SampleTotals,
    units: u64,
}

impl Measure for UnitMeasure<'_> {
    fn chunk(&mut self, chunk: &Chunk) -> Result<Measured> {
        let before = thread_time();
        let (rows, _) = self.reader.first(self.documents.documents(chunk)?)?;
        let seconds = since(before);
        self.totals.add(&rows);
        self.units += rows.units();
        Ok(rows.measured(seconds))
    }
}

/// The estimate of a run on `sources`, those of the reference first.
///
/// # Errors
/// Errors of reading.
pub fn estimate(
    job: &LinesJob,
    sources: &[Source],
    references: usize,
    resources: &Resources,
) -> Result<PassageEstimate> {
    let shares = Shares::of(resources, job.kind, &job.common.reading);
    let table_bytes = memory::table_bytes(job, text_bytes(sources), shares.table);
    let table = SeenTwice::new(table_bytes);
    let is_kept = AtomicBool::new(true);
    let wanted = match &job.rule {
        Rule::Listed(listed) => WantedUnits::Listed(listed),
        Rule::Repeated { .. } => WantedUnits::All(&table, &is_kept),
    };
    let measure = UnitMeasure {
        documents: DocumentReader::new(sources, &job.common.reading),
        reader: UnitFinder::new(job, wanted),
        totals: SampleTotals::default(),
        units: 0,
    };
    let (costs, measured) =
        SearchCosts::measured(job, sources, references, resources, measure, |measure| {
            measure.totals
        })?;
    let units = measured.units as f64 * costs.factor();
    let bytes = units * size_of::<Occurrence>() as f64;
    let kept = KeptPlaces {
        count: units as u64,
        bytes: bytes as u64,
        most_bytes: shares.kept as u64,
        enough_memory_bytes: memory::enough_bytes(
            resources.threads,
            job.kind,
            &job.common.reading,
            bytes as u64,
        ),
    };
    let sorted = units * ASSUMED_SHARE;
    let sorted_bytes = sorted * size_of::<Occurrence>() as f64;
    let exceeds = sorted_bytes > shares.occurrences as f64;
    let findings = Findings {
        ranges: sorted,
        documents: costs.documents() * ASSUMED_SHARE,
        range_bytes: RANGE_BYTES,
        stored_bytes: size_of::<RemovedRange>() as f64,
        spooled_bytes: if exceeds { sorted_bytes } else { 0.0 },
        items: 0.0,
    };
    let reads_twice = !job.is_by_list() && !kept.fit();
    let reading = costs.reading(1.0);
    let mut stages = vec![(Stage::Count, reading)];
    if reads_twice {
        stages.push((Stage::Locate, reading));
    }
    stages.push((Stage::Gather, sorted * COUNT_SECONDS / costs.input.threads));
    Ok(PassageEstimate {
        cost: costs.cost(&findings, stages),
        readings: Readings {
            whole: 1 + u32::from(reads_twice),
            kept: (!job.is_by_list()).then_some(kept),
            ..Readings::default()
        },
        index: None,
    })
}

//! The expected cost of a search for repeated stretches.

use std::sync::atomic::AtomicBool;

use super::job::SpansJob;
use super::memory;
use super::records::AnchorPlace;
use crate::Result;
use crate::estimate::ASSUMED_SHARE;
use crate::estimate::sampling::{Measure, Measured, since};
use crate::passages::decisions::ranges::RemovedRange;
use crate::passages::estimate::cost::{KeptPlaces, PassageEstimate, Readings};
use crate::passages::estimate::costs::{Findings, SampleTotals, SearchCosts};
use crate::passages::first_reading::seen_twice::SeenTwice;
use crate::passages::spans::anchors::reading::{AnchorFinder, WantedAnchors};
use crate::skeleton::context::text_bytes;
use simtool_corpus::{Chunk, Source};
use simtool_engine::documents::DocumentReader;
use simtool_engine::{Resources, Stage};
use simtool_files::usage::thread_time;

/// Approximate seconds of one thread to sort and group the place of a repeated anchor.
const PLACE_SECONDS: f64 = 0.1e-6;
/// Approximate bytes of `spans.jsonl` for a range.
const RANGE_BYTES: f64 = 230.0;
/// The approximate number of ranges for each place of a repeated anchor.
const RANGES: f64 = 0.1;

/// Finds the anchors of a sample.
struct AnchorMeasure<'a> {
    documents: DocumentReader<'a>,
    reader: AnchorFinder<'a>,
    totals: SampleTotals,
    /// The places of anchors.
    places: u64,
}

impl Measure for AnchorMeasure<'_> {
    fn chunk(&mut self, chunk: &Chunk) -> Result<Measured> {
        let before = thread_time();
        let (rows, (places, _)) = self.reader.first(self.documents.documents(chunk)?)?;
        let seconds = since(before);
        self.totals.add(&rows);
        self.places += places.len() as u64;
        Ok(rows.measured(seconds))
    }
}

/// The estimate of a run on `sources`, those of the reference first.
///
/// # Errors
/// Errors of reading.
pub fn estimate(
    job: &SpansJob,
    sources: &[Source],
    references: usize,
    resources: &Resources,
) -> Result<PassageEstimate> {
    let (space, _) = memory::space(resources, &job.common.reading, job.least);
    let most_table_bytes = space.bytes(memory::TABLE);
    let table = SeenTwice::new(memory::table_bytes(
        job,
        text_bytes(sources),
        most_table_bytes,
    ));
    let is_kept = AtomicBool::new(true);
    let wanted = WantedAnchors::All(&table, &is_kept);
    let measure = AnchorMeasure {
        documents: DocumentReader::new(sources, &job.common.reading),
        reader: AnchorFinder::new(job, resources.level, wanted),
        totals: SampleTotals::default(),
        places: 0,
    };
    let (costs, measured) =
        SearchCosts::measured(job, sources, references, resources, measure, |measure| {
            measure.totals
        })?;
    let places = measured.places as f64 * costs.factor();
    let place_bytes = size_of::<AnchorPlace>() as f64;
    let bytes = (places * place_bytes) as u64;
    let kept = KeptPlaces {
        count: places as u64,
        bytes,
        most_bytes: space.bytes(memory::KEPT) as u64,
        enough_memory_bytes: memory::enough_bytes(
            resources.threads,
            &job.common.reading,
            job.least,
            bytes,
        ),
    };
    let sorted = places * ASSUMED_SHARE;
    let sorted_bytes = sorted * place_bytes;
    let exceeds = sorted_bytes > space.bytes(memory::PLACES) as f64;
    let findings = Findings {
        ranges: sorted * RANGES,
        documents: costs.documents() * ASSUMED_SHARE,
        range_bytes: RANGE_BYTES,
        stored_bytes: 2.0 * size_of::<RemovedRange>() as f64,
        spooled_bytes: if exceeds { sorted_bytes } else { 0.0 },
        items: 0.0,
    };
    let threads = costs.input.threads;
    let reading = costs.reading(1.0);
    // The documents of which stretches are compared, and those in which ranges are found.
    let partial = costs.reading(ASSUMED_SHARE);
    let mut stages = vec![(Stage::Count, reading)];
    if !kept.fit() {
        stages.push((Stage::Locate, reading));
    }
    stages.push((Stage::Group, sorted * PLACE_SECONDS / threads));
    stages.push((Stage::Verify, partial));
    stages.push((Stage::Gather, partial));
    Ok(PassageEstimate {
        cost: costs.cost(&findings, stages),
        readings: Readings {
            whole: 1 + u32::from(!kept.fit()),
            partial: 2,
            kept: Some(kept),
        },
        index: None,
    })
}

//! The time and the space of a run, from the rates of a sample of its inputs.

use crate::Result;
use simtool_core::sketch::Method;
use simtool_core::text::{Choice, OcrSigns};
use simtool_engine::{Resources, Stage, StagePlan, Workers, methods};

use super::lower::LowerEstimate;
use super::marking_rate::MarkingRate;
use super::sample::Sample;
use crate::dedup::first_reading::sketching::RunInputs;
use crate::dedup::settings::job::{DedupJob, WriteMode};
use crate::estimate::ASSUMED_SHARE;
use crate::estimate::input_costs::described_bytes;
use crate::estimate::run_cost::RunCost;
use crate::scope::Scope;
use crate::skeleton::invocation::{Against, Invocation};
use crate::table::row::{Flags, Row};
use crate::table::rows::RowPacking;
use crate::table::segment::Segment;

/// Approximate bytes of a label and of other data of varying length.
const LABEL_BYTES: u64 = 96;
/// Approximate bytes of shingle hashes per byte of text: eight for each word.
const SHINGLES_OF_TEXT: f64 = 1.4;
/// Bytes of the reports per dropped document: its line, and its entry in the line of its cluster.
const REPORT_BYTES: f64 = 750.0;
/// Bytes of a leader that is sorted.
const SORTED_BYTES: u64 = 32;
/// The number of odd words that are shown.
const OCR_EXAMPLES: usize = 3;
/// The approximate share of dropped documents among those that have a near one.
const DROPPED: f64 = 0.5;
/// Approximate seconds of one thread for stages that the sample does not measure; per document,
/// unless another unit is given.
mod seconds {
    /// Gathering, which reads the rows, per byte of rows, sketches and labels.
    pub const GATHER_BYTE: f64 = 0.2e-9;
    pub const GROUP: f64 = 0.8e-6;
    /// Clustering and reporting, per document that has a near one.
    pub const CLUSTER: f64 = 8e-6;
    pub const REPORT: f64 = 5e-6;
    /// Querying an index of known documents.
    pub const SEARCH: f64 = 20e-6;
}

/// An estimate of a run, for the plan and the progress bar. The outputs do not depend on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DedupEstimate {
    /// The time and the space of the run.
    pub cost: RunCost,
    /// The number of documents in the sample, if none of them has text in the text field.
    pub without_text: Option<usize>,
    /// The number of documents with which each is compared, if that takes most of a long time.
    pub compared: Option<u64>,
    /// If the job has the default words and the text looks like OCR: the share of odd words, and some
    /// of them.
    pub ocr: Option<(f64, Vec<String>)>,
    /// What lower thresholds would remove, if that was asked and the method can tell.
    pub lower: Option<LowerEstimate>,
}

impl DedupEstimate {
    /// Reads a sample and extrapolates; writes nothing. Takes about a second at most, unless a
    /// document is very long. Streams are not counted, as their contents are not known yet. Lower
    /// thresholds are only looked at if `asks_lower`.
    ///
    /// # Errors
    /// Errors of reading and of building the method.
    pub fn of(
        job: &DedupJob,
        invocation: &Invocation<'_>,
        resources: &Resources,
        asks_lower: bool,
    ) -> Result<DedupEstimate> {
        let references = invocation.against.documents();
        let sources = [references, invocation.sources].concat();
        let inputs = RunInputs {
            sources: &sources,
            references: references.len() as u32,
        };
        let method = match (invocation.against, job.is_by_equality()) {
            (Against::Known(known), _) => Some(known.method()?.into_plain()),
            (_, true) => None,
            // Corpus statistics are not known until all inputs have been read.
            (_, false) => {
                let common = job.common(resources.level);
                Some(methods::build_without_statistics(&job.method, common)?)
            }
        };
        let method = method.as_deref();
        let sample = Sample::of(job, method, inputs, resources)?;
        let documents = sample.input.documents();
        let is_known = matches!(invocation.against, Against::Known(_));
        let marking = match method.filter(|_| !is_known) {
            Some(method) => MarkingRate::measure(
                sample.segment.sketches.all(method),
                documents,
                method,
                resources,
            )?,
            None => MarkingRate::default(),
        };
        let lower = match method.filter(|_| asks_lower && !is_known) {
            Some(method) => Workers::new(resources.threads)?
                .install(|| LowerEstimate::of(job, method, &sample.segment, &sources))?,
            None => None,
        };
        // As when it runs: with an index, sketches are compared with those of the index.
        let coarse = method
            .filter(|_| !is_known)
            .and_then(|method| method.coarse());
        let costs = DedupCosts {
            job,
            sample: &sample,
            documents: documents as f64,
            stored_bytes: stored_bytes(&sample.segment, coarse.as_deref()),
            leader_bytes: leader_bytes(job, &sample.segment, coarse.as_deref()),
            described_bytes: described_bytes(&sources, job.writes_files()),
            has_pairs: method.is_some() && !is_known,
            is_known,
        };
        Ok(DedupEstimate {
            cost: costs.cost(marking),
            without_text: without_text(&sample.segment),
            compared: marking.many(documents, sample.input.threads),
            ocr: ocr(job, &sample.ocr),
            lower,
        })
    }
}

fn ocr(job: &DedupJob, signs: &OcrSigns) -> Option<(f64, Vec<String>)> {
    let share = signs
        .share()
        .filter(|_| job.tokenizer == Choice::default())?;
    let examples = signs.examples(OCR_EXAMPLES).into_iter();
    Some((share, examples.map(str::to_owned).collect()))
}

/// The number of documents in the sample, if none of them has text in the text field.
fn without_text(segment: &Segment) -> Option<usize> {
    let lacks_text = |row: &Row| row.flags.has(Flags::NO_TEXT);
    let all_lack_it = !segment.rows.is_empty() && segment.rows.iter().all(lacks_text);
    all_lack_it.then_some(segment.rows.len())
}

/// Approximate bytes that are stored for each document: its row, sketch and labels.
fn stored_bytes(segment: &Segment, coarse: Option<&dyn Method>) -> u64 {
    let sketches = match coarse.and_then(|method| method.sketch_bytes()) {
        Some(length) => length * segment.rows.len(),
        None => segment.sketches.bytes.len() + size_of_val(&segment.sketches.borders[..]),
    };
    let labels = segment.labels.len();
    let varying = match segment.rows.len() {
        0 => LABEL_BYTES,
        rows => (sketches + labels).div_ceil(rows) as u64,
    };
    RowPacking::of(segment.rows.iter()).packed_bytes() as u64 + varying
}

/// Temporary bytes for each leader, and for each that has a near one, besides the sets.
fn leader_bytes(job: &DedupJob, segment: &Segment, coarse: Option<&dyn Method>) -> [u64; 2] {
    let sketches = &segment.sketches;
    let sketch = sketches.bytes.len() + size_of_val(&sketches.borders[..]);
    let whole = sketch.div_ceil(segment.rows.len().max(1)) as u64;
    let stored = coarse.and_then(|method| method.sketch_bytes());
    let is_stored_in_order = job.keep.is_input_order() && job.within == Scope::Global;
    let copied = match is_stored_in_order && sketches.borders.is_empty() {
        true => 0,
        false => SORTED_BYTES + stored.map_or(whole, |length| length as u64),
    };
    // Whole sketches of marked leaders are first among their sets, then in a file of their own.
    let copies = if coarse.is_some() { 2 } else { 1 };
    [size_of::<u32>() as u64 + copied, copies * whole]
}

/// The inputs of the estimate.
struct DedupCosts<'a> {
    job: &'a DedupJob,
    sample: &'a Sample,
    documents: f64,
    stored_bytes: u64,
    /// Temporary bytes for each leader, and for each that has a near one.
    leader_bytes: [u64; 2],
    /// Bytes of the descriptions of inputs and outputs.
    described_bytes: u64,
    /// Whether near documents of the input are searched.
    has_pairs: bool,
    /// Whether the input is compared with an index of known documents.
    is_known: bool,
}

impl DedupCosts<'_> {
    fn cost(&self, marking: MarkingRate) -> RunCost {
        let input = &self.sample.input;
        let text: f64 = input.total(|kind| kind.text.over(kind.bytes));
        let stored = self.documents * self.stored_bytes as f64;
        let spooled = match self.has_pairs {
            true => {
                let [leader, marked] = self.leader_bytes.map(|bytes| bytes as f64);
                let each = leader + ASSUMED_SHARE * marked;
                text * ASSUMED_SHARE * SHINGLES_OF_TEXT + self.documents * each
            }
            false => 0.0,
        };
        let reports = self.reported(ASSUMED_SHARE * DROPPED) * REPORT_BYTES;
        let has_files = match self.job.write {
            WriteMode::None | WriteMode::Ids => self.job.removed && self.may_drop_all(),
            WriteMode::Kept | WriteMode::Annotated | WriteMode::Text => true,
        };
        let written = match self.job.write {
            _ if has_files => input.written_bytes(self.job.writes_files()),
            WriteMode::Ids => self.documents * LABEL_BYTES as f64,
            _ => 0.0,
        };
        RunCost {
            documents: self.documents as u64,
            text_bytes: text.round() as u64,
            work_bytes: stored as u64,
            spooled_bytes: spooled as u64,
            output_bytes: (written + reports) as u64 + self.described_bytes,
            stages: self.stages(marking),
        }
    }

    /// Whether nearly all documents may be dropped. From how many sources a text comes cannot be
    /// estimated from a sample.
    fn may_drop_all(&self) -> bool {
        self.job.min_sources > 1
    }

    /// The number of documents with a line in the reports: this share of all, unless all may be
    /// dropped.
    fn reported(&self, share: f64) -> f64 {
        match self.may_drop_all() {
            true => self.documents,
            false => self.documents * share,
        }
    }

    fn stages(&self, marking: MarkingRate) -> Vec<StagePlan> {
        let input = &self.sample.input;
        let process = input.total(|kind| kind.process.over(kind.bytes));
        let each = |seconds: f64| seconds * self.documents / input.threads;
        let reading = input.reading(process);
        let mut stages = Vec::new();
        if !self.is_known {
            let passes = self.job.method.required_counts().len();
            stages.extend(std::iter::repeat_n((Stage::Count, reading), passes));
        }
        stages.push((Stage::Sketch, reading));
        let table_bytes = self.documents * self.stored_bytes as f64;
        stages.push((Stage::Gather, table_bytes * seconds::GATHER_BYTE));
        stages.push(match self.is_known {
            true => (Stage::Search, each(seconds::SEARCH)),
            false => (Stage::Group, each(seconds::GROUP)),
        });
        if self.has_pairs {
            let verify = input.reading_share(process * ASSUMED_SHARE, ASSUMED_SHARE);
            stages.push((Stage::Mark, each(marking.seconds)));
            stages.push((Stage::Verify, verify));
            stages.push((Stage::Cluster, each(ASSUMED_SHARE * seconds::CLUSTER)));
        }
        let reported = self.reported(ASSUMED_SHARE);
        stages.push((Stage::Report, reported * seconds::REPORT));
        if self.job.writes_documents() {
            stages.push((Stage::Write, input.writing(self.job.writes_files())));
        }
        let plan = |(stage, seconds)| StagePlan::lasting(stage, seconds);
        stages.into_iter().map(plan).collect()
    }
}

//! Estimates of a run's time and space, from a sample of its inputs.
//!
//! A document is *marked* if a near document is found for it. The candidates of
//! marked documents are verified.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Result;
use crate::engine::{Resources, Stage, StagePlan, Workers, methods};
use crate::io::FileSystem;
use crate::io::usage::thread_time;
use crate::kernel::columns::Columns;
use crate::search::join::{AnyQuery, Scratch};
use crate::sketch::accidental::Chance;
use crate::sketch::{Method, Shape, Sketches};

use super::job::{Job, WriteMode};
use super::neighbours::build_index;
use super::row::{Flags, Row};
use super::sample::{KindRates, Sample, Sampler};
use super::segment::Segment;
use super::sketching::RunInputs;
use super::{Against, Invocation};

/// Approximate bytes of a label and of other data of varying length.
const LABEL_BYTES: u64 = 96;
/// Approximate bytes of shingle hashes per byte of text: eight for each word.
const SHINGLES_OF_TEXT: f64 = 1.4;
/// The assumed share of marked documents, if the sample is too small to measure it.
const MARKED: f64 = 0.2;
/// The least number of marked documents that must be expected in the sample, by the assumed share,
/// to use a measured share below it.
const LEAST_EXPECTED: f64 = 10.0;
/// Bytes of the reports per dropped document: its line, and its entry in the line of its cluster.
const REPORT_BYTES: f64 = 750.0;
/// The approximate share of dropped documents among marked ones.
const DROPPED: f64 = 0.5;
/// The least number of different fingerprints to estimate the probability of accidental hits.
const LEAST_FINGERPRINTS: usize = 256;
/// The most sketches of the sample that are compared.
const COMPARED: usize = 1 << 14;
/// The approximate share of a stage in which each of several threads works; otherwise it waits for
/// files or for the last chunks. Measured with `scripts/bench-plan`: 0.52 to 0.83.
const BUSY: f64 = 0.75;

/// Approximate seconds of one thread for stages that the sample does not measure; per document,
/// unless another unit is given.
mod seconds {
    /// Gathering, per byte of rows, sketches and labels.
    pub const GATHER_BYTE: f64 = 3e-9;
    pub const GROUP: f64 = 0.8e-6;
    /// Looking up and inserting a fingerprint in tables.
    pub const MARK_BITS: f64 = 4e-6;
    /// The ratio of the look-up time in a large table to that in the table of a sample.
    pub const MARK_GROWTH: f64 = 2.0;
    /// Clustering, per marked document.
    pub const CLUSTER: f64 = 8e-6;
    /// Reporting, per marked document.
    pub const REPORT: f64 = 5e-6;
    /// Querying an index.
    pub const SEARCH: f64 = 20e-6;
    /// The time to make shingles, divided by that to tokenize.
    pub const SHINGLES: f64 = 0.5;
    /// The time to count words, divided by that to tokenize.
    pub const COUNTING: f64 = 0.5;
    /// Writing and syncing a byte.
    pub const WRITE_BYTE: f64 = 1.5e-9;
}

/// An estimate of a run, for the plan and the progress bar. The outputs do not depend on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Documents of all inputs.
    pub documents: u64,
    /// Bytes of their text.
    pub text_bytes: u64,
    /// Temporary space in the output directory, which an interrupted run leaves there.
    pub work_bytes: u64,
    /// Temporary space in the directory of temporary files.
    pub spooled_bytes: u64,
    /// Bytes of the output.
    pub output_bytes: u64,
    /// The stages in order, with their durations.
    pub stages: Vec<StagePlan>,
    /// The expected number of accidental neighbours of a document: if bits were uniform, and with
    /// the shares of set bits in the sample. Only for fingerprints of 64 bits and samples that are
    /// large enough.
    pub accidental: Option<(f64, f64)>,
    /// The number of documents in the sample, if none of them has text in the text field.
    pub without_text: Option<usize>,
}

/// A file system with less free space than a run needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// A directory in it.
    pub directory: PathBuf,
    /// Bytes that the run needs there.
    pub needed_bytes: u64,
    /// Bytes that are free.
    pub free_bytes: u64,
}

impl Estimate {
    /// The duration of the run.
    pub fn time(&self) -> Duration {
        self.stages.iter().map(|stage| stage.time).sum()
    }

    /// All temporary space.
    pub fn temporary_bytes(&self) -> u64 {
        self.work_bytes.saturating_add(self.spooled_bytes)
    }

    /// The file systems with too little space for a run with its output in `out` and its temporary
    /// files in `temporary`.
    pub fn shortages(&self, out: &Path, temporary: &Path) -> Vec<Shortage> {
        let found = [out, temporary].map(FileSystem::of);
        self.shortages_in([(out, found[0]), (temporary, found[1])])
    }

    fn shortages_in(&self, [out, temporary]: [(&Path, Option<FileSystem>); 2]) -> Vec<Shortage> {
        let in_output = self.work_bytes.saturating_add(self.output_bytes);
        let device = |system: Option<FileSystem>| system.map(|found| found.device);
        let needs = match device(out.1) == device(temporary.1) {
            true => vec![(out, in_output.saturating_add(self.spooled_bytes))],
            false => vec![(out, in_output), (temporary, self.spooled_bytes)],
        };
        let shortage = |((directory, found), needed_bytes): ((&Path, Option<FileSystem>), u64)| {
            let free_bytes = found?.free_bytes;
            (free_bytes < needed_bytes).then(|| Shortage {
                directory: directory.to_owned(),
                needed_bytes,
                free_bytes,
            })
        };
        needs.into_iter().filter_map(shortage).collect()
    }
}

impl Job {
    /// Reads a sample and extrapolates; writes nothing. Takes about a second at most, unless a
    /// document is very long. Streams do not count, as their contents are not known yet.
    ///
    /// # Errors
    /// Those of reading and of [`check`](Job::check).
    pub fn estimate(&self, invocation: &Invocation<'_>, resources: &Resources) -> Result<Estimate> {
        self.check()?;
        let references = invocation.against.documents();
        let sources = [references, invocation.sources].concat();
        let inputs = RunInputs {
            sources: &sources,
            references: references.len() as u32,
        };
        let method = match (invocation.against, self.is_by_equality()) {
            (Against::Known(known), _) => Some(known.method()?),
            (_, true) => None,
            // Corpus statistics are not known before everything was read.
            (_, false) => {
                let common = self.common(resources.level);
                Some(methods::preview(&self.method, common)?)
            }
        };
        let method = method.as_deref();
        let sample = Sampler::sample(self, method, inputs, resources)?;
        let known = match invocation.against {
            Against::Known(known) => Some(known.documents()),
            Against::Itself | Against::Documents(_) => None,
        };
        let documents = documents(&sample.kinds);
        let among = known.unwrap_or(documents);
        let accidental = accidental(&sample.segment, among, method, resources);
        let nearness = match (method, known) {
            (Some(method), None) => nearness(&sample, documents, method, resources)?,
            _ => Nearness::default(),
        };
        let costs = Costs {
            job: self,
            sample: &sample,
            documents: documents as f64,
            threads: working_threads(resources.threads.min(cores())),
            marked: nearness.marked(accidental),
            mark_seconds: nearness.seconds,
            stored_bytes: stored_bytes(&sample.segment),
        };
        Ok(costs.estimate(method, known.is_some(), accidental))
    }
}

/// The average number of threads that work at the same time, of `threads` that share a stage.
fn working_threads(threads: usize) -> f64 {
    match threads {
        0 | 1 => 1.0,
        _ => threads as f64 * BUSY,
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn documents(kinds: &[KindRates]) -> u64 {
    let of = |kind: &KindRates| {
        kind.counted
            .map_or(kind.documents.over(kind.bytes), |counted| counted as f64)
    };
    kinds.iter().map(of).sum::<f64>().round() as u64
}

/// The number of documents in the sample, if none of them has text in the text field.
fn without_text(segment: &Segment) -> Option<usize> {
    let lacks_text = |row: &Row| row.flags.has(Flags::NO_TEXT);
    let all_lack_it = !segment.rows.is_empty() && segment.rows.iter().all(lacks_text);
    all_lack_it.then_some(segment.rows.len())
}

/// Approximate bytes that are stored for each document: its row, sketch and labels.
fn stored_bytes(segment: &Segment) -> u64 {
    let sketches = segment.sketches.bytes.len() + size_of_val(&segment.sketches.borders[..]);
    let labels = segment.labels.len();
    let varying = match segment.rows.len() {
        0 => LABEL_BYTES,
        rows => (sketches + labels).div_ceil(rows) as u64,
    };
    size_of::<Row>() as u64 + varying
}

/// The share of near documents, and the cost of finding them.
#[derive(Default)]
struct Nearness {
    /// The share of all documents that have a near document, not counting accidental hits.
    share: f64,
    /// Seconds of one thread for each document.
    seconds: f64,
}

impl Nearness {
    fn marked(&self, accidental: Option<(f64, f64)>) -> f64 {
        let by_accident = accidental.map_or(0.0, |(_, measured)| 1.0 - (-measured).exp());
        (self.share + by_accident).min(1.0)
    }
}

/// Compares the sketches of the sample with each other.
///
/// A neighbour in the same chunk is as frequent in the sample as in the input. Of the other
/// neighbours, the sample has the same share as of all documents.
fn nearness(
    sample: &Sample,
    documents: u64,
    method: &dyn Method,
    resources: &Resources,
) -> Result<Nearness> {
    let segment = &sample.segment;
    let count = segment.rows.len().min(COMPARED);
    if count == 0 {
        return Ok(Nearness::default());
    }
    let workers = Workers::new(1)?;
    let near_in = |rows: Range<usize>| -> Result<(usize, f64)> {
        let sketches = segment.sketches.all(method).range(rows);
        // The index is built in the current pool. With its single thread, the time of the calling
        // thread is the time of all work.
        workers.install(|| near_in(sketches, method, resources))
    };
    let (near, seconds) = near_in(0..count)?;
    let (mut begin, mut in_chunks) = (0, 0);
    for &end in sample.chunk_ends.iter().take_while(|&&end| end <= count) {
        in_chunks += near_in(begin..end)?.0;
        begin = end;
    }
    let sample_share = (count as f64 / documents.max(1) as f64).min(1.0);
    let share_of = |number: usize| number as f64 / count as f64;
    let share = share_of(in_chunks) + share_of(near.saturating_sub(in_chunks)) / sample_share;
    let is_large = count as f64 * sample_share * MARKED >= LEAST_EXPECTED;
    let share = match is_large || sample_share == 1.0 {
        true => share,
        false => share.max(MARKED),
    };
    Ok(Nearness {
        share: share.clamp(share_of(near), share_of(near).max(0.5)),
        seconds: match method.shape() {
            Shape::Bits { .. } => seconds::MARK_BITS,
            _ => seconds / count as f64 * seconds::MARK_GROWTH,
        },
    })
}

/// The number of `sketches` with a near sketch among the others, and the seconds to count them.
fn near_in(
    sketches: Sketches<'_>,
    method: &dyn Method,
    resources: &Resources,
) -> Result<(usize, f64)> {
    let before = thread_time();
    let index = build_index(method, sketches, resources.level)?;
    let queries: Vec<AnyQuery<'_>> = (0..)
        .zip(sketches.iter())
        .map(|(position, sketch)| AnyQuery {
            sketch,
            except: Some(position),
        })
        .collect();
    let mut near = 0;
    index.any_near_batch(&queries, &mut Scratch::default(), |_, found| {
        near += usize::from(found);
    });
    Ok((near, thread_time().saturating_sub(before).as_secs_f64()))
}

/// The inputs of the cost model.
struct Costs<'a> {
    job: &'a Job,
    sample: &'a Sample,
    documents: f64,
    /// Threads that work at the same time.
    threads: f64,
    marked: f64,
    mark_seconds: f64,
    stored_bytes: u64,
}

impl Costs<'_> {
    fn estimate(
        &self,
        method: Option<&dyn Method>,
        against_index: bool,
        accidental: Option<(f64, f64)>,
    ) -> Estimate {
        let text: f64 = self.total(|kind| kind.text.over(kind.bytes));
        let gathered = self.documents * self.stored_bytes as f64;
        let has_pairs = method.is_some() && !against_index;
        let marked = if has_pairs { self.marked } else { 0.0 };
        let shingles = text * marked * SHINGLES_OF_TEXT;
        let sketches = if has_pairs { gathered } else { 0.0 };
        let near = if against_index {
            self.marked.max(MARKED)
        } else {
            self.marked
        };
        let reports = self.documents * near * DROPPED * REPORT_BYTES;
        let written = match self.job.write {
            WriteMode::None => 0.0,
            WriteMode::Ids => self.documents * LABEL_BYTES as f64,
            WriteMode::Kept | WriteMode::Annotated => {
                self.total(|kind| kind.written.over(kind.own_bytes))
            }
        };
        Estimate {
            documents: self.documents as u64,
            text_bytes: text.round() as u64,
            // Segments and gathered files exist side by side for a while.
            work_bytes: (2.0 * gathered) as u64,
            spooled_bytes: (shingles + sketches) as u64,
            output_bytes: (written + reports) as u64,
            stages: self.stages(has_pairs, against_index),
            accidental,
            without_text: without_text(&self.sample.segment),
        }
    }

    fn stages(&self, has_pairs: bool, against_index: bool) -> Vec<StagePlan> {
        let tokenize = self.total(|kind| kind.tokenize.over(kind.bytes));
        let sketch = self.total(|kind| kind.sketch.over(kind.bytes));
        let each = |seconds: f64| seconds * self.documents / self.threads;
        let marked = |seconds: f64| seconds * self.documents * self.marked;
        let gathered = self.documents * self.stored_bytes as f64;
        let mut stages = Vec::new();
        if !against_index {
            let counting = self.reading(tokenize * (1.0 + seconds::COUNTING));
            let passes = self.job.method.required_counts().len();
            stages.extend(std::iter::repeat_n((Stage::Count, counting), passes));
        }
        stages.push((Stage::Sketch, self.reading(sketch)));
        stages.push((Stage::Gather, gathered * seconds::GATHER_BYTE));
        match against_index {
            true => stages.push((Stage::Search, each(seconds::SEARCH))),
            false => stages.push((Stage::Group, each(seconds::GROUP))),
        }
        if has_pairs {
            let shingles = tokenize * (1.0 + seconds::SHINGLES) * self.marked;
            stages.extend([
                (Stage::Mark, each(self.mark_seconds)),
                (Stage::Verify, self.reading(shingles)),
                (Stage::Cluster, marked(seconds::CLUSTER) / self.threads),
            ]);
        }
        stages.push((Stage::Report, marked(seconds::REPORT)));
        if matches!(self.job.write, WriteMode::Kept | WriteMode::Annotated) {
            stages.push((Stage::Write, self.writing()));
        }
        let plan = |(stage, seconds): (Stage, f64)| StagePlan {
            stage,
            time: Duration::from_secs_f64(seconds.clamp(0.0, 1e9)),
        };
        stages.into_iter().map(plan).collect()
    }

    fn total(&self, of: impl Fn(&KindRates) -> f64) -> f64 {
        self.sample.kinds.iter().map(of).sum()
    }

    /// Seconds to read everything while doing `work` seconds of work: at least the time to
    /// decompress the longest file that one thread reads alone.
    fn reading(&self, work: f64) -> f64 {
        let read = self.total(|kind| kind.read.over(kind.bytes));
        let alone = |kind: &KindRates| kind.read.over(kind.largest_serial);
        let longest = self.sample.kinds.iter().map(alone).fold(0.0, f64::max);
        ((read + work) / self.threads).max(longest)
    }

    /// Seconds to write everything again: tables (Parquet) one after another, other files in
    /// parallel, with the time to read them.
    fn writing(&self) -> f64 {
        let (mut together, mut tables) = (0.0, 0.0);
        for kind in &self.sample.kinds {
            let bytes = kind.written.over(kind.own_bytes) * seconds::WRITE_BYTE;
            let write = kind.write.over(kind.own_bytes);
            match kind.is_table {
                true => tables += write + bytes,
                false => together += kind.read.over(kind.own_bytes) + write + bytes,
            }
        }
        together / self.threads + tables
    }
}

/// The expected number of accidental neighbours of a document among `documents`.
fn accidental(
    segment: &Segment,
    documents: u64,
    method: Option<&dyn Method>,
    resources: &Resources,
) -> Option<(f64, f64)> {
    match method?.shape() {
        Shape::Bits {
            width: 64,
            distance,
        } => {
            let columns = Columns::<u64>::new(resources.level);
            let mut fingerprints: Vec<u64> = bytemuck::pod_collect_to_vec(&segment.sketches.bytes);
            // Equal fingerprints are usually of equal words, not accidental.
            fingerprints.sort_unstable();
            fingerprints.dedup();
            if fingerprints.len() < LEAST_FINGERPRINTS {
                return None;
            }
            let counts = columns.count(&fingerprints);
            let measured = Chance::measured(&counts.0, fingerprints.len() as u64, 64, distance);
            let fair = Chance::uniform(64, distance);
            Some((
                fair.hits_per_query(documents),
                measured.hits_per_query(documents),
            ))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortages_have_needed_and_free_bytes() {
        let estimate = Estimate {
            work_bytes: 100,
            spooled_bytes: 50,
            output_bytes: 30,
            ..Estimate::default()
        };
        let [out, temporary] = ["o", "t"].map(Path::new);
        let shortages = |first: (u64, u64), second: (u64, u64)| {
            let system = |(device, free_bytes)| Some(FileSystem { device, free_bytes });
            let found = estimate.shortages_in([(out, system(first)), (temporary, system(second))]);
            let short = |found: &Shortage| {
                (
                    found.directory.clone(),
                    found.needed_bytes,
                    found.free_bytes,
                )
            };
            found.iter().map(short).collect::<Vec<_>>()
        };
        assert_eq!(shortages((1, 180), (1, 180)), []);
        assert_eq!(shortages((1, 179), (1, 179)), [(out.to_owned(), 180, 179)]);
        assert_eq!(shortages((1, 130), (2, 50)), []);
        assert_eq!(
            shortages((1, 129), (2, 49)),
            [(out.to_owned(), 130, 129), (temporary.to_owned(), 50, 49)]
        );
    }
}

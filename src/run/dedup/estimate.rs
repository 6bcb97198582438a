//! What a run would take, from a sample of its inputs.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Result;
use crate::io::FileSystem;
use crate::io::usage::thread_time;
use crate::kernel::columns::Columns;
use crate::run::{Resources, Stage, StagePlan, Workers, methods};
use crate::search::join::{AnyQuery, Scratch, SketchIndex};
use crate::sketch::accidental::Chance;
use crate::sketch::{Method, Shape, Sketches};

use super::job::{Job, WriteMode};
use super::row::Row;
use super::sample::{Kind, Sample, Sampler};
use super::segment::Segment;
use super::sketching::Inputs;
use super::{Against, Place};

/// A label and what else varies, about.
const LABEL_BYTES: u64 = 96;
/// Bytes of shingle hashes for a byte of text, about: eight for a word.
const SHINGLES_OF_TEXT: f64 = 1.4;
/// The share of documents with another one near, where the sample is too small to tell.
const MARKED: f64 = 0.2;
/// Near documents that a sample has to be expected to hold before it is believed.
const BELIEVED: f64 = 10.0;
/// Bytes of the reports for a document that goes: its line, and its part of its cluster's.
const REPORT_BYTES: f64 = 750.0;
/// Of the documents with another one near, about how many go.
const DROPPED: f64 = 0.5;
/// Different fingerprints from which the chance of accidental hits can be told.
const LEAST_FINGERPRINTS: usize = 256;
/// Sketches of the sample that are compared.
const COMPARED: usize = 1 << 14;

/// Seconds of one thread for each document, about, in stages that no sample shows.
mod seconds {
    /// To put rows together, for each of their bytes.
    pub const GATHER_BYTE: f64 = 3e-9;
    pub const GROUP: f64 = 0.8e-6;
    /// To find near fingerprints in tables: to look them up, and to insert them.
    pub const MARK_BITS: f64 = 4e-6;
    /// How many times as long a look takes in a large table as in that of a sample.
    pub const MARK_GROWTH: f64 = 2.0;
    /// For each document with another one near.
    pub const CLUSTER: f64 = 8e-6;
    pub const REPORT: f64 = 5e-6;
    /// To ask an index.
    pub const SEARCH: f64 = 20e-6;
    /// Shingles beside words, as a share of tokenizing; counting likewise.
    pub const SHINGLES: f64 = 0.5;
    pub const COUNTING: f64 = 0.5;
    /// To put a byte into a file and to have it synced.
    pub const WRITE_BYTE: f64 = 1.5e-9;
}

/// What to expect of a run: for people, and never for a decision.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Documents of all inputs.
    pub documents: u64,
    /// Bytes of their text.
    pub text_bytes: u64,
    /// Temporary space in the output directory, which an unfinished run leaves there.
    pub work_bytes: u64,
    /// Temporary space in the directory of temporary files.
    pub spooled_bytes: u64,
    /// Bytes of the output.
    pub output_bytes: u64,
    /// The stages in order, and how long each takes.
    pub stages: Vec<StagePlan>,
    /// How many documents a document has near it by accident, with fair bits and with the bits of
    /// the sample: for methods that make fingerprints of 64 bits, and samples that are large enough.
    pub accidental: Option<(f64, f64)>,
}

/// A file system that has less space than a run needs.
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
    /// How long the run takes.
    pub fn time(&self) -> Duration {
        self.stages.iter().map(|stage| stage.time).sum()
    }

    /// All temporary space.
    pub fn temporary_bytes(&self) -> u64 {
        self.work_bytes.saturating_add(self.spooled_bytes)
    }

    /// The file systems that have too little space, for a run with its output in `out` and its
    /// temporary files in `temporary`.
    pub fn shortages(&self, out: &Path, temporary: &Path) -> Vec<Shortage> {
        let found = [out, temporary].map(FileSystem::of);
        self.shortages_in([(out, found[0]), (temporary, found[1])])
    }

    fn shortages_in(&self, [out, temporary]: [(&Path, Option<FileSystem>); 2]) -> Vec<Shortage> {
        let in_output = self.work_bytes.saturating_add(self.output_bytes);
        let device = |place: Option<FileSystem>| place.map(|found| found.device);
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
    /// Reads a little and extrapolates; writes nothing. Takes about a second at most, unless a
    /// document is very long. Streams do not count: nothing is known of them yet.
    ///
    /// # Errors
    /// Those of reading and of a job that cannot be done.
    pub fn estimate(&self, place: &Place<'_>, resources: &Resources) -> Result<Estimate> {
        self.check()?;
        let references = place.against.documents();
        let sources = [references, place.sources].concat();
        let inputs = Inputs {
            sources: &sources,
            references: references.len() as u32,
        };
        let method = match (place.against, self.is_by_equality()) {
            (Against::Known(known), _) => Some(known.method()?),
            (_, true) => None,
            // What is counted ahead is not known before everything was read.
            (_, false) => {
                let common = self.common(resources.level);
                Some(methods::preview(&self.method, common)?)
            }
        };
        let method = method.as_deref();
        let sample = Sampler::sample(self, method, inputs, resources)?;
        let known = match place.against {
            Against::Known(known) => Some(known.documents()),
            Against::Itself | Against::Documents(_) => None,
        };
        let documents = documents(&sample.kinds);
        let among = known.unwrap_or(documents);
        let accidental = accidental(&sample.seen, among, method, resources);
        let nearness = match (method, known) {
            (Some(method), None) => nearness(&sample, documents, method, resources)?,
            _ => Nearness::default(),
        };
        let costs = Costs {
            job: self,
            sample: &sample,
            documents: documents as f64,
            threads: resources.threads.min(cores()) as f64,
            marked: nearness.marked(accidental),
            mark_seconds: nearness.seconds,
            // What the sample wrote beside the texts.
            stored_bytes: stored_bytes(&sample.seen),
        };
        Ok(costs.estimate(method, known.is_some(), accidental))
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn documents(kinds: &[Kind]) -> u64 {
    let of = |kind: &Kind| {
        kind.counted
            .map_or(kind.documents.over(kind.bytes), |counted| counted as f64)
    };
    kinds.iter().map(of).sum::<f64>().round() as u64
}

/// Bytes that are stored of a document, about.
fn stored_bytes(seen: &Segment) -> u64 {
    let sketches = seen.sketches.bytes.len() + size_of_val(&seen.sketches.borders[..]);
    let labels = seen.labels.len();
    let varying = match seen.rows.len() {
        0 => LABEL_BYTES,
        rows => (sketches + labels).div_ceil(rows) as u64,
    };
    size_of::<Row>() as u64 + varying
}

/// How near the documents of the sample are to each other, and what it took to find out.
#[derive(Default)]
struct Nearness {
    /// The share of all documents that have another one near, apart from accidents.
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
/// A document whose neighbour is in its own chunk is as frequent in the sample as in the input. Of
/// the other documents with a neighbour, the sample shows only those whose neighbour it happens to
/// hold.
fn nearness(
    sample: &Sample,
    documents: u64,
    method: &dyn Method,
    resources: &Resources,
) -> Result<Nearness> {
    let seen = &sample.seen;
    let count = seen.rows.len().min(COMPARED);
    if count == 0 {
        return Ok(Nearness::default());
    }
    let workers = Workers::new(1)?;
    let near_in = |rows: Range<usize>| -> Result<(usize, f64)> {
        let sketches = seen.sketches.all(method).range(rows);
        // The index uses the pool that it is in, and the time of its thread is asked for.
        workers.install(|| near_in(sketches, method, resources))
    };
    let (near, seconds) = near_in(0..count)?;
    let (mut begin, mut beside) = (0, 0);
    for &end in sample.chunk_ends.iter().take_while(|&&end| end <= count) {
        beside += near_in(begin..end)?.0;
        begin = end;
    }
    let seen_share = (count as f64 / documents.max(1) as f64).min(1.0);
    let share_of = |number: usize| number as f64 / count as f64;
    let share = share_of(beside) + share_of(near.saturating_sub(beside)) / seen_share;
    let is_believed = count as f64 * seen_share * MARKED >= BELIEVED;
    let share = match is_believed || seen_share == 1.0 {
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

/// How many of some sketches have another one near, and the seconds that it took to find out.
fn near_in(
    sketches: Sketches<'_>,
    method: &dyn Method,
    resources: &Resources,
) -> Result<(usize, f64)> {
    let before = thread_time();
    let memory = sketches
        .iter()
        .map(|sketch| SketchIndex::bytes_for(method, sketch))
        .sum::<usize>();
    let index = SketchIndex::build(method, sketches, memory.max(1 << 20), resources.level)?;
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

/// What the stages cost.
struct Costs<'a> {
    job: &'a Job,
    sample: &'a Sample,
    documents: f64,
    threads: f64,
    marked: f64,
    mark_seconds: f64,
    stored_bytes: u64,
}

impl Costs<'_> {
    fn estimate(
        &self,
        method: Option<&dyn Method>,
        is_known: bool,
        accidental: Option<(f64, f64)>,
    ) -> Estimate {
        let text: f64 = self.total(|kind| kind.text.over(kind.bytes));
        let gathered = self.documents * self.stored_bytes as f64;
        let has_pairs = method.is_some() && !is_known;
        let marked = if has_pairs { self.marked } else { 0.0 };
        let shingles = text * marked * SHINGLES_OF_TEXT;
        let sketches = if has_pairs { gathered } else { 0.0 };
        let near = if is_known {
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
            // Segments and what they are gathered into exist side by side for a while.
            work_bytes: (2.0 * gathered) as u64,
            spooled_bytes: (shingles + sketches) as u64,
            output_bytes: (written + reports) as u64,
            stages: self.stages(has_pairs, is_known),
            accidental,
        }
    }

    fn stages(&self, has_pairs: bool, is_known: bool) -> Vec<StagePlan> {
        let tokenize = self.total(|kind| kind.tokenize.over(kind.bytes));
        let sketch = self.total(|kind| kind.sketch.over(kind.bytes));
        let each = |seconds: f64| seconds * self.documents / self.threads;
        let marked = |seconds: f64| seconds * self.documents * self.marked;
        let gathered = self.documents * self.stored_bytes as f64;
        let mut stages = Vec::new();
        if !is_known {
            let counting = self.reading(tokenize * (1.0 + seconds::COUNTING));
            let ahead = self.job.method.required_counts().len();
            stages.extend(std::iter::repeat_n((Stage::Count, counting), ahead));
        }
        stages.push((Stage::Sketch, self.reading(sketch)));
        stages.push((Stage::Gather, gathered * seconds::GATHER_BYTE));
        match is_known {
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

    fn total(&self, of: impl Fn(&Kind) -> f64) -> f64 {
        self.sample.kinds.iter().map(of).sum()
    }

    /// Seconds to read everything while `work` seconds of one thread are done: no less than it
    /// takes to decompress the longest file that one thread has to read alone.
    fn reading(&self, work: f64) -> f64 {
        let read = self.total(|kind| kind.read.over(kind.bytes));
        let alone = |kind: &Kind| kind.read.over(kind.largest_serial);
        let longest = self.sample.kinds.iter().map(alone).fold(0.0, f64::max);
        ((read + work) / self.threads).max(longest)
    }

    /// Seconds to write everything again: tables one after another, all else as it is read.
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

/// The number of the given documents that each document is near by accident.
fn accidental(
    seen: &Segment,
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
            let mut prints: Vec<u64> = bytemuck::pod_collect_to_vec(&seen.sketches.bytes);
            // Equal documents are no accident.
            prints.sort_unstable();
            prints.dedup();
            if prints.len() < LEAST_FINGERPRINTS {
                return None;
            }
            let counts = columns.count(&prints);
            let measured = Chance::measured(&counts.0, prints.len() as u64, 64, distance);
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
    fn too_little_space_is_told_with_both_numbers() {
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

//! Estimates of a run's time and space, from a sample of its inputs.
//!
//! A document is *marked* if a near document is found for it. The candidates of
//! marked documents are verified.

use std::collections::HashSet;
use std::ops::Range;
use std::time::Duration;

use crate::Result;
use simtool_core::kernel::Level;
use simtool_core::kernel::columns::Columns;
use simtool_core::search::hamming;
use simtool_core::search::join::{AnyQuery, Scratch, SketchIndex, SketchJoin};
use simtool_core::sketch::accidental::Chance;
use simtool_core::sketch::{Method, Shape, Sketches};
use simtool_engine::{Resources, Stage, StagePlan, Workers, methods};
use simtool_files::usage::thread_time;

use super::candidates::Candidates;
use super::edited_copies::FoundCopies;
use super::job::{Job, WriteMode};
use super::neighbours::build_index;
use super::sample::Sample;
use super::search_form::SearchForm;
use super::sketching::RunInputs;
use crate::estimate::input_costs::described_bytes;
use crate::estimate::run_cost::RunCost;
use crate::skeleton::invocation::{Against, Invocation};
use crate::table::row::{Flags, Row};
use crate::table::segment::Segment;

/// Approximate bytes of a label and of other data of varying length.
const LABEL_BYTES: u64 = 96;
/// Approximate bytes of shingle hashes per byte of text: eight for each word.
const SHINGLES_OF_TEXT: f64 = 1.4;
/// The assumed share of marked documents if the sample is too small to measure it; also the least
/// assumed share of documents with a match in an index.
const MARKED: f64 = 0.2;
/// A measured share below [`MARKED`] is used only if the sample is large enough: at a share of
/// [`MARKED`], at least this many of its documents are expected to have a near document within it.
const LEAST_EXPECTED: f64 = 10.0;
/// Bytes of the reports per dropped document: its line, and its entry in the line of its cluster.
const REPORT_BYTES: f64 = 750.0;
/// The approximate share of dropped documents among marked ones.
const DROPPED: f64 = 0.5;
/// The least number of different fingerprints to estimate the number of accidental neighbours.
const LEAST_FINGERPRINTS: usize = 256;
/// The most fingerprints of the sample whose accidental pairs are counted.
const PAIRED: usize = 1 << 15;
/// A connected component is large if it has at least one part in this number of all fingerprints.
/// Tuned on one generated collection, where requiring half of the fingerprints was too strict.
const LARGE: usize = 16;
/// Marking takes long if it takes this many seconds.
const LONG: f64 = 60.0;
/// The most sketches of the sample that are compared.
const COMPARED: usize = 1 << 14;
/// Approximate seconds of one thread for stages that the sample does not measure; per document,
/// unless another unit is given.
mod seconds {
    /// Gathering, which reads the rows, per byte of rows, sketches and labels.
    pub const GATHER_BYTE: f64 = 0.2e-9;
    pub const GROUP: f64 = 0.8e-6;
    /// The ratio of the look-up time in a large table to that in the table of a sample.
    pub const MARK_GROWTH: f64 = 2.0;
    /// Clustering, per duplicate.
    pub const CLUSTER: f64 = 8e-6;
    /// Rejecting a candidate pair of fingerprints. Fitted to one collection of texts of twelve
    /// words.
    pub const REJECT: f64 = 0.02e-6;
    /// Reporting, per duplicate.
    pub const REPORT: f64 = 5e-6;
    /// Querying an index.
    pub const SEARCH: f64 = 20e-6;
    /// The time to make shingles, divided by that to tokenize.
    pub const SHINGLES: f64 = 0.5;
    /// The time to count words, divided by that to tokenize.
    pub const COUNTING: f64 = 0.5;
}

/// An estimate of a run, for the plan and the progress bar. The outputs do not depend on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    /// What the run takes.
    pub cost: RunCost,
    /// The expected number of accidental neighbours of a document: if bits were uniform, and
    /// according to the sample. Only for fingerprints of 64 bits and samples that are large enough.
    pub accidental: Option<(f64, f64)>,
    /// How many edited copies of documents in the sample the method proposes.
    pub found_copies: Option<FoundCopies>,
    /// The number of documents in the sample, if none of them has text in the text field.
    pub without_text: Option<usize>,
    /// The number of documents with which each is compared, if that takes most of a long time.
    pub compared: Option<u64>,
    /// How the documents that have a near one are found.
    pub search: SearchForm,
}

impl Job {
    /// Reads a sample and extrapolates; writes nothing. Takes about a second at most, unless a
    /// document is very long. Streams are not counted, as their contents are not known yet.
    ///
    /// # Errors
    /// Errors of reading and of building the method.
    pub fn estimate(&self, invocation: &Invocation<'_>, resources: &Resources) -> Result<Estimate> {
        let references = invocation.against.documents();
        let sources = [references, invocation.sources].concat();
        let inputs = RunInputs {
            sources: &sources,
            references: references.len() as u32,
        };
        let method = match (invocation.against, self.is_by_equality()) {
            (Against::Known(known), _) => Some(known.method()?.into_plain()),
            (_, true) => None,
            // Corpus statistics are not known until all inputs have been read.
            (_, false) => {
                let common = self.common(resources.level);
                Some(methods::build_without_statistics(&self.method, common)?)
            }
        };
        let method = method.as_deref();
        let sample = Sample::of(self, method, inputs, resources)?;
        let known = match invocation.against {
            Against::Known(known) => Some(known.documents()),
            Against::Itself | Against::Documents(_) => None,
        };
        let documents = sample.input.documents();
        let among = known.unwrap_or(documents);
        let accidental = method.and_then(|method| {
            let neighbours = accidental_neighbours(&sample, among, method, resources.level)?;
            let Shape::Bits { width, distance } = method.shape() else {
                return None;
            };
            let uniform = Chance::uniform(width, distance).hits_per_query(among);
            Some((uniform, neighbours))
        });
        let accidents = accidental.map_or(0.0, |(_, measured)| measured);
        let nearness = match (method, known) {
            (Some(method), None) => nearness(&sample, documents, accidents, method, resources)?,
            _ => Nearness::default(),
        };
        let costs = Costs {
            job: self,
            sample: &sample,
            documents: documents as f64,
            accidents,
            marked: (nearness.share + by_accident(accidents)).min(1.0),
            nearness,
            stored_bytes: stored_bytes(&sample.segment),
            described_bytes: described_bytes(&sources, self.writes_files()),
        };
        Ok(costs.estimate(method, known.is_some(), accidental))
    }
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
    /// Seconds of one thread for each document, to find any near document.
    mark: f64,
    /// Seconds of one thread for each document, to compare it with all that may be near.
    search: f64,
    /// The number of these, for methods that compare a part of all documents.
    compared: f64,
}

/// The share of documents with an accidental neighbour, if a document has `accidents` on average.
fn by_accident(accidents: f64) -> f64 {
    1.0 - (-accidents).exp()
}

/// The part of `found` that is not near by accident, or 0 if at least half of it is expected to be
/// accidental.
fn without_accidents(found: usize, by_accident: f64) -> f64 {
    match found as f64 > 2.0 * by_accident {
        true => found as f64 - by_accident,
        false => 0.0,
    }
}

/// Compares the sketches of the sample with each other.
///
/// Neighbours within a chunk are as frequent in the sample as in the input. A neighbour outside the
/// chunk is in the sample with the probability of any document, so the measured share of documents
/// with such neighbours is divided by it. A document has `accidents` accidental neighbours on
/// average.
fn nearness(
    sample: &Sample,
    documents: u64,
    accidents: f64,
    method: &dyn Method,
    resources: &Resources,
) -> Result<Nearness> {
    let segment = &sample.segment;
    let count = segment.rows.len().min(COMPARED);
    if count == 0 {
        return Ok(Nearness::default());
    }
    let workers = Workers::new(1)?;
    let near_in_rows = |rows: Range<usize>| -> Result<(usize, f64)> {
        let sketches = segment.sketches.all(method).range(rows);
        // The index is built in the current pool, which has one thread. So the time of the calling
        // thread is the time of all work.
        workers.install(|| near_in(sketches, method, resources))
    };
    let (near, seconds) = near_in_rows(0..count)?;
    let share_of_all = |number: usize| (number as f64 / documents.max(1) as f64).min(1.0);
    let accidental = |number: usize| number as f64 * by_accident(accidents * share_of_all(number));
    let near = without_accidents(near, accidental(count)) / count as f64;
    let (mut begin, mut in_chunks) = (0, 0.0);
    for &end in sample.chunk_ends.iter().take_while(|&&end| end <= count) {
        in_chunks += without_accidents(near_in_rows(begin..end)?.0, accidental(end - begin));
        begin = end;
    }
    let in_chunks = in_chunks / count as f64;
    let sample_share = share_of_all(count);
    let share = in_chunks + (near - in_chunks).max(0.0) / sample_share;
    let is_large = count as f64 * sample_share * MARKED >= LEAST_EXPECTED;
    let share = match is_large || sample_share == 1.0 {
        true => share,
        false => share.max(MARKED),
    };
    let share = share.clamp(near, near.max(0.5));
    let indexed = documents.clamp(1, u32::MAX.into()) as usize;
    let all = segment.sketches.all(method);
    let join = SketchJoin::of(method);
    let joined = join.map_or(0.0, |join| join.seconds(all, indexed) / indexed as f64);
    if let Some(plan) = SketchIndex::estimate(method, all, indexed)? {
        return Ok(Nearness {
            share,
            mark: joined,
            search: plan.seconds / indexed as f64,
            compared: 0.0,
        });
    }
    let of_sample = all.range(0..count);
    let candidates = workers.install(|| Candidates::measure(of_sample, method, resources))?;
    let compared = candidates.share * documents as f64;
    let search = candidates.seconds * compared;
    // The query of the sample compares those in it.
    let further = search * (1.0 - sample_share);
    let query = seconds / count as f64;
    let mark = match join {
        Some(join) if join.decides() => joined,
        // Only documents with a candidate are queried.
        Some(_) => {
            let queried = (share + compared).min(1.0);
            joined + queried * (query * seconds::MARK_GROWTH + queried * search)
        }
        // Comparisons take most of the time, not look-ups.
        None => query + further,
    };
    Ok(Nearness {
        share,
        mark,
        search,
        compared,
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
    /// The number of accidental neighbours of a document.
    accidents: f64,
    /// The share of documents that have a near document, accidental ones included.
    marked: f64,
    nearness: Nearness,
    stored_bytes: u64,
    /// Bytes of the descriptions of inputs and outputs.
    described_bytes: u64,
}

impl Costs<'_> {
    fn estimate(
        &self,
        method: Option<&dyn Method>,
        against_index: bool,
        accidental: Option<(f64, f64)>,
    ) -> Estimate {
        let text: f64 = self.sample.input.total(|kind| kind.text.over(kind.bytes));
        let stored = self.documents * self.stored_bytes as f64;
        let has_pairs = method.is_some() && !against_index;
        let marked = if has_pairs { self.marked } else { 0.0 };
        let shingles = text * marked * SHINGLES_OF_TEXT;
        let sketches = if has_pairs { stored } else { 0.0 };
        let near = self.documents * self.near_share(against_index);
        let reports = near * DROPPED * REPORT_BYTES;
        let written = match self.job.write {
            WriteMode::None => 0.0,
            WriteMode::Ids => self.documents * LABEL_BYTES as f64,
            WriteMode::Kept | WriteMode::Annotated | WriteMode::Text => self
                .sample
                .input
                .total(|kind| kind.written.over(kind.own_bytes)),
        };
        Estimate {
            cost: RunCost {
                documents: self.documents as u64,
                text_bytes: text.round() as u64,
                work_bytes: stored as u64,
                spooled_bytes: (shingles + sketches) as u64,
                output_bytes: (written + reports) as u64 + self.described_bytes,
                stages: self.stages(has_pairs, against_index),
            },
            accidental,
            found_copies: self.sample.found_copies,
            without_text: without_text(&self.sample.segment),
            compared: self.compared(),
            search: SearchForm::of(method, against_index),
        }
    }

    /// The number of documents with which each is compared while marking, if that takes most of a
    /// long time.
    fn compared(&self) -> Option<u64> {
        let marking = self.nearness.mark * self.documents / self.sample.input.threads;
        let is_most = 2.0 * self.nearness.search > self.nearness.mark;
        (marking > LONG && is_most).then_some(self.nearness.compared as u64)
    }

    /// The expected share of documents with a near document.
    fn near_share(&self, against_index: bool) -> f64 {
        match against_index {
            // The sample is not searched in the index.
            true => self.marked.max(MARKED),
            false => self.nearness.share,
        }
    }

    fn stages(&self, has_pairs: bool, against_index: bool) -> Vec<StagePlan> {
        let tokenize = self
            .sample
            .input
            .total(|kind| kind.tokenize.over(kind.bytes));
        let sketch = self
            .sample
            .input
            .total(|kind| kind.process.over(kind.bytes));
        let each = |seconds: f64| seconds * self.documents / self.sample.input.threads;
        let duplicates = self.documents * self.near_share(against_index);
        let gathered = self.documents * self.stored_bytes as f64;
        let mut stages = Vec::new();
        if !against_index {
            let counting = self
                .sample
                .input
                .reading(tokenize * (1.0 + seconds::COUNTING));
            let passes = self.job.method.required_counts().len();
            stages.extend(std::iter::repeat_n((Stage::Count, counting), passes));
        }
        stages.push((Stage::Sketch, self.sample.input.reading(sketch)));
        stages.push((Stage::Gather, gathered * seconds::GATHER_BYTE));
        // Compared scopes are marked before the one second reading, and clustered after it.
        let compared = self.job.compare_scopes.iter();
        let others = compared.filter(|scope| **scope != self.job.within).count();
        let scopes = if against_index { 1 } else { 1 + others };
        let group = match against_index {
            true => (Stage::Search, each(seconds::SEARCH)),
            false => (Stage::Group, each(seconds::GROUP)),
        };
        if !has_pairs || scopes == 1 {
            stages.extend(std::iter::repeat_n(group, scopes));
        }
        if has_pairs {
            let shingles = tokenize * (1.0 + seconds::SHINGLES) * self.marked;
            // Marked documents are searched for near ones; each accidental pair is rejected once.
            let cluster = self.nearness.share * seconds::CLUSTER
                + self.marked.powi(2) * self.nearness.search
                + self.accidents / 2.0 * seconds::REJECT;
            let mark = (Stage::Mark, each(self.nearness.mark));
            let cluster = (Stage::Cluster, each(cluster));
            let verify = self.sample.input.reading_share(shingles, self.marked);
            let verify = (Stage::Verify, verify);
            match scopes {
                1 => stages.extend([mark, verify, cluster]),
                _ => {
                    stages.extend(std::iter::repeat_n([group, mark], scopes).flatten());
                    stages.push(verify);
                    stages.extend(std::iter::repeat_n([group, cluster], scopes).flatten());
                }
            }
        }
        stages.push((Stage::Report, duplicates * seconds::REPORT));
        if self.job.writes_documents() {
            stages.push((
                Stage::Write,
                self.sample.input.writing(self.job.writes_files()),
            ));
        }
        let plan = |(stage, seconds): (Stage, f64)| StagePlan {
            stage,
            time: Duration::from_secs_f64(seconds.clamp(0.0, 1e9)),
        };
        stages.into_iter().map(plan).collect()
    }
}

/// The expected number of accidental neighbours of a document among `documents`, but not less than
/// for independent bits. `None` if the fingerprints do not have 64 bits or the sample has too few
/// of them.
fn accidental_neighbours(
    sample: &Sample,
    documents: u64,
    method: &dyn Method,
    level: Level,
) -> Option<f64> {
    let Shape::Bits {
        width: 64,
        distance,
    } = method.shape()
    else {
        return None;
    };
    let all: Vec<u64> = bytemuck::pod_collect_to_vec(&sample.segment.sketches.bytes);
    let (mut chunk, mut known) = (0, HashSet::new());
    let (mut chunks, mut fingerprints) = (Vec::new(), Vec::new());
    let step = all.len().div_ceil(PAIRED).max(1);
    for (number, &fingerprint) in all.iter().enumerate().step_by(step) {
        chunk += sample.chunk_ends[chunk..].partition_point(|&end| end <= number);
        // Texts with equal fingerprints usually have equal words, so they are no accidental pair.
        if known.insert(fingerprint) {
            chunks.push(chunk);
            fingerprints.push(fingerprint);
        }
    }
    if fingerprints.len() < LEAST_FINGERPRINTS {
        return None;
    }
    let counts = Columns::<u64>::new(level).count(&fingerprints);
    let chance = Chance::measured(&counts.0, fingerprints.len() as u64, 64, distance);
    let probability = accidental_probability(&fingerprints, &chunks, distance, level);
    Some(probability.max(chance.probability()) * documents as f64)
}

/// The share of accidental pairs among all pairs of `fingerprints` in different `chunks`.
///
/// Duplicates form small connected components, accidental pairs a large one. If no component is
/// large ([`LARGE`]), the result is 0.
fn accidental_probability(
    fingerprints: &[u64],
    chunks: &[usize],
    distance: u32,
    level: Level,
) -> f64 {
    let brute_force = hamming::Strategy::BruteForce;
    let Ok(index) = hamming::Index::build(fingerprints, 64, distance, brute_force, level) else {
        return 0.0;
    };
    let mut parents: Vec<usize> = (0..fingerprints.len()).collect();
    let mut near = vec![0usize; fingerprints.len()];
    index.search_batch(
        fingerprints,
        &mut hamming::HammingScratch::default(),
        |a, hits| {
            for hit in hits {
                let b = hit.position as usize;
                if chunks[a] != chunks[b] {
                    near[a] += 1;
                    let roots = [a, b].map(|member| root(&mut parents, member));
                    parents[roots[0]] = roots[1];
                }
            }
        },
    );
    let mut sizes = vec![0usize; fingerprints.len()];
    let mut pairs = vec![0usize; fingerprints.len()];
    for (member, near) in near.iter().enumerate() {
        let root = root(&mut parents, member);
        sizes[root] += 1;
        pairs[root] += near;
    }
    let is_large = |(size, _): &(usize, usize)| size * LARGE >= fingerprints.len();
    let Some((_, found)) = sizes.into_iter().zip(pairs).find(is_large) else {
        return 0.0;
    };
    let in_chunks = chunks.chunk_by(|a, b| a == b).map(|same| same.len().pow(2));
    let compared = fingerprints.len().pow(2) - in_chunks.sum::<usize>();
    found as f64 / compared.max(1) as f64
}

/// The representative of the component that `member` belongs to.
fn root(parents: &mut [usize], mut member: usize) -> usize {
    while parents[member] != member {
        parents[member] = parents[parents[member]];
        member = parents[member];
    }
    member
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    /// Fingerprints of 40 000 texts of twelve words each, from a vocabulary of 300 words, so their
    /// bits are correlated.
    #[test]
    fn accidental_pairs_of_short_texts_are_estimated() {
        let random = |number: usize| xxh3_64(&number.to_le_bytes());
        let word = |number| 301f64.powf(random(number) as f64 / 64f64.exp2()) as usize;
        let fingerprint = |text: usize| -> u64 {
            let words = (0..12).map(|place| random(usize::MAX - word(12 * text + place)));
            let words: Vec<u64> = words.collect();
            let is_set = |bit: &u32| words.iter().filter(|word| *word >> bit & 1 == 1).count() > 6;
            (0..64).filter(is_set).map(|bit| 1 << bit).sum()
        };
        let mut known = HashSet::new();
        let texts = (0..40_000).map(fingerprint);
        let all: Vec<u64> = texts.filter(|&text| known.insert(text)).collect();
        let near = |a: &u64| all.iter().filter(|&b| (a ^ b).count_ones() <= 6).count() - 1;
        let expected = all.iter().map(near).sum::<usize>() as f64 / all.len() as f64;

        let sample: Vec<u64> = all.iter().copied().step_by(4).collect();
        let chunks: Vec<usize> = (0..sample.len()).map(|number| number / 1000).collect();
        let probability = accidental_probability(&sample, &chunks, 6, Level::best());
        let ratio = probability * all.len() as f64 / expected;
        assert!((0.5..2.0).contains(&ratio), "{ratio} of {expected}");

        let counts = Columns::<u64>::new(Level::best()).count(&all);
        let independent = Chance::measured(&counts.0, all.len() as u64, 64, 6);
        assert!(independent.hits_per_query(all.len() as u64) < 0.5 * expected);
    }

    /// Clusters of up to six fingerprints that differ in a few bits.
    #[test]
    fn duplicates_are_not_accidental() {
        let random = |number: usize| xxh3_64(&number.to_le_bytes());
        let fingerprint = |number: usize| -> u64 {
            let bit = |flip: usize| 1 << (random(number * 8 + flip) % 64);
            let flips = (0..number % 6).map(bit);
            flips.fold(random(usize::MAX - number % 1000), |value, bit: u64| {
                value ^ bit
            })
        };
        let all: Vec<u64> = (0..6000).map(fingerprint).collect();
        let chunks: Vec<usize> = (0..6000).map(|number| number / 500).collect();
        assert_eq!(accidental_probability(&all, &chunks, 6, Level::best()), 0.0);
    }
}

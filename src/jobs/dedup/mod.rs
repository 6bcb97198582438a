//! Deduplication: finds duplicates, reports them, and writes the inputs without them.
//!
//! ```text
//! inputs ─► sketching ─► gathered ─► groups ─► near ──────────► resolve ─► reports ─► summary
//!  chunks    rows and     by number   same     mark, shingle    decisions   OUT/
//!            sketches                 words    sets, stars                  dump
//! ```
//!
//! An interrupted run resumes: finished segments of the first reading, decisions, reports and files
//! of the dump are kept.

mod begin;
mod bits;
mod copying;
mod decided;
mod decision;
mod dump;
mod estimate;
mod frequencies;
mod gathered;
mod groups;
mod identity;
mod job;
mod known;
mod leaders;
mod lines;
mod mark;
mod near;
mod neighbours;
mod numbering;
mod packing;
mod pair_tables;
mod refused;
mod related;
mod reported;
mod reports;
mod resolve;
mod row;
mod sample;
mod segment;
mod shingle_sets;
mod sketching;
mod summary;
#[cfg(feature = "parquet")]
mod table_dump;
mod targets;
mod warnings;
mod work;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::Result;
use crate::corpus::{LeftOut, Source};
use crate::engine::counting::Counting;
use crate::engine::methods;
use crate::engine::pipeline::{Pipeline, Unit};
use crate::engine::spill_space::SpillSpace;
use crate::engine::units::units;
use crate::engine::{Progress, Resources, Stage};
use crate::io::Sorter;
use crate::sketch::{Method, Shape};
use crate::vocabulary::Frequencies;

use bits::Bits;
use copying::Stamp;
use decided::{Decided, Decisions};
use decision::Decision;
use dump::{Change, Dump};
use gathered::Gathered;
use known::KnownIds;
use near::Stages;
use numbering::Numbering;
use refused::Refused;
use related::{OpenRelatedIds, RelatedCounts};
use reported::Reported;
use reports::Reports;
use resolve::EarlierDecisions;
use row::{Flags, Row};
use sketching::RunInputs;
use work::{TIMINGS, Work};

pub use begin::{BeginOutcome, UnfinishedRun};
pub use estimate::{Estimate, Shortage};
#[cfg(feature = "index")]
pub(crate) use identity::modified;
pub use job::{
    ClusterRule, DEFAULT_METHOD, DEFAULT_THOUSANDTHS, DumpSettings, EXACT, Job, MOST_SHINGLE,
    NORMALIZED, PairForms, SkippedRecords, Verification, WriteMode,
};
pub use known::{KnownDocuments, Nearest};
pub(crate) use neighbours::{Pool, build_index, have_neighbours};
pub use summary::Summary;
pub use warnings::Warning;

/// What the input is compared with.
#[derive(Clone, Copy)]
pub enum Against<'a> {
    /// Itself.
    Itself,
    /// Itself and another collection, whose documents come first in keep order and are never
    /// dropped.
    Documents(&'a [Source]),
    /// Documents of which only sketches are known. Documents near one of them are dropped without
    /// comparing texts; the rest is compared with itself.
    Known(&'a dyn KnownDocuments),
}

/// What a run reads, and where it writes.
#[derive(Clone, Copy)]
pub struct Invocation<'a> {
    /// What the input is compared with.
    pub against: Against<'a>,
    /// The input.
    pub sources: &'a [Source],
    /// Files that were found but are not read, for the summary.
    pub left_out: &'a [LeftOut],
    /// Other files that the command reads, such as lists of names and stop words. A restart never
    /// removes them.
    pub also_read: &'a [PathBuf],
    /// The output directory.
    pub out: &'a Path,
    /// Whether to replace the recorded output of an earlier run, finished or not.
    pub restart: bool,
}

/// Memory of a run that does not depend on the input.
const BASE_BYTES: u64 = 32 << 20;
/// The most memory of a chunk: its bytes, and rows of the shortest documents.
const BUFFER_BYTES: u64 = 16 << 20;
/// The memory of the longest document as a multiple of its size: raw bytes, text, word hashes.
const GIANT_FACTOR: u64 = 8;
/// The least memory of the stages after the first reading.
const LEAST_ROOM_BYTES: u64 = 192 << 20;

/// The least memory bound for `threads` threads.
pub fn least_memory_bytes(threads: usize, max_document_bytes: u64) -> u64 {
    let buffers = Pipeline::buffers(threads, 1) as u64;
    let reading = buffers * BUFFER_BYTES + GIANT_FACTOR * max_document_bytes;
    BASE_BYTES + reading.max(LEAST_ROOM_BYTES)
}

impl<'a> Against<'a> {
    /// The other collection, if its texts are available.
    pub fn documents(&self) -> &'a [Source] {
        match self {
            Against::Documents(sources) => sources,
            Against::Itself | Against::Known(_) => &[],
        }
    }
}

/// The dropped documents.
struct DropList {
    dropped: Bits,
    /// Sorted pairs of dropped and kept document, only if the dump is marked.
    kept: Vec<(u32, u32)>,
}

/// A running deduplication.
struct Run<'a> {
    job: &'a Job,
    inputs: RunInputs<'a>,
    left_out: &'a [LeftOut],
    /// The files of the inputs when the run began.
    stamps: Vec<Stamp>,
    /// The output files of the dump.
    targets: Vec<PathBuf>,
    known: Option<&'a dyn KnownDocuments>,
    out: &'a Path,
    work: &'a Work,
    resources: &'a Resources,
    progress: &'a Progress,
    begin: Instant,
}

impl Run<'_> {
    /// Runs all stages; returns the summary and the text of `summary.json`.
    fn all(&self) -> Result<(Summary, String)> {
        let total = self
            .inputs
            .sources
            .iter()
            .filter_map(|source| source.bytes)
            .sum();
        let method = self.method(total)?;
        let method = method.as_deref();
        let units = units(self.inputs.sources);
        if !Gathered::is_complete(self.work)? {
            self.progress.begin(Stage::Sketch, total);
            sketching::sketch(
                self.job,
                method,
                self.inputs,
                self.work,
                &self.pipeline(),
                self.resources,
                self.progress,
            )?;
            self.progress.end(total);
        }
        self.progress.begin(Stage::Gather, 0);
        let gathered = Gathered::gather(self.work, units.len())?;
        let (counts, doubts) = gathered.counts(self.inputs.sources)?;
        let numbering = Numbering::new(&gathered.chunks, self.inputs.sources.len(), &units)?;
        self.progress.end(0);
        let decided = match Decided::load(self.work)? {
            Some(decided) => decided,
            None => Decided::store(self.work, self.decide(method, &gathered, &numbering)?)?,
        };
        let drops = self.drops(&decided, numbering.documents())?;
        let reported = match Reported::load(self.work, self.out)? {
            Some(reported) => reported,
            None => {
                let references = numbering.documents_before(self.inputs.references);
                self.report(method, &gathered, references, &decided, &drops)?
            }
        };
        let refused = decided.refused_count;
        let known = decided.known.as_ref();
        let related = self.dump(&gathered, known, &numbering, &units, drops)?;

        let summary = Summary {
            warnings: warnings::warnings(self.job, &counts, &doubts, self.inputs.sources),
            counts,
            totals: reported.totals,
            refused,
            refused_listed: reported.refused_listed,
            related,
        };
        let digests = summary::digests(&gathered.chunks, self.inputs.sources.len());
        let inputs = summary::SummaryInputs {
            sources: self.inputs.sources,
            references: self.inputs.references as usize,
            known: self.known.map(|known| known.describe()),
            left_out: self.left_out,
            digests: &digests,
        };
        let text = summary.json(self.job, method, inputs);
        let (threads, time) = (self.resources.threads, self.begin.elapsed());
        let timings = summary::timings(&self.progress.finished(), threads, time);
        let mut file = self.work.outputs().create(&self.out.join(TIMINGS))?;
        file.write_all(timings.as_bytes())
            .map_err(|cause| file.error(cause))?;
        file.publish()?;
        Ok((summary, text))
    }

    /// The dropped documents, and the kept ones if the dump is marked.
    fn drops(&self, decided: &Decided, documents: u64) -> Result<DropList> {
        let mut drops = DropList {
            dropped: Bits::none_of(documents),
            kept: Vec::new(),
        };
        for decision in decided.decisions() {
            let Decision { document, kept, .. } = decision?;
            drops.dropped.insert(document);
            let pair = (document, kept);
            if self.job.write == WriteMode::Annotated && drops.kept.last() != Some(&pair) {
                drops.kept.push(pair);
            }
        }
        Ok(drops)
    }

    /// Writes the reports.
    fn report(
        &self,
        method: Option<&dyn Method>,
        gathered: &Gathered,
        references: u32,
        decided: &Decided,
        drops: &DropList,
    ) -> Result<Reported> {
        self.progress.begin(Stage::Report, 0);
        let reports = Reports {
            job: self.job,
            gathered,
            known: decided.known.as_ref(),
            references,
            sources: self.inputs.sources,
            has_distances: method
                .is_some_and(|method| matches!(method.shape(), Shape::Bits { .. })),
            outputs: self.work.outputs(),
            progress: self.progress,
        };
        let path = |name: &str| self.out.join(name);
        let (decisions, space) = (decided.decisions(), self.space());
        let (mut totals, members) =
            reports.duplicates(decisions, &path("duplicates.jsonl"), &space)?;
        reports.clusters(members, &path("clusters.jsonl"), &mut totals)?;
        let refused_listed = match self.job.refused {
            true => reports.refused(decided.refused(), &path("refused.jsonl"))?,
            false => 0,
        };
        reports.skipped(&path("skipped.jsonl"))?;
        if self.job.write == WriteMode::Ids {
            reports.kept_ids(&drops.dropped, &path("kept.jsonl"))?;
        }
        let reported = Reported {
            totals,
            refused_listed,
        };
        reported.store(self.work)?;
        self.progress.end(0);
        Ok(reported)
    }

    /// Decides which documents are dropped, and for which kept ones.
    fn decide(
        &self,
        method: Option<&dyn Method>,
        gathered: &Gathered,
        numbering: &Numbering<'_>,
    ) -> Result<Decisions> {
        let space = self.space();
        let none: Sorter<Decision> = space.sorter(64);
        let (mut by_known, mut gone, mut ids) = (None, None, None);
        if let (Some(known), Some(method)) = (self.known, method) {
            self.progress.begin(Stage::Search, gathered.rows.len());
            let matches = known::query(known, method, gathered, &space, self.progress)?;
            self.progress.end(0);
            if self.job.against_only {
                return Ok(Decisions {
                    decisions: matches.decisions,
                    refused: Refused::none(&space)?,
                    known: Some(matches.ids),
                });
            }
            (by_known, gone, ids) = (
                Some(matches.decisions),
                Some(matches.gone),
                Some(matches.ids),
            );
        }
        self.progress.begin(Stage::Group, 0);
        let groups = groups::group(self.job, gathered, gone.as_ref(), &space)?;
        self.progress.end(0);
        let found = match method.filter(|_| !self.job.is_by_equality()) {
            Some(method) => {
                let stages = Stages {
                    job: self.job,
                    method,
                    inputs: self.inputs,
                    gathered,
                    numbering,
                    space,
                    pipeline: self.pipeline(),
                    resources: self.resources,
                    progress: self.progress,
                };
                stages.decide(groups.leaders)?
            }
            None => near::LeaderDecisions {
                decisions: none.finish()?,
                refused: Refused::none(&space)?,
            },
        };
        let references = numbering.documents_before(self.inputs.references);
        let only_against = self.inputs.references > 0 && self.job.against_only;
        let against = only_against.then_some(references);
        let before = EarlierDecisions {
            known: by_known,
            leaders: found.decisions,
        };
        let (followers, drop_all) = (groups.followers, self.job.drop_all);
        let decisions = resolve::resolve(before, followers, against, drop_all, &space)?;
        Ok(Decisions {
            decisions,
            refused: found.refused,
            known: ids,
        })
    }

    /// The method that makes sketches, if the job has one. Its corpus statistics are counted unless
    /// an earlier run did so.
    fn method(&self, total: u64) -> Result<Option<Box<dyn Method>>> {
        if let Some(known) = self.known {
            return known.method().map(Some);
        }
        if self.job.is_by_equality() {
            return Ok(None);
        }
        let common = self.job.common(self.resources.level);
        let mut frequencies = Vec::new();
        for (number, count) in self.job.method.required_counts().into_iter().enumerate() {
            let stored = frequencies::load(self.work, number)?;
            let records = match stored {
                Some(records) => records,
                None => {
                    self.progress.begin(Stage::Count, total);
                    let counting = Counting {
                        count,
                        tokenizer: common.tokenizer,
                        stop_words: common.stop_words,
                        pipeline: self.pipeline(),
                        space: self.space(),
                        level: common.level,
                    };
                    let counted = counting.run()?;
                    let mut records = vec![[counted.documents(), 0]];
                    records.extend(counted.iter().map(|(feature, count)| [feature, count]));
                    frequencies::store(self.work, number, &records)?;
                    self.progress.end(total);
                    records
                }
            };
            let documents = records.first().map_or(0, |[documents, _]| *documents);
            let counts = records
                .iter()
                .skip(1)
                .map(|&[feature, count]| (feature, count));
            frequencies.push(Frequencies::new(documents, counts));
        }
        methods::build(&self.job.method, common, &frequencies).map(Some)
    }

    /// Writes the dump, if the job has one; returns how many related records were dropped.
    fn dump(
        &self,
        gathered: &Gathered,
        known: Option<&KnownIds>,
        numbering: &Numbering<'_>,
        units: &[std::ops::Range<u32>],
        drops: DropList,
    ) -> Result<RelatedCounts> {
        if !self.job.writes_dump() {
            return Ok(RelatedCounts::default());
        }
        let DropList { mut dropped, kept } = drops;
        if self.job.write == WriteMode::Annotated {
            // Duplicates get a mark instead.
            dropped = Bits::none_of(numbering.documents());
        }
        if self.job.dump.drops_skipped() {
            gathered.rows.for_each_block(8192, |first, rows: &[Row]| {
                let numbered = (first as u32..).zip(rows);
                let skipped = numbered.filter(|(_, row)| row.flags.has(Flags::SKIPPED));
                skipped.for_each(|(number, _)| dropped.insert(number));
                Ok(())
            })?;
        }
        let total = self
            .inputs
            .sources
            .iter()
            .filter_map(|source| source.bytes)
            .sum();
        self.progress.begin(Stage::Write, total);
        let references = self.inputs.references;
        let units: Vec<Unit> = units
            .iter()
            .filter(|sources| sources.end > references)
            .map(|sources| Unit::whole(sources.start.max(references)..sources.end))
            .collect();
        let dump = Dump {
            inputs: self.inputs,
            #[cfg(feature = "parquet")]
            reading: &self.job.reading,
            stamps: &self.stamps,
            numbering,
            gathered,
            known,
            dropped: &dropped,
            outputs: self.work.outputs(),
            change: match self.job.write {
                WriteMode::Annotated => Change::Mark(&kept),
                _ => Change::Remove,
            },
            settings: self.job.dump,
            out: self.out,
            targets: &self.targets,
            work: self.work,
            related: OpenRelatedIds::default(),
        };
        let related = dump.write(&units, &self.pipeline())?;
        self.progress.end(total);
        Ok(related)
    }

    fn pipeline(&self) -> Pipeline<'_> {
        let workers = self.resources.threads;
        let spare = self.resources.memory_bytes
            - least_memory_bytes(workers, self.job.reading.max_document_bytes);
        let each = BUFFER_BYTES + GIANT_FACTOR * self.job.reading.max_document_bytes;
        let readers = 1 + usize::try_from(spare / each).unwrap_or(usize::MAX);
        Pipeline {
            sources: self.inputs.sources,
            reading: &self.job.reading,
            workers,
            readers: readers.min(workers),
            progress: self.progress,
        }
    }

    fn space(&self) -> SpillSpace<'_> {
        let bytes = self.resources.memory_bytes.saturating_sub(BASE_BYTES);
        SpillSpace {
            directory: &self.resources.temporary,
            memory_bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
        }
    }
}

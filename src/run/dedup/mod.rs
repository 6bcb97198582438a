//! Deduplication: which documents repeat which, and what is left without them.
//!
//! ```text
//! inputs ─► sketching ─► gathered ─► groups ─► near ──────────► resolve ─► reports ─► summary
//!  chunks    rows and     by number   same     mark, shingle    who goes    OUT/
//!            sketches                 words    sets, stars                  dump
//! ```
//!
//! Interrupted runs go on: the stretches of the first reading, the decisions, the reports and the
//! files of the dump that are complete stay, and are not made again.

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
mod text_field;
mod warnings;
mod work;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::Result;
use crate::corpus::{LeftOut, Source};
use crate::io::Sorter;
use crate::run::counting::Counting;
use crate::run::methods;
use crate::run::pipeline::{Pipeline, Unit};
use crate::run::room::Room;
use crate::run::units::units;
use crate::run::{Progress, Resources, Stage};
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
use resolve::Before;
use row::{Flags, Row};
use sketching::Inputs;
use work::{TIMINGS, Work};

pub use begin::{Begun, Unfinished};
pub use estimate::{Estimate, Shortage};
pub use job::{ClusterRule, DumpSettings, Job, PairForms, SkippedRecords, Verification, WriteMode};
pub use known::{KnownDocuments, Nearest};
pub use summary::Summary;
pub use warnings::Warning;

/// What the input is compared with.
#[derive(Clone, Copy)]
pub enum Against<'a> {
    /// Itself.
    Itself,
    /// Itself and another collection, whose documents come first in keep order and never go.
    Documents(&'a [Source]),
    /// Documents of which only sketches are known: what the method finds near one of them goes,
    /// without a look at the texts. The rest is compared with itself.
    Known(&'a dyn KnownDocuments),
}

/// What a run reads, and where it writes.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// What the input is compared with.
    pub against: Against<'a>,
    /// The input.
    pub sources: &'a [Source],
    /// Files that are not read, for the summary.
    pub left_out: &'a [LeftOut],
    /// Other files that the command reads, such as lists of names and stop words: none of them is
    /// removed with an earlier output.
    pub also_read: &'a [PathBuf],
    /// The directory of the output.
    pub out: &'a Path,
    /// Whether to replace what an earlier run recorded as its own there, finished or not.
    pub restart: bool,
}

/// Memory that a run takes besides what grows with the input.
const BASE_BYTES: u64 = 32 << 20;
/// What a chunk on its way may hold: its bytes, and rows of the shortest documents.
const BUFFER_BYTES: u64 = 16 << 20;
/// The longest document takes its raw bytes, its text, and the hashes of its words.
const GIANT_FACTOR: u64 = 8;
/// The stages behind the first reading need so much.
const LEAST_ROOM_BYTES: u64 = 192 << 20;

/// The least memory bound that `threads` threads can work in.
pub fn least_memory_bytes(threads: usize, max_document_bytes: u64) -> u64 {
    let buffers = Pipeline::buffers(threads, 1) as u64;
    let reading = buffers * BUFFER_BYTES + GIANT_FACTOR * max_document_bytes;
    BASE_BYTES + reading.max(LEAST_ROOM_BYTES)
}

impl<'a> Against<'a> {
    /// The other collection, if it is one.
    pub fn documents(&self) -> &'a [Source] {
        match self {
            Against::Documents(sources) => sources,
            Against::Itself | Against::Known(_) => &[],
        }
    }
}

/// Which documents go.
struct Fates {
    dropped: Bits,
    /// Pairs of a document that goes and the one that stays, sorted: only if the dump is marked.
    kept: Vec<(u32, u32)>,
}

/// A run under way.
struct Run<'a> {
    job: &'a Job,
    inputs: Inputs<'a>,
    left_out: &'a [LeftOut],
    /// The files of the inputs as they are at the beginning.
    stamps: Vec<Stamp>,
    /// The files of the dump.
    targets: Vec<PathBuf>,
    known: Option<&'a dyn KnownDocuments>,
    out: &'a Path,
    work: &'a Work,
    resources: &'a Resources,
    progress: &'a Progress,
    begin: Instant,
}

impl Run<'_> {
    /// All stages; the summary, and its text for `summary.json`.
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
        let fates = self.fates(&decided, numbering.documents())?;
        let reported = match Reported::load(self.work, self.out)? {
            Some(reported) => reported,
            None => {
                let references = numbering.documents_before(self.inputs.references);
                self.report(method, &gathered, references, &decided, &fates)?
            }
        };
        let refused = decided.refused_count;
        let known = decided.known.as_ref();
        let related = self.dump(&gathered, known, &numbering, &units, fates)?;

        let summary = Summary {
            warnings: warnings::warnings(self.job, &counts, &doubts, self.inputs.sources),
            counts,
            totals: reported.totals,
            refused,
            refused_listed: reported.refused_listed,
            related,
        };
        let digests = summary::digests(&gathered.chunks, self.inputs.sources.len());
        let inputs = summary::Inputs {
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

    /// Which documents go, and for which ones if the dump is marked.
    fn fates(&self, decided: &Decided, documents: u64) -> Result<Fates> {
        let mut fates = Fates {
            dropped: Bits::none_of(documents),
            kept: Vec::new(),
        };
        for decision in decided.decisions() {
            let Decision { document, kept, .. } = decision?;
            fates.dropped.insert(document);
            let pair = (document, kept);
            if self.job.write == WriteMode::Annotated && fates.kept.last() != Some(&pair) {
                fates.kept.push(pair);
            }
        }
        Ok(fates)
    }

    /// Writes the reports.
    fn report(
        &self,
        method: Option<&dyn Method>,
        gathered: &Gathered,
        references: u32,
        decided: &Decided,
        fates: &Fates,
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
        let (decisions, room) = (decided.decisions(), self.room());
        let (mut totals, members) =
            reports.duplicates(decisions, &path("duplicates.jsonl"), &room)?;
        reports.clusters(members, &path("clusters.jsonl"), &mut totals)?;
        let refused_listed = match self.job.refused {
            true => reports.refused(decided.refused(), &path("refused.jsonl"))?,
            false => 0,
        };
        reports.skipped(&path("skipped.jsonl"))?;
        if self.job.write == WriteMode::Ids {
            reports.kept_ids(&fates.dropped, &path("kept.jsonl"))?;
        }
        let reported = Reported {
            totals,
            refused_listed,
        };
        reported.store(self.work)?;
        self.progress.end(0);
        Ok(reported)
    }

    /// Who goes, and for whom.
    fn decide(
        &self,
        method: Option<&dyn Method>,
        gathered: &Gathered,
        numbering: &Numbering<'_>,
    ) -> Result<Decisions> {
        let room = self.room();
        let none: Sorter<Decision> = room.sorter(64);
        let (mut of_known, mut gone, mut ids) = (None, None, None);
        if let (Some(known), Some(method)) = (self.known, method) {
            self.progress.begin(Stage::Search, gathered.rows.len());
            let asked = known::ask(known, method, gathered, &room, self.progress)?;
            self.progress.end(0);
            if self.job.against_only {
                return Ok(Decisions {
                    decisions: asked.decisions,
                    refused: Refused::nothing(&room)?,
                    known: Some(asked.ids),
                });
            }
            (of_known, gone, ids) = (Some(asked.decisions), Some(asked.gone), Some(asked.ids));
        }
        self.progress.begin(Stage::Group, 0);
        let groups = groups::group(self.job, gathered, gone.as_ref(), &room)?;
        self.progress.end(0);
        let found = match method.filter(|_| !self.job.is_by_equality()) {
            Some(method) => {
                let stages = Stages {
                    job: self.job,
                    method,
                    inputs: self.inputs,
                    gathered,
                    numbering,
                    room,
                    pipeline: self.pipeline(),
                    resources: self.resources,
                    progress: self.progress,
                };
                stages.decide(groups.leaders)?
            }
            None => near::Found {
                decisions: none.finish()?,
                refused: Refused::nothing(&room)?,
            },
        };
        let references = numbering.documents_before(self.inputs.references);
        let only_against = self.inputs.references > 0 && self.job.against_only;
        let against = only_against.then_some(references);
        let before = Before {
            known: of_known,
            leaders: found.decisions,
        };
        let (followers, drop_all) = (groups.followers, self.job.drop_all);
        let decisions = resolve::resolve(before, followers, against, drop_all, &room)?;
        Ok(Decisions {
            decisions,
            refused: found.refused,
            known: ids,
        })
    }

    /// The method that makes sketches, if the job has one, with what it has to know ahead; counted
    /// unless an earlier run did so.
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
                        room: self.room(),
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

    /// The last reading, if there is one; says how many records go because of others.
    fn dump(
        &self,
        gathered: &Gathered,
        known: Option<&KnownIds>,
        numbering: &Numbering<'_>,
        units: &[std::ops::Range<u32>],
        fates: Fates,
    ) -> Result<RelatedCounts> {
        if !self.job.writes_dump() {
            return Ok(RelatedCounts::default());
        }
        let Fates { mut dropped, kept } = fates;
        if self.job.write == WriteMode::Annotated {
            // Duplicates get a mark.
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
            .map(|sources| Unit {
                sources: sources.start.max(references)..sources.end,
                begin: Default::default(),
            })
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
                _ => Change::Leave,
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

    fn room(&self) -> Room<'_> {
        let bytes = self.resources.memory_bytes.saturating_sub(BASE_BYTES);
        Room {
            directory: &self.resources.temporary,
            memory_bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
        }
    }
}

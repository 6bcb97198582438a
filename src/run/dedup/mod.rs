//! Deduplication: which documents repeat which, and what is left without them.
//!
//! ```text
//! inputs ─► sketching ─► gathered ─► groups ─► near ──────────► resolve ─► reports ─► summary
//!  chunks    rows and     by number   same     mark, shingle    who goes    OUT/
//!            sketches                 words    sets, stars                  dump
//! ```
//!
//! The first reading survives a crash: what it finished stays in the work directory. Later
//! stages begin again from what the first reading left.

mod bits;
mod decision;
mod dump;
mod estimate;
mod gathered;
mod groups;
mod job;
mod known;
mod leaders;
mod near;
mod numbering;
mod pair_tables;
mod refused;
mod reports;
mod resolve;
mod row;
mod segment;
mod shingle_sets;
mod sketching;
mod summary;
#[cfg(feature = "parquet")]
mod table_dump;
mod work;

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use crate::corpus::Source;
use crate::dedup::keep::Policy;
use crate::io::{RecordFile, Sorted, Sorter};
use crate::run::counting::Counting;
use crate::run::methods;
use crate::run::pipeline::{Pipeline, Unit};
use crate::run::room::Room;
use crate::run::streams::spool;
use crate::run::units::units;
use crate::run::{Progress, Resources, Stage, Workers};
use crate::sketch::{Method, Shape};
use crate::vocabulary::Frequencies;
use crate::{Error, ErrorKind, Result};

use bits::Bits;
use decision::Decision;
use dump::{Change, Dump};
use gathered::Gathered;
use known::KnownIds;
use near::Stages;
use numbering::Numbering;
use refused::Refused;
use reports::Reports;
use row::{Flags, Row};
use sketching::Inputs;
use work::Work;

pub use estimate::Estimate;
pub use job::{ClusterRule, Job, PairForms, Verification, WriteMode};
pub use known::{KnownDocuments, Nearest};
pub use summary::Summary;

/// What the input is compared with.
#[derive(Clone, Copy)]
pub enum Against<'a> {
    /// Itself.
    Itself,
    /// Another collection: only what repeats one of its documents goes.
    Documents(&'a [Source]),
    /// Documents of which only sketches are known: what the method finds near one of them goes,
    /// without a look at the texts.
    Known(&'a dyn KnownDocuments),
}

/// What a run reads, and where it writes.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// What the input is compared with.
    pub against: Against<'a>,
    /// The input.
    pub sources: &'a [Source],
    /// The directory of the output.
    pub out: &'a Path,
    /// Whether to forget what an unfinished run left there.
    pub restart: bool,
}

/// Published last.
const SUMMARY: &str = "summary.json";
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

impl Job {
    /// Runs the job and publishes its output; `summary.json` comes last.
    ///
    /// The output is the same for all `resources`, and whether or not the run was interrupted and
    /// begun again in between. A run that reads a stream always begins anew.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a job that cannot be done, [`ErrorKind::Memory`] for too small
    /// a bound, both before anything is read; [`ErrorKind::Changed`] if an unfinished run of
    /// another job lies in the output directory, or an input changed;
    /// [`ErrorKind::Interrupted`]; those of reading and writing.
    pub fn run(
        &self,
        place: &Place<'_>,
        resources: &Resources,
        progress: &Progress,
    ) -> Result<Summary> {
        self.check()?;
        let least = least_memory_bytes(resources.threads, self.reading.max_document_bytes);
        if resources.memory_bytes < least {
            let message = format!(
                "a memory bound of {} MiB is too small: {} threads and documents of {} MiB need \
                 at least {} MiB",
                resources.memory_bytes >> 20,
                resources.threads,
                self.reading.max_document_bytes >> 20,
                least.div_ceil(1 << 20),
            );
            return Err(Error::new(ErrorKind::Memory, message));
        }
        pair_tables::check(self.pairs)?;
        if let Against::Known(known) = place.against {
            self.check_known(known)?;
        }
        let references = place.against.documents();
        let mut sources = [references, place.sources].concat();
        let references = references.len();
        self.check_dump(&sources[references..])?;
        let identity = self.identity(place)?;
        let work = Work::open(place.out, &identity, place.restart)?;
        if sources.iter().any(Source::is_stream) {
            work.begin_anew(&identity)?;
            let spooled = spool(&mut sources, &self.reading, work.directory(), progress);
            if let Err(error) = spooled.and_then(|()| self.check_dump(&sources[references..])) {
                // There is nothing to go on from.
                work.remove()?;
                return Err(error);
            }
        }
        let inputs = Inputs {
            sources: &sources,
            references: references as u32,
        };
        let workers = Workers::new(resources.threads)?;
        let run = Run {
            job: self,
            inputs,
            known: match place.against {
                Against::Known(known) => Some(known),
                Against::Itself | Against::Documents(_) => None,
            },
            out: place.out,
            work: &work,
            resources,
            progress,
            begin: Instant::now(),
        };
        let summary = workers.install(|| run.all())?;
        work.remove()?;
        Ok(summary)
    }

    /// Refuses what cannot be written; of streams, nothing is known yet.
    fn check_dump(&self, sources: &[Source]) -> Result<()> {
        if matches!(self.write, WriteMode::Kept | WriteMode::Annotated) {
            dump::check(sources, self.write == WriteMode::Annotated)?;
        }
        Ok(())
    }

    /// Clears up behind a run that was killed after it had published everything; returns how many
    /// documents it skipped, or `None` if the output directory holds no such run.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if that was another job; those of reading and writing.
    pub fn finish_published(&self, place: &Place<'_>) -> Result<Option<u64>> {
        let path = place.out.join(SUMMARY);
        if !path.exists() || !Work::is_in(place.out) {
            return Ok(None);
        }
        Work::open(place.out, &self.identity(place)?, false)?.remove()?;
        let summary: Value = std::fs::read(&path)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        Ok(Some(summary["skipped"].as_u64().unwrap_or_default()))
    }

    /// What another run has to share to go on from here.
    fn identity(&self, place: &Place<'_>) -> Result<Value> {
        let describe = |source: &Source| -> Result<Value> {
            if source.is_stream() {
                return Ok(json!({"path": source.path.to_string_lossy(), "stream": true}));
            }
            let modified = std::fs::metadata(source.file())
                .and_then(|data| data.modified())
                .map_err(|cause| {
                    Error::new(ErrorKind::Read, "cannot be read")
                        .in_file(&source.path)
                        .caused_by(cause)
                })?;
            let since = modified
                .duration_since(std::time::UNIX_EPOCH)
                .unwrap_or_default();
            Ok(json!({
                "path": source.path.to_string_lossy(),
                "bytes": source.bytes,
                "modified": format!("{}.{:09}", since.as_secs(), since.subsec_nanos()),
                "format": source.format.name(),
                "compression": source.compression.name(),
            }))
        };
        let all = |sources: &[Source]| sources.iter().map(describe).collect::<Result<Vec<_>>>();
        Ok(json!({
            "version": env!("CARGO_PKG_VERSION"),
            "settings": self.settings(),
            "inputs": all(place.sources)?,
            "against": match place.against {
                Against::Known(known) => known.state()?,
                against => all(against.documents())?.into(),
            },
        }))
    }

    /// Refuses what goes by texts or parts, of which nothing is known.
    fn check_known(&self, known: &dyn KnownDocuments) -> Result<()> {
        let refused = [
            (self.keep_per_site, "a copy for every site is kept"),
            (
                self.clusters == ClusterRule::Components,
                "components are formed",
            ),
            (self.drop_all, "no copy is kept"),
            (self.keep != Policy::First, "the copy that stays is chosen"),
        ];
        if let Some((_, what)) = refused.iter().find(|(is_asked, _)| *is_asked) {
            let message = format!("{what} only where all texts can be read, not against an index");
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        known.expect(self)
    }
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

/// What was decided.
struct Decided {
    decisions: Sorted<Decision>,
    refused: Refused,
    /// Known documents for which others go.
    known: Option<KnownIds>,
}

/// A run under way.
struct Run<'a> {
    job: &'a Job,
    inputs: Inputs<'a>,
    known: Option<&'a dyn KnownDocuments>,
    out: &'a Path,
    work: &'a Work,
    resources: &'a Resources,
    progress: &'a Progress,
    begin: Instant,
}

impl Run<'_> {
    fn all(&self) -> Result<Summary> {
        let total = self
            .inputs
            .sources
            .iter()
            .filter_map(|source| source.bytes)
            .sum();
        let method = self.method(total)?;
        let method = method.as_deref();
        let units = units(self.inputs.sources);
        if !Gathered::is_complete(self.work) {
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
        self.progress.begin(Stage::Group, 0);
        let gathered = Gathered::gather(self.work, units.len())?;
        let counts = gathered.counts()?;
        let numbering = Numbering::new(&gathered.chunks, self.inputs.sources.len(), &units)?;
        let room = self.room();
        self.progress.end(0);
        let Decided {
            decisions,
            refused,
            known,
        } = self.decide(method, &gathered, &numbering)?;

        self.progress.begin(Stage::Report, 0);
        let reports = Reports {
            job: self.job,
            gathered: &gathered,
            known: known.as_ref(),
            sources: self.inputs.sources,
            has_distances: method
                .is_some_and(|method| matches!(method.shape(), Shape::Bits { .. })),
            progress: self.progress,
        };
        let mut dropped = Bits::none_of(numbering.documents());
        let path = |name: &str| self.out.join(name);
        let mut kept = Vec::new();
        let marks = (self.job.write == WriteMode::Annotated).then_some(&mut kept);
        let duplicates = path("duplicates.jsonl");
        let (mut totals, members) =
            reports.duplicates(decisions, &duplicates, &room, &mut dropped, marks)?;
        reports.clusters(members, &path("clusters.jsonl"), &mut totals)?;
        let [refused, refused_listed] = reports.refused(refused, &path("refused.jsonl"))?;
        reports.skipped(&path("skipped.jsonl"))?;
        if self.job.write == WriteMode::Ids {
            reports.kept_ids(&dropped, &path("kept.jsonl"))?;
        }
        self.progress.end(0);
        self.dump(
            &gathered,
            known.as_ref(),
            &numbering,
            &units,
            dropped,
            &kept,
        )?;

        let summary = Summary {
            counts,
            totals,
            refused,
            refused_listed,
        };
        let digests = summary::digests(&gathered.chunks, self.inputs.sources.len());
        let inputs = summary::Inputs {
            sources: self.inputs.sources,
            references: self.inputs.references as usize,
            known: self.known.map(|known| known.describe()),
            digests: &digests,
        };
        let text = summary.json(self.job, method, inputs);
        let (threads, time) = (self.resources.threads, self.begin.elapsed());
        let timings = summary::timings(&self.progress.finished(), threads, time);
        summary::publish(&path("timings.json"), timings.as_bytes())?;
        summary::publish(&path(SUMMARY), text.as_bytes())?;
        Ok(summary)
    }

    /// Who goes, and for whom.
    fn decide(
        &self,
        method: Option<&dyn Method>,
        gathered: &Gathered,
        numbering: &Numbering<'_>,
    ) -> Result<Decided> {
        let room = self.room();
        let none: Sorter<Decision> = room.sorter(64);
        if let (Some(known), Some(method)) = (self.known, method) {
            self.progress.begin(Stage::Search, gathered.rows.len());
            let (decisions, ids) = known::ask(known, method, gathered, &room, self.progress)?;
            self.progress.end(0);
            return Ok(Decided {
                decisions,
                refused: Refused::nothing(&room)?,
                known: Some(ids),
            });
        }
        self.progress.begin(Stage::Group, 0);
        let groups = groups::group(self.job, gathered, &room)?;
        self.progress.end(0);
        let found = match method {
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
        let against = (self.inputs.references > 0).then_some(references);
        let (followers, drop_all) = (groups.followers, self.job.drop_all);
        let decisions = resolve::resolve(found.decisions, followers, against, drop_all, &room)?;
        Ok(Decided {
            decisions,
            refused: found.refused,
            known: None,
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
        for (number, count) in self.job.method.ahead().into_iter().enumerate() {
            let name = format!("frequencies-{number}");
            if !self.work.path(&name).exists() {
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
                self.work.publish(&name, bytemuck::cast_slice(&records))?;
                self.progress.end(total);
            }
            let stored = RecordFile::<[u64; 2]>::open(&self.work.path(&name))?;
            let mut records = Vec::new();
            stored.read(0, usize::MAX, &mut records)?;
            let documents = records.first().map_or(0, |[documents, _]| *documents);
            let counts = records
                .iter()
                .skip(1)
                .map(|&[feature, count]| (feature, count));
            frequencies.push(Frequencies::new(documents, counts));
        }
        methods::build(&self.job.method, common, &frequencies).map(Some)
    }

    /// The last reading, if there is one.
    fn dump(
        &self,
        gathered: &Gathered,
        known: Option<&KnownIds>,
        numbering: &Numbering<'_>,
        units: &[std::ops::Range<u32>],
        mut dropped: Bits,
        kept: &[(u32, u32)],
    ) -> Result<()> {
        if matches!(self.job.write, WriteMode::None | WriteMode::Ids) {
            return Ok(());
        }
        // Documents that could not be read are not written either.
        gathered.rows.for_each_block(8192, |first, rows: &[Row]| {
            let numbered = (first as u32..).zip(rows);
            let skipped = numbered.filter(|(_, row)| row.flags.has(Flags::SKIPPED));
            skipped.for_each(|(number, _)| dropped.insert(number));
            Ok(())
        })?;
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
            reading: &self.job.reading,
            numbering,
            gathered,
            known,
            dropped: &dropped,
            change: match self.job.write {
                WriteMode::Annotated => Change::Mark(kept),
                _ => Change::Leave,
            },
        };
        dump.write(
            &units,
            &self.pipeline(),
            &self.out.join(self.job.write.name()),
        )?;
        self.progress.end(total);
        Ok(())
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

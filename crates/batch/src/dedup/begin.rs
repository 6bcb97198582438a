//! The start of a run: checks, the state of the output directory, resuming.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Instant;

use serde_json::Value;

use crate::shards;
use crate::{Error, ErrorKind, Result};
use simtool_corpus::Source;
use simtool_engine::streams::OpenedStream;
use simtool_engine::{Progress, Resources, Workers, text_field};
use simtool_files::Faults;

use super::decided::Decided;
use super::guard::LossGroups;
use super::job::REMOVED;
use super::memory::least_memory_of;
use super::run::Run;
use super::sketching::RunInputs;
use super::start::{CheckedJob, first_stream, spooled_sources};
#[cfg(feature = "parquet")]
use super::table_dump;
use super::{
    Against, ClusterRule, Invocation, Job, KnownDocuments, Summary, UrlRule, WriteMode, dump,
    identity, pair_tables,
};
use crate::scope::Scope;
use crate::table::segment_store::SegmentStore;
use crate::table::stamp::Stamp;
use crate::workdir::{Opened, Work, parsed_summary};
use crate::write::targets;

/// The state of a job's output directory.
pub enum BeginOutcome<'a> {
    /// The complete output of the same job on the same inputs.
    Complete(Box<Summary>),
    /// A run that begins, or resumes an interrupted run of the same job.
    Unfinished(Box<UnfinishedRun<'a>>),
}

/// A run that has locked its output directory and has processed no documents yet.
pub struct UnfinishedRun<'a> {
    job: &'a Job,
    invocation: Invocation<'a>,
    resources: &'a Resources,
    identity: Value,
    work: Work,
    found: Option<String>,
    stream: Option<OpenedStream>,
}

impl Job {
    /// Runs the job and publishes its output, `summary.json` last. Does nothing if the output of
    /// the same job on the same inputs is complete.
    ///
    /// The output depends neither on `resources` nor on interruptions. A run that reads a stream
    /// always starts from the beginning.
    ///
    /// # Errors
    /// Errors of [`begin`](Job::begin) and of [`UnfinishedRun::run`].
    pub fn run(
        &self,
        invocation: &Invocation<'_>,
        resources: &Resources,
        progress: &Progress,
    ) -> Result<Summary> {
        match self.begin(invocation, resources)? {
            BeginOutcome::Complete(summary) => Ok(*summary),
            BeginOutcome::Unfinished(run) => run.run(progress),
        }
    }

    /// Makes the checks that are possible before documents are processed, and locks the output
    /// directory. A restart removes earlier output only after the first bytes of the first stream
    /// have arrived.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for an impossible job, or if the command reads earlier output that
    /// it would remove; [`ErrorKind::Memory`] for too small a bound; [`ErrorKind::Changed`] if the
    /// output directory belongs to another job, or an input changed; [`ErrorKind::Content`] if the
    /// directory is damaged, or an input unusable; [`ErrorKind::Read`]; [`ErrorKind::Write`].
    pub fn begin<'a>(
        &'a self,
        invocation: &Invocation<'a>,
        resources: &'a Resources,
    ) -> Result<BeginOutcome<'a>> {
        self.begin_with_faults(invocation, resources, &Faults::default())
    }

    /// [`begin`](Job::begin) with injected failures of changes to the output directory.
    ///
    /// # Errors
    /// Errors of [`begin`](Job::begin).
    pub fn begin_with_faults<'a>(
        &'a self,
        invocation: &Invocation<'a>,
        resources: &'a Resources,
        faults: &Faults,
    ) -> Result<BeginOutcome<'a>> {
        let checked = self.check_job(invocation, resources)?;
        let stream = first_stream(invocation, &self.reading)?;
        let start = checked.start_options(invocation);
        match Work::open(invocation.out, &checked.identity, start, faults)? {
            Opened::Finished(place) => {
                let summary = parsed_summary(&place, Summary::parse)?;
                if let Some(limit) = self.loss_limit {
                    let losses = LossGroups::new(invocation.sources, 0);
                    losses.check_finished(limit, &summary.sources)?;
                }
                Ok(BeginOutcome::Complete(Box::new(summary)))
            }
            Opened::Unfinished(work) => {
                let found = self.found(&work, invocation)?;
                Ok(BeginOutcome::Unfinished(Box::new(UnfinishedRun {
                    job: self,
                    invocation: *invocation,
                    resources,
                    identity: checked.identity,
                    work,
                    found,
                    stream,
                })))
            }
        }
    }

    /// Makes the checks of [`begin`](Job::begin), except those of streams and of the lock, and
    /// changes nothing.
    ///
    /// # Errors
    /// Errors of [`begin`](Job::begin).
    pub fn check_beginning(
        &self,
        invocation: &Invocation<'_>,
        resources: &Resources,
    ) -> Result<()> {
        self.check_job(invocation, resources).map(drop)
    }

    fn check_job(&self, invocation: &Invocation<'_>, resources: &Resources) -> Result<CheckedJob> {
        self.check()?;
        check_memory(self, resources)?;
        pair_tables::check(self.pairs)?;
        if self.keep_copies > 1 && !matches!(invocation.against, Against::Itself) {
            let message = "keep_copies counts the copies within the input, so it cannot be \
                           combined with documents to compare with, whose copies are not counted";
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        match invocation.against {
            Against::Known(known) => self.check_known(known)?,
            Against::Documents(_) if self.drop_all => {
                let message =
                    "keep none needs an input that is compared with itself, not with others";
                return Err(Error::new(ErrorKind::Parameter, message));
            }
            Against::Documents(_) if self.has_scope(|scope| *scope == Scope::Source) => {
                let message = "the scope source compares no input with another file, so it cannot \
                               be combined with documents to compare with";
                return Err(Error::new(ErrorKind::Parameter, message));
            }
            Against::Itself | Against::Documents(_) => {}
        }
        let all = [invocation.against.documents(), invocation.sources].concat();
        self.check_sources(&all, invocation.against.documents().len(), invocation.out)?;
        for sources in [invocation.against.documents(), invocation.sources] {
            text_field::check("text_field", sources, &self.reading)?;
        }
        let identity = identity::identity(self, invocation)?;
        let mut outputs = self.outputs(invocation.sources)?;
        outputs.extend(shards::names(&self.shards, &self.streams(), invocation)?);
        CheckedJob::new(invocation, identity, outputs)
    }

    /// The state of an interrupted run, as a sentence for the user.
    fn found(&self, work: &Work, invocation: &Invocation<'_>) -> Result<Option<String>> {
        let mut found = match SegmentStore::state(work)? {
            (0, false) => return Ok(None),
            (1, false) => "first reading begun, 1 segment of it complete".to_owned(),
            (more, false) => format!("first reading begun, {more} segments of it complete"),
            (_, true) => "first reading complete".to_owned(),
        };
        if Decided::is_complete(work)? {
            found += ", decisions complete";
        }
        if work
            .outputs()
            .is_written(&invocation.out.join("skipped.jsonl"))
        {
            found += ", reports written";
        }
        if self.writes_dump() {
            let directory = invocation.out.join(self.write.name());
            let target = |source: &&Source| {
                let target = directory.join(targets::inside(&source.path));
                work.outputs().is_written(&target)
            };
            let written = invocation.sources.iter().filter(target).count();
            let files = if written == 1 { "file" } else { "files" };
            found += &format!(", {written} {files} of {}/ written", self.write.name());
        }
        found += &shards::complete(&self.shards, &self.streams(), work, invocation.out)?;
        Ok(Some(format!("continuing an interrupted run: {found}")))
    }

    /// Refuses inputs that cannot be read and outputs that cannot be written. Streams are checked
    /// only after they are copied to files. The first `references` sources are the reference.
    fn check_sources(&self, sources: &[Source], references: usize, out: &Path) -> Result<()> {
        let (references, inputs) = sources.split_at(references.min(sources.len()));
        #[cfg(feature = "parquet")]
        {
            table_dump::check(references, &self.reading, false)?;
            let copies = !self.writes_only_text() && !self.streams().is_empty();
            let copies = copies || self.writes_dump() || self.writes_removed_files();
            table_dump::check(inputs, &self.reading, copies)?;
        }
        #[cfg(not(feature = "parquet"))]
        let _ = references;
        if !self.streams().is_empty() && !self.writes_only_text() {
            shards::check(inputs, &self.reading, &self.shards)?;
        }
        if self.writes_dump() || self.writes_removed_files() {
            dump::check(inputs, self.write == WriteMode::Annotated, self.dump)?;
        }
        targets::check(out, &self.outputs(inputs)?)?;
        shards::check_names(&self.shards, &self.streams(), out)
    }

    /// Whether the run writes its inputs again.
    pub(super) fn writes_dump(&self) -> bool {
        !self.shards.is_used() && matches!(self.write, WriteMode::Kept | WriteMode::Annotated)
    }

    /// Whether the run writes a file for each input.
    pub(super) fn writes_files(&self) -> bool {
        self.writes_dump() || self.writes_removed_files()
    }

    /// Whether the run writes documents, in any form.
    pub(super) fn writes_documents(&self) -> bool {
        self.removed || !matches!(self.write, WriteMode::None | WriteMode::Ids)
    }

    /// The files that a run on `sources` writes, relative to the output directory.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if two inputs would be written to one file.
    pub fn outputs(&self, sources: &[Source]) -> Result<Vec<PathBuf>> {
        let mut names: Vec<PathBuf> = self.reports().into_iter().map(PathBuf::from).collect();
        names.extend(self.targets(sources)?);
        names.extend(self.removed_targets(sources)?);
        Ok(names)
    }

    /// The output file of each source, if the run writes its inputs again.
    fn targets(&self, sources: &[Source]) -> Result<Vec<PathBuf>> {
        match self.writes_dump() {
            true => targets::of_sources(sources, self.write.name()),
            false => Ok(Vec::new()),
        }
    }

    /// The same for the removed documents.
    fn removed_targets(&self, sources: &[Source]) -> Result<Vec<PathBuf>> {
        match self.writes_removed_files() {
            true => targets::of_sources(sources, REMOVED),
            false => Ok(Vec::new()),
        }
    }

    /// Whether the run writes its inputs again, with the removed documents alone.
    pub(super) fn writes_removed_files(&self) -> bool {
        self.removed && !self.shards.is_used()
    }

    /// Whether the scope of the run or a compared one is such.
    fn has_scope(&self, is_such: impl Fn(&Scope) -> bool) -> bool {
        is_such(&self.within) || self.compare_scopes.iter().any(is_such)
    }

    /// Refuses settings that need more of known documents than their ids and sketches.
    fn check_known(&self, known: &dyn KnownDocuments) -> Result<()> {
        let refused = [
            (
                self.has_scope(|scope| *scope != Scope::Global),
                "documents are compared within groups",
            ),
            (
                self.clusters == ClusterRule::Components,
                "components are formed",
            ),
            (self.drop_all, "no copy is kept"),
            (self.url != UrlRule::Ignored, "URLs are compared"),
            (
                self.verification.least.is_containment(),
                "containment is measured",
            ),
            (
                self.against_only && !self.keep.is_input_order(),
                "the kept copy is chosen",
            ),
        ];
        if let Some((_, what)) = refused.iter().find(|(is_asked, _)| *is_asked) {
            let message = format!("{what} only where all texts can be read, not against an index");
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        known.expect(self)
    }
}

impl UnfinishedRun<'_> {
    /// What an interrupted run completed, as a sentence for the user.
    pub fn found(&self) -> Option<&str> {
        self.found.as_deref()
    }

    /// A warning for the user before the run starts.
    pub fn warning(&self) -> Option<&str> {
        self.work.warning()
    }

    /// Runs the job to its end.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if an input changed; [`ErrorKind::Content`] if a file of the work
    /// directory is damaged; [`ErrorKind::Interrupted`]; those of reading and writing.
    pub fn run(self, progress: &Progress) -> Result<Summary> {
        let UnfinishedRun {
            job,
            invocation,
            resources,
            ..
        } = self;
        self.work.outputs().verify(progress)?;
        let references = invocation.against.documents().len();
        let check = |sources: &[Source]| job.check_sources(sources, references, invocation.out);
        let (sources, work) = spooled_sources(
            &invocation,
            self.stream,
            &job.reading,
            self.work,
            progress,
            check,
        )?;
        let inputs = RunInputs {
            sources: &sources,
            references: references as u32,
        };
        let workers = Workers::new(resources.threads)?;
        let run = Run {
            job,
            inputs,
            left_out: invocation.left_out,
            stamps: sources.iter().map(Stamp::of).collect::<Result<_>>()?,
            targets: job.targets(&sources[references..])?,
            removed_targets: job.removed_targets(&sources[references..])?,
            known: match invocation.against {
                Against::Known(known) => Some(known),
                Against::Itself | Against::Documents(_) => None,
            },
            out: invocation.out,
            work: &work,
            resources,
            progress,
            begin: Instant::now(),
            table_bytes: OnceLock::new(),
        };
        let (summary, text) = workers.install(|| run.all())?;
        work.finish(&self.identity, &text)?;
        Ok(summary)
    }
}

fn check_memory(job: &Job, resources: &Resources) -> Result<()> {
    let least = least_memory_of(job, resources.threads);
    if resources.memory_bytes >= least {
        return Ok(());
    }
    let message = format!(
        "a memory bound of {} MiB is too small: {} threads and documents of {} MiB need at least \
         {} MiB",
        resources.memory_bytes >> 20,
        resources.threads,
        job.reading.max_document_bytes >> 20,
        least.div_ceil(1 << 20),
    );
    Err(Error::new(ErrorKind::Memory, message))
}

//! The start of a run: checks, the state of the output directory, resuming.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Value, json};

use super::decided::Decided;
use super::job::{Job, SKIPPED};
use super::memory;
use super::per::Per;
use super::rewriting;
use super::run::Run;
use super::summary::Summary;
use crate::corpus::Source;
use crate::engine::streams::OpenedStream;
use crate::engine::{Progress, Resources, Workers, text_field};
use crate::io::Faults;
use crate::jobs::dedup::{
    CheckedJob, Invocation, Opened, SUMMARY, Stamp, Work, check_targets, described_inputs,
    first_stream, spooled_sources, targets_of,
};
use crate::{Error, ErrorKind, Result};

/// The version of the work directory's layout.
const LAYOUT: u32 = 1;

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
    /// Those of [`begin`](Job::begin) and of [`UnfinishedRun::run`].
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
    /// Those of [`begin`](Job::begin).
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
            Opened::Finished => {
                let summary = Summary::read(&invocation.out.join(SUMMARY))?;
                Ok(BeginOutcome::Complete(Box::new(summary)))
            }
            Opened::Unfinished(work) => {
                let found = found(&work, invocation)?;
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
    /// Those of [`begin`](Job::begin).
    pub fn check_beginning(
        &self,
        invocation: &Invocation<'_>,
        resources: &Resources,
    ) -> Result<()> {
        self.check_job(invocation, resources).map(drop)
    }

    /// The files that a run on `sources` writes, relative to the output directory.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if two inputs would be written to one file.
    pub fn outputs(&self, sources: &[Source]) -> Result<Vec<PathBuf>> {
        let mut names: Vec<PathBuf> = self.reports().into_iter().map(PathBuf::from).collect();
        names.extend(self.targets(sources)?);
        Ok(names)
    }

    /// The output file of each source, if the run writes its inputs again.
    fn targets(&self, sources: &[Source]) -> Result<Vec<PathBuf>> {
        match self.action.directory() {
            Some(directory) => targets_of(sources, directory),
            None => Ok(Vec::new()),
        }
    }

    fn check_job(&self, invocation: &Invocation<'_>, resources: &Resources) -> Result<CheckedJob> {
        self.check()?;
        let references = invocation.against.documents();
        if !references.is_empty() && (self.is_by_list() || self.per() != Per::All) {
            let message = "documents to compare with are counted together with all of the input, so \
                           they cannot be combined with a list of units or with per";
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        self.check_memory(resources)?;
        let all = [references, invocation.sources].concat();
        self.check_sources(&all, references.len())?;
        check_targets(invocation.out, &self.outputs(invocation.sources)?)?;
        for sources in [references, invocation.sources] {
            text_field::check("text_field", sources, &self.reading)?;
        }
        let outputs = self.outputs(invocation.sources)?;
        CheckedJob::new(invocation, self.identity(invocation)?, outputs)
    }

    /// The values that must be equal for another run to resume this one.
    fn identity(&self, invocation: &Invocation<'_>) -> Result<Value> {
        Ok(json!({
            "version": env!("CARGO_PKG_VERSION"),
            "layout": LAYOUT,
            "settings": self.settings(),
            "inputs": described_inputs(invocation.sources)?,
            "against": described_inputs(invocation.against.documents())?,
        }))
    }

    fn check_memory(&self, resources: &Resources) -> Result<()> {
        let least = memory::least_bytes(resources.threads, &self.reading);
        if resources.memory_bytes < least {
            let message = format!(
                "a memory bound of {} MiB is too small: {} threads and documents of {} MiB need at \
                 least {} MiB (give more --memory, fewer --threads, or a smaller --max-document)",
                resources.memory_bytes >> 20,
                resources.threads,
                self.reading.max_document_bytes >> 20,
                least.div_ceil(1 << 20),
            );
            return Err(Error::new(ErrorKind::Memory, message));
        }
        Ok(())
    }

    /// The most memory that a list of units may use.
    pub fn list_bytes(memory_bytes: u64) -> u64 {
        memory_bytes / 8
    }

    /// Refuses inputs that cannot be read and outputs that cannot be written. Streams are checked
    /// only after they are copied to files.
    fn check_sources(&self, sources: &[Source], references: usize) -> Result<()> {
        let (references, inputs) = sources.split_at(references.min(sources.len()));
        rewriting::check(self, references, inputs)
    }
}

/// The state of an interrupted run, as a sentence for the user.
fn found(work: &Work, invocation: &Invocation<'_>) -> Result<Option<String>> {
    if !Decided::is_complete(work)? {
        return Ok(None);
    }
    let mut found = "units are counted".to_owned();
    if work.outputs().is_written(&invocation.out.join(SKIPPED)) {
        found += ", reports written";
    }
    Ok(Some(format!("continuing an interrupted run: {found}")))
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
        let references = invocation.against.documents().len();
        let check = |sources: &[Source]| job.check_sources(sources, references);
        let (sources, work) = spooled_sources(
            &invocation,
            self.stream,
            &job.reading,
            self.work,
            progress,
            check,
        )?;
        let workers = Workers::new(resources.threads)?;
        let run = Run {
            job,
            sources: &sources,
            references,
            left_out: invocation.left_out,
            stamps: sources.iter().map(Stamp::of).collect::<Result<_>>()?,
            targets: job.targets(&sources[references..])?,
            out: invocation.out,
            work: &work,
            resources,
            progress,
            begin: Instant::now(),
        };
        let (summary, text) = workers.install(|| run.all())?;
        work.finish(&self.identity, &text)?;
        Ok(summary)
    }
}

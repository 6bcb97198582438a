//! The start of a run: checks, the state of the output directory, resuming.

// Promise (Deduplication): A run that an earlier build … (which compares versions)

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::checks::{check_memory, check_shards, check_sources};
use super::described_inputs::described_inputs;
use super::invocation::{Against, Invocation};
use super::job::BatchJob;
use super::run::UnfinishedRun;
use crate::Result;
use crate::shards;
use crate::skeleton::skipped::SKIPPED;
use crate::table::segment_store::SegmentStore;
use crate::workdir::{DECIDED, Opened, StartOptions, Work, parsed_summary, path_value};
use crate::write::targets;
use simtool_corpus::Source;
use simtool_engine::streams::OpenedStream;
use simtool_engine::{Progress, Resources, text_field};
use simtool_files::Faults;

/// The version of the layout of the work directory.
const LAYOUT: u32 = 13;

/// The state of a job's output directory.
pub enum BeginOutcome<'a, J: BatchJob> {
    /// The complete output of the same job on the same inputs.
    Complete(Box<J::Summary>),
    /// A run that begins, or resumes an interrupted run of the same job.
    Unfinished(Box<UnfinishedRun<'a, J>>),
}

/// A job whose settings are possible.
pub struct CheckedJob<'a, J>(&'a J);

/// The results of the checks of a run before it starts.
struct Preflight {
    /// The values that must be equal for another run to resume this one.
    identity: Value,
    /// Whether a source is a stream.
    has_stream: bool,
    /// The files that the run writes, relative to the output directory.
    outputs: Vec<PathBuf>,
    /// The files that the command reads.
    reads: Vec<PathBuf>,
}

impl<'a, J: BatchJob> CheckedJob<'a, J> {
    /// Checks the settings of a job.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) for impossible settings.
    pub fn new(job: &'a J) -> Result<CheckedJob<'a, J>> {
        job.batch().reading.check()?;
        job.check()?;
        check_shards(job.batch())?;
        Ok(CheckedJob(job))
    }

    /// Runs the job and publishes its output, `summary.json` last. Does nothing if the output of
    /// the same job on the same inputs is complete.
    ///
    /// The output depends neither on `resources` nor on interruptions. A run that reads a stream
    /// always starts from the beginning.
    ///
    /// # Errors
    /// Errors of [`begin`](Self::begin) and of [`UnfinishedRun::run`].
    pub fn run(
        &self,
        invocation: &Invocation<'a>,
        resources: &'a Resources,
        progress: &Progress,
    ) -> Result<J::Summary> {
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
    /// `ErrorKind::Parameter` for an impossible run, or if the command reads earlier output that it
    /// would remove; `Memory` for too small a bound; `Changed` if the output directory belongs to
    /// another job, or an input changed; `Content` if the directory is damaged, or an input
    /// unusable; `Read`; `Write`.
    pub fn begin(
        &self,
        invocation: &Invocation<'a>,
        resources: &'a Resources,
    ) -> Result<BeginOutcome<'a, J>> {
        self.begin_with_faults(invocation, resources, &Faults::default())
    }

    /// [`begin`](Self::begin) with injected failures of changes to the output directory.
    ///
    /// # Errors
    /// Errors of [`begin`](Self::begin).
    pub fn begin_with_faults(
        &self,
        invocation: &Invocation<'a>,
        resources: &'a Resources,
        faults: &Faults,
    ) -> Result<BeginOutcome<'a, J>> {
        let job = self.0;
        let checked = self.preflight(invocation, resources)?;
        let stream = open_first_stream(job, invocation)?;
        let start = checked.start_options(invocation);
        match Work::open(invocation.out, &checked.identity, start, faults)? {
            Opened::Finished(place) => {
                let summary = parsed_summary(&place, J::parse_summary)?;
                job.check_finished(invocation, &summary)?;
                Ok(BeginOutcome::Complete(Box::new(summary)))
            }
            Opened::Unfinished(work) => {
                let found = found(job, &work, invocation)?;
                Ok(BeginOutcome::Unfinished(Box::new(UnfinishedRun {
                    job,
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

    /// Makes the checks of [`begin`](Self::begin), except those of streams and of the lock, and
    /// changes nothing.
    ///
    /// # Errors
    /// Errors of [`begin`](Self::begin).
    pub fn check_beginning(
        &self,
        invocation: &Invocation<'_>,
        resources: &Resources,
    ) -> Result<()> {
        self.preflight(invocation, resources).map(drop)
    }

    fn preflight(&self, invocation: &Invocation<'_>, resources: &Resources) -> Result<Preflight> {
        let job = self.0;
        job.check_against(invocation.against)?;
        check_memory(job, resources)?;
        let references = invocation.against.documents();
        check_sources(job, references, invocation.sources, invocation.out)?;
        let batch = job.batch();
        text_field::check("text_field", references, batch.reference_reading)?;
        text_field::check("text_field", invocation.sources, batch.reading)?;
        let mut outputs = job.outputs(invocation.sources)?;
        outputs.extend(shards::names(
            batch.shards,
            &job.written().streams,
            invocation,
        )?);
        let sources = || references.iter().chain(invocation.sources);
        let preflight = Preflight {
            identity: identity(job, invocation)?,
            has_stream: sources().any(Source::is_stream),
            outputs,
            reads: sources()
                .map(|source| &source.path)
                .chain(invocation.also_read)
                .cloned()
                .collect(),
        };
        let start = preflight.start_options(invocation);
        Work::check(invocation.out, &preflight.identity, start)?;
        Ok(preflight)
    }
}

impl Preflight {
    /// How the run starts.
    fn start_options<'a>(&'a self, invocation: &Invocation<'a>) -> StartOptions<'a> {
        StartOptions {
            restart: invocation.restart,
            has_stream: self.has_stream,
            outputs: &self.outputs,
            reads: &self.reads,
            remote: invocation.remote,
        }
    }
}

/// The values that must be equal for another run to resume this one: the program's version, the
/// settings, the inputs with sizes and times.
fn identity<J: BatchJob>(job: &J, invocation: &Invocation<'_>) -> Result<Value> {
    let mut identity = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "layout": LAYOUT,
        "settings": job.settings(),
    });
    // The macro would copy them.
    identity["inputs"] = described_inputs(invocation.sources)?.into();
    identity["against"] = match invocation.against {
        Against::Known(known) => known.state()?,
        against => described_inputs(against.documents())?.into(),
    };
    if invocation.sources.is_empty() {
        let arguments = invocation.arguments.iter();
        identity["arguments"] = arguments.map(|path| path_value(path)).collect();
    }
    Ok(identity)
}

/// Opens the first stream before a restart removes earlier output: if the stream cannot be read,
/// that output is kept.
fn open_first_stream<J: BatchJob>(
    job: &J,
    invocation: &Invocation<'_>,
) -> Result<Option<OpenedStream>> {
    if !invocation.restart || !invocation.out.is_dir() {
        return Ok(None);
    }
    let references = invocation.against.documents().iter();
    let mut all = references.chain(invocation.sources);
    let first = all.find(|source| source.is_stream());
    let open = |source| OpenedStream::begin(source, job.batch().reading, invocation.out, || Ok(()));
    first.map(open).transpose()
}

/// The state of an interrupted run, as a sentence for the user.
fn found<J: BatchJob>(job: &J, work: &Work, invocation: &Invocation<'_>) -> Result<Option<String>> {
    let mut found = match SegmentStore::state(work)? {
        (0, false) => return Ok(None),
        (1, false) => "first reading begun, 1 segment of it complete".to_owned(),
        (more, false) => format!("first reading begun, {more} segments of it complete"),
        (_, true) => "first reading complete".to_owned(),
    };
    if work.published(DECIDED)?.is_some() {
        found += ", decisions complete";
    }
    let is_written = |path: &Path| work.outputs().is_written(&invocation.out.join(path));
    if is_written(Path::new(SKIPPED)) {
        found += ", reports written";
    }
    let written = job.written();
    for directory in written.files {
        let inside = |source: &Source| Path::new(directory).join(targets::inside(&source.path));
        let sources = invocation.sources.iter();
        let count = sources.filter(|source| is_written(&inside(source))).count();
        let files = if count == 1 { "file" } else { "files" };
        found += &format!(", {count} {files} of {directory}/ written");
    }
    let shards = job.batch().shards;
    found += &shards::complete(shards, &written.streams, work, invocation.out)?;
    Ok(Some(format!("continuing an interrupted run: {found}")))
}

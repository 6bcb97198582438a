//! A run from its lock to its summary.

use std::io::Write;
use std::time::Instant;

use serde_json::Value;

use super::checks::check_sources;
use super::context::RunContext;
use super::invocation::{Against, Invocation};
use super::job::BatchJob;
use super::reading_memory::readers;
use super::summary::timings;
use crate::Result;
use crate::table::stamp::InputStamp;
use crate::workdir::{TIMINGS, Work, checksummed_text, fields};
use crate::write::targets;
use simtool_corpus::Source;
use simtool_engine::streams::{OpenedStream, spool};
use simtool_engine::{Progress, Resources, Workers};

/// A run that has locked its output directory and has processed no documents yet.
pub struct UnfinishedRun<'a, J> {
    pub(super) job: &'a J,
    pub(super) invocation: Invocation<'a>,
    pub(super) resources: &'a Resources,
    pub(super) identity: Value,
    pub(super) work: Work,
    pub(super) found: Option<String>,
    pub(super) stream: Option<OpenedStream>,
}

impl<J: BatchJob> UnfinishedRun<'_, J> {
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
    /// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if an input changed;
    /// [`ErrorKind::Content`](crate::ErrorKind::Content) if a file of the work directory is
    /// damaged; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted); those of reading and
    /// writing.
    pub fn run(mut self, progress: &Progress) -> Result<J::Summary> {
        let (job, invocation, resources) = (self.job, self.invocation, self.resources);
        self.work.outputs().verify(progress)?;
        let references = invocation.against.documents().len();
        let stream = self.stream.take();
        let mut sources = [invocation.against.documents(), invocation.sources].concat();
        if sources.iter().any(Source::is_stream) {
            let directory = self.work.directory();
            let copied = spool(
                &mut sources,
                stream,
                job.batch().reading,
                directory,
                progress,
            );
            let (references, inputs) = sources.split_at(references);
            let checked =
                copied.and_then(|()| check_sources(job, references, inputs, invocation.out));
            if let Err(error) = checked {
                self.work.abandon()?;
                return Err(error);
            }
        }
        let own = &sources[references..];
        let written = job.written();
        let targets = written.files.iter();
        let targets = targets.map(|directory| targets::of_sources(own, directory));
        let workers = Workers::new(resources.threads)?;
        let run = RunContext {
            sources: &sources,
            references: references as u32,
            known: match invocation.against {
                Against::Known(known) => Some(known),
                Against::Itself | Against::Documents(_) => None,
            },
            left_out: invocation.left_out,
            stamps: &sources
                .iter()
                .map(InputStamp::of)
                .collect::<Result<Vec<_>>>()?,
            batch: job.batch(),
            written: &written,
            targets: &targets.collect::<Result<Vec<_>>>()?,
            out: invocation.out,
            work: &self.work,
            resources,
            readers: readers(resources, job.batch().reading.max_document_bytes),
            progress,
        };
        let begin = Instant::now();
        let (summary, text) = workers.install(|| {
            let finished = job.stages(run)?;
            write_timings(&run, begin)?;
            Ok(finished)
        })?;
        self.work.finish(&self.identity, &text)?;
        Ok(summary)
    }
}

/// Writes `timings.json` of a run that began at `begin`.
fn write_timings(run: &RunContext<'_>, begin: Instant) -> Result<()> {
    run.progress.check()?;
    let stages = run.progress.finished();
    let timings = timings(&stages, run.resources.threads, begin.elapsed());
    let mut file = run.work.outputs().create(&run.out.join(TIMINGS))?;
    file.write_all(checksummed_text(fields(&timings)).as_bytes())
        .map_err(|cause| file.error(cause))?;
    file.publish()
}

//! The start of a run: checks, the state of the output directory, resuming.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Value, json};

use super::action::Action;
use super::decided::Decided;
use super::inputs::Inputs;
use super::reports::{SKIPPED, SPANS};
use super::rewriting;
use super::run::{PAGE, Run};
use super::search::Search;
use super::summary::Summary;
use crate::dedup::{CheckedJob, Invocation, first_stream, least_memory_bytes, spooled_sources};
use crate::shards;
use crate::skeleton::described_inputs::described_inputs;
use crate::table::stamp::Stamp;
use crate::workdir::{Opened, SUMMARY, TIMINGS, Work, parsed_summary};
use crate::write::targets;
use crate::{Error, ErrorKind, Result};
use simtool_corpus::Source;
use simtool_engine::streams::OpenedStream;
use simtool_engine::{Progress, Resources, Workers, text_field};
use simtool_files::Faults;

/// The version of the work directory's layout.
const LAYOUT: u32 = 1;

/// The longest document, so that places in texts fit four bytes.
const MOST_DOCUMENT_BYTES: u64 = 1 << 31;

/// The state of a search's output directory.
pub enum BeginOutcome<'a, S> {
    /// The complete output of the same search on the same inputs.
    Complete(Box<Summary>),
    /// A run that begins, or resumes an interrupted run of the same search.
    Unfinished(Box<UnfinishedRun<'a, S>>),
}

/// A run that has locked its output directory and has processed no documents yet.
pub struct UnfinishedRun<'a, S> {
    search: &'a S,
    invocation: Invocation<'a>,
    resources: &'a Resources,
    identity: Value,
    work: Work,
    found: Option<String>,
    stream: Option<OpenedStream>,
}

/// Running a search.
pub trait Runnable: Search {
    /// Runs the search and publishes its output, `summary.json` last. Does nothing if the output of
    /// the same job on the same inputs is complete.
    ///
    /// The output depends neither on `resources` nor on interruptions. A run that reads a stream
    /// always starts from the beginning.
    ///
    /// # Errors
    /// Errors of [`begin`](Self::begin) and of [`UnfinishedRun::run`].
    fn run(
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
    fn begin<'a>(
        &'a self,
        invocation: &Invocation<'a>,
        resources: &'a Resources,
    ) -> Result<BeginOutcome<'a, Self>> {
        self.begin_with_faults(invocation, resources, &Faults::default())
    }

    /// [`begin`](Self::begin) with injected failures of changes to the output directory.
    ///
    /// # Errors
    /// Errors of [`begin`](Self::begin).
    fn begin_with_faults<'a>(
        &'a self,
        invocation: &Invocation<'a>,
        resources: &'a Resources,
        faults: &Faults,
    ) -> Result<BeginOutcome<'a, Self>> {
        let checked = check_search(self, invocation, resources)?;
        let stream = first_stream(invocation, self.common().reading)?;
        let start = checked.start_options(invocation);
        match Work::open(invocation.out, &checked.identity, start, faults)? {
            Opened::Finished(place) => {
                let parse = |text: &Value| Summary::parse(text, &Self::NAMES);
                let summary = parsed_summary(&place, parse)?;
                Ok(BeginOutcome::Complete(Box::new(summary)))
            }
            Opened::Unfinished(work) => {
                let found = found(self, &work, invocation)?;
                Ok(BeginOutcome::Unfinished(Box::new(UnfinishedRun {
                    search: self,
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
    fn check_beginning(&self, invocation: &Invocation<'_>, resources: &Resources) -> Result<()> {
        check_search(self, invocation, resources).map(drop)
    }

    /// The files that a run on `sources` writes, relative to the output directory.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if two inputs would be written to one file.
    fn outputs(&self, sources: &[Source]) -> Result<Vec<PathBuf>> {
        let reports = [
            SPANS,
            Self::NAMES.list,
            SKIPPED,
            TIMINGS,
            "run.json",
            SUMMARY,
        ];
        let reports = reports
            .into_iter()
            .chain(self.common().page.then_some(PAGE));
        let mut names: Vec<PathBuf> = reports.map(PathBuf::from).collect();
        names.extend(targets(self, sources)?);
        Ok(names)
    }
}

impl<S: Search> Runnable for S {}

/// The output file of each source, if the run writes its inputs again.
fn targets<S: Search>(search: &S, sources: &[Source]) -> Result<Vec<PathBuf>> {
    let common = search.common();
    match common.action.directory() {
        Some(directory) if !common.shards.is_used() => targets::of_sources(sources, directory),
        _ => Ok(Vec::new()),
    }
}

fn check_search<S: Search>(
    search: &S,
    invocation: &Invocation<'_>,
    resources: &Resources,
) -> Result<CheckedJob> {
    check_settings(search)?;
    let references = invocation.against.documents();
    match references.is_empty() {
        false => search.check_references()?,
        true if search.needs_references() => {
            let message = format!("{}: no file was found", S::NAMES.against);
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        true => {}
    }
    check_memory(search, resources)?;
    let all = [references, invocation.sources].concat();
    check_sources(search, &all, references.len())?;
    let mut outputs = search.outputs(invocation.sources)?;
    targets::check(invocation.out, &outputs)?;
    let common = search.common();
    shards::check_names(common.shards, &common.streams(), invocation.out)?;
    outputs.extend(shards::names(common.shards, &common.streams(), invocation)?);
    text_field::check("text_field", references, common.reference_reading)?;
    text_field::check("text_field", invocation.sources, common.reading)?;
    CheckedJob::new(invocation, identity(search, invocation)?, outputs)
}

/// The checks of settings that every search has.
fn check_settings<S: Search>(search: &S) -> Result<()> {
    let refuse = |message: String| Err(Error::new(ErrorKind::Parameter, message));
    let common = search.common();
    common.reading.check()?;
    search.check()?;
    if common.reading.max_document_bytes > MOST_DOCUMENT_BYTES {
        return refuse(format!(
            "max_document {}: expected at most 2G",
            common.reading.max_document_bytes
        ));
    }
    common.shards.check(common.dump.compression_level)?;
    if common.shards.is_used() && common.action == Action::Mark {
        let message = "write_format has an effect only where documents are written: choose the \
                       action cut, mask or drop-document:SHARE";
        return refuse(message.to_owned());
    }
    if common.shards.is_used() && common.dump.drops_skipped() {
        let message =
            "records that could not be read are never in shards, so skipped has no effect";
        return refuse(message.to_owned());
    }
    if common.shards.is_used() && common.dump.empty_files {
        let message = "shards are not the files of the inputs, so empty_files has no effect";
        return refuse(message.to_owned());
    }
    if common.remains.has_rule() && common.action != Action::Cut {
        let [_, passages] = S::NAMES.noun;
        return refuse(format!(
            "what has to remain of a document is counted only if {passages} are cut, and the \
             action is {}",
            common.action
        ));
    }
    Ok(())
}

/// The values that must be equal for another run to resume this one.
fn identity<S: Search>(search: &S, invocation: &Invocation<'_>) -> Result<Value> {
    let mut identity = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "layout": LAYOUT,
        "settings": search.settings(),
    });
    // The macro would copy them.
    identity["inputs"] = described_inputs(invocation.sources)?.into();
    identity["against"] = described_inputs(invocation.against.documents())?.into();
    Ok(identity)
}

fn check_memory<S: Search>(search: &S, resources: &Resources) -> Result<()> {
    let (threads, most) = (
        resources.threads,
        search.common().reading.max_document_bytes,
    );
    let groups = shards::least_bytes(
        search.common().shards.format,
        search.common().streams().len(),
    );
    let writing = least_memory_bytes(threads, most) + groups;
    let least = search.least_memory_bytes(threads).max(writing);
    if resources.memory_bytes < least {
        let message = format!(
            "a memory bound of {} MiB is too small: {} threads and documents of {} MiB need at \
             least {} MiB (give more --memory, fewer --threads, or a smaller --max-document)",
            resources.memory_bytes >> 20,
            resources.threads,
            search.common().reading.max_document_bytes >> 20,
            least.div_ceil(1 << 20),
        );
        return Err(Error::new(ErrorKind::Memory, message));
    }
    Ok(())
}

/// Refuses inputs that cannot be read and outputs that cannot be written. Streams are checked only
/// after they are copied to files.
fn check_sources<S: Search>(search: &S, sources: &[Source], references: usize) -> Result<()> {
    let (references, inputs) = sources.split_at(references.min(sources.len()));
    rewriting::check(search, references, inputs)
}

/// The state of an interrupted run, as a sentence for the user.
fn found<S: Search>(
    search: &S,
    work: &Work,
    invocation: &Invocation<'_>,
) -> Result<Option<String>> {
    if !Decided::is_complete(work)? {
        return Ok(None);
    }
    let [_, passages] = S::NAMES.noun;
    let mut found = format!("{passages} are counted");
    if work.outputs().is_written(&invocation.out.join(SKIPPED)) {
        found += ", reports written";
    }
    let common = search.common();
    found += &shards::complete(common.shards, &common.streams(), work, invocation.out)?;
    Ok(Some(format!("continuing an interrupted run: {found}")))
}

impl<S: Search> UnfinishedRun<'_, S> {
    /// What an interrupted run completed, as a sentence for the user.
    pub fn found(&self) -> Option<&str> {
        self.found.as_deref()
    }

    /// A warning for the user before the run starts.
    pub fn warning(&self) -> Option<&str> {
        self.work.warning()
    }

    /// Runs the search to its end.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if an input changed; [`ErrorKind::Content`] if a file of the work
    /// directory is damaged; [`ErrorKind::Interrupted`]; those of reading and writing.
    pub fn run(self, progress: &Progress) -> Result<Summary> {
        let UnfinishedRun {
            search,
            invocation,
            resources,
            ..
        } = self;
        self.work.outputs().verify(progress)?;
        let references = invocation.against.documents().len();
        let check = |sources: &[Source]| check_sources(search, sources, references);
        let reading = search.common().reading;
        let (sources, work) = spooled_sources(
            &invocation,
            self.stream,
            reading,
            self.work,
            progress,
            check,
        )?;
        let workers = Workers::new(resources.threads)?;
        let run = Run {
            search,
            inputs: Inputs {
                sources: &sources,
                references,
                reading,
                reference_reading: search.common().reference_reading,
                work: &work,
                resources,
                progress,
            },
            left_out: invocation.left_out,
            stamps: sources.iter().map(Stamp::of).collect::<Result<_>>()?,
            targets: targets(search, &sources[references..])?,
            out: invocation.out,
            begin: Instant::now(),
        };
        let (summary, text) = workers.install(|| run.all())?;
        work.finish(&self.identity, &text)?;
        Ok(summary)
    }
}

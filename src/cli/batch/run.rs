//! The run of a batch job, from its beginning to the published output.

use std::path::PathBuf;
use std::time::Duration;

use simtool::Result;
use simtool::corpus::Source;
use simtool::engine::Resources;
use simtool::io::InputFiles;
use simtool::io::remote::Client;
use simtool::jobs::{BatchJob, BeginOutcome, CheckedJob, Invocation};

use super::flags::{InputArgs, RunArgs};
use crate::cli::dedup::forecast::Forecast;
use crate::cli::output::output_directory::{explain_stop, say_what_stays};
use crate::cli::output::output_place::OutputPlace;
use crate::cli::process::session::Session;
use crate::cli::reading::server_waits::report_waits;
use crate::cli::screen::message;

/// A complete output.
pub struct Ended<S> {
    /// The counts of the run that made it.
    pub summary: S,
    /// Whether this run finished it, and not an earlier one.
    pub is_new: bool,
    /// The planned duration.
    pub planned: Option<Duration>,
}

/// Where the output of a command is.
///
/// # Errors
/// Errors of names of objects.
pub fn place(input: &InputArgs, run: &RunArgs, client: &Client) -> Result<OutputPlace> {
    OutputPlace::of(client, &input.output, run.resources.temp_dir.as_deref())
}

/// Refuses outputs that would replace a file that the command reads; it reads all in `directories`.
///
/// # Errors
/// [`ErrorKind::Parameter`](simtool::ErrorKind::Parameter) naming the file.
pub fn check_output<J: BatchJob>(
    job: &J,
    invocation: &Invocation<'_>,
    directories: &[PathBuf],
) -> Result<()> {
    let mut files = InputFiles::default();
    let references = invocation.against.documents();
    let sources = invocation.sources.iter().chain(references);
    sources.for_each(|source| files.add(&source.path));
    invocation.also_read.iter().for_each(|list| files.add(list));
    let directories = directories.iter();
    directories.for_each(|directory| files.add_directory(directory));
    let mut outputs = job.outputs(invocation.sources)?.into_iter();
    outputs.try_for_each(|name| files.claim(&invocation.out.join(name), "--output"))
}

/// Begins or resumes a run, and takes it to its end. `expect` makes the plan of a run that begins.
///
/// # Errors
/// Errors of the job, with what the user can do; those of `expect`.
pub fn execute<'a, J: BatchJob>(
    checked: &CheckedJob<'a, J>,
    invocation: &Invocation<'a>,
    resources: &'a Resources,
    place: &OutputPlace,
    session: &Session,
    expect: impl FnOnce() -> Result<Forecast>,
) -> Result<Ended<J::Summary>> {
    let begun = report_waits(&session.client, place.remote.is_some(), || {
        place.begin(|| checked.begin(invocation, resources))
    })?;
    let unfinished = match begun {
        BeginOutcome::Complete(summary) => {
            return Ok(Ended {
                summary: *summary,
                is_new: false,
                planned: None,
            });
        }
        BeginOutcome::Unfinished(unfinished) => unfinished,
    };
    if let Some(warning) = unfinished.warning() {
        message::say(warning);
    }
    unfinished.found().into_iter().for_each(message::say);
    let plan = expect()?;
    let running = session.start(plan.first_text)?;
    let outcome = unfinished.run(&session.progress);
    drop(running);
    let references = invocation.against.documents();
    let has_stream = invocation
        .sources
        .iter()
        .chain(references)
        .any(Source::is_stream);
    let summary = outcome.map_err(|error| explain_stop(error, invocation.out, has_stream))?;
    say_what_stays(invocation.out);
    Ok(Ended {
        summary,
        is_new: true,
        planned: plan.time,
    })
}

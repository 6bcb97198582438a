//! A run of a command that searches for passages.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use simtool::corpus::{Discovery, Reading, Source};
use simtool::engine::{Progress, Resources, Stage};
use simtool::io::InputFiles;
use simtool::jobs::passages::{Action, Search, Summary};
use simtool::jobs::{
    Against, BatchJob, BeginOutcome, CheckedJob, Invocation, UnfinishedRun, least_memory_bytes,
    shards,
};
use simtool::{Error, ErrorKind, Result};

use super::flags::{ActionArgs, InputArgs, OutputArgs, PassageReadingArgs, check_effect};
use super::plan::PassagePlan;
use super::result::{Reporter, warn};
use crate::cli::exit::Finish;
use crate::cli::found::{check_text_field, find, warn_of_patterns};
use crate::cli::log::{Form, Log};
use crate::cli::output_directory::{
    explain_stop, refuse_file, refuse_own_input, refuse_removed_input, say_what_stays,
};
use crate::cli::output_place::OutputPlace;
use crate::cli::resource_flags::{and_inputs, input_bytes};
use crate::cli::server_waits::report_waits;
use crate::cli::session::Session;
use crate::cli::{machine, message};
use serde_json::Value;

/// A command that searches for passages.
pub trait PassageCommand {
    /// Its search.
    type Search: Search;

    /// The flags that every such command has.
    fn flags(&self) -> (&InputArgs, &PassageReadingArgs, &ActionArgs, &OutputArgs);

    /// The documents to compare with.
    fn against(&self) -> &[PathBuf];

    /// How the documents to compare with are read, and the flag that names the field of their text.
    fn reference_reading(&self) -> (Reading, &'static str) {
        let (_, reading, _, _) = self.flags();
        (reading.reading(), "--text-field")
    }

    /// The lists that the command reads besides documents.
    fn lists(&self) -> Vec<PathBuf>;

    /// The search that the flags describe.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`]; those of reading lists.
    fn search(&self, resources: &Resources) -> Result<Self::Search>;

    /// The least memory bound with `threads` threads.
    fn least_memory_bytes(&self, threads: usize) -> u64;

    /// What is searched and removed, for the plan: some lines of text, from the settings.
    fn rule(settings: &Value) -> String;

    /// What was found, as a part of a sentence: "3 of 5 lines removed", for example.
    fn found(&self, summary: &Summary, action: Action) -> String;
}

/// Searches for passages and publishes the result.
///
/// # Errors
/// Errors of the flags, of the inputs and of the search.
pub fn run<C: PassageCommand>(args: &C) -> Result<Finish> {
    let (.., output) = args.flags();
    let log = output.log.log(output.quiet);
    run_in(&Session::new(log), log, args)
}

/// Searches for passages and publishes the result without printing anything; returns `summary.json`.
///
/// # Errors
/// Errors of [`run`].
pub fn call<C: PassageCommand>(args: &C, progress: &Arc<Progress>) -> Result<Vec<u8>> {
    run_in(&Session::silent(progress), Log::SILENT, args)?;
    place(args)?.published().map(String::into_bytes)
}

fn place<C: PassageCommand>(args: &C) -> Result<OutputPlace> {
    let (input, _, _, output) = args.flags();
    OutputPlace::of(&input.output, output.resources.temp_dir.as_deref())
}

fn run_in<C: PassageCommand>(session: &Session, log: Log, args: &C) -> Result<Finish> {
    let (input, reading_flags, action, output) = args.flags();
    let place = place(args)?;
    let out = &place.local;
    check_effect(reading_flags, action, output)?;
    refuse_file(out)?;
    refuse_own_input(out, &input.inputs)?;
    let mut reading = reading_flags.reading();
    reading.files.except_directory = Some(out.clone());
    reading.files.take.clone_from(&input.take);
    let (mut reference_reading, reference_field) = args.reference_reading();
    reference_reading.check()?;
    reference_reading.files = reading.files.clone();
    let Discovery {
        sources,
        mut left_out,
        mut excepted,
        unmatched,
    } = find(&input.inputs, &input.files_from, &reading, log)?;
    let mut unmatched = vec![unmatched];
    let mut references = Vec::new();
    if !args.against().is_empty() {
        let found = find(args.against(), &[], &reference_reading, log)?;
        excepted.extend(found.excepted);
        left_out.extend(found.left_out);
        unmatched.push(found.unmatched);
        references = found.sources;
    }
    warn_of_patterns(&unmatched, references.iter().chain(&sources));
    check_text_field(reference_field, &references, &reference_reading)?;
    check_text_field("--text-field", &sources, &reading)?;
    refuse_removed_input(output.restart, &excepted)?;
    let resources = resources(args, references.len() + sources.len(), out)?;
    let search = args.search(&resources)?;
    let checked = CheckedJob::new(&search)?;
    let lists: Vec<PathBuf> = [input.files_from.clone(), args.lists()].concat();
    let invocation = Invocation {
        against: match references.is_empty() {
            true => Against::Itself,
            false => Against::Documents(&references),
        },
        arguments: &[&input.inputs[..], &input.files_from].concat(),
        sources: &sources,
        left_out: &left_out,
        also_read: &lists,
        out,
        remote: place.remote.as_ref(),
        restart: output.restart,
    };
    check_output(&search, &invocation)?;
    if output.dry_run {
        checked.check_beginning(&invocation, &resources)?;
        let all = [references.as_slice(), &sources].concat();
        let listing = session.elapsed();
        let mut estimate = search.estimate(&all, references.len(), &resources)?;
        estimate.cost.begin_with(Stage::List, listing);
        let plan = PassagePlan {
            search: &search,
            invocation: &invocation,
            resources: &resources,
            estimate,
        };
        message::write(&match log.form {
            Form::Json => plan.json(),
            _ => plan.text(C::rule),
        });
        return Ok(Finish::Complete);
    }
    let reporter = Reporter {
        place: &place,
        left_out: left_out.len(),
        output,
        log,
        names: <C::Search as Search>::NAMES,
        found: &|summary, action| args.found(summary, action),
        action: action.action,
    };
    let begun = report_waits(place.remote.is_some(), || {
        place.begin(|| checked.begin(&invocation, &resources))
    })?;
    let summary = match begun {
        BeginOutcome::Complete(summary) => {
            reporter.complete(&summary, session.elapsed())?;
            *summary
        }
        BeginOutcome::Unfinished(unfinished) => {
            let has_stream = sources.iter().chain(&references).any(Source::is_stream);
            finish_run(*unfinished, &reporter, session, has_stream)?
        }
    };
    Ok(finish(&summary, output))
}

/// Runs to the end, and reports.
fn finish_run<S: Search>(
    unfinished: UnfinishedRun<'_, S>,
    reporter: &Reporter<'_>,
    session: &Session,
    has_stream: bool,
) -> Result<Summary> {
    if let Some(warning) = unfinished.warning() {
        message::say(warning);
    }
    unfinished.found().into_iter().for_each(message::say);
    let running = session.start(None)?;
    let outcome = unfinished.run(&session.progress);
    drop(running);
    let summary =
        outcome.map_err(|error| explain_stop(error, &reporter.place.local, has_stream))?;
    say_what_stays(&reporter.place.local);
    let time = session.elapsed();
    warn(&summary);
    session.report_timings(reporter.output.timings);
    reporter.result(&summary, time)?;
    Ok(summary)
}

/// The result of the command; the limit applies to the input and to `--against` separately.
fn finish(summary: &Summary, output: &OutputArgs) -> Finish {
    let (references, skipped) = summary.references;
    let documents = summary.documents;
    output
        .max_skipped
        .finish(&[(documents.skipped, documents.seen), (skipped, references)])
}

/// The resources, with at least the memory that the search needs.
fn resources<C: PassageCommand>(args: &C, inputs: usize, out: &Path) -> Result<Resources> {
    let (_, reading, _, output) = args.flags();
    let threads = output.resources.threads.unwrap_or_else(machine::all_cores);
    let groups = shards::least_bytes(output.format(), 1);
    let writing = least_memory_bytes(threads, reading.max_document) + groups;
    let least = args.least_memory_bytes(threads).max(writing);
    let all = least + input_bytes(inputs);
    if let Some(bytes) = output.resources.memory.filter(|bytes| *bytes < all) {
        let message = format!(
            "--memory {}: with --threads {threads} and --max-document {}{} at least {}M are needed (a \
             smaller --max-document needs less)",
            machine::size(bytes),
            machine::size(reading.max_document),
            and_inputs(inputs),
            all.div_ceil(1 << 20),
        );
        return Err(Error::new(ErrorKind::Memory, message));
    }
    let temporary = out.join(".simtool");
    let resources = output
        .resources
        .resources(reading.max_document, inputs, temporary)?;
    Ok(Resources {
        memory_bytes: resources.memory_bytes.max(least),
        ..resources
    })
}

/// Refuses outputs that would replace a file that the command reads.
fn check_output<S: Search>(search: &S, invocation: &Invocation<'_>) -> Result<()> {
    let mut files = InputFiles::default();
    let sources = invocation.sources.iter();
    let sources = sources.chain(invocation.against.documents());
    sources.for_each(|source| files.add(&source.path));
    invocation.also_read.iter().for_each(|list| files.add(list));
    let mut outputs = search.outputs(invocation.sources)?.into_iter();
    outputs.try_for_each(|name| files.claim(&invocation.out.join(name), "--output"))
}

//! A run of a command that searches for passages.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use simtool::Result;
use simtool::corpus::{Reading, Source};
use simtool::engine::{Progress, Stage};
use simtool::io::remote::Client;
use simtool::jobs::CheckedJob;
use simtool::jobs::passages::{Action, PassageSearch, PassageSettings, PassageSummary};
use simtool::text::Choice;

use super::flags::{ActionArgs, OutputArgs, check_effect};
use super::plan::PassagePlan;
use super::result::{counts, fields};
use crate::cli::batch::{
    self, InputArgs, References, Report, check_output, execute, find_inputs, scaling,
};
use crate::cli::dedup::forecast::Forecast;
use crate::cli::process::exit::Finish;
use crate::cli::process::session::Session;
use crate::cli::reading::reading_flags::DocumentReadingArgs;
use crate::cli::screen::log::{Form, Log};
use crate::cli::screen::message;

/// A command that searches for passages.
pub trait PassageCommand: Sized {
    /// Its search.
    type Search: PassageSearch;

    /// The flags that every such command has.
    fn flags(&self) -> (&InputArgs, &DocumentReadingArgs, &ActionArgs, &OutputArgs);

    /// The same command with a number of threads and another output.
    fn running(&self, threads: usize, output: PathBuf) -> Self;

    /// The settings that every search has; `tokenizer` is what counts as a word in what remains.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for settings of shards.
    fn common(&self, tokenizer: Option<Choice>) -> Result<PassageSettings> {
        let (_, reading, action, output) = self.flags();
        Ok(PassageSettings {
            action: action.action,
            remains: action.remains(tokenizer),
            reading: reading.reading(),
            dump: output.dump(),
            shards: output.shards.settings(output.format())?,
            page: !output.no_page,
        })
    }

    /// The documents to compare with.
    fn against(&self) -> &[PathBuf];

    /// How the documents to compare with are read, and the flag that names the field of their text.
    fn reference_reading(&self) -> (Reading, &'static str) {
        let (_, reading, _, _) = self.flags();
        (reading.reading(), "--text-field")
    }

    /// The lists that the command reads besides documents.
    fn lists(&self) -> Vec<PathBuf>;

    /// The search that the flags describe, for a run within `memory_bytes`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`]; those of reading lists.
    fn search(&self, memory_bytes: u64) -> Result<Self::Search>;

    /// What is searched and removed, for the plan: some lines of text, from the settings.
    fn rule(settings: &Value) -> String;

    /// What was found, as a part of a sentence: "3 of 5 lines removed", for example.
    fn found(&self, summary: &PassageSummary, action: Action) -> String;
}

/// Searches for passages and publishes the result.
///
/// # Errors
/// Errors of the flags, of the inputs and of the search.
pub fn run<C: PassageCommand>(args: &C, client: &Client) -> Result<Finish> {
    let (input, .., output) = args.flags();
    if let Some(runs) = output.run.scaling.scaling {
        return scaling::measure(
            (input, &output.run),
            runs,
            client,
            |threads, out, progress| {
                call(&args.running(threads, out), &[], progress, client).map(drop)
            },
        );
    }
    let log = output.run.log();
    run_in(&Session::new(log, client), log, args)
}

/// Searches for passages and publishes the result without printing anything; returns `summary.json`.
/// Inputs with the names of `rows` are in memory.
///
/// # Errors
/// Errors of [`run`].
pub fn call<C: PassageCommand>(
    args: &C,
    rows: &[Source],
    progress: &Arc<Progress>,
    client: &Client,
) -> Result<Vec<u8>> {
    let session = Session::silent(progress, client, rows);
    run_in(&session, Log::SILENT, args)?;
    let (input, _, _, output) = args.flags();
    let place = batch::place(input, &output.run, client)?;
    place.published().map(String::into_bytes)
}

fn run_in<C: PassageCommand>(session: &Session, log: Log, args: &C) -> Result<Finish> {
    let (input, reading_flags, action, output) = args.flags();
    let place = batch::place(input, &output.run, &session.client)?;
    check_effect(reading_flags, action, output)?;
    let (reference_reading, text_flag) = args.reference_reading();
    reference_reading.check()?;
    let references = References {
        paths: args.against(),
        reading: &reference_reading,
        text_flag,
    };
    let (out, restart) = (&place.local, output.run.restart);
    let found = find_inputs(
        out,
        input,
        &reading_flags.reading(),
        &references,
        restart,
        session,
    )?;
    let wanted = &output.run.resources;
    let search = args.search(wanted.memory_bytes())?;
    let checked = CheckedJob::new(&search)?;
    let temporary = out.join(".simtool");
    let resources = wanted.of_job(&search, found.count(), temporary, &session.client)?;
    let lists: Vec<PathBuf> = [input.files_from.clone(), args.lists()].concat();
    let arguments = input.arguments();
    let invocation = found.invocation(&place, &arguments, &lists, None, restart);
    check_output(&search, &invocation, &[])?;
    if output.run.dry_run {
        checked.check_beginning(&invocation, &resources)?;
        let all = [&found.references[..], &found.sources].concat();
        let listing = session.elapsed();
        let mut estimate = search.estimate(&all, found.references.len(), &resources)?;
        estimate.cost.begin_with(Stage::List, listing);
        let plan = PassagePlan {
            search: &search,
            invocation: &invocation,
            resources: &resources,
            client: &session.client,
            estimate,
        };
        message::write(&match log.form {
            Form::Json => plan.json(),
            _ => plan.text(C::rule),
        });
        return Ok(Finish::Complete);
    }
    let expect = || Ok(Forecast::default());
    let ended = execute(&checked, &invocation, &resources, &place, session, expect)?;
    let summary = &ended.summary;
    let names = <C::Search as PassageSearch>::NAMES;
    let left_out = found.left_out.len();
    let report = Report {
        warnings: &summary.warnings,
        counts: counts(
            summary,
            &names,
            &args.found(summary, action.action),
            left_out,
        ),
        text_bytes: summary.bytes.seen,
        fields: fields(summary, &names, left_out),
    };
    report.write(&ended, &place, &output.run, (session, log))?;
    let (references, skipped) = summary.references;
    let documents = summary.documents;
    Ok(output
        .run
        .max_skipped
        .finish(&[(documents.skipped, documents.seen), (skipped, references)]))
}

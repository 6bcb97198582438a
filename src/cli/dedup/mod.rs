//! `simtool dedup`: finds and removes the near-duplicates of a dump.

pub mod flags;
pub mod forecast;
pub mod method_flags;
pub mod outcome;
pub mod plan;
pub mod write_flags;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use simtool::corpus::Source;
use simtool::dedup::keep::{KeepOrder, Policy};
use simtool::engine::{Progress, Stage};
use simtool::io::remote::Client;
use simtool::jobs::dedup::{DedupEstimate, DedupJob, DedupSummary, PairForms, URL, UrlRule};
use simtool::jobs::{Against, BatchJob, CheckedJob, KnownDocuments};
use simtool::sketch::registry::Spec;
use simtool::{Error, ErrorKind, Result};

use self::flags::{DedupArgs, Kept, PairsName};
use self::method_flags::check_verification;
use self::plan::DedupPlan;
use crate::cli::batch::{self, References, Report, check_output, execute, find_inputs, scaling};
#[cfg(feature = "index")]
use crate::cli::index;
use crate::cli::process::exit::Finish;
use crate::cli::process::session::Session;
use crate::cli::screen::log::{Form, Log, SummaryForm};
use crate::cli::screen::message;
use crate::cli::values::effect::{WordFlags, check_words, no_effect};
use crate::cli::{Command, flags as command_flags};

/// Deduplicates and publishes.
///
/// # Errors
/// Errors of the flags, of the inputs and of the job.
pub fn run(args: &DedupArgs, client: &Client) -> Result<Finish> {
    if let Some(runs) = args.run.scaling.scaling {
        return scaling::measure(
            (&args.input, &args.run),
            runs,
            client,
            |threads, output, progress| {
                let mut args = args.clone();
                args.input.output = output;
                args.run.resources.threads = Some(threads);
                call(&args, &[], progress, client).map(drop)
            },
        );
    }
    let log = args.run.log();
    run_in(&Session::new(log, client), log, args)
}

/// Deduplicates and publishes without printing anything; returns `summary.json`. Inputs with the
/// names of `rows` are in memory.
///
/// # Errors
/// Errors of [`run`].
pub fn call(
    args: &DedupArgs,
    rows: &[Source],
    progress: &Arc<Progress>,
    client: &Client,
) -> Result<Vec<u8>> {
    let session = Session::silent(progress, client, rows);
    run_in(&session, Log::SILENT, args)?;
    let place = batch::place(&args.input, &args.run, client)?;
    place.published().map(String::into_bytes)
}

/// A deduplication that others run: its settings, and the files that its flags name.
pub struct DedupCall {
    /// The settings.
    pub job: DedupJob,
    /// The inputs.
    pub inputs: Vec<PathBuf>,
    /// Files with the names of further inputs.
    pub lists: Vec<PathBuf>,
    /// The documents that the input is compared with; none if `known` has them.
    pub against: Vec<PathBuf>,
    /// The indexes that the input is compared with.
    pub known: Option<Box<dyn KnownDocuments>>,
}

/// The deduplication that the flags of `words` ask for, whose first word is `dedup`. Reads no inputs.
///
/// # Errors
/// Errors of flags; [`ErrorKind::Parameter`] for another command.
pub fn dedup_call(words: Vec<OsString>, client: &Client) -> Result<DedupCall> {
    let Command::Dedup(args) = command_flags::command(words, client)? else {
        let message = "expected the command dedup";
        return Err(Error::new(ErrorKind::Parameter, message));
    };
    let (job, known) = settings(&args)?;
    CheckedJob::new(&job)?;
    let against = match known {
        Some(_) => Vec::new(),
        None => args.against,
    };
    match &known {
        Some(known) => job.check_against(Against::Known(&**known))?,
        None if against.is_empty() => {}
        None => job.check_against(Against::Documents(&[]))?,
    }
    Ok(DedupCall {
        job,
        inputs: args.input.inputs,
        lists: args.input.files_from,
        against,
        known,
    })
}

/// The settings of the flags, and the indexes that the input is compared with.
fn settings(args: &DedupArgs) -> Result<(DedupJob, Option<Box<dyn KnownDocuments>>)> {
    #[cfg(feature = "index")]
    if let Some(seen) = index::against::known(args)? {
        let job = index::against::job(args, |method| job(args, method), &seen)?;
        return Ok((job, Some(Box::new(seen))));
    }
    let spec = args.method.spec(args.reading.tokenizer())?;
    check_effect(args, &spec)?;
    Ok((job(args, spec)?, None))
}

fn run_in(session: &Session, log: Log, args: &DedupArgs) -> Result<Finish> {
    let place = batch::place(&args.input, &args.run, &session.client)?;
    let (job, known) = settings(args)?;
    let known = known.as_deref();
    let checked = CheckedJob::new(&job)?;
    let (indices, references) = match known {
        Some(_) => (args.against.as_slice(), &[][..]),
        None => (&[][..], args.against.as_slice()),
    };
    let references = References {
        paths: references,
        reading: &job.reading,
        text_flag: "--text-field",
    };
    let (out, restart) = (&place.local, args.run.restart);
    let found = find_inputs(
        out,
        &args.input,
        &job.reading,
        &references,
        restart,
        session,
    )?;
    let temporary = out.join(".simtool");
    let resources = (args.run.resources).of_job(&job, found.count(), temporary, &session.client)?;
    let lists = args.input.files_from.iter().chain(&args.reading.stop_words);
    let (arguments, also_read) = (args.input.arguments(), lists.cloned().collect::<Vec<_>>());
    let invocation = found.invocation(&place, &arguments, &also_read, known, restart);
    check_output(&job, &invocation, indices)?;
    if args.run.dry_run {
        checked.check_beginning(&invocation, &resources)?;
        let listing = session.elapsed();
        let mut estimate = DedupEstimate::of(&job, &invocation, &resources, true)?;
        estimate.cost.begin_with(Stage::List, listing);
        let plan = DedupPlan {
            job: &job,
            invocation: &invocation,
            resources: &resources,
            client: &session.client,
            estimate,
        };
        message::write(&match log.form {
            Form::Json => plan.json(),
            _ => plan.text(),
        });
        return Ok(Finish::Complete);
    }
    let expect = || forecast::expect(&job, &invocation, &resources, session);
    let ended = execute(&checked, &invocation, &resources, &place, session, expect)?;
    let summary = &ended.summary;
    let left_out = found.left_out.len();
    let report = Report {
        warnings: &summary.warnings,
        counts: outcome::counts(summary, left_out),
        text_bytes: summary.text_bytes(),
        fields: outcome::json(summary, left_out, ended.planned),
    };
    report.write(&ended, &place, &args.run, (session, log))?;
    show_tables(summary, args, log.form);
    Ok(args.run.max_skipped.finish(&[
        (summary.skipped(), summary.seen()),
        (summary.skipped_references(), summary.references()),
    ]))
}

/// Refuses flags without effect on a run with `method`.
fn check_effect(args: &DedupArgs, method: &Spec) -> Result<()> {
    if args.method.url_rule() == UrlRule::Only {
        return check_url_effect(args);
    }
    let name = method.name();
    if args.cluster.is_some() {
        check_verification("--cluster", &name)?;
    }
    // Verification reads words even if the method does not.
    let is_unverified = check_verification("--tokenizer", &name).is_err();
    let words = WordFlags {
        tokenizer: args.reading.tokenizer.is_some() && is_unverified,
        stop_words: args.reading.stop_words.is_some(),
    };
    check_words(std::slice::from_ref(method), words)
}

/// Refuses flags about texts, which are not compared.
fn check_url_effect(args: &DedupArgs) -> Result<()> {
    let of_texts = [
        ("--cluster", args.cluster.is_some()),
        ("--tokenizer", args.reading.tokenizer.is_some()),
        ("--stop-words", args.reading.stop_words.is_some()),
        ("--refused", args.refused),
    ];
    let given = of_texts.iter().find(|(_, is_given)| *is_given);
    match (given, &args.keep) {
        (Some((flag, _)), _) => Err(no_effect(flag, URL, "it compares no texts")),
        (None, Some(Kept::By(_))) => Err(no_effect(
            "--keep",
            URL,
            "the newest document of a URL stays",
        )),
        (None, None | Some(Kept::None)) => Ok(()),
    }
}

/// The job that the flags describe, with the given method.
fn job(args: &DedupArgs, method: Spec) -> Result<DedupJob> {
    let tokenizer = args.reading.tokenizer();
    let verification = args.method.verification(tokenizer);
    let (keep, drop_all) = match &args.keep {
        None => (KeepOrder::default(), false),
        Some(Kept::None) => (KeepOrder::default(), true),
        Some(Kept::By(order)) => (order.clone(), false),
    };
    let mut job = DedupJob {
        url: args.method.url_rule(),
        method,
        tokenizer,
        stop_words: args.reading.stop_words()?,
        verification,
        clusters: args.cluster.unwrap_or_default(),
        keep: match verification.least.is_containment() {
            true => keep.after(&Policy::MostShingles)?,
            false => keep,
        },
        within: args.within.clone(),
        keep_copies: args.keep_copies,
        min_sources: args.min_sources.unwrap_or(1),
        drop_all,
        against_only: args.against_only,
        reading: args.reading.reading(),
        write: args.written.mode(),
        removed: args.written.removed(),
        dump: args.written.dump()?,
        shards: args.written.shards()?,
        pairs: PairForms {
            csv: args.pairs.contains(&PairsName::Csv),
            parquet: args.pairs.contains(&PairsName::Parquet),
        },
        refused: args.refused,
        loss_limit: args.refuse_above,
        page: !args.no_page,
    };
    job.reading.fields = job.fields();
    Ok(job)
}

/// Shows the largest clusters if a summary for people is asked for.
fn show_tables(summary: &DedupSummary, args: &DedupArgs, form: Form) {
    if args.run.summary == Some(SummaryForm::Text) && form != Form::Json {
        message::write(&outcome::largest(summary));
    }
}

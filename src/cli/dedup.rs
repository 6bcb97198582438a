//! `simtool dedup`: finds and removes the near-duplicates of a dump.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use simtool::Result;
use simtool::corpus::{Discovery, Source};
use simtool::dedup::keep::{KeepOrder, Policy};
use simtool::engine::{Progress, Stage};
use simtool::jobs::dedup::{Job, PairForms, Summary, URL, UrlRule};
use simtool::jobs::{
    Against, BatchJob, BeginOutcome, CheckedJob, Invocation, KnownDocuments, Warning,
};
use simtool::sketch::registry::Spec;

use super::dedup_flags::{DedupArgs, Kept, PairsName};
use super::dedup_plan::DedupPlan;
use super::effect::{WordFlags, check_words, no_effect};
use super::exit::Finish;
use super::found::{check_text_field, find, warn_of_patterns};
#[cfg(feature = "index")]
use super::index;
use super::log::{Form, Log, SummaryForm};
use super::method_flags::check_verification;
use super::output_directory::{
    explain_stop, refuse_file, refuse_own_input, refuse_removed_input, say_what_stays,
};
use super::output_place::OutputPlace;
use super::server_waits::report_waits;
use super::session::Session;
use super::visible::visible_path;
use super::{forecast, message, outcome};

/// Deduplicates and publishes.
///
/// # Errors
/// Errors of the flags, of the inputs and of the job.
pub fn run(args: &DedupArgs) -> Result<Finish> {
    let log = args.log.log(args.quiet);
    run_in(&Session::new(log), log, args)
}

/// Deduplicates and publishes without printing anything; returns `summary.json`.
///
/// # Errors
/// Errors of [`run`].
pub fn call(args: &DedupArgs, progress: &Arc<Progress>) -> Result<Vec<u8>> {
    run_in(&Session::silent(progress), Log::SILENT, args)?;
    place(args)?.published().map(String::into_bytes)
}

fn place(args: &DedupArgs) -> Result<OutputPlace> {
    OutputPlace::of(&args.output, args.resources.temp_dir.as_deref())
}

fn run_in(session: &Session, log: Log, args: &DedupArgs) -> Result<Finish> {
    let place = place(args)?;
    let out = &place.local;
    let own = || {
        let spec = args.method.spec(args.reading.tokenizer())?;
        check_effect(args, &spec)?;
        job(args, spec)
    };
    #[cfg(feature = "index")]
    let seen = index::against::known(args)?;
    #[cfg(feature = "index")]
    let (job, known) = match &seen {
        Some(seen) => (
            index::against::job(args, |method| job(args, method), seen)?,
            Some(seen as &dyn KnownDocuments),
        ),
        None => (own()?, None),
    };
    #[cfg(not(feature = "index"))]
    let (job, known) = (own()?, None::<&dyn KnownDocuments>);
    let checked = CheckedJob::new(&job)?;
    refuse_file(out)?;
    refuse_own_input(out, &args.inputs)?;
    let mut reading = job.reading.clone();
    reading.files.except_directory = Some(out.clone());
    reading.files.take.clone_from(&args.take);
    let Discovery {
        sources,
        mut left_out,
        mut excepted,
        unmatched,
    } = find(&args.inputs, &args.files_from, &reading, log)?;
    let mut unmatched = vec![unmatched];
    let references = match (known, args.against.as_slice()) {
        (Some(_), _) | (None, []) => Vec::new(),
        (None, paths) => {
            let found = find(paths, &[], &reading, log)?;
            excepted.extend(found.excepted);
            left_out.extend(found.left_out);
            unmatched.push(found.unmatched);
            found.sources
        }
    };
    warn_of_patterns(&unmatched, references.iter().chain(&sources));
    for sources in [&references, &sources] {
        check_text_field("--text-field", sources, &reading)?;
    }
    refuse_removed_input(args.restart, &excepted)?;
    let also_read: Vec<PathBuf> = args
        .files_from
        .iter()
        .chain(&args.reading.stop_words)
        .cloned()
        .collect();
    let resources = args.resources.resources(
        args.reading.max_document,
        references.len() + sources.len(),
        out.join(".simtool"),
    )?;
    let invocation = Invocation {
        against: match &known {
            Some(known) => Against::Known(*known),
            None if references.is_empty() => Against::Itself,
            None => Against::Documents(&references),
        },
        arguments: &[&args.inputs[..], &args.files_from].concat(),
        sources: &sources,
        left_out: &left_out,
        also_read: &also_read,
        out,
        remote: place.remote.as_ref(),
        restart: args.restart,
    };
    check_output(args, &job, &invocation)?;
    if args.dry_run {
        checked.check_beginning(&invocation, &resources)?;
        let listing = session.elapsed();
        let mut estimate = job.estimate(&invocation, &resources)?;
        estimate.cost.begin_with(Stage::List, listing);
        let plan = DedupPlan {
            job: &job,
            invocation: &invocation,
            resources: &resources,
            estimate,
        };
        message::write(&match log.form {
            Form::Json => plan.json(),
            _ => plan.text(),
        });
        return Ok(Finish::Complete);
    }
    let begun = report_waits(place.remote.is_some(), || {
        place.begin(|| checked.begin(&invocation, &resources))
    })?;
    let unfinished = match begun {
        BeginOutcome::Complete(summary) => {
            return complete(&summary, left_out.len(), args, &place, session.elapsed());
        }
        BeginOutcome::Unfinished(unfinished) => unfinished,
    };
    if let Some(warning) = unfinished.warning() {
        message::say(warning);
    }
    unfinished.found().into_iter().for_each(message::say);
    let plan = forecast::expect(&job, &invocation, &resources, session)?;
    let running = session.start(plan.first_text)?;
    let outcome = unfinished.run(&session.progress);
    drop(running);
    let has_stream = sources.iter().chain(&references).any(Source::is_stream);
    let summary = outcome.map_err(|error| explain_stop(error, out, has_stream))?;
    say_what_stays(out);

    let time = session.elapsed();
    warn(&summary);
    session.report_timings(args.timings);
    match args.summary {
        Some(SummaryForm::Json) => message::write(&place.published()?),
        _ => log.result(
            &outcome::text(&summary, left_out.len(), time, plan.time),
            &outcome::json(&summary, left_out.len(), time, plan.time),
        ),
    }
    show_tables(&summary, args, log.form);
    Ok(finish(&summary, args))
}

/// The result of the command; the limit applies to the input and to `--against` separately.
fn finish(summary: &Summary, args: &DedupArgs) -> Finish {
    args.max_skipped.finish(&[
        (summary.skipped(), summary.seen()),
        (summary.skipped_references(), summary.references()),
    ])
}

/// Writes the warnings, with flags where the library names settings.
fn warn(summary: &Summary) {
    for Warning {
        setting, message, ..
    } in &summary.warnings
    {
        let flag = format!("--{}", setting.replace('_', "-"));
        match message.strip_prefix(setting.as_str()) {
            Some(what) => message::warn(&format!("{flag}{what}")),
            None => message::warn(message),
        }
    }
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
fn job(args: &DedupArgs, method: Spec) -> Result<Job> {
    let tokenizer = args.reading.tokenizer();
    let verification = args.method.verification(tokenizer);
    let (keep, drop_all) = match &args.keep {
        None => (KeepOrder::default(), false),
        Some(Kept::None) => (KeepOrder::default(), true),
        Some(Kept::By(order)) => (order.clone(), false),
    };
    let mut job = Job {
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
fn show_tables(summary: &Summary, args: &DedupArgs, form: Form) {
    if args.summary == Some(SummaryForm::Text) && form != Form::Json {
        message::write(&outcome::largest(summary));
    }
}

/// Reports output that was complete already, like the run that wrote it.
fn complete(
    summary: &Summary,
    left_out: usize,
    args: &DedupArgs,
    place: &OutputPlace,
    time: Duration,
) -> Result<Finish> {
    warn(summary);
    if args.summary == Some(SummaryForm::Json) {
        message::write(&place.published()?);
    } else {
        message::say(&format!(
            "already complete: {} was made by this command from these inputs",
            visible_path(&place.given)
        ));
        let log = args.log.log(args.quiet);
        let fields = outcome::json(summary, left_out, time, None);
        log.result(&outcome::counts(summary, left_out), &fields);
        show_tables(summary, args, log.form);
    }
    Ok(finish(summary, args))
}

/// Refuses outputs that would replace a file that the command reads.
fn check_output(args: &DedupArgs, job: &Job, invocation: &Invocation<'_>) -> Result<()> {
    let sources = invocation
        .sources
        .iter()
        .chain(invocation.against.documents());
    let mut files = args.reading.files(sources);
    args.files_from.iter().for_each(|list| files.add(list));
    if let Against::Known(_) = invocation.against {
        let indices = args.against.iter();
        indices.for_each(|index| files.add_directory(index));
    }
    let mut outputs = job.outputs(invocation.sources)?.into_iter();
    outputs.try_for_each(|name| files.claim(&invocation.out.join(name), "--output"))
}

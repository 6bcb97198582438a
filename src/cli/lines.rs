//! `simtool lines`: finds and removes the repeated units of a dump.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use simtool::corpus::{Discovery, Source};
use simtool::engine::Resources;
use simtool::io::InputFiles;
use simtool::jobs::dedup::{Against, DumpSettings, Invocation, Warning};
use simtool::jobs::passages::Action;
use simtool::jobs::passages::lines::{
    BeginOutcome, Job, ListedUnits, Remains, Rule, Summary, UnfinishedRun, least_memory_bytes,
};
use simtool::{Error, ErrorKind, Result};

use super::amount::{counted, duration, megabytes};
use super::exit::Finish;
use super::found::{check_text_field, find, warn_of_patterns};
use super::lines_flags::LinesArgs;
use super::log::{Form, Log, SummaryForm};
use super::output_directory::{
    explain_stop, published, refuse_file, refuse_own_input, refuse_removed_input, say_what_stays,
};
use super::session::Session;
use super::visible::visible_path;
use super::{machine, message};

/// Finds repeated units and publishes the result.
///
/// # Errors
/// Those of the flags, of the inputs and of the job.
pub fn run(args: &LinesArgs) -> Result<Finish> {
    let log = args.log.log(args.quiet);
    let session = Session::new(log);
    check_effect(args)?;
    refuse_file(&args.output)?;
    refuse_own_input(&args.output, &args.inputs)?;
    let mut reading = args.reading();
    reading.files.except_directory = Some(args.output.clone());
    let Discovery {
        sources,
        left_out,
        mut excepted,
        unmatched,
    } = find(&args.inputs, &args.files_from, &reading)?;
    let mut unmatched = vec![unmatched];
    let mut references = Vec::new();
    if !args.against.is_empty() {
        let found = find(&args.against, &[], &reading)?;
        excepted.extend(found.excepted);
        unmatched.push(found.unmatched);
        references = found.sources;
    }
    warn_of_patterns(&unmatched, references.iter().chain(&sources));
    for sources in [&references, &sources] {
        check_text_field(sources, &reading)?;
    }
    refuse_removed_input(args.restart, &excepted)?;
    let resources = resources(args)?;
    let job = job(args, &resources)?;
    let lists: Vec<PathBuf> = (args.files_from.iter())
        .chain(&args.remove_listed)
        .cloned()
        .collect();
    let invocation = Invocation {
        against: match references.is_empty() {
            true => Against::Itself,
            false => Against::Documents(&references),
        },
        arguments: &[&args.inputs[..], &args.files_from].concat(),
        sources: &sources,
        left_out: &left_out,
        also_read: &lists,
        out: &args.output,
        restart: args.restart,
    };
    check_output(args, &job, &invocation)?;
    if args.dry_run {
        job.check_beginning(&invocation, &resources)?;
        let plan = plan(&job, &invocation, &resources);
        message::write(&match log.form {
            Form::Json => format!("{plan}\n"),
            _ => plan_text(&plan),
        });
        return Ok(Finish::Complete);
    }
    match job.begin(&invocation, &resources)? {
        BeginOutcome::Complete(summary) => complete(&summary, args, log, session.elapsed()),
        BeginOutcome::Unfinished(unfinished) => {
            let has_stream = sources.iter().chain(&references).any(Source::is_stream);
            finish_run(*unfinished, args, log, &session, has_stream)
        }
    }
}

/// Runs to the end, and reports.
fn finish_run(
    unfinished: UnfinishedRun<'_>,
    args: &LinesArgs,
    log: Log,
    session: &Session,
    has_stream: bool,
) -> Result<Finish> {
    if let Some(warning) = unfinished.warning() {
        message::say(warning);
    }
    unfinished.found().into_iter().for_each(message::say);
    let running = session.start(None);
    let outcome = unfinished.run(&session.progress);
    drop(running);
    let summary = outcome.map_err(|error| explain_stop(error, &args.output, has_stream))?;
    say_what_stays(&args.output);
    let time = session.elapsed();
    warn(&summary);
    session.report_timings(args.timings);
    match args.summary {
        Some(SummaryForm::Json) => message::write(&published(&args.output)?),
        _ => {
            let seconds = time.as_secs_f64().max(1e-9);
            let text = format!(
                "{}; {}, {:.0} MB of text/s\n",
                counts(&summary),
                duration(time),
                summary.bytes.seen as f64 / 1e6 / seconds,
            );
            log.result(&text, &fields(&summary, time));
        }
    }
    Ok(finish(&summary, args))
}

/// Reports output that was complete already, like the run that wrote it.
fn complete(summary: &Summary, args: &LinesArgs, log: Log, time: Duration) -> Result<Finish> {
    warn(summary);
    match args.summary {
        Some(SummaryForm::Json) => message::write(&published(&args.output)?),
        _ => {
            message::say(&format!(
                "already complete: {} was made by this command from these inputs",
                visible_path(&args.output)
            ));
            log.result(&format!("{}\n", counts(summary)), &fields(summary, time));
        }
    }
    Ok(finish(summary, args))
}

/// The result of the command; the limit applies to the input and to `--against` separately.
fn finish(summary: &Summary, args: &LinesArgs) -> Finish {
    let (references, skipped) = summary.references;
    let documents = summary.documents;
    args.max_skipped
        .finish(&[(documents.skipped, documents.seen), (skipped, references)])
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

/// Refuses flags without effect.
fn check_effect(args: &LinesArgs) -> Result<()> {
    let refuse = |message: String| Err(Error::new(ErrorKind::Parameter, message));
    if args.fields.date_field != "date" {
        return refuse("--date-field has no effect: dates are not read".to_owned());
    }
    let of_cuts = [
        ("--min-words", args.min_words.is_some()),
        ("--min-sentences", args.min_sentences.is_some()),
    ];
    let of_files = [
        ("--skipped", args.skipped.is_some()),
        ("--compression-level", args.compression_level.is_some()),
    ];
    let given = |flags: &[(&'static str, bool)]| {
        let mut flags = flags.iter();
        flags.find(|(_, is_given)| *is_given).map(|(flag, _)| *flag)
    };
    match (given(&of_cuts), given(&of_files)) {
        (Some(flag), _) if args.action != Action::Cut => refuse(format!(
            "{flag} has an effect only with --action cut: add that"
        )),
        (_, Some(flag)) if args.action == Action::Mark => refuse(format!(
            "{flag} has an effect only where inputs are written again: add --action cut, mask or \
             drop-document:SHARE"
        )),
        _ => Ok(()),
    }
}

/// The job that the flags describe.
fn job(args: &LinesArgs, resources: &Resources) -> Result<Job> {
    let rule = match &args.remove_listed {
        None => Rule::Repeated {
            above: args.above,
            per: args.per,
            keep: args.keep.setting(),
        },
        Some(list) => {
            let bytes = Job::list_bytes(resources.memory_bytes);
            let listed = ListedUnits::read(list, args.unit, args.normalize, bytes)?;
            Rule::Listed(listed)
        }
    };
    let job = Job {
        kind: args.unit,
        normal: args.normalize,
        rule,
        action: args.action,
        remains: Remains {
            words: args.min_words.unwrap_or_default(),
            sentences: args.min_sentences.unwrap_or_default(),
            tokenizer: args.tokenizer.unwrap_or_default(),
        },
        listed: args.list,
        reading: args.reading(),
        dump: DumpSettings {
            skipped: args.skipped.unwrap_or_default(),
            compression_level: args.compression_level,
        },
        page: !args.no_page,
    };
    job.check()?;
    Ok(job)
}

/// The resources, with at least the memory that the job needs.
fn resources(args: &LinesArgs) -> Result<Resources> {
    let threads = args.resources.threads.unwrap_or_else(machine::all_cores);
    let least = least_memory_bytes(threads, &args.reading());
    if let Some(bytes) = args.resources.memory.filter(|bytes| *bytes < least) {
        let message = format!(
            "--memory {}: with --threads {threads} and --max-document {} at least {}M are needed (a \
             smaller --max-document needs less)",
            machine::size(bytes),
            machine::size(args.max_document),
            least.div_ceil(1 << 20),
        );
        return Err(Error::new(ErrorKind::Memory, message));
    }
    let temporary = args.output.join(".simtool");
    let resources = args.resources.resources(args.max_document, temporary)?;
    Ok(Resources {
        memory_bytes: resources.memory_bytes.max(least),
        ..resources
    })
}

/// Refuses outputs that would replace a file that the command reads.
fn check_output(args: &LinesArgs, job: &Job, invocation: &Invocation<'_>) -> Result<()> {
    let mut files = InputFiles::default();
    let sources = invocation.sources.iter();
    let sources = sources.chain(invocation.against.documents());
    sources.for_each(|source| files.add(&source.path));
    invocation.also_read.iter().for_each(|list| files.add(list));
    let mut outputs = job.outputs(invocation.sources)?.into_iter();
    outputs.try_for_each(|name| files.claim(&args.output.join(name), "--output"))
}

/// What a run would read and write.
fn plan(job: &Job, invocation: &Invocation<'_>, resources: &Resources) -> Value {
    let describe = |sources: &[Source]| {
        json!({
            "files": sources.len(),
            "bytes": sources.iter().filter_map(|source| source.bytes).sum::<u64>(),
            "streams": sources.iter().filter(|source| source.is_stream()).count(),
        })
    };
    json!({
        "event": "plan",
        "settings": job.settings(),
        "input": describe(invocation.sources),
        "against": describe(invocation.against.documents()),
        "writes": job.action.directory(),
        "output": invocation.out.to_string_lossy(),
        "memory": resources.memory_bytes,
        "threads": resources.threads,
        "temporary": resources.temporary.to_string_lossy(),
    })
}

/// The plan for people.
fn plan_text(plan: &Value) -> String {
    let settings = &plan["settings"];
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let rule = match &settings["rule"] {
        rule if rule["above"].is_null() => {
            format!(
                "removed   the {} listed units, wherever they occur",
                rule["listed_units"]
            )
        }
        rule => format!(
            "removed   what occurs more than {} times, counted per {}; kept: {}",
            rule["above"],
            text(&rule["per"]),
            text(&rule["keep"]),
        ),
    };
    let input = |name: &str, value: &Value| {
        let files = value["files"].as_u64().unwrap_or_default();
        let bytes = value["bytes"].as_u64().unwrap_or_default();
        format!(
            "{name:<10}{}, {}\n",
            counted(files, "file"),
            megabytes(bytes)
        )
    };
    let against = match plan["against"]["files"].as_u64() {
        Some(1..) => input("against", &plan["against"]),
        _ => String::new(),
    };
    let written = match &plan["writes"] {
        Value::String(name) => format!("reports, and the inputs again in {name}/"),
        _ => "reports; no input is written again".to_owned(),
    };
    let units = format!(
        "units     {}, equal but for: {}\n",
        text(&settings["unit"]),
        text(&settings["normalize"])
    );
    let resources = format!(
        "resources {} and {} of memory; temporary files in {}\n",
        counted(plan["threads"].as_u64().unwrap_or_default(), "thread"),
        megabytes(plan["memory"].as_u64().unwrap_or_default()),
        text(&plan["temporary"]),
    );
    [
        units,
        format!("{rule}\n"),
        format!("action    {}\n", text(&settings["action"])),
        input("input", &plan["input"]),
        against,
        format!("output    {written}\n"),
        resources,
    ]
    .concat()
}

/// The counts of documents and units.
fn counts(summary: &Summary) -> String {
    let documents = summary.documents;
    let listed = match documents.skipped {
        0 => "",
        _ => " (listed in skipped.jsonl)",
    };
    let references = match summary.references {
        (_, 0) => String::new(),
        (all, skipped) => format!("; {skipped} of {all} documents of --against skipped"),
    };
    format!(
        "{} seen = {} kept + {} dropped + {} skipped{listed}; {} of {} removed, {} of {}, in \
         {}{references}",
        counted(documents.seen, "document"),
        documents.kept,
        documents.dropped,
        documents.skipped,
        summary.removed_units,
        counted(summary.units, "unit"),
        megabytes(summary.repeated_bytes),
        megabytes(summary.bytes.seen),
        counted(summary.changed, "document"),
    )
}

/// The fields of the event `result`.
fn fields(summary: &Summary, time: Duration) -> Value {
    let documents = summary.documents;
    json!({
        "seen": documents.seen,
        "kept": documents.kept,
        "dropped": documents.dropped,
        "skipped": documents.skipped,
        "skipped_against": summary.references.1,
        "changed": summary.changed,
        "units": summary.units,
        "repeated_units": summary.repeated_units,
        "removed_units": summary.removed_units,
        "repeated_bytes": summary.repeated_bytes,
        "bytes": summary.bytes.seen,
        "elapsed": time.as_secs_f64(),
    })
}

//! `simtool dedup`: which documents of a dump repeat which.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use simtool::corpus::{Discovery, Reading, Source};
use simtool::dedup::keep::Policy;
use simtool::run::Progress;
use simtool::run::dedup::{
    Against, Begun, ClusterRule, DumpSettings, Job, KnownDocuments, PairForms, Place,
    SkippedRecords, Summary, Verification, WriteMode,
};
use simtool::sketch::registry::Spec;
use simtool::{Error, ErrorKind, Result};

use super::effect::{WordFlags, check_words};
use super::exit::Finish;
use super::found::discover_all;
#[cfg(feature = "index")]
use super::index;
use super::log::{Form, LogArgs};
use super::matching::SummaryForm;
use super::max_skipped::MaxSkipped;
use super::method_flags::{MethodArgs, check_verification};
use super::reading_flags::ReadingArgs;
use super::resource_flags::ResourceArgs;
use super::visible::visible_path;
use super::watch::Watch;
use super::{forecast, interrupt, message, outcome, timings, values};

/// The flags of `simtool dedup`.
///
/// Finds near-duplicate documents in dumps of any size, on one machine and within a memory bound.
/// Every document that goes was compared, shingle by shingle, with the one that stays. Interrupted
/// runs go on where they stopped when the same command is given again.
#[derive(Args, Clone, Debug)]
#[command(
    about = "Find and remove near-duplicate documents of a dump",
    after_long_help = EXAMPLES
)]
pub struct DedupArgs {
    /// Files, directories, patterns, or - for standard input: JSON Lines, WARC, WET, Parquet,
    /// form-feed text or plain files, also compressed with gzip or zstd
    #[arg(value_name = "INPUT", required_unless_present = "files_from")]
    pub inputs: Vec<PathBuf>,

    /// Directory of the output; an unfinished run there is continued, a finished one is not repeated
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,

    /// Files that list inputs, one a line
    #[arg(long, value_name = "LIST", help_heading = "Input")]
    pub files_from: Vec<PathBuf>,

    /// Remove also what repeats a document of these inputs, which stay as they are
    #[cfg_attr(
        feature = "index",
        doc = "",
        doc = "Or what this index (simtool index) has seen: method, tokenizer, stop words and part \
               of a page are those of the index then, and what goes for one of its documents is not \
               verified, as it keeps no texts"
    )]
    #[arg(long, value_name = "INPUT", num_args = 1.., help_heading = "Input")]
    pub against: Vec<PathBuf>,

    /// Remove only what repeats a document of --against, no duplicates within the input
    #[arg(long, requires = "against", help_heading = "Input")]
    pub against_only: bool,

    #[command(flatten)]
    pub reading: ReadingArgs,

    #[command(flatten)]
    pub method: MethodArgs,

    /// Which copy stays: first, longest, newest, shortest-url, field:NAME (the one with the largest
    /// value of this field) or smallest:NAME
    #[arg(
        long, value_name = "POLICY", default_value = "first",
        value_parser = values::policy(policy), hide_possible_values = true,
        help_heading = "Decision"
    )]
    pub keep: Policy,

    /// Keep a copy for every site
    #[arg(long, value_name = "GROUP", help_heading = "Decision")]
    pub keep_per: Option<Group>,

    /// Keep no copy of what occurs more than once
    #[arg(long, conflicts_with = "against", help_heading = "Decision")]
    pub drop_all: bool,

    /// What copies of copies are: star compares every document that goes with the one that stays
    /// [default: star]
    #[arg(long, value_name = "RULE", help_heading = "Decision")]
    pub cluster: Option<Rule>,

    /// What to write besides the reports
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "none",
        help_heading = "Output"
    )]
    pub write: WriteName,

    /// What kept and annotated do with records that could not be read [default: keep]
    #[arg(long, value_name = "WHAT", help_heading = "Output")]
    pub skipped: Option<SkippedName>,

    /// Compress the files of kept and annotated anew: gzip 0 to 9, zstd 1 to 19 [default: members
    /// that stay as they are are copied; others get gzip 6, zstd 3]
    #[arg(long, value_name = "LEVEL", help_heading = "Output")]
    pub compression_level: Option<u32>,

    /// Further forms of the list of pairs
    #[arg(
        long,
        value_name = "FORMS",
        value_delimiter = ',',
        help_heading = "Output"
    )]
    pub pairs: Vec<PairsName>,

    /// List what the method proposed and verification refused (refused.jsonl, at most 20 pairs for a
    /// document)
    #[arg(long, help_heading = "Output")]
    pub refused: bool,

    /// Replace what an earlier run made in the output directory, finished or not
    #[arg(long, help_heading = "Output")]
    pub restart: bool,

    #[command(flatten)]
    pub resources: ResourceArgs,

    /// Print a summary on standard error: the usual line, or summary.json
    #[arg(
        long, value_name = "FORM", num_args = 0..=1, require_equals = true,
        default_missing_value = "text", help_heading = "Reports"
    )]
    pub summary: Option<SummaryForm>,

    /// Print time, bytes and rate of each stage on standard error
    #[arg(long, help_heading = "Reports")]
    pub timings: bool,

    #[command(flatten)]
    pub log: LogArgs,

    /// Nothing on standard error but errors: no plan, no progress, no result
    #[arg(long, conflicts_with_all = ["summary", "timings"], help_heading = "Reports")]
    pub quiet: bool,

    /// Exit with code 3 only if more documents than this were skipped, of the input or of
    /// --against: COUNT or PERCENT% [default: 0]
    #[arg(
        long,
        value_name = "LIMIT",
        default_value = "0",
        hide_default_value = true,
        help_heading = "Reports"
    )]
    pub max_skipped: MaxSkipped,

    /// Say what would be done, and how long it would take, and stop
    #[arg(long, help_heading = "Reports")]
    pub dry_run: bool,
}

const EXAMPLES: &str = "\
Examples:
  simtool dedup crawl/*.jsonl.gz -o out
          Which documents repeat which: out/duplicates.jsonl, out/clusters.jsonl, out/summary.json
  simtool dedup CC-MAIN-*.warc.wet.gz -o out --write kept --memory 4G
          The dump without duplicates, in out/kept
  simtool dedup dump --method minhash --similarity 0.7 -o out
          All files of a directory; pairs that share seven tenths of their shingles
  simtool dedup new.jsonl --against old.jsonl -o out --write kept
          What is new, each document once
  simtool dedup new.jsonl --against seen -o out --write kept
          What an index does not know (simtool index), by its method, each document once
  simtool dedup dump.parquet --text-field body.text --id-field doc_id --keep newest -o out

Exit codes:
  0 complete, 2 an error and nothing published, 3 published but more input was skipped than
  --max-skipped allows, 130 interrupted: the same command goes on.";

macro_rules! names {
    ($(#[$about:meta])* $name:ident: $($(#[$doc:meta])* $variant:ident),+) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
        pub enum $name { $($(#[$doc])* $variant),+ }
    };
}

names!(
    /// The values of --keep-per.
    Group:
    /// The host of the URL
    Site
);
names!(
    /// The values of --cluster.
    Rule:
    /// Around the copy that stays
    Star,
    /// Whatever a chain of duplicates leads to
    Components
);
names!(
    /// The values of --pairs.
    PairsName:
    /// duplicates.csv
    Csv,
    /// duplicates.parquet
    Parquet
);
names!(
    /// The values of --write.
    WriteName:
    /// Nothing
    None,
    /// The ids of what stays
    Ids,
    /// The input without duplicates, in its own format
    Kept,
    /// The input with a mark on each duplicate
    Annotated
);

names!(
    /// The values of --skipped.
    SkippedName:
    /// They stay as they are
    Keep,
    /// They are left out
    Drop
);

/// Parses the value of --keep; the message is for clap.
fn policy(text: &str) -> std::result::Result<Policy, String> {
    Policy::parse(text).map_err(|error| error.to_string())
}

/// Deduplicates and publishes.
///
/// # Errors
/// Whatever stands in the way.
pub fn run(args: &DedupArgs) -> Result<Finish> {
    let begin = Instant::now();
    let own = || {
        let spec = args.method.spec(args.reading.tokenizer())?;
        check_effect(args, &spec)?;
        Ok(spec)
    };
    #[cfg(feature = "index")]
    let seen = index::against::known(args)?;
    #[cfg(feature = "index")]
    let (job, known) = match &seen {
        Some(seen) => (
            index::against::job(args, |method| job(args, method), seen)?,
            Some(seen as &dyn KnownDocuments),
        ),
        None => (job(args, own()?)?, None),
    };
    #[cfg(not(feature = "index"))]
    let (job, known) = (job(args, own()?)?, None::<&dyn KnownDocuments>);
    job.check()?;
    refuse_own_input(args)?;
    let mut reading = job.reading.clone();
    reading.files.except_directory = Some(args.output.clone());
    let find = |inputs: &[PathBuf], lists| discover_all(inputs, lists, &reading, args.quiet);
    let Discovery {
        sources,
        left_out,
        mut excepted,
    } = find(&args.inputs, &args.files_from)?;
    let references = match (known, args.against.as_slice()) {
        (Some(_), _) | (None, []) => Vec::new(),
        (None, paths) => {
            let found = find(paths, &[])?;
            excepted.extend(found.excepted);
            found.sources
        }
    };
    refuse_removed_input(args, &excepted)?;
    let also_read: Vec<PathBuf> = args
        .files_from
        .iter()
        .chain(&args.reading.stop_words)
        .cloned()
        .collect();
    let resources = args
        .resources
        .resources(args.reading.max_document, args.output.join(".simtool"))?;
    let place = Place {
        against: match &known {
            Some(known) => Against::Known(*known),
            None if references.is_empty() => Against::Itself,
            None => Against::Documents(&references),
        },
        sources: &sources,
        left_out: &left_out,
        also_read: &also_read,
        out: &args.output,
        restart: args.restart,
    };
    let log = args.log.log(args.quiet);
    check_output(args, &job, &place)?;
    if args.dry_run {
        job.check_beginning(&place, &resources)?;
        let estimate = job.estimate(&place, &resources)?;
        message::write(&match log.form {
            Form::Json => forecast::json(&estimate, &place, &resources),
            _ => forecast::text(&job, &place, &resources, &estimate),
        });
        return Ok(Finish::Complete);
    }
    let unfinished = match job.begin(&place, &resources)? {
        Begun::Complete(summary) => return complete(&summary, args, begin.elapsed()),
        Begun::Unfinished(unfinished) => unfinished,
    };
    if let Some(warning) = unfinished.warning() {
        message::say(warning);
    }
    unfinished.found().into_iter().for_each(message::say);
    let progress = Arc::new(Progress::new());
    let plan = forecast::expect(&job, &place, &resources, log, &progress)?;
    let stoppable = interrupt::stoppable(&progress);
    let watch = Watch::start(&progress, log, plan.told);
    let outcome = unfinished.run(&progress);
    drop(watch);
    let has_stream = sources.iter().chain(&references).any(Source::is_stream);
    let summary = outcome.map_err(|error| explain_stop(error, args, has_stream))?;
    drop(stoppable);
    say_what_stays(&args.output);

    let time = begin.elapsed();
    if args.timings {
        message::write(&timings::table(&progress.finished(), time));
    }
    match args.summary {
        Some(SummaryForm::Json) => message::write(&published(&args.output)?),
        _ => log.result(
            &outcome::text(&summary, time, plan.time),
            &outcome::json(&summary, time, plan.time),
        ),
    }
    warn(&summary);
    Ok(finish(&summary, args))
}

/// How a run ends: the limit holds for the input and for the documents of `--against`, each.
fn finish(summary: &Summary, args: &DedupArgs) -> Finish {
    args.max_skipped.finish(&[
        (summary.skipped(), summary.seen()),
        (summary.skipped_references(), summary.references()),
    ])
}

fn warn(summary: &Summary) {
    for warning in &summary.warnings {
        message::warn(&warning.message);
    }
}

/// Refuses flags without effect on a run by `method`.
fn check_effect(args: &DedupArgs, method: &Spec) -> Result<()> {
    let name = method.name();
    if args.cluster.is_some() {
        check_verification("--cluster", &name)?;
    }
    // Verification reads words, whatever the method reads.
    let is_unverified = check_verification("--tokenizer", &name).is_err();
    let words = WordFlags {
        tokenizer: args.reading.tokenizer.is_some() && is_unverified,
        stop_words: args.reading.stop_words.is_some(),
    };
    check_words(std::slice::from_ref(method), words)
}

/// What the flags ask for, by a method.
fn job(args: &DedupArgs, method: Spec) -> Result<Job> {
    let tokenizer = args.reading.tokenizer();
    let keep_field = match &args.keep {
        Policy::Field(name) | Policy::Smallest(name) => Some(name.clone()),
        _ => None,
    };
    Ok(Job {
        method,
        tokenizer,
        stop_words: args.reading.stop_words()?,
        verification: Verification {
            shingle: args.method.verified_shingle(tokenizer),
            thousandths: args.method.similarity(),
        },
        clusters: match args.cluster {
            Some(Rule::Star) | None => ClusterRule::Star,
            Some(Rule::Components) => ClusterRule::Components,
        },
        keep: args.keep.clone(),
        keep_per_site: args.keep_per.is_some(),
        drop_all: args.drop_all,
        against_only: args.against_only,
        reading: Reading {
            keep_field,
            ..args.reading.reading()
        },
        write: match args.write {
            WriteName::None => WriteMode::None,
            WriteName::Ids => WriteMode::Ids,
            WriteName::Kept => WriteMode::Kept,
            WriteName::Annotated => WriteMode::Annotated,
        },
        dump: dump_settings(args)?,
        pairs: PairForms {
            csv: args.pairs.contains(&PairsName::Csv),
            parquet: args.pairs.contains(&PairsName::Parquet),
        },
        refused: args.refused,
    })
}

/// The end of a command whose output is complete already: it says what the run said that made it.
fn complete(summary: &Summary, args: &DedupArgs, time: Duration) -> Result<Finish> {
    if args.summary == Some(SummaryForm::Json) {
        message::write(&published(&args.output)?);
    } else {
        message::say(&format!(
            "already complete: {} was made by this command from these inputs",
            visible_path(&args.output)
        ));
        let log = args.log.log(args.quiet);
        let fields = outcome::json(summary, time, None);
        log.result(&outcome::counts(summary), &fields);
    }
    warn(summary);
    Ok(finish(summary, args))
}

/// Says what stays in the work directory of a finished run: it is not simtool's.
fn say_what_stays(out: &Path) {
    let directory = out.join(".simtool");
    if directory.exists() {
        message::say(&format!(
            "{}: stays, because it holds files that simtool did not make",
            directory.display()
        ));
    }
}

/// How kept and annotated are written.
fn dump_settings(args: &DedupArgs) -> Result<DumpSettings> {
    let has_files = matches!(args.write, WriteName::Kept | WriteName::Annotated);
    let given = [
        (args.skipped.is_some(), "--skipped"),
        (args.compression_level.is_some(), "--compression-level"),
    ];
    if let Some((_, flag)) = given.iter().find(|(is_given, _)| *is_given && !has_files) {
        let message = format!("{flag} has an effect only with --write kept or annotated: add that");
        return Err(Error::new(ErrorKind::Parameter, message));
    }
    Ok(DumpSettings {
        skipped: match args.skipped {
            Some(SkippedName::Drop) => SkippedRecords::Drop,
            Some(SkippedName::Keep) | None => SkippedRecords::Keep,
        },
        compression_level: args.compression_level,
    })
}

/// Refuses an output directory that is an input as well: a repeated run would read its own output.
/// The output of an earlier run, as in `dedup * -o out`, is left out instead.
fn refuse_own_input(args: &DedupArgs) -> Result<()> {
    let real = |path: &Path| path.canonicalize().ok();
    let Some(out) = real(&args.output) else {
        return Ok(());
    };
    let is_output = |path: &&PathBuf| real(path).as_ref() == Some(&out);
    let is_known = ["run.json", ".simtool/job.json"]
        .iter()
        .any(|name| out.join(name).exists());
    match args.inputs.iter().find(is_output) {
        Some(path) if !is_known => {
            let message = "is an input and the output directory (name another place with --output)";
            Err(Error::new(ErrorKind::Parameter, message).in_file(path))
        }
        _ => Ok(()),
    }
}

/// Refuses to restart in a directory that is named as an input: it would be emptied, not read.
fn refuse_removed_input(args: &DedupArgs, excepted: &[PathBuf]) -> Result<()> {
    match excepted.first() {
        Some(path) if args.restart => {
            let message = "is to be read, and is the output directory as well, whose files \
                           --restart would remove (choose another -o)";
            Err(Error::new(ErrorKind::Parameter, message).in_file(path))
        }
        _ => Ok(()),
    }
}

/// Refuses outputs that would replace a file that the command reads.
fn check_output(args: &DedupArgs, job: &Job, place: &Place<'_>) -> Result<()> {
    let sources = place.sources.iter().chain(place.against.documents());
    let mut files = args.reading.files(sources);
    args.files_from.iter().for_each(|list| files.add(list));
    if let Against::Known(_) = place.against {
        let indices = args.against.iter();
        indices.for_each(|index| files.add_directory(index));
    }
    let mut outputs = job.outputs(place.sources)?.into_iter();
    outputs.try_for_each(|name| files.claim(&args.output.join(name), "--output"))
}

/// The published summary, as it is.
fn published(out: &Path) -> Result<String> {
    let path = out.join("summary.json");
    std::fs::read_to_string(&path).map_err(|cause| {
        Error::new(ErrorKind::Read, "cannot be read")
            .in_file(path)
            .caused_by(cause)
    })
}

/// Says how to go on.
fn explain_stop(error: Error, args: &DedupArgs, has_stream: bool) -> Error {
    match error.kind() {
        ErrorKind::Interrupted if has_stream => {
            let message = "interrupted: standard input and pipes cannot be read again, so the same \
                           command begins anew";
            Error::new(ErrorKind::Interrupted, message)
        }
        ErrorKind::Interrupted => {
            let message = format!(
                "interrupted: the same command goes on from what {} holds",
                args.output.join(".simtool").display()
            );
            Error::new(ErrorKind::Interrupted, message)
        }
        _ => error,
    }
}

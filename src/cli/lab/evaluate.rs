//! `simtool evaluate`: measures methods on the user's documents.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{ArgGroup, Args};
use simtool::corpus;
use simtool::engine::Progress;
use simtool::engine::collection::Inputs;
use simtool::engine::doubts::Doubts;
use simtool::evaluate::planted::{Kind, PERCENTS};
use simtool::evaluate::{EvaluationSettings, Proportion};
use simtool::io::AtomicFile;
use simtool::io::remote::Client;
use simtool::lab::{Alignment, Job, NamedFile, Planting, Report, TruthSource};
use simtool::report::evaluation::{self, EvaluationPage};
use simtool::sketch::registry::Spec;
use simtool::{Error, ErrorKind, Result};
use xxhash_rust::xxh3::xxh3_128;

use crate::cli::process::exit::Finish;
use crate::cli::process::resource_flags::ResourceArgs;
use crate::cli::process::scaling::{Measured, ScalingArgs, compare};
use crate::cli::process::session::Session;
use crate::cli::reading::reading_flags::{ReadingArgs, files};
use crate::cli::screen;
use crate::cli::screen::amount::counted;
use crate::cli::screen::log::{Log, LogArgs};
use crate::cli::screen::message;
use crate::cli::values::effect::check_words;
use crate::cli::values::{self, number};

/// Measure how well methods find the near-duplicates of your documents
///
/// All methods run over the documents in one pass. The truth is a file of labelled pairs, a file of
/// clusters, or copies of known strength that are made of the documents themselves. Prints tables;
/// with -o also writes them as JSON and CSV, and as a page for a browser that shows curves,
/// histograms and the worst mistakes side by side.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct EvaluateArgs {
    /// Files, directories or patterns of the documents
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<PathBuf>,

    #[command(flatten)]
    truth: TruthArgs,

    /// Score the listed pairs only, without searching all pairs of the collection with each method:
    /// no clusters, no unlisted false hits
    #[arg(long, help_heading = "Truth", conflicts_with = "closed_world")]
    listed_only: bool,

    /// A method: NAME or NAME:parameter=value,... (may be repeated); simtool methods lists them
    /// [default: simhash, shingle-simhash, minhash, shingles and text-profile]
    #[arg(
        long, value_name = "METHOD", value_parser = values::method(),
        hide_possible_values = true, help_heading = "Methods"
    )]
    method: Vec<String>,

    /// Try these values of a parameter with every method that has it: distance=2,4,8 or shingle=1..5
    #[arg(long, value_name = "NAME=VALUES", help_heading = "Methods")]
    sweep: Vec<String>,

    /// Score the results of another tool: a file of pairs, or a duplicates.jsonl
    #[arg(long, value_name = "FILE", help_heading = "Methods")]
    matches: Vec<PathBuf>,

    /// Also print the threshold at which each method has this precision
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = "Report")]
    precision: Option<Proportion>,

    /// How many false hits and misses of each method are shown
    #[arg(
        long, value_name = "COUNT", default_value = "5", value_parser = number::within(0, 1000),
        help_heading = "Report"
    )]
    mistakes: usize,

    /// Number of bootstrap resamples for the confidence intervals of F1; 0 for no intervals
    #[arg(
        long, value_name = "COUNT", default_value = "1000", value_parser = number::within(0, 100_000),
        help_heading = "Report"
    )]
    draws: usize,

    /// Directory for evaluation.html, evaluation.json, methods.csv, curves.csv and scores.csv;
    /// files of these names there are replaced
    #[arg(
        short,
        long,
        value_name = "DIR",
        conflicts_with = "scaling",
        help_heading = "Report"
    )]
    output: Option<PathBuf>,

    /// Print JSON instead of tables
    #[arg(long, conflicts_with = "scaling", help_heading = "Report")]
    json: bool,

    #[command(flatten)]
    reading: ReadingArgs,

    #[command(flatten)]
    resources: ResourceArgs,

    /// Print time, bytes and rate of each stage on standard error
    #[arg(long, conflicts_with = "scaling", help_heading = "Report")]
    timings: bool,

    #[command(flatten)]
    scaling: ScalingArgs,

    #[command(flatten)]
    log: LogArgs,

    /// No progress
    #[arg(long, help_heading = "Report")]
    quiet: bool,
}

/// The flags of the truth.
#[derive(Args, Clone, Debug)]
#[command(group(ArgGroup::new("truth").args(["pairs", "clusters", "planted"]).required(true)))]
pub struct TruthArgs {
    /// Labelled pairs in columns separated by tabs: the header line a, b, label, then one pair per
    /// line; pairs labelled unrelated or 0 should not be found
    #[arg(long, value_name = "FILE", help_heading = "Truth")]
    pub pairs: Option<PathBuf>,

    /// Clusters: a clusters.jsonl, or lines of an id, a tab and a cluster
    #[arg(long, value_name = "FILE", help_heading = "Truth")]
    clusters: Option<PathBuf>,

    /// Without a truth: make copies of known strength of some documents
    #[arg(long, help_heading = "Truth")]
    pub planted: bool,

    /// How many documents are copied
    #[arg(
        long, value_name = "COUNT", default_value = "200", value_parser = number::within(1, 1_000_000),
        conflicts_with_all = ["pairs", "clusters"], help_heading = "Truth"
    )]
    copied: usize,

    /// The seed of the copies and of samples [default: 1]
    #[arg(long, value_name = "NUMBER", help_heading = "Truth")]
    seed: Option<u64>,

    /// Pairs that are not listed should not be found
    #[arg(long, help_heading = "Truth", conflicts_with = "planted")]
    pub closed_world: bool,
}

const EXAMPLES: &str = "\
Examples:
  simtool evaluate docs.jsonl --pairs pairs.tsv
          The default methods
  simtool evaluate docs.jsonl --pairs pairs.tsv --method simhash --method spot-signatures -o report
          Two methods, and a page for a browser: report/evaluation.html
  simtool evaluate docs.jsonl --pairs pairs.tsv --method simhash --sweep features=1..4 --precision 0.99
          Four settings, and the threshold of each at which 99 % of its hits are right
  simtool evaluate crawl/*.wet.gz --planted --copied 500
          Without a truth: recall by kind and strength of edits on your own documents
  simtool evaluate docs.jsonl --pairs pairs.tsv --matches other-tool.tsv
          Another tool beside the default methods";

/// The default methods.
const USUAL: [&str; 5] = [
    "simhash",
    "shingle-simhash",
    "minhash",
    "shingles",
    "text-profile",
];
/// The most settings; more are probably a mistake.
const MAX_METHODS: usize = 1000;
/// The files of the report; the page is written last.
const REPORT_FILES: [&str; 5] = [
    "evaluation.json",
    "methods.csv",
    "curves.csv",
    "scores.csv",
    "evaluation.html",
];
/// The most bytes of a text that the page shows for a mistake.
const LONGEST_TEXT: usize = 4000;

/// Evaluates and reports.
///
/// # Errors
/// Errors of the flags, of the inputs and of the job.
pub fn run(args: &EvaluateArgs, client: &Client) -> Result<Finish> {
    if let Some(runs) = args.scaling.scaling {
        compare(args.resources.thread_count(), runs, |threads| {
            let mut args = args.clone();
            args.resources.threads = Some(threads);
            let session = Session::new(Log::SILENT, client);
            let report = evaluated(&args, &session)?;
            let measured = Measured::of(&session, 0);
            // The tables have the measured times of methods, the scores have none.
            let scores = evaluation::scores_csv(&report.truth, &report.outcomes, &report.ids);
            let output = xxh3_128(&scores);
            Ok(Measured { output, ..measured })
        })?;
        return Ok(Finish::Complete);
    }
    let session = Session::new(args.log.log(args.quiet), client);
    let report = evaluated(args, &session)?;
    match args.json {
        true => screen::print(&evaluation::json(&report.evaluation, &report.ids))?,
        false => {
            let text = evaluation::screen(&report.evaluation, screen::width());
            screen::print(text.as_bytes())?;
        }
    }
    session.report_timings(args.timings);
    if report.skipped > 0 {
        let documents = counted(report.skipped, "document");
        message::say(&format!("{documents} could not be read"));
    }
    Ok(Finish::of_skipped(report.skipped))
}

/// Evaluates and publishes without printing anything; returns the JSON of `--json`.
///
/// # Errors
/// Errors of [`run`].
pub fn call(args: &EvaluateArgs, progress: &Arc<Progress>, client: &Client) -> Result<Vec<u8>> {
    let report = evaluated(args, &Session::silent(progress, client, &[]))?;
    Ok(evaluation::json(&report.evaluation, &report.ids))
}

/// Evaluates, and publishes the files of the report.
fn evaluated(args: &EvaluateArgs, session: &Session) -> Result<Report> {
    let methods = methods(&args.method, &args.sweep)?;
    let job = Job {
        methods,
        truth: args.truth.source(edits(&Kind::ALL), None)?,
        closed_world: args.truth.closed_world,
        join: !args.listed_only,
        matches: args
            .matches
            .iter()
            .map(|path| named(path))
            .collect::<Result<_>>()?,
        settings: EvaluationSettings {
            draws: args.draws as u32,
            seed: args.truth.seed(),
            wanted_precision: args.precision,
            mistakes: args.mistakes,
        },
    };
    let report = run_job(
        &job.methods,
        (&args.inputs, &args.reading, &args.resources),
        session,
        |sources| args.check_output(sources),
        |inputs| {
            let report = job.run(inputs)?;
            let doubts = report.doubts;
            Ok((report, doubts))
        },
    )?;
    if let Some(directory) = &args.output {
        publish(&report, args, directory)?;
    }
    Ok(report)
}

/// Runs a job of `methods` over inputs with progress and interruption. `run` returns a result and
/// the documents whose characters may be wrong, of which this warns.
///
/// # Errors
/// Errors of the flags, of finding the inputs, of `check` on these, and of `run`.
pub fn run_job<T>(
    methods: &[Spec],
    (inputs, reading, resources): (&[PathBuf], &ReadingArgs, &ResourceArgs),
    session: &Session,
    check: impl FnOnce(&[corpus::Source]) -> Result<()>,
    run: impl FnOnce(Inputs<'_>) -> Result<(T, Doubts)>,
) -> Result<T> {
    check_words(methods, reading.word_flags())?;
    let input_settings = reading.input_settings()?;
    let resources = resources.resources(
        reading.documents.max_document,
        std::env::temp_dir(),
        &session.client,
    )?;
    let [sources] = files([inputs], &input_settings.reading, session)?;
    check(&sources)?;
    let (result, doubts) = session.run(|progress| {
        run(Inputs {
            sources: &sources,
            settings: &input_settings,
            resources: &resources,
            progress,
        })
    })?;
    message::warn_of_decoding_problems(&doubts, &sources);
    Ok(result)
}

impl EvaluateArgs {
    /// Refuses an output directory whose files are inputs.
    fn check_output(&self, sources: &[corpus::Source]) -> Result<()> {
        let mut files = self.reading.files(sources);
        let truth = [&self.truth.pairs, &self.truth.clusters];
        let others = truth.into_iter().flatten().chain(&self.matches);
        others.for_each(|path| files.add(path));
        let outputs = self.output.iter();
        let mut outputs = outputs.flat_map(|out| REPORT_FILES.map(|name| out.join(name)));
        outputs.try_for_each(|path| files.claim(&path, "--output"))
    }
}

impl TruthArgs {
    /// The seed of the copies and the draws.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    /// The truth, with its file read; planted copies have the given edits.
    ///
    /// # Errors
    /// [`ErrorKind::Read`].
    pub fn source(&self, edits: Vec<(Kind, u32)>, least: Option<Alignment>) -> Result<TruthSource> {
        Ok(match (&self.pairs, &self.clusters) {
            (Some(path), _) => TruthSource::Pairs(named(path)?),
            (None, Some(path)) => TruthSource::Clusters(named(path)?),
            (None, None) => TruthSource::Planted(Planting {
                documents: self.copied,
                seed: self.seed(),
                edits,
                with_far: least.is_none(),
                least,
            }),
        })
    }
}

/// These kinds of edits, each in all strengths.
pub fn edits(kinds: &[Kind]) -> Vec<(Kind, u32)> {
    let each = |kind: &Kind| PERCENTS.map(|percent| (*kind, percent));
    kinds.iter().flat_map(each).collect()
}

fn named(path: &Path) -> Result<NamedFile> {
    let bytes = fs::read(path).map_err(|cause| Error::unreadable(path, cause))?;
    Ok(NamedFile {
        path: path.to_owned(),
        bytes,
    })
}

/// The requested methods, with every combination of the values to try.
///
/// # Errors
/// [`ErrorKind::Parameter`] for unknown methods, parameters and values, and for too many
/// combinations.
pub fn methods(asked: &[String], sweeps: &[String]) -> Result<Vec<Spec>> {
    let usual = || USUAL.map(str::to_owned).to_vec();
    let mut texts = if asked.is_empty() {
        usual()
    } else {
        asked.to_vec()
    };
    for sweep in sweeps {
        let (name, values) = swept(sweep)?;
        let mut tried = false;
        let mut expanded = Vec::new();
        for text in texts {
            let spec = Spec::parse(&text)?;
            if !spec.list().iter().any(|(known, _)| *known == name) {
                expanded.push(text);
                continue;
            }
            tried = true;
            let mark = if text.contains(':') { ',' } else { ':' };
            expanded.extend(
                values
                    .iter()
                    .map(|value| format!("{text}{mark}{name}={value}")),
            );
        }
        if !tried || expanded.len() > MAX_METHODS {
            let message = match tried {
                false => format!("--sweep {sweep}: none of the methods has a parameter {name}"),
                true => format!("--sweep {sweep}: more than {MAX_METHODS} settings in all"),
            };
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        texts = expanded;
    }
    texts.iter().map(|text| Spec::parse(text)).collect()
}

/// The name and the values of `name=1,2,3` or `name=1..3`.
fn swept(sweep: &str) -> Result<(String, Vec<String>)> {
    let refuse = || {
        let message = format!("--sweep {sweep}: expected NAME=1,2,3 or NAME=1..3");
        Error::new(ErrorKind::Parameter, message)
    };
    let (name, values) = sweep.split_once('=').ok_or_else(refuse)?;
    let values: Vec<String> = match values.split_once("..") {
        Some((first, last)) => {
            let number = |text: &str| text.parse::<u16>().map_err(|_| refuse());
            let range = number(first)?..=number(last)?;
            range.map(|value| value.to_string()).collect()
        }
        None => values.split(',').map(str::to_owned).collect(),
    };
    match values.is_empty() || name.is_empty() {
        true => Err(refuse()),
        false => Ok((name.to_owned(), values)),
    }
}

/// Parses a share above 0 and at most 1; the message is for clap.
pub fn share(text: &str) -> std::result::Result<Proportion, String> {
    let number: f64 = text.parse().unwrap_or(f64::NAN);
    match number > 0.0 && number <= 1.0 {
        true => Ok(Proportion::new((number * 1e6).round() as u64, 1_000_000)),
        false => Err("expected a share above 0, at most 1".to_owned()),
    }
}

/// Writes the report's files, the page last.
fn publish(report: &Report, args: &EvaluateArgs, directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).map_err(|cause| {
        Error::new(ErrorKind::Write, "cannot be made")
            .in_file(directory)
            .caused_by(cause)
    })?;
    let mut facts = vec![
        ("documents".to_owned(), report.documents.to_string()),
        ("could not be read".to_owned(), report.skipped.to_string()),
        ("words".to_owned(), args.reading.tokenizer().to_string()),
    ];
    facts.extend(report.facts.iter().cloned());
    facts.push(("simtool".to_owned(), env!("CARGO_PKG_VERSION").to_owned()));
    let page = EvaluationPage {
        title: "How good are the methods?",
        facts: &facts,
        evaluation: &report.evaluation,
        documents: &report.mistaken,
        longest_text: LONGEST_TEXT,
    };
    let Report {
        evaluation,
        truth,
        outcomes,
        ids,
        ..
    } = report;
    let contents = [
        evaluation::json(evaluation, ids),
        evaluation::methods_csv(evaluation),
        evaluation::curves_csv(evaluation),
        evaluation::scores_csv(truth, outcomes, ids),
        page.html(),
    ];
    for (name, bytes) in REPORT_FILES.iter().zip(contents) {
        let mut file = AtomicFile::create(&directory.join(name))?;
        file.write_all(&bytes).map_err(|cause| file.error(cause))?;
        file.publish()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(asked: &[&str], sweeps: &[&str]) -> Result<Vec<String>> {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.into()).collect::<Vec<_>>();
        let specs = methods(&owned(asked), &owned(sweeps))?;
        let value = |spec: &Spec, name: &str| {
            let list = spec.list();
            let found = list.iter().find(|(known, _)| known == name);
            found.map_or(String::new(), |(_, value)| value.clone())
        };
        let short = |spec: &Spec| {
            format!(
                "{} {} {}",
                spec.name(),
                value(spec, "features"),
                value(spec, "distance")
            )
        };
        Ok(specs.iter().map(short).collect())
    }

    #[test]
    fn values_are_tried_with_every_method_that_has_the_parameter() {
        let tried = names(
            &["simhash:bits=128", "exact"],
            &["features=1..2", "distance=3,5"],
        );
        let expected = [
            "simhash 1 3",
            "simhash 1 5",
            "simhash 2 3",
            "simhash 2 5",
            "exact  ",
        ];
        assert_eq!(tried.unwrap(), expected);
        assert_eq!(names(&[], &[]).unwrap().len(), USUAL.len());
    }

    #[test]
    fn bad_sweeps_are_refused() {
        let message = |sweep| names(&["simhash"], &[sweep]).unwrap_err().to_string();
        for sweep in ["features", "features=1..x", "=1", "features=3..1"] {
            let expected = format!("--sweep {sweep}: expected NAME=1,2,3 or NAME=1..3");
            assert_eq!(message(sweep), expected);
        }
        assert!(message("rows=1").ends_with("none of the methods has a parameter rows"));
        assert!(message("features=0").contains("features \"0\": expected 1 to 100"));
        assert!(message("distance=0..64,1").contains("expected"));
        assert!(message("features=1..2000").contains("more than 1000 settings"));
    }
}

//! `simtool match`: the articles near each sample, in any format and by any method.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use simtool::Result;
use simtool::corpus::Source;
use simtool::engine::collection::Inputs;
use simtool::io::remote::Client;
use simtool::jobs::matching::{MatchCounts, find_matches};
use simtool::sketch::registry::Spec;
use xxhash_rust::xxh3::Xxh3;

#[cfg(feature = "index")]
use super::index::documents::{DocumentArgs, ReportArgs};
#[cfg(feature = "index")]
use super::index::query::{self, QueryArgs};
#[cfg(feature = "index")]
use super::index::settings_flags::SettingsArgs;
#[cfg(feature = "index")]
use crate::cli::output;
use crate::cli::output::{Output, Target};
use crate::cli::process::exit::Finish;
use crate::cli::process::resource_flags::ResourceArgs;
use crate::cli::process::scaling::{Measured, ScalingArgs, compare};
use crate::cli::process::session::Session;
use crate::cli::reading::reading_flags::{ReadingArgs, files};
use crate::cli::screen::log::{Log, LogArgs};
use crate::cli::screen::message;
use crate::cli::values;
use crate::cli::values::effect::check_words;

/// Find the articles near each sample, in any format and by any method
///
/// Writes a JSON object a line for each sample, in input order: its id and place, and the articles
/// near it, nearest first. The plain form, simtool N M, does the same for two text files and the
/// fingerprints of its table.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct MatchArgs {
    /// Files, directories or patterns of the known documents
    #[cfg_attr(
        feature = "index",
        arg(long, value_name = "INPUT", num_args = 1.., required_unless_present = "against")
    )]
    #[cfg_attr(
        not(feature = "index"),
        arg(long, value_name = "INPUT", num_args = 1.., required = true)
    )]
    articles: Vec<PathBuf>,

    /// Use the documents of this index, by its method; the same as simtool index query
    #[cfg(feature = "index")]
    #[arg(
        long, value_name = "DIR",
        conflicts_with_all = [
            "articles", "method", "tokenizer", "stop_words", "html", "timings", "scaling"
        ]
    )]
    against: Option<PathBuf>,

    /// Files, directories or patterns of the documents to look for
    #[arg(long, value_name = "INPUT", num_args = 1.., required = true)]
    samples: Vec<PathBuf>,

    /// How near documents are found: NAME or NAME:parameter=value,...; simtool methods lists them
    #[arg(
        long, value_name = "METHOD", default_value = "simhash", value_parser = values::method(),
        hide_possible_values = true
    )]
    method: String,

    /// File of the lines; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,

    #[command(flatten)]
    reading: ReadingArgs,

    #[command(flatten)]
    resources: ResourceArgs,

    /// Print a summary on standard error
    #[arg(long, conflicts_with = "scaling", help_heading = "Reports")]
    summary: bool,

    /// Print time, bytes and rate of each stage on standard error
    #[arg(long, conflicts_with = "scaling", help_heading = "Reports")]
    timings: bool,

    #[command(flatten)]
    scaling: ScalingArgs,

    #[command(flatten)]
    log: LogArgs,

    /// No progress and no result line
    #[arg(long, help_heading = "Reports")]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  simtool match --articles crawl/*.warc.gz --samples new.jsonl
          Which crawled pages each new document is near, by SimHash
  simtool match --articles old.jsonl --samples new.jsonl --method shingles:similarity=0.7
          By the exact share of shingles in common
  simtool match --against seen --samples new.jsonl
          The documents of an index
  simtool match --articles a.txt --samples b.txt --format form-feed --method content-seen -o near.jsonl

Exit codes:
  0 complete, 2 an error and nothing published, 3 published but some input was skipped,
  130 interrupted.";

/// Searches and publishes the matches.
///
/// # Errors
/// Errors of the flags, of the inputs and of the job.
pub fn run(args: &MatchArgs, client: &Client) -> Result<Finish> {
    #[cfg(feature = "index")]
    if let Some(index) = &args.against {
        return against(args, index, client);
    }
    if let Some(runs) = args.scaling.scaling {
        compare(args.resources.thread_count(), runs, |threads| {
            let mut args = args.clone();
            args.resources.threads = Some(threads);
            let session = Session::new(Log::SILENT, client);
            let mut hash = Xxh3::new();
            searched(&args, &session, Some(&mut hash))?;
            Ok(Measured::of(&session, hash.digest128()))
        })?;
        return Ok(Finish::Complete);
    }
    let log = args.log.log(args.quiet);
    let session = Session::new(log, client);
    let (summary, [articles, samples]) = searched(args, &session, None)?;
    session.report_timings(args.timings);
    let seconds = session.elapsed().as_secs_f64();
    let (text, fields) = (text(&summary, seconds), fields(&summary, seconds));
    message::warn_of_decoding_problems(&summary.article_doubts, &articles);
    message::warn_of_decoding_problems(&summary.sample_doubts, &samples);
    log.summary(args.summary, &text, &fields);
    Ok(Finish::of_skipped(summary.skipped))
}

/// Searches, and publishes the matches, or only hashes them.
fn searched(
    args: &MatchArgs,
    session: &Session,
    hash: Option<&mut Xxh3>,
) -> Result<(MatchCounts, [Vec<Source>; 2])> {
    let spec = Spec::parse(&args.method)?;
    check_words(std::slice::from_ref(&spec), args.reading.word_flags())?;
    let input_settings = args.reading.input_settings()?;
    let inputs = [&args.articles[..], &args.samples];
    let [articles, samples] = files(inputs, &input_settings.reading, session)?;
    let mut read = args.reading.files(articles.iter().chain(&samples));
    let target = Target::new(args.output.clone(), "--output", &mut read)?;
    let (max_document, temporary) = (args.reading.documents.max_document, target.temporary());
    let resources = args
        .resources
        .resources(max_document, temporary, &session.client)?;
    let summary = session.run(|progress| {
        let inputs = |sources| Inputs {
            sources,
            settings: &input_settings,
            resources: &resources,
            progress,
        };
        let search = |write: &mut dyn FnMut(&[u8]) -> Result<()>| {
            find_matches(&spec, inputs(&articles), inputs(&samples), write)
        };
        if let Some(hash) = hash {
            return search(&mut |lines| {
                hash.update(lines);
                Ok(())
            });
        }
        let mut output = Output::create(&target, &resources.temporary)?;
        let summary = search(&mut |lines| output.write(lines))?;
        output.publish(0)?;
        Ok(summary)
    })?;
    Ok((summary, [articles, samples]))
}

/// Queries an index.
#[cfg(feature = "index")]
fn against(args: &MatchArgs, index: &std::path::Path, client: &Client) -> Result<Finish> {
    let query = QueryArgs {
        index: index.to_owned(),
        documents: DocumentArgs {
            inputs: args.samples.clone(),
            fields: args.reading.documents.fields.clone(),
            max_document: args.reading.documents.max_document,
            resources: args.resources.clone(),
            temporary: Some(output::temporary(&args.output)),
            skipped_report: None,
            reports: ReportArgs {
                log: args.log,
                quiet: args.quiet,
            },
        },
        settings: SettingsArgs::default(),
        limit: query::MAX_MATCHES,
        output: args.output.clone(),
        summary: args.summary,
    };
    query::run(&query, client)
}

/// The fields of the event `result`.
fn fields(summary: &MatchCounts, seconds: f64) -> Value {
    json!({
        "samples": summary.samples,
        "matched": summary.matched,
        "matches": summary.matches,
        "articles": summary.articles,
        "skipped": summary.skipped,
        "empty": summary.empty,
        "elapsed": seconds,
    })
}

fn text(summary: &MatchCounts, seconds: f64) -> String {
    format!(
        "{} samples, {} with a match, {} matches among {} articles; {} documents skipped, {} \
         without anything to compare; {seconds:.2} s\n",
        summary.samples,
        summary.matched,
        summary.matches,
        summary.articles,
        summary.skipped,
        summary.empty,
    )
}

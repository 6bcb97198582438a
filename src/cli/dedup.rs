//! `simtool dedup`: which documents of a dump repeat which.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use simtool::corpus::{Format, HtmlText, Reading, Source, discover};
use simtool::dedup::keep::Policy;
use simtool::run::dedup::{
    ClusterRule, Job, MethodChoice, PairForms, Place, Summary, Verification, Weights, WriteMode,
    least_memory_bytes,
};
use simtool::run::{Progress, Resources};
use simtool::text::Choice;
use simtool::{Error, ErrorKind, Result};

use super::exit::Finish;
use super::matching::{PATIENCE, SummaryForm};
use super::size::parse_size;
use super::watch::Watch;
use super::{dedup_values, interrupt, machine, message, number, timings};

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

    /// Directory of the output; an unfinished run there is continued
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,

    /// Files that list inputs, one a line
    #[arg(long, value_name = "LIST", help_heading = "Input")]
    pub files_from: Vec<PathBuf>,

    /// Remove only what repeats a document of these inputs
    #[arg(long, value_name = "INPUT", num_args = 1.., help_heading = "Input")]
    pub against: Vec<PathBuf>,

    /// Format of all inputs [default: detected from their content]
    #[arg(long, value_name = "FORMAT", help_heading = "Input")]
    pub format: Option<FormatName>,

    /// Field of the text; dots lead into nested fields
    #[arg(
        long,
        value_name = "NAME",
        default_value = "text",
        help_heading = "Input"
    )]
    pub text_field: String,

    /// Field of the id
    #[arg(
        long,
        value_name = "NAME",
        default_value = "id",
        help_heading = "Input"
    )]
    pub id_field: String,

    /// Field of the URL
    #[arg(
        long,
        value_name = "NAME",
        default_value = "url",
        help_heading = "Input"
    )]
    pub url_field: String,

    /// Field of the date
    #[arg(
        long,
        value_name = "NAME",
        default_value = "date",
        help_heading = "Input"
    )]
    pub date_field: String,

    /// What counts as the text of an HTML page
    #[arg(
        long,
        value_name = "PART",
        default_value = "main",
        help_heading = "Input"
    )]
    pub html: HtmlPart,

    /// Documents larger than this are skipped and listed
    #[arg(
        long, value_name = "SIZE", default_value = "16M", value_parser = parse_size,
        help_heading = "Input"
    )]
    pub max_document: u64,

    /// How candidates are found
    #[arg(
        long,
        value_name = "METHOD",
        default_value = "simhash",
        help_heading = "Method"
    )]
    pub method: MethodName,

    /// Least similarity of duplicates: the share of shingles in common, |A ∩ B| / |A ∪ B|
    #[arg(
        long, value_name = "SHARE", default_value = "0.8", value_parser = dedup_values::thousandths,
        help_heading = "Method"
    )]
    pub similarity: u32,

    /// Words in the shingles that are compared [default: 5, or 9 characters]
    #[arg(
        long, value_name = "WORDS", value_parser = number::within(1, 100),
        help_heading = "Method"
    )]
    pub shingle: Option<usize>,

    /// What is taken for a word: auto, ascii, unicode, chinese or chars
    #[arg(
        long, value_name = "KIND", default_value = "auto", value_parser = dedup_values::tokenizer,
        help_heading = "Method"
    )]
    pub tokenizer: Choice,

    /// Bits of a SimHash fingerprint: 64 or 128
    #[arg(long, value_name = "BITS", value_parser = dedup_values::bits, default_value = "64", help_heading = "Method")]
    pub bits: u32,

    /// Largest Hamming distance of candidates
    #[arg(
        long, value_name = "K", default_value = "6", value_parser = number::within(0, 64),
        help_heading = "Method"
    )]
    pub distance: usize,

    /// Words in a feature of a SimHash
    #[arg(
        long, value_name = "WORDS", default_value = "1", value_parser = number::within(1, 100),
        help_heading = "Method"
    )]
    pub features: usize,

    /// What a feature of a SimHash weighs: tf, log-tf, or top:N, which counts only the N most
    /// frequent ones of all documents
    #[arg(
        long, value_name = "WEIGHTS", default_value = "tf", value_parser = dedup_values::weights,
        help_heading = "Method"
    )]
    pub weights: Weights,

    /// Let the common words of nine languages count in a SimHash, which are left out otherwise; then
    /// a distance of 3 is enough
    #[arg(long, help_heading = "Method")]
    pub keep_stop_words: bool,

    /// Share of the pairs of the given similarity that MinHash has to propose
    #[arg(
        long, value_name = "SHARE", default_value = "0.95", value_parser = dedup_values::recall,
        help_heading = "Method"
    )]
    pub recall: f64,

    /// Which copy stays: first, longest, newest, shortest-url or field:NAME
    #[arg(
        long, value_name = "POLICY", default_value = "first", value_parser = dedup_values::policy,
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
    #[arg(
        long,
        value_name = "RULE",
        default_value = "star",
        help_heading = "Decision"
    )]
    pub cluster: Rule,

    /// What to write besides the reports
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "none",
        help_heading = "Output"
    )]
    pub write: WriteName,

    /// Further forms of the list of pairs
    #[arg(
        long,
        value_name = "FORMS",
        value_delimiter = ',',
        help_heading = "Output"
    )]
    pub pairs: Vec<PairsName>,

    /// Forget what an unfinished run left in the output directory
    #[arg(long, help_heading = "Output")]
    pub restart: bool,

    /// Threads to work with [default: one for each processor]
    #[arg(
        long, value_name = "COUNT", value_parser = number::within(1, 1024),
        help_heading = "Resources"
    )]
    pub threads: Option<usize>,

    /// Bound on resident memory, such as 500M or 8G [default: half of what is available, at most
    /// 4G]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Resources")]
    pub memory: Option<u64>,

    /// Directory of temporary files [default: the output's]
    #[arg(long, value_name = "DIR", help_heading = "Resources")]
    pub temp_dir: Option<PathBuf>,

    /// Print a summary on standard error
    #[arg(
        long, value_name = "FORM", num_args = 0..=1, require_equals = true,
        default_missing_value = "text", help_heading = "Reports"
    )]
    pub summary: Option<SummaryForm>,

    /// Print time, bytes and rate of each stage on standard error
    #[arg(long, help_heading = "Reports")]
    pub timings: bool,

    /// No progress, no plan and no summary
    #[arg(long, conflicts_with_all = ["summary", "timings"], help_heading = "Reports")]
    pub quiet: bool,

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
          What is new
  simtool dedup dump.parquet --text-field body.text --id-field doc_id --keep newest -o out

Exit codes:
  0 complete, 2 an error and nothing published, 3 published but some input was skipped,
  130 interrupted: the same command goes on.";

macro_rules! names {
    ($(#[$about:meta])* $name:ident: $($(#[$doc:meta])* $variant:ident),+) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
        pub enum $name { $($(#[$doc])* $variant),+ }
    };
}

names!(
    /// The values of --format.
    FormatName:
    /// Pages separated by form feeds, headed by a line with the id
    FormFeed,
    /// Each file is a document
    WholeFile,
    /// A JSON object a line
    Jsonl,
    /// WARC and WET
    Warc,
    /// The web archives of before 2009
    Arc,
    /// Parquet
    Parquet
);
names!(
    /// The values of --html.
    HtmlPart:
    /// The main text, without menus and the like
    Main,
    /// All that can be seen
    Visible
);
names!(
    /// The values of --method.
    MethodName:
    /// Fingerprints within a Hamming distance, then verified
    Simhash,
    /// MinHash bands for the similarity, then verified
    Minhash,
    /// The same bytes of text
    Exact,
    /// The same words in the same order
    Normalized
);
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

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Format {
        match name {
            FormatName::FormFeed => Format::FormFeed,
            FormatName::WholeFile => Format::WholeFile,
            FormatName::Jsonl => Format::Jsonl,
            FormatName::Warc => Format::Warc,
            FormatName::Arc => Format::Arc,
            FormatName::Parquet => Format::Parquet,
        }
    }
}

impl From<HtmlPart> for HtmlText {
    fn from(part: HtmlPart) -> HtmlText {
        match part {
            HtmlPart::Main => HtmlText::Main,
            HtmlPart::Visible => HtmlText::Visible,
        }
    }
}

/// Deduplicates and publishes.
///
/// # Errors
/// Whatever stands in the way.
pub fn run(args: &DedupArgs) -> Result<Finish> {
    let begin = Instant::now();
    let job = job(args);
    job.check()?;
    let sources = discover(&args.inputs, &args.files_from, &job.reading)?;
    let references = match args.against.as_slice() {
        [] => Vec::new(),
        paths => discover(paths, &[], &job.reading)?,
    };
    let resources = resources(args, &job)?;
    let place = Place {
        references: &references,
        sources: &sources,
        out: &args.output,
        restart: args.restart,
    };
    if args.dry_run || (!args.quiet && std::io::stderr().is_terminal()) {
        message::write(&plan(&job, &place, &resources)?);
    }
    if args.dry_run {
        return Ok(Finish::Complete);
    }
    if let Some(skipped) = job.finish_published(&place)? {
        return Ok(finish(skipped));
    }
    unfinished(&args.output)?;
    let progress = Arc::new(Progress::new());
    let stoppable = interrupt::stoppable(&progress);
    let watch = Watch::start(&progress, args.quiet);
    let outcome = job.run(&place, &resources, &progress);
    drop(watch);
    let has_stream = sources.iter().chain(&references).any(Source::is_stream);
    let summary = outcome.map_err(|error| explain_stop(error, args, has_stream))?;
    drop(stoppable);

    let time = begin.elapsed();
    if args.timings {
        message::write(&timings::table(&progress.finished(), time));
    }
    let took_long = time > PATIENCE && !args.quiet && std::io::stderr().is_terminal();
    match args.summary {
        Some(SummaryForm::Json) => message::write(&published(&args.output)?),
        Some(SummaryForm::Text) => message::write(&text(&summary, time)),
        None if took_long => message::write(&text(&summary, time)),
        None => {}
    }
    Ok(finish(summary.skipped()))
}

fn finish(skipped: u64) -> Finish {
    match skipped {
        0 => Finish::Complete,
        _ => Finish::Skipped,
    }
}

fn job(args: &DedupArgs) -> Job {
    let shingle = args.shingle.unwrap_or_else(|| args.tokenizer.usual_width());
    let keep_field = match &args.keep {
        Policy::Field(name) => Some(name.clone()),
        _ => None,
    };
    Job {
        method: match args.method {
            MethodName::Exact => MethodChoice::Exact,
            MethodName::Normalized => MethodChoice::Normalized,
            MethodName::Simhash => MethodChoice::SimHash {
                bits: args.bits,
                distance: args.distance as u32,
                shingle: args.features,
                weights: args.weights,
                skip_stop_words: !args.keep_stop_words,
            },
            MethodName::Minhash => MethodChoice::MinHash {
                recall: args.recall,
                shingle,
            },
        },
        tokenizer: args.tokenizer,
        verification: Verification {
            shingle,
            thousandths: args.similarity,
        },
        clusters: match args.cluster {
            Rule::Star => ClusterRule::Star,
            Rule::Components => ClusterRule::Components,
        },
        keep: args.keep.clone(),
        keep_per_site: args.keep_per.is_some(),
        drop_all: args.drop_all,
        reading: Reading {
            format: args.format.map(Format::from),
            text_field: args.text_field.clone(),
            id_field: args.id_field.clone(),
            url_field: args.url_field.clone(),
            date_field: args.date_field.clone(),
            keep_field,
            html: args.html.into(),
            max_document_bytes: args.max_document,
            chunk_bytes: CHUNK_BYTES,
        },
        write: match args.write {
            WriteName::None => WriteMode::None,
            WriteName::Ids => WriteMode::Ids,
            WriteName::Kept => WriteMode::Kept,
            WriteName::Annotated => WriteMode::Annotated,
        },
        pairs: PairForms {
            csv: args.pairs.contains(&PairsName::Csv),
            parquet: args.pairs.contains(&PairsName::Parquet),
        },
    }
}

/// Small enough that the rows of the shortest documents fit the memory of a chunk.
const CHUNK_BYTES: usize = 512 << 10;
/// Nobody is surprised by a command that takes less.
const USUAL_MEMORY_BYTES: u64 = 4 << 30;

fn resources(args: &DedupArgs, job: &Job) -> Result<Resources> {
    let threads = args.threads.unwrap_or_else(machine::all_cores);
    let least = least_memory_bytes(threads, job.reading.max_document_bytes);
    let memory_bytes = match args.memory {
        Some(bytes) if bytes < least => {
            let message = format!(
                "--memory {}: {threads} threads and documents of {} need at least {}M (give more, \
                 or fewer --threads, or a smaller --max-document)",
                machine::size(bytes),
                machine::size(job.reading.max_document_bytes),
                least.div_ceil(1 << 20),
            );
            return Err(Error::new(ErrorKind::Memory, message));
        }
        Some(bytes) => bytes,
        None => machine::half_of_memory().min(USUAL_MEMORY_BYTES).max(least),
    };
    Ok(Resources {
        threads,
        memory_bytes,
        temporary: args
            .temp_dir
            .clone()
            .unwrap_or_else(|| args.output.join(".simtool")),
        level: machine::level()?,
    })
}

/// Refuses to write over a finished output.
fn unfinished(out: &Path) -> Result<()> {
    if out.join("summary.json").exists() {
        let message = "holds the output of a finished run: choose another -o, or remove it";
        return Err(Error::new(ErrorKind::Write, message).in_file(out));
    }
    Ok(())
}

/// What will be done, for people, and what it will take.
fn plan(job: &Job, place: &Place<'_>, resources: &Resources) -> Result<String> {
    let bytes = |sources: &[Source]| {
        sources
            .iter()
            .filter_map(|source| source.bytes)
            .sum::<u64>()
    };
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let estimate = job.estimate(place, resources)?;
    let mut text = format!("method    {}\n", job.describe());
    text += &format!(
        "input     {} files, {}; about {} documents, {} of text\n",
        place.sources.len() + place.references.len(),
        megabytes(bytes(place.sources) + bytes(place.references)),
        estimate.documents,
        megabytes(estimate.text_bytes),
    );
    if let Some((fair, measured)) = estimate.accidental {
        text += &format!(
            "accidents {measured:.2} documents within the distance of each by accident \
             ({fair:.1e} if bits were fair); verification sorts them out\n"
        );
    }
    text += &format!(
        "resources {} threads, at most {} MiB of memory, about {} of temporary space in {}\n",
        resources.threads,
        resources.memory_bytes >> 20,
        megabytes(estimate.temporary_bytes),
        resources.temporary.display(),
    );
    text += &format!("time      about {}\n", duration(estimate.time));
    Ok(text)
}

/// Seconds, minutes or hours.
fn duration(time: Duration) -> String {
    match time.as_secs() {
        0..=99 => format!("{:.1} seconds", time.as_secs_f64()),
        seconds @ 100..=5999 => format!("{} minutes", seconds.div_ceil(60)),
        seconds => format!("{:.1} hours", seconds as f64 / 3600.0),
    }
}

fn text(summary: &Summary, time: Duration) -> String {
    let seconds = time.as_secs_f64();
    format!(
        "{} documents seen = {} kept + {} dropped + {} skipped; {} clusters, {} proposals refused; \
         {:.2} s, {:.0} MB of text/s\n",
        summary.seen(),
        summary.kept(),
        summary.dropped(),
        summary.skipped(),
        summary.clusters(),
        summary.refused,
        seconds,
        summary.text_bytes() as f64 / 1e6 / seconds.max(1e-9),
    )
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

//! The flags of `simtool dedup`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use simtool::dedup::keep::KeepOrder;
use simtool::jobs::dedup::{ClusterRule, LossLimit, Scope};

use super::method_flags::MethodArgs;
use super::write_flags::WriteArgs;
use crate::cli::batch::{InputArgs, RunArgs};
use crate::cli::reading::reading_flags::ReadingArgs;
use crate::cli::values;

/// Finds and removes near-duplicate documents of a dump.
///
/// Finds near-duplicate documents in dumps of any size, on one machine and within a memory bound.
/// Every dropped document was compared, shingle by shingle, with the kept one. To resume an
/// interrupted run, give the same command again.
#[derive(Args, Clone, Debug)]
#[command(
    about = "Find and remove near-duplicate documents of a dump",
    after_long_help = EXAMPLES
)]
pub struct DedupArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// Also remove documents that repeat one of these inputs, which do not change
    #[cfg_attr(
        feature = "index",
        doc = "",
        doc = "Or indexes (simtool index) with the same settings, of which the first that knows a \
               document answers: their method, tokenizer, stop words, similarity and part of a page \
               apply then"
    )]
    #[arg(long, value_name = "INPUT", num_args = 1.., help_heading = "Input")]
    pub against: Vec<PathBuf>,

    /// Remove only documents that repeat one of --against, no duplicates within the input
    #[arg(long, requires = "against", help_heading = "Input")]
    pub against_only: bool,

    #[command(flatten)]
    pub reading: ReadingArgs,

    #[command(flatten)]
    pub method: MethodArgs,

    /// Which copy is kept: first, longest, most-shingles (different ones), newest, shortest-url,
    /// field:NAME (the one with the largest value of this field) or smallest:NAME; several, such as
    /// field:score,longest, each decide among the copies that those before them find equally good
    /// [default: first]. With none, no copy of documents that occur more than once is kept
    #[arg(
        long, value_name = "POLICIES", value_parser = values::policy(policy),
        hide_possible_values = true, help_heading = "Decision"
    )]
    pub keep: Option<Kept>,

    /// Compare documents only within groups: field:NAME (those with one value of this field), site
    /// (the host of the URL), source (an input file) or language. Each group keeps a copy of its
    /// own
    #[arg(
        long, value_name = "SCOPE", default_value = "global",
        value_parser = values::scope(scope), hide_possible_values = true, help_heading = "Decision"
    )]
    pub within: Scope,

    /// Keep this many copies of each document that occurs more often, the first in keep order
    #[arg(
        long, value_name = "COUNT", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..), help_heading = "Decision"
    )]
    pub keep_copies: u32,

    /// Keep only what this many sources have: drop documents whose cluster has documents of fewer
    /// input files (or directories of files that are one document each), also those without
    /// duplicates
    #[arg(
        long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(2..),
        help_heading = "Decision"
    )]
    pub min_sources: Option<u32>,

    /// How duplicates of duplicates are treated: star compares every dropped document with the kept
    /// one [default: star]
    #[arg(long, value_name = "RULE", help_heading = "Decision")]
    pub cluster: Option<ClusterRule>,

    #[command(flatten)]
    pub written: WriteArgs,

    /// Further forms of the list of pairs
    #[arg(
        long,
        value_name = "FORMS",
        value_delimiter = ',',
        help_heading = "Output"
    )]
    pub pairs: Vec<PairsName>,

    /// List the pairs that the method proposed and verification refused (refused.jsonl, at most 20
    /// pairs for a document)
    #[arg(long, help_heading = "Output")]
    pub refused: bool,

    /// Write nothing if more than this share of the documents of an input file would be dropped (of
    /// the files of a directory, if each is one document), such as 0.5 or 50%
    #[arg(long, value_name = "SHARE", help_heading = "Output")]
    pub refuse_above: Option<LossLimit>,

    /// Do not write page.html, which shows what was dropped: totals, sources, sites, the largest
    /// clusters, and the least similar removals side by side
    #[arg(long, help_heading = "Output")]
    pub no_page: bool,

    #[command(flatten)]
    pub run: RunArgs,
}

const EXAMPLES: &str = "\
Examples:
  simtool dedup crawl/*.jsonl.gz -o out
          The duplicates: out/duplicates.jsonl, out/clusters.jsonl, and for people out/page.html
  simtool dedup CC-MAIN-*.warc.wet.gz -o out --write kept --memory 4G
          The dump without duplicates, in out/kept
  simtool dedup CC-MAIN-*.warc.gz -o out --write text,removed --write-format parquet
          The texts of the pages in out/text, those of the duplicates in out/removed
  simtool dedup dump --method minhash --similarity 0.7 -o out
          All files of a directory; pairs that share seven tenths of their shingles
  simtool dedup new.jsonl --against old.jsonl -o out --write kept
          The new documents, each once
  simtool dedup crawls/*.warc.gz --method 'url then minhash' -o out --write kept
          The newest capture of each URL, and of these each text once
  simtool dedup new.jsonl --against seen -o out --write kept
          The documents that an index does not have (simtool index), by its method, each once
  simtool dedup dump.parquet --text-field body.text --id-field doc_id --keep newest -o out

Exit codes:
  0 complete, 2 an error and nothing published, 3 published but more input was skipped than
  --max-skipped allows, 130 interrupted: the same command resumes.";

/// The values of --pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PairsName {
    /// duplicates.csv
    Csv,
    /// duplicates.parquet
    Parquet,
}

/// The value of --keep.
#[derive(Clone, Debug)]
pub enum Kept {
    /// No copy.
    None,
    /// The first one in this order.
    By(KeepOrder),
}

/// Parses the value of --keep; the message is for clap.
fn policy(text: &str) -> std::result::Result<Kept, String> {
    match text {
        "none" => Ok(Kept::None),
        _ => KeepOrder::parse(text)
            .map(Kept::By)
            .map_err(|error| format!("{error}; or none")),
    }
}

/// Parses the value of --within; the message is for clap.
fn scope(text: &str) -> std::result::Result<Scope, String> {
    Scope::parse(text).map_err(|error| error.to_string())
}

//! `simtool index`: has this been seen? One file per operation.

mod add;
pub mod against;
mod build;
mod care;
mod info;
mod line_file;
pub mod query;
mod remove;
pub mod settings_flags;
mod working;

use clap::{Args, Subcommand};
use simtool::Result;

use super::exit::Finish;

/// Keep an index of documents that were seen, and ask it
///
/// An index is a directory. What decides its answers (method, tokenizer, stop words, what counts as
/// the text of a page) is frozen when it is built; later commands need no flags for it. One process
/// at a time may have it open for writing.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct IndexArgs {
    #[command(subcommand)]
    operation: Operation,
}

/// One variant per operation.
#[derive(Subcommand, Clone, Debug)]
enum Operation {
    Build(build::BuildArgs),
    Add(add::AddArgs),
    Remove(remove::RemoveArgs),
    Query(query::QueryArgs),
    Info(info::InfoArgs),
    Check(care::CheckArgs),
    Compact(care::CompactArgs),
    Copy(care::CopyArgs),
    Rescue(care::RescueArgs),
}

const EXAMPLES: &str = "\
Examples:
  simtool index build seen crawl/*.warc.gz
          An index of a crawl, by SimHash
  simtool index query seen new.jsonl > verdicts.jsonl
          Which new documents are in it, or near one that is
  simtool index add seen new.jsonl --payload url -o verdicts.jsonl
          Add them, with their URLs; which were new, which have changed and how far
  simtool index info seen --id http://a.example/
          What is known of a document
  simtool index remove seen http://a.example/ http://b.example/
          Forget two
  simtool index info seen
          Its size, and how many accidental hits to expect

Exit codes:
  0 complete, 2 an error, 3 complete but some input was skipped, 130 interrupted; what was added
  before an interruption stays.";

/// Does what is asked.
///
/// # Errors
/// Whatever stands in the way.
pub fn run(args: &IndexArgs) -> Result<Finish> {
    match &args.operation {
        Operation::Build(args) => build::run(args),
        Operation::Add(args) => add::run(args),
        Operation::Query(args) => query::run(args),
        Operation::Remove(args) => remove::run(args).map(|()| Finish::Complete),
        Operation::Info(args) => info::run(args).map(|()| Finish::Complete),
        Operation::Check(args) => care::check(args).map(|()| Finish::Complete),
        Operation::Compact(args) => care::compact(args).map(|()| Finish::Complete),
        Operation::Copy(args) => care::copy(args).map(|()| Finish::Complete),
        Operation::Rescue(args) => care::rescue(args).map(|()| Finish::Complete),
    }
}

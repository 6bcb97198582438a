//! `simtool index`: an index of seen documents. One file per operation.

mod add;
pub mod against;
mod build;
pub mod documents;
mod export;
mod info;
mod line_file;
mod maintenance;
pub mod query;
mod remove;
pub mod settings_flags;
pub mod stored_flags;

use clap::{Args, Subcommand};
use simtool::Result;
use simtool::io::remote::Client;

use crate::cli::process::exit::Finish;

/// Keep an index of documents that were seen, and query it
///
/// An index is a directory. Its settings (method, tokenizer, stop words, part of a page that is its
/// text) are fixed when it is built; later commands need no flags for them. Only one process at a
/// time may have it open for writing.
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
    Export(export::ExportArgs),
    Info(info::InfoArgs),
    /// Read every byte of an index and check it
    Check(maintenance::MaintenanceArgs),
    /// Merge an index into one segment, without removed documents
    Compact(maintenance::MaintenanceArgs),
    Copy(maintenance::CopyArgs),
    Rescue(maintenance::RescueArgs),
}

const EXAMPLES: &str = "\
Examples:
  simtool index build seen crawl/*.warc.gz
          An index of a crawl, by MinHash
  simtool index query seen new.jsonl > verdicts.jsonl
          Which new documents are in it, or near one that is
  simtool index add seen new.jsonl --payload url -o verdicts.jsonl
          Add them, with their URLs; which were new, which have changed and how far
  simtool index info seen --id http://a.example/
          The stored data of a document
  simtool index export seen --kept -o seen.parquet
          What is kept, and how often each text was seen, from how many sources and sites
  simtool index remove seen http://a.example/ http://b.example/
          Remove two
  simtool index info seen
          Its size, and how many accidental hits to expect

Exit codes:
  0 complete, 2 an error, 3 complete but some input was skipped, 130 interrupted; documents added
  before an interruption stay in the index.";

/// Runs the operation.
///
/// # Errors
/// Errors of the operation.
pub fn run(args: &IndexArgs, client: &Client) -> Result<Finish> {
    match &args.operation {
        Operation::Build(args) => build::run(args, client),
        Operation::Add(args) => add::run(args, client),
        Operation::Query(args) => query::run(args, client),
        Operation::Remove(args) => remove::run(args).map(|()| Finish::Complete),
        Operation::Export(args) => export::run(args, client).map(|()| Finish::Complete),
        Operation::Info(args) => info::run(args).map(|()| Finish::Complete),
        Operation::Check(args) => maintenance::check(args).map(|()| Finish::Complete),
        Operation::Compact(args) => maintenance::compact(args).map(|()| Finish::Complete),
        Operation::Copy(args) => maintenance::copy(args).map(|()| Finish::Complete),
        Operation::Rescue(args) => maintenance::rescue(args).map(|()| Finish::Complete),
    }
}

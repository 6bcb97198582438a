//! `simtool index check`, `compact`, `copy`, `rescue`: maintenance of an index.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use simtool::jobs::seen::Seen;
use simtool::{Error, ErrorKind, Result};

use super::documents::{ReportArgs, open, read_only, writable};
use crate::cli::process::machine;
use crate::cli::screen::message;

/// The arguments of a maintenance command on one index.
#[derive(Args, Clone, Debug)]
pub struct MaintenanceArgs {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    index: PathBuf,

    #[command(flatten)]
    reports: ReportArgs,
}

/// Copy an index to another directory
#[derive(Args, Clone, Debug)]
pub struct CopyArgs {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    index: PathBuf,

    /// The directory of the copy: new or empty
    #[arg(value_name = "TO")]
    to: PathBuf,

    #[command(flatten)]
    reports: ReportArgs,
}

/// Save the readable part of a damaged index to a new one
#[derive(Args, Clone, Debug)]
pub struct RescueArgs {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    index: PathBuf,

    /// The directory of the new index: new or empty
    #[arg(value_name = "TO")]
    to: PathBuf,

    #[command(flatten)]
    reports: ReportArgs,
}

/// Prints the number of documents if nothing is damaged; otherwise lists the problems and fails.
pub fn check(args: &MaintenanceArgs) -> Result<()> {
    let found = open(&args.index, &read_only())?.index().check()?;
    for problem in &found.problems {
        message::error(&problem.message);
    }
    let documents = found.documents;
    match found.problems.len() {
        0 => {
            let text = format!("{documents} documents, no damage found\n");
            args.reports
                .report(&text, &json!({ "documents": documents }))
        }
        count => {
            let message = format!("is damaged; problems found: {count}");
            Err(Error::new(ErrorKind::Content, message).in_file(&args.index))
        }
    }
}

/// Merges all segments of an index into one.
pub fn compact(args: &MaintenanceArgs) -> Result<()> {
    let seen = open(&args.index, &writable())?;
    seen.index().compact()?;
    report_documents(&seen, args.reports)
}

/// Copies an index.
pub fn copy(args: &CopyArgs) -> Result<()> {
    let seen = open(&args.index, &read_only())?;
    seen.copy(&args.to, &writable())?;
    report_documents(&seen, args.reports)
}

/// Saves the readable part of an index, and reports the lost part.
pub fn rescue(args: &RescueArgs) -> Result<()> {
    let rescued = Seen::rescue(&args.index, &args.to, machine::level()?, &writable())?;
    for problem in &rescued.problems {
        message::say(problem);
    }
    let (saved, lost) = (rescued.saved, rescued.lost);
    let text = format!("{saved} documents saved, {lost} lost\n");
    args.reports
        .report(&text, &json!({ "saved": saved, "lost": lost }))
}

/// Prints the number of documents.
fn report_documents(seen: &Seen, reports: ReportArgs) -> Result<()> {
    let documents = seen.index().info().documents;
    let text = format!("{documents} documents\n");
    reports.report(&text, &json!({ "documents": documents }))
}

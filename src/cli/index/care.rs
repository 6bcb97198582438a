//! `simtool index check`, `compact`, `copy`, `rescue`: keeping an index in shape.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use simtool::run::seen::{Seen, Wanted};
use simtool::{Error, ErrorKind, Result};

use super::working::{ReportArgs, read_only, tell_result, writable};
use crate::cli::{machine, message};

/// Read every byte of an index and check it
#[derive(Args, Clone, Debug)]
pub struct CheckArgs {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    index: PathBuf,

    #[command(flatten)]
    reports: ReportArgs,
}

/// Merge an index into one segment, without what was removed
#[derive(Args, Clone, Debug)]
pub struct CompactArgs {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    index: PathBuf,

    #[command(flatten)]
    reports: ReportArgs,
}

/// Copy an index into another directory
#[derive(Args, Clone, Debug)]
pub struct CopyArgs {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    index: PathBuf,

    /// The directory of the copy: a new or an empty one
    #[arg(value_name = "TO")]
    to: PathBuf,

    #[command(flatten)]
    reports: ReportArgs,
}

/// Save what can be read of a damaged index into a new one
#[derive(Args, Clone, Debug)]
pub struct RescueArgs {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    index: PathBuf,

    /// The directory of the new index: a new or an empty one
    #[arg(value_name = "TO")]
    to: PathBuf,

    #[command(flatten)]
    reports: ReportArgs,
}

fn open(index: &std::path::Path, options: &simtool::index::Options) -> Result<Seen> {
    Seen::open(index, &Wanted::default(), machine::level()?, options)
}

/// Prints how many documents are right; fails if anything is wrong.
pub fn check(args: &CheckArgs) -> Result<()> {
    let found = open(&args.index, &read_only())?.index().check()?;
    for problem in &found.problems {
        message::error(&problem.message);
    }
    let documents = found.documents;
    match found.problems.len() {
        0 => {
            let text = format!("{documents} documents, all right\n");
            tell_result(
                args.reports.log(),
                &text,
                &json!({ "documents": documents }),
                false,
            )
        }
        count => {
            let message = format!("is damaged; faults listed above: {count}");
            Err(Error::new(ErrorKind::Content, message).in_file(&args.index))
        }
    }
}

/// Compacts.
pub fn compact(args: &CompactArgs) -> Result<()> {
    let seen = open(&args.index, &writable())?;
    seen.index().compact()?;
    tell_documents(&seen, args.reports)
}

/// Copies.
pub fn copy(args: &CopyArgs) -> Result<()> {
    let seen = open(&args.index, &read_only())?;
    seen.copy(&args.to, &writable())?;
    tell_documents(&seen, args.reports)
}

/// Saves, and says what was lost.
pub fn rescue(args: &RescueArgs) -> Result<()> {
    let rescued = Seen::rescue(&args.index, &args.to, machine::level()?, &writable())?;
    for problem in &rescued.problems {
        message::say(problem);
    }
    let (saved, lost) = (rescued.saved, rescued.lost);
    let text = format!("{saved} documents saved, {lost} lost\n");
    tell_result(
        args.reports.log(),
        &text,
        &json!({ "saved": saved, "lost": lost }),
        false,
    )
}

/// Tells how many documents there are.
fn tell_documents(seen: &Seen, reports: ReportArgs) -> Result<()> {
    let documents = seen.index().info().documents;
    let text = format!("{documents} documents\n");
    tell_result(
        reports.log(),
        &text,
        &json!({ "documents": documents }),
        false,
    )
}

//! `simtool index check`, `compact`, `copy`, `rescue`: keeping an index in shape.

use std::path::PathBuf;

use clap::Args;
use simtool::run::seen::{Seen, Wanted};
use simtool::{Error, ErrorKind, Result};

use super::working::{read_only, writable};
use crate::cli::{machine, message, screen};

/// Read every byte of an index and check it
#[derive(Args, Clone, Debug)]
pub struct CheckArgs {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    index: PathBuf,
}

/// Merge an index into one segment, without what was removed
#[derive(Args, Clone, Debug)]
pub struct CompactArgs {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    index: PathBuf,
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
}

fn open(index: &std::path::Path, options: &simtool::index::Options) -> Result<Seen> {
    Seen::open(index, &Wanted::default(), machine::level()?, options)
}

/// Prints how many documents are right; fails if anything is wrong.
pub fn check(args: &CheckArgs) -> Result<()> {
    let found = open(&args.index, &read_only())?.index().check()?;
    for problem in &found.problems {
        message::say(&problem.message);
    }
    match found.problems.len() {
        0 => screen::print(format!("{} documents, all right\n", found.documents).as_bytes()),
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
    let documents = seen.index().info().documents;
    screen::print(format!("{documents} documents\n").as_bytes())
}

/// Copies.
pub fn copy(args: &CopyArgs) -> Result<()> {
    let seen = open(&args.index, &read_only())?;
    seen.copy(&args.to, &writable())?;
    let documents = seen.index().info().documents;
    screen::print(format!("{documents} documents\n").as_bytes())
}

/// Saves, and says what was lost.
pub fn rescue(args: &RescueArgs) -> Result<()> {
    let rescued = Seen::rescue(&args.index, &args.to, machine::level()?, &writable())?;
    for problem in &rescued.problems {
        message::say(problem);
    }
    let (saved, lost) = (rescued.saved, rescued.lost);
    screen::print(format!("{saved} documents saved, {lost} lost\n").as_bytes())
}

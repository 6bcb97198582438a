//! What was decided in the rounds of a job.

use std::collections::HashMap;

use ahash::RandomState;
use simtool_core::Result;

use crate::context::Context;
use crate::records::Label;
use crate::work::{Inbox, Stream, TaskFile};

/// [`Label`], by the homes of the documents.
pub const LABELS: Stream = Stream(0);
/// Documents that need more pairs, with the last one that is known: [`Label`], by their homes.
pub const FRONTIERS: Stream = Stream(1);

fn of_home(
    context: &Context<'_>,
    round: usize,
    stream: Stream,
    home: usize,
) -> Result<HashMap<i64, i64, RandomState>> {
    let stage = format!("settled-{round}");
    let mut found = HashMap::default();
    Inbox::new(context.work, &stage, 1).records(stream, home, |label: Label| {
        found.insert(label.rank, label.label);
        Ok(())
    })?;
    Ok(found)
}

/// The labels of the documents of a home after a round.
///
/// # Errors
/// Errors of reading.
pub fn labels(
    context: &Context<'_>,
    round: usize,
    home: usize,
) -> Result<HashMap<i64, i64, RandomState>> {
    of_home(context, round, LABELS, home)
}

/// The documents of a home that need more pairs after a round, with the last one that is known.
///
/// # Errors
/// Errors of reading.
pub fn frontiers(
    context: &Context<'_>,
    round: usize,
    home: usize,
) -> Result<HashMap<i64, i64, RandomState>> {
    of_home(context, round, FRONTIERS, home)
}

/// The last round of a job.
///
/// # Errors
/// Errors of reading.
pub fn last_round(context: &Context<'_>) -> Result<Option<usize>> {
    let mut last = None;
    while TaskFile::find(
        context.work,
        &format!("settled-{}", last.map_or(0, |n| n + 1)),
        0,
    )?
    .is_some()
    {
        last = Some(last.map_or(0, |round| round + 1));
    }
    Ok(last)
}

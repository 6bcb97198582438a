//! What is decided by the pairs that are known: one task, one document after another.

use std::collections::HashMap;

use ahash::RandomState;
use simtool_core::Result;

use super::proposed::CUTS as NEW_CUTS;
use super::rounds::{FRONTIERS, LABELS, frontiers};
use super::verified::VERIFIED;
use crate::context::Context;
use crate::decisions::{Components, Stars};
use crate::records::{Label, Pair, Verified, home_of};
use crate::work::{Facts, Outbox, Stream, TaskFile};

/// Where the pairs of documents end: [`Pair`].
const CUTS: Stream = Stream(2);

/// Settles a round.
///
/// # Errors
/// Errors of reading and writing.
pub fn run(context: &Context<'_>, round: usize) -> Result<Facts> {
    let (tasks, stage) = (context.tasks(), format!("settled-{round}"));
    let mut out = Outbox::create(context.work, &stage, 0, &[tasks, tasks, 1])?;
    let cuts = open_cuts(context, round)?;
    let mut stars = Stars::default();
    let mut components = Components::default();
    let mut next = cuts.iter().peekable();
    let mut decide = |pair: Pair| match context.has_components() {
        true => components.push(pair.member, pair.earlier, pair.cut != 0),
        false => stars.push(pair.member, pair.earlier, pair.cut != 0),
    };
    for home in 0..tasks {
        let mut sorter = context.sorter::<Pair>();
        for earlier in 0..=round {
            let stage = format!("verified-{earlier}");
            let file = context.inbox(&stage).file(home)?;
            file.records(VERIFIED, 0, |found: Verified| {
                sorter.push(Pair {
                    member: found.member,
                    earlier: found.earlier,
                    cut: 0,
                })
            })?;
        }
        while let Some(cut) = next.next_if(|cut| home_of(cut.member) == home) {
            sorter.push(*cut)?;
        }
        for pair in sorter.finish()? {
            decide(pair?);
        }
    }
    let (labels, frontiers) = match context.has_components() {
        true => (
            components.end(),
            cuts.iter().map(|cut| (cut.member, cut.earlier)).collect(),
        ),
        false => stars.end(),
    };
    for (rank, label) in labels {
        out.record(LABELS, home_of(rank), &Label { rank, label })?;
    }
    out.facts.add("undecided", frontiers.len() as u64);
    for (rank, label) in frontiers {
        out.record(FRONTIERS, home_of(rank), &Label { rank, label })?;
    }
    for cut in &cuts {
        out.record(CUTS, 0, cut)?;
    }
    out.finish()
}

/// Where the pairs of documents end: those of this round, and of those that got none in it.
fn open_cuts(context: &Context<'_>, round: usize) -> Result<Vec<Pair>> {
    let mut cuts: Vec<Pair> = Vec::new();
    if let Some(before) = round.checked_sub(1) {
        let stage = format!("settled-{before}");
        let file = TaskFile::open(context.work, &stage, 0)?;
        let mut asked: HashMap<i64, i64, RandomState> = HashMap::default();
        for home in 0..context.tasks() {
            asked.extend(frontiers(context, before, home)?);
        }
        file.records(CUTS, 0, |cut: Pair| {
            if !asked.contains_key(&cut.member) {
                cuts.push(cut);
            }
            Ok(())
        })?;
    }
    let stage = format!("proposed-{round}");
    for home in 0..context.tasks() {
        context
            .inbox(&stage)
            .file(home)?
            .records(NEW_CUTS, 0, |cut| {
                cuts.push(cut);
                Ok(())
            })?;
    }
    cuts.sort_unstable();
    Ok(cuts)
}

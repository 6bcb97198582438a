//! The pairs of a home, and the documents with which its documents are compared.

use std::collections::HashMap;

use ahash::RandomState;
use simtool_core::Result;

use super::near::PAIRS as LISTED;
use super::rounds::{frontiers, labels, last_round};
use crate::candidates::First;
use crate::context::Context;
use crate::records::{Ask, Pair, home_of};
use crate::work::{Facts, Outbox, Stream};

/// [`Pair`], sorted.
pub const PAIRS: Stream = Stream(0);
/// Documents whose sets a home needs, by their homes: [`Ask`].
pub const ASKS: Stream = Stream(1);
/// The pairs behind which a document may have others: [`Pair`].
pub const CUTS: Stream = Stream(2);

/// The pairs of a home that are compared.
pub struct ComparedPairs {
    out: Outbox,
    home: usize,
    asked: HashMap<i64, (), RandomState>,
}

impl ComparedPairs {
    /// Of the file of a task.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn create(context: &Context<'_>, stage: &str, home: usize) -> Result<ComparedPairs> {
        Ok(ComparedPairs {
            out: Outbox::create(context.work, stage, home, &[1, context.tasks(), 1])?,
            home,
            asked: HashMap::default(),
        })
    }

    /// Adds a pair, in order.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn push(&mut self, pair: &Pair) -> Result<()> {
        self.out.facts.add("pairs", 1);
        if pair.cut != 0 {
            self.out.record(CUTS, 0, pair)?;
        }
        if self.asked.insert(pair.earlier, ()).is_none() {
            let ask = Ask {
                rank: pair.earlier,
                home: self.home as u64,
            };
            self.out.record(ASKS, home_of(pair.earlier), &ask)?;
        }
        self.out.record(PAIRS, 0, pair)
    }

    /// Completes the file.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn finish(self) -> Result<Facts> {
        self.out.finish()
    }
}

/// The pairs of a home in a round: those of keys that few documents share, and the first ones that
/// share a rare shingle.
///
/// # Errors
/// Errors of reading and writing.
pub fn proposed(context: &Context<'_>, task: usize, round: usize) -> Result<Facts> {
    let stage = format!("proposed-{round}");
    let mut out = ComparedPairs::create(context, &stage, task)?;
    let asked = match round.checked_sub(1) {
        Some(before) => Some(frontiers(context, before, task)?),
        None => None,
    };
    let mut sorter = context.sorter::<Pair>();
    context.inbox("near").records(LISTED, task, |pair: Pair| {
        let is_new = match &asked {
            Some(asked) => asked
                .get(&pair.member)
                .is_some_and(|last| pair.earlier > *last),
            None => true,
        };
        match is_new {
            true => sorter.push(pair),
            false => Ok(()),
        }
    })?;
    if context.facts("sets")?.count("crowded") > 0 {
        let stage = format!("pairs-{round}");
        context
            .inbox(&stage)
            .records(LISTED, task, |pair: Pair| sorter.push(pair))?;
    }
    let mut first = First::new(usize::MAX);
    for pair in sorter.finish()? {
        if let Some(pair) = first.push(pair?) {
            out.push(&pair)?;
        }
    }
    if let Some(pair) = first.end() {
        out.push(&pair)?;
    }
    out.finish()
}

/// Components: each document of a home with the first one of its component.
///
/// # Errors
/// Errors of reading and writing.
pub fn firsts(context: &Context<'_>, stage: &str, task: usize) -> Result<Facts> {
    let mut out = ComparedPairs::create(context, stage, task)?;
    let references = context.references();
    let labels = match last_round(context)? {
        Some(round) => labels(context, round, task)?,
        None => HashMap::default(),
    };
    let mut pairs: Vec<Pair> = labels
        .into_iter()
        .filter(|(rank, first)| rank != first && *rank >= references)
        .filter(|(_, first)| !context.job.against_only || *first < references)
        .map(|(member, earlier)| Pair {
            member,
            earlier,
            cut: 0,
        })
        .collect();
    pairs.sort_unstable();
    pairs.iter().try_for_each(|pair| out.push(pair))?;
    out.finish()
}

//! The leaders' keys, and the documents that are equal to a leader.

use std::collections::{HashMap, HashSet};

use ahash::RandomState;
use simtool_batch::dedup::Flags;
use simtool_core::sketch::{Method, Shape};
use simtool_core::{Error, ErrorKind, Result};

use super::equal::VERDICTS;
use crate::candidates::{Alone, BitKeys, Keyed, LONGEST, WithPrint};
use crate::context::Context;
use crate::numbers::mixed;
use crate::records::{Ask, Follower, HomeRow, LocalFollower, Verdict, home_of, rank_of, row_of};
use crate::settings::has_fingerprints;
use crate::tasks::reading::captures::dropped_captures;
use crate::tasks::reading::home::{LOCAL, ROWS, SKETCHES};
use crate::work::{Facts, Outbox, Stream};

/// Keys with their documents, by the keys: [`Alone`] or [`WithPrint`].
pub const KEYS: Stream = Stream(0);
/// [`Ask`] for what becomes of leaders, by their homes.
pub const ASKS: Stream = Stream(1);
/// [`Follower`].
pub const FOLLOWERS: Stream = Stream(2);

/// The keys of sketches.
pub struct KeyMaker {
    method: Box<dyn Method>,
    bits: Option<BitKeys>,
    carries: bool,
    own: Vec<u64>,
}

impl KeyMaker {
    /// The keys of a method for a number of documents.
    pub fn new(method: Box<dyn Method>, documents: u64) -> KeyMaker {
        let bits = match method.shape() {
            Shape::Bits { width, distance } => Some(BitKeys::new(width, distance, documents)),
            Shape::Keys => None,
        };
        KeyMaker {
            carries: has_fingerprints(&*method),
            method,
            bits,
            own: Vec::new(),
        }
    }

    /// The different keys of a sketch, combined with a mask.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] for a fingerprint that is too long.
    pub fn keys(&mut self, sketch: &[u8], mask: u64) -> Result<impl Iterator<Item = u64>> {
        if self.carries && sketch.len() > LONGEST {
            return Err(Error::new(ErrorKind::Content, "a fingerprint is too long"));
        }
        let own = &mut self.own;
        own.clear();
        match &self.bits {
            Some(bits) => bits.emit(sketch, |key| own.push(key)),
            None => self.method.keys(sketch, &mut |key| own.push(key)),
        }
        own.sort_unstable();
        own.dedup();
        Ok(own.iter().map(move |key| key ^ mask))
    }
}

/// The number of documents with a sketch, at most.
///
/// # Errors
/// Errors of reading.
pub fn sketched(context: &Context<'_>) -> Result<u64> {
    let facts = context.facts("read")?;
    Ok(facts.count("seen") + facts.count("against"))
}

/// Spreads the documents of a home.
///
/// # Errors
/// Errors of reading and writing.
pub fn run(context: &Context<'_>, task: usize) -> Result<Facts> {
    let tasks = context.tasks();
    let mut out = Outbox::create(context.work, "spread", task, &[tasks, tasks, 1])?;
    let home = context.inbox(context.homes()).file(task)?;
    let mut rows: Vec<HomeRow> = Vec::new();
    home.records(ROWS, 0, |row| {
        rows.push(row);
        Ok(())
    })?;
    let mut verdicts: HashMap<i64, Verdict, RandomState> = HashMap::default();
    context
        .inbox("equal")
        .records(VERDICTS, task, |verdict: Verdict| {
            verdicts.insert(verdict.rank, verdict);
            Ok(())
        })?;
    let mut local: HashMap<i64, i64, RandomState> = HashMap::default();
    let words = context.inbox(context.words()).file(task)?;
    words.records(LOCAL, 0, |found: LocalFollower| {
        local.insert(found.rank, found.leader);
        Ok(())
    })?;
    let mut keys = match context.method()? {
        Some(method) => Some(KeyMaker::new(method, sketched(context)?)),
        None => None,
    };
    let captures = dropped_captures(context, task)?;
    let captures: HashSet<i64, RandomState> = captures.iter().map(|found| found.rank).collect();
    let mut asked: Vec<i64> = Vec::new();
    let mut at = 0;
    home.messages(SKETCHES, 0, |sketch| {
        let (row, rank) = (&rows[at], rank_of(task, at));
        at += 1;
        if captures.contains(&rank) {
            return Ok(());
        }
        let first = local.get(&rank).copied().unwrap_or(rank);
        let verdict = verdicts.get(&first);
        let leader = verdict.map_or(first, |verdict| verdict.leader);
        if leader != rank {
            // A document of the other collection is never dropped.
            if Flags(row.flags).has(Flags::REFERENCE) {
                return Ok(());
            }
            let text = match verdict {
                Some(verdict) => verdict.leader_text,
                None => rows[row_of(leader)].text_digest,
            };
            asked.push(leader);
            let follower = Follower {
                rank,
                leader,
                same_text: u64::from(text == row.text_digest),
            };
            return out.record(FOLLOWERS, 0, &follower);
        }
        let Some(keys) = keys.as_mut().filter(|_| !sketch.is_empty()) else {
            return Ok(());
        };
        let carries = keys.carries;
        for key in keys.keys(sketch, row.mask)? {
            let part = context.part(mixed(key));
            match carries {
                true => out.record(KEYS, part, &WithPrint::of(key.cast_signed(), rank, sketch))?,
                false => out.record(KEYS, part, &Alone::of(key.cast_signed(), rank, sketch))?,
            }
        }
        Ok(())
    })?;
    asked.sort_unstable();
    asked.dedup();
    for rank in asked {
        let home = task as u64;
        out.record(ASKS, home_of(rank), &Ask { rank, home })?;
    }
    out.finish()
}

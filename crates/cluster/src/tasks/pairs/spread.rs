//! The leaders' keys, and the documents that are equal to a leader.

use std::collections::{HashMap, HashSet};

use ahash::RandomState;
use simtool_batch::KnownDocuments;
use simtool_batch::dedup::Flags;
use simtool_core::sketch::{Compare, Shape, SignedMethod};
use simtool_core::{Error, ErrorKind, Result};

use super::equal::VERDICTS;
use super::known::{Lookup, Waiting};
use crate::candidates::{Alone, BitKeys, Keyed, LONGEST, WithPrint};
use crate::context::Context;
use crate::numbers::mixed;
use crate::records::{Ask, Follower, HomeRow, LocalFollower, Verdict, home_of, rank_of, row_of};
use crate::settings::has_fingerprints;
use crate::tasks::reading::captures::dropped_captures;
use crate::tasks::reading::home::{LOCAL, ROWS, SKETCHES, has_sketch, takes_part};
use crate::work::{Facts, Outbox, Stream};

/// Keys with their documents, by the keys: [`Alone`] or [`WithPrint`].
pub const KEYS: Stream = Stream(0);
/// [`Ask`] for what becomes of leaders, by their homes.
pub const ASKS: Stream = Stream(1);
/// [`Follower`].
pub const FOLLOWERS: Stream = Stream(2);

/// The keys of sketches.
pub struct KeyMaker {
    method: SignedMethod,
    bits: Option<BitKeys>,
    carries: bool,
    own: Vec<u64>,
}

impl KeyMaker {
    /// The keys of a method for a number of documents.
    pub fn new(method: SignedMethod, documents: u64) -> KeyMaker {
        let bits = match method.shape() {
            Shape::Bits { width, distance } => Some(BitKeys::new(width, distance, documents)),
            Shape::Keys => None,
        };
        KeyMaker {
            carries: has_fingerprints(method.plain()),
            method,
            bits,
            own: Vec::new(),
        }
    }

    /// A sketch without its signature.
    pub fn plain<'s>(&self, sketch: &'s [u8]) -> &'s [u8] {
        self.method.split(sketch).0
    }

    /// The different keys of a sketch without signature, combined with a mask.
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
            None => self.method.plain().keys(sketch, &mut |key| own.push(key)),
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
    let mut out = Outbox::create(context.work, "spread", task, &[tasks, tasks, 1, tasks])?;
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
    let captures = dropped_captures(context, task)?;
    let captures: HashSet<i64, RandomState> = captures.iter().map(|found| found.rank).collect();
    let mut leaders = Leaders::new(context)?;
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
        if leader == rank {
            return leaders.push(rank, row, sketch, &mut out);
        }
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
        out.record(FOLLOWERS, 0, &follower)
    })?;
    leaders.finish(&mut out)?;
    asked.sort_unstable();
    asked.dedup();
    for rank in asked {
        let home = task as u64;
        out.record(ASKS, home_of(rank), &Ask { rank, home })?;
    }
    out.finish()
}

/// The leaders of a home: those that are no copies of a document of an index spread their keys.
struct Leaders<'c> {
    context: &'c Context<'c>,
    keys: Option<KeyMaker>,
    known: Option<(&'c dyn KnownDocuments, bool)>,
    lookup: Lookup,
}

impl<'c> Leaders<'c> {
    fn new(context: &'c Context<'c>) -> Result<Leaders<'c>> {
        let keys = match context.signed_method()? {
            Some(method) => Some(KeyMaker::new(method, sketched(context)?)),
            None => None,
        };
        let has_distances = keys.as_ref().is_some_and(|keys| keys.carries);
        Ok(Leaders {
            context,
            keys,
            known: context.known()?.map(|known| (known, has_distances)),
            lookup: Lookup::default(),
        })
    }

    fn push(&mut self, rank: i64, row: &HomeRow, sketch: &[u8], out: &mut Outbox) -> Result<()> {
        if self.context.has_containment() {
            // All are compared, so they need no key.
            let alone = Alone::of(rank, rank, sketch);
            return match has_sketch(Flags(row.flags)) {
                true => out.record(KEYS, home_of(rank), &alone),
                false => Ok(()),
            };
        }
        if self.known.is_none() || !takes_part(row) {
            return self.spread(rank, row.mask, sketch, out);
        }
        let [high, low] = row.digest;
        let is_full = self.lookup.push(Waiting {
            rank,
            words: u128::from(high) << 64 | u128::from(low),
            text: row.text_digest,
            mask: row.mask,
            sketch: sketch.to_vec(),
        });
        match is_full {
            true => self.finish(out),
            false => Ok(()),
        }
    }

    /// Spreads the keys of those that wait.
    fn finish(&mut self, out: &mut Outbox) -> Result<()> {
        let Some(known) = self.known else {
            return Ok(());
        };
        let others = self.lookup.answered(self.context, known, out)?;
        others
            .iter()
            .try_for_each(|other| self.spread(other.rank, other.mask, &other.sketch, out))
    }

    fn spread(&mut self, rank: i64, mask: u64, sketch: &[u8], out: &mut Outbox) -> Result<()> {
        let Some(keys) = self.keys.as_mut().filter(|_| !sketch.is_empty()) else {
            return Ok(());
        };
        let (carries, sketch) = (keys.carries, keys.plain(sketch));
        for key in keys.keys(sketch, mask)? {
            let part = self.context.part(mixed(key));
            match carries {
                true => out.record(KEYS, part, &WithPrint::of(key.cast_signed(), rank, sketch))?,
                false => out.record(KEYS, part, &Alone::of(key.cast_signed(), rank, sketch))?,
            }
        }
        Ok(())
    }
}

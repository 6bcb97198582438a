//! Exact comparison of pairs: sets travel to the homes that need them.

use std::collections::HashMap;

use ahash::RandomState;
use simtool_core::Result;
use simtool_core::sketch::{Method, Score};

use super::proposed::{ASKS, PAIRS};
use crate::context::Context;
use crate::name::Name;
use crate::records::{Ask, Pair, Verified, rank_of};
use crate::tasks::reading::home::NAMES;
use crate::tasks::reading::set_store::{SetStore, SketchAndSet};
use crate::work::{Facts, Outbox, Stream, damaged};

/// Sets of documents, by the homes that need them: messages of the rank, the length of the name, the
/// name, and the sketch and set.
const LENT: Stream = Stream(0);
/// [`Verified`].
pub const VERIFIED: Stream = Stream(0);
/// The names of the documents in these pairs that come first: messages of the rank and the name.
pub const EARLIER_NAMES: Stream = Stream(1);

/// Bytes of sets of other homes that a task holds.
const HELD: usize = 128 << 20;

/// Sends the sets of a home that others need.
///
/// # Errors
/// Errors of reading and writing.
pub fn lent(context: &Context<'_>, stage: &str, task: usize) -> Result<Facts> {
    let mut out = Outbox::create(context.work, stage, task, &[context.tasks()])?;
    let from = asking(stage);
    let mut asks: Vec<Ask> = context.inbox(&from).all(ASKS, task)?;
    asks.sort_unstable();
    let mut store = SetStore::of(context, task)?;
    let mut next = asks.iter().peekable();
    let home = context.inbox(context.homes()).file(task)?;
    let mut row = 0;
    home.messages(NAMES, 0, |name| {
        let rank = rank_of(task, row);
        row += 1;
        if next.peek().is_none_or(|ask| ask.rank != rank) {
            return Ok(());
        }
        let lent = store.get(rank)?;
        while let Some(ask) = next.next_if(|ask| ask.rank == rank) {
            let header = [rank, name.len() as i64];
            let pieces = [bytemuck::bytes_of(&header), name, lent.bytes()];
            out.message(LENT, ask.home as usize, &pieces)?;
        }
        Ok(())
    })?;
    out.finish()
}

/// A document of another home.
struct Lent {
    found: SketchAndSet,
    name: Vec<u8>,
}

/// Compares the pairs of a home. Writes those that are near and similar enough; with the stage
/// `compared`, all of them.
///
/// # Errors
/// Errors of reading and writing.
pub fn run(context: &Context<'_>, stage: &str, task: usize) -> Result<Facts> {
    let mut out = Outbox::create(context.work, stage, task, &[1, 1])?;
    let Some(method) = context.method()? else {
        return out.finish();
    };
    let any = stage.starts_with("compared");
    let (lent_by, asked_by) = (lending(stage), asking(stage));
    let mut pairs: Vec<Pair> = Vec::new();
    let file = context.inbox(&asked_by).file(task)?;
    file.records(PAIRS, 0, |pair| {
        pairs.push(pair);
        Ok(())
    })?;
    let mut comparison = Comparison {
        context,
        method: &*method,
        any,
        store: SetStore::of(context, task)?,
        pairs,
    };
    let mut lent: HashMap<i64, Lent, RandomState> = HashMap::default();
    let mut held = 0;
    context.inbox(&lent_by).messages(LENT, task, |_, message| {
        let (rank, one) =
            read_lent(message).ok_or_else(|| damaged(&context.work.path(&lent_by)))?;
        held += message.len();
        lent.insert(rank, one);
        if held > HELD {
            comparison.compare(&lent, &mut out)?;
            lent.clear();
            held = 0;
        }
        Ok(())
    })?;
    comparison.compare(&lent, &mut out)?;
    out.finish()
}

fn read_lent(message: &[u8]) -> Option<(i64, Lent)> {
    let (rank, rest) = message.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (name, rest) = rest.split_at_checked(u64::from_le_bytes(*length) as usize)?;
    let lent = Lent {
        found: SketchAndSet::read(rest.to_vec())?,
        name: name.to_vec(),
    };
    Some((i64::from_le_bytes(*rank), lent))
}

struct Comparison<'c> {
    context: &'c Context<'c>,
    method: &'c dyn Method,
    any: bool,
    store: SetStore<'c>,
    pairs: Vec<Pair>,
}

impl Comparison<'_> {
    /// Compares the pairs whose earlier documents are there.
    fn compare(&mut self, lent: &HashMap<i64, Lent, RandomState>, out: &mut Outbox) -> Result<()> {
        let mut own: Option<(i64, SketchAndSet)> = None;
        for pair in &self.pairs {
            let Some(other) = lent.get(&pair.earlier) else {
                continue;
            };
            let own = match &mut own {
                Some((rank, own)) if *rank == pair.member => own,
                own => &mut own.insert((pair.member, self.store.get(pair.member)?)).1,
            };
            if let Some(found) = self.verdict(pair, &other.found, own) {
                out.record(VERIFIED, 0, &found)?;
                if self.any {
                    let rank = pair.earlier;
                    out.message(EARLIER_NAMES, 0, &[bytemuck::bytes_of(&rank), &other.name])?;
                }
            }
        }
        Ok(())
    }

    fn verdict(&self, pair: &Pair, other: &SketchAndSet, own: &SketchAndSet) -> Option<Verified> {
        let least = self.context.job.verification.least;
        if least.is_containment() {
            let (shared, shingles) = least.reached(&other.set, &own.set)?;
            let found = Verified {
                shared,
                shingles,
                ..Verified::not_compared(pair.member, pair.earlier)
            };
            return Some(found.with_score(Score::Fraction(shared, shingles)));
        }
        let score = self.method.score(other.sketch(), own.sketch());
        if !self.any && !self.method.accepts(&score) {
            return None;
        }
        let (shared, shingles) = match self.any {
            true => least.measure.similarity(&other.set, &own.set),
            false => least.reached(&other.set, &own.set)?,
        };
        let found = Verified {
            shared,
            shingles,
            ..Verified::not_compared(pair.member, pair.earlier)
        };
        Some(found.with_score(score))
    }
}

/// The stage that lends the sets for a stage of comparisons.
fn lending(stage: &str) -> String {
    let (name, round) = stage.rsplit_once('-').unwrap_or((stage, "0"));
    match name {
        "compared" => format!("shown-{round}"),
        _ => format!("lent-{round}"),
    }
}

/// The stage with the pairs of a stage that lends sets or compares. Of `shown` and `compared`, round 0
/// has the components, and round 1 the refused pairs.
fn asking(stage: &str) -> String {
    let (name, round) = stage.rsplit_once('-').unwrap_or((stage, "0"));
    match (name, round) {
        ("shown" | "compared", "0") => "firsts-0".to_owned(),
        ("shown" | "compared", _) => "refused-1".to_owned(),
        _ => format!("proposed-{round}"),
    }
}

/// The name of the earlier document of a compared pair.
pub fn earlier_name(message: &[u8]) -> Option<(i64, Name<'_>)> {
    let (rank, name) = message.split_first_chunk()?;
    Some((i64::from_le_bytes(*rank), Name::read(name)))
}

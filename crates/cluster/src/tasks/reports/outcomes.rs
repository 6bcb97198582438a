//! Which documents are dropped, for which one each, and how large the clusters are.
//!
//! Rows stay in their homes. Only what other homes need to know of a document travels, once to each.

use std::collections::HashMap;

use ahash::RandomState;
use bytemuck::{Pod, Zeroable};
use simtool_core::Result;

use crate::context::Context;
use crate::records::{Ask, Drop, EXACT, Follower, NEAR, NORMALIZED, Verified, home_of, rank_of};
use crate::settings::has_distances;
use crate::tasks::pairs::rounds::{labels, last_round};
use crate::tasks::pairs::spread::{ASKS, FOLLOWERS};
use crate::tasks::pairs::verified::VERIFIED;
use crate::tasks::reading::home::NAMES;
use crate::work::{Facts, Outbox, Stream};

/// Removed leaders, by the homes of their followers: [`Verified`].
const OUTCOMES: Stream = Stream(0);
/// [`Drop`], by ranks.
pub const DROPS: Stream = Stream(0);
/// [`ClusterPart`], by the homes of the kept documents.
const PARTS: Stream = Stream(1);
/// The first dropped documents of clusters, if several copies stay, by the homes of the kept
/// documents: [`Ask`], whose home is the kept document.
const LEAST: Stream = Stream(2);
/// [`Cluster`] and the name of the kept document: messages, by the homes of the dropped ones.
pub const CLUSTERS: Stream = Stream(0);
/// [`Cluster`] of the kept documents of a home, by ranks.
pub const FIRSTS: Stream = Stream(1);

/// The documents of a home that are dropped for one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct ClusterPart {
    kept: i64,
    home: u64,
    count: u64,
    /// The least of their methods.
    method: u64,
}

/// A cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Cluster {
    /// The kept document.
    pub kept: i64,
    /// The number of documents.
    pub size: u64,
    /// Documents up to this rank stay, too; -1 if none do.
    pub last_copy: i64,
    /// The least of the methods.
    pub method: u64,
}

/// The removed leaders of a home, with what they have in common with the documents for which they are
/// removed.
fn removed(context: &Context<'_>, home: usize) -> Result<HashMap<i64, Verified, RandomState>> {
    let mut found = HashMap::default();
    let Some(last) = last_round(context)? else {
        return Ok(found);
    };
    if context.has_components() {
        let file = context.inbox("compared-0").file(home)?;
        file.records(VERIFIED, 0, |pair: Verified| {
            found.insert(pair.member, pair);
            Ok(())
        })?;
        return Ok(found);
    }
    let labels = labels(context, last, home)?;
    for round in 0..=last {
        let stage = format!("verified-{round}");
        let file = context.inbox(&stage).file(home)?;
        file.records(VERIFIED, 0, |pair: Verified| {
            if labels.get(&pair.member) == Some(&pair.earlier) {
                found.insert(pair.member, pair);
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// Tells the homes of followers what became of the leaders of a home.
///
/// # Errors
/// Errors of reading and writing.
pub fn outcomes(context: &Context<'_>, task: usize) -> Result<Facts> {
    let mut out = Outbox::create(context.work, "outcomes", task, &[context.tasks()])?;
    let removed = removed(context, task)?;
    context
        .inbox("spread")
        .records(ASKS, task, |ask: Ask| match removed.get(&ask.rank) {
            Some(pair) => out.record(OUTCOMES, ask.home as usize, pair),
            None => Ok(()),
        })?;
    out.finish()
}

/// Counts the dropped documents of a home by the kept ones.
///
/// # Errors
/// Errors of reading and writing.
pub fn counted(context: &Context<'_>, task: usize) -> Result<Facts> {
    let tasks = context.tasks();
    let mut out = Outbox::create(context.work, "counted", task, &[1, tasks, tasks])?;
    let mut outcomes: HashMap<i64, Verified, RandomState> = HashMap::default();
    context
        .inbox("outcomes")
        .records(OUTCOMES, task, |pair: Verified| {
            outcomes.insert(pair.member, pair);
            Ok(())
        })?;
    let mut drops: Vec<Drop> = removed(context, task)?
        .into_values()
        .map(|pair| Drop { pair, method: NEAR })
        .collect();
    let has_distances = match context.method()? {
        Some(method) => has_distances(&*method),
        None => false,
    };
    let references = context.references();
    context
        .inbox("spread")
        .file(task)?
        .records(FOLLOWERS, 0, |follower: Follower| {
            let outcome = outcomes.get(&follower.leader);
            let (pair, method) = match outcome {
                Some(outcome) => (*outcome, NEAR),
                None if context.job.against_only && follower.leader >= references => return Ok(()),
                None => (
                    equal(follower.leader, has_distances),
                    match follower.same_text {
                        0 => NORMALIZED,
                        _ => EXACT,
                    },
                ),
            };
            let member = follower.rank;
            drops.push(Drop {
                pair: Verified { member, ..pair },
                method,
            });
            Ok(())
        })?;
    drops.sort_unstable_by_key(|drop| (drop.pair.earlier, drop.pair.member));
    let copies = copies(context);
    for cluster in drops.chunk_by(|a, b| a.pair.earlier == b.pair.earlier) {
        let kept = cluster[0].pair.earlier;
        let part = ClusterPart {
            kept,
            home: task as u64,
            count: cluster.len() as u64,
            method: cluster.iter().map(|drop| drop.method).min().unwrap_or(NEAR),
        };
        out.record(PARTS, home_of(kept), &part)?;
        for drop in cluster.iter().take(copies) {
            let least = Ask {
                rank: drop.pair.member,
                home: kept.cast_unsigned(),
            };
            out.record(LEAST, home_of(kept), &least)?;
        }
    }
    drops.sort_unstable_by_key(|drop| drop.pair.member);
    drops
        .iter()
        .try_for_each(|drop| out.record(DROPS, 0, drop))?;
    out.finish()
}

/// What equal documents have in common.
fn equal(leader: i64, has_distances: bool) -> Verified {
    Verified {
        member: 0,
        earlier: leader,
        shared: 0,
        shingles: 0,
        distance: if has_distances { 0 } else { -1 },
        estimate: if has_distances { f64::NAN } else { 1.0 },
    }
}

/// The copies that stay besides the kept document.
fn copies(context: &Context<'_>) -> usize {
    context.job.keep_copies.saturating_sub(1) as usize
}

/// Tells the homes of dropped documents the names of the kept ones of a home, and their clusters.
///
/// # Errors
/// Errors of reading and writing.
pub fn named(context: &Context<'_>, task: usize) -> Result<Facts> {
    let mut out = Outbox::create(context.work, "named", task, &[context.tasks(), 1])?;
    let counted = context.inbox("counted");
    let mut parts: Vec<ClusterPart> = counted.all(PARTS, task)?;
    parts.sort_unstable();
    let mut least: HashMap<i64, Vec<i64>, RandomState> = HashMap::default();
    counted.records(LEAST, task, |found: Ask| {
        least
            .entry(found.home.cast_signed())
            .or_default()
            .push(found.rank);
        Ok(())
    })?;
    let copies = copies(context);
    let mut last_copy = |kept: i64| -> i64 {
        let mut ranks = least.remove(&kept).unwrap_or_default();
        ranks.sort_unstable();
        ranks.truncate(copies);
        ranks.last().copied().unwrap_or(-1)
    };
    let mut clusters = parts.chunk_by(|a, b| a.kept == b.kept).peekable();
    let home = context.inbox(context.homes()).file(task)?;
    let (mut row, mut largest) = (0, 0);
    home.messages(NAMES, 0, |name| {
        let rank = rank_of(task, row);
        row += 1;
        let Some(parts) = clusters.next_if(|parts| parts[0].kept == rank) else {
            return Ok(());
        };
        let cluster = Cluster {
            kept: rank,
            size: 1 + parts.iter().map(|part| part.count).sum::<u64>(),
            last_copy: last_copy(rank),
            method: parts.iter().map(|part| part.method).min().unwrap_or(NEAR),
        };
        largest = largest.max(cluster.size);
        out.facts.add("clusters", 1);
        out.record(FIRSTS, 0, &cluster)?;
        parts.iter().try_for_each(|part| {
            let pieces = [bytemuck::bytes_of(&cluster), name];
            out.message(CLUSTERS, part.home as usize, &pieces)
        })
    })?;
    out.facts.samples = vec![u64::to_le_bytes(largest).to_vec()];
    out.finish()
}

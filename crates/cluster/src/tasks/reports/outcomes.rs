//! Which documents are dropped, for which one each, and how large the clusters are.
//!
//! Rows stay in their homes. Only what other homes need to know of a document travels, once to each.

use std::collections::HashMap;

use ahash::RandomState;
use bytemuck::{Pod, Zeroable};
use simtool_core::Result;

use super::captured::dropped_newest;
use super::drops::{OUTCOMES, drops, removed};
use crate::context::Context;
use crate::records::{Ask, Drop, NEAR, SAME_URL, Verified, home_of, rank_of};
use crate::tasks::pairs::known;
use crate::tasks::pairs::spread::ASKS;
use crate::tasks::reading::captures::dropped_captures;
use crate::tasks::reading::home::NAMES;
use crate::work::{Facts, Outbox, Stream};

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
    let mut drops = drops(context, task)?;
    let newest = dropped_newest(context, task)?;
    for capture in dropped_captures(context, task)? {
        let kept = newest.get(&capture.leader);
        let kept = kept.map_or(capture.leader, |(kept, _)| *kept);
        drops.push(Drop {
            pair: Verified::not_compared(capture.rank, kept),
            method: SAME_URL,
        });
    }
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
        // An older capture of a page is not a further copy of it.
        let members = cluster.iter().filter(|drop| drop.method != SAME_URL);
        for drop in members.take(copies) {
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
    let mut largest = 0;
    let mut tell = |parts: &[ClusterPart], name: &[u8]| {
        let kept = parts[0].kept;
        let cluster = Cluster {
            kept,
            size: 1 + parts.iter().map(|part| part.count).sum::<u64>(),
            last_copy: last_copy(kept),
            method: parts.iter().map(|part| part.method).min().unwrap_or(NEAR),
        };
        largest = largest.max(cluster.size);
        out.facts.add("clusters", 1);
        out.record(FIRSTS, 0, &cluster)?;
        parts.iter().try_for_each(|part| {
            let pieces = [bytemuck::bytes_of(&cluster), name];
            out.message(CLUSTERS, part.home as usize, &pieces)
        })
    };
    let known = known::names(context, task)?;
    let mut clusters = parts.chunk_by(|a, b| a.kept == b.kept).peekable();
    // The documents of an index have negative ranks.
    while let Some(parts) = clusters.next_if(|parts| parts[0].kept < 0) {
        let name = known.get(&parts[0].kept).map_or(&[][..], Vec::as_slice);
        tell(parts, name)?;
    }
    let (home, mut row) = (context.inbox(context.homes()).file(task)?, 0);
    home.messages(NAMES, 0, |name| {
        let rank = rank_of(task, row);
        row += 1;
        match clusters.next_if(|parts| parts[0].kept == rank) {
            Some(parts) => tell(parts, name),
            None => Ok(()),
        }
    })?;
    out.facts.samples = vec![u64::to_le_bytes(largest).to_vec()];
    out.finish()
}

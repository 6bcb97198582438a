//! What becomes of the newest captures of pages, for the homes of the older ones.

use std::collections::HashMap;

use ahash::RandomState;
use simtool_core::Result;

use super::drops::drops;
use crate::context::Context;
use crate::records::{Ask, LocalFollower, rank_of};
use crate::tasks::reading::captures::ASKS;
use crate::tasks::reading::home::NAMES;
use crate::work::{Facts, Outbox, Stream};

/// The newest captures that are dropped themselves, by the homes of the older ones: messages of
/// [`LocalFollower`], whose leader is the kept document, and of the name of the newest capture.
const DROPPED: Stream = Stream(0);

/// Tells the homes of older captures which of the newest ones of a home are dropped.
///
/// # Errors
/// Errors of reading and writing.
pub fn captured(context: &Context<'_>, task: usize) -> Result<Facts> {
    let mut out = Outbox::create(context.work, "captured", task, &[context.tasks()])?;
    let kept: HashMap<i64, i64, RandomState> = drops(context, task)?
        .iter()
        .map(|drop| (drop.pair.member, drop.pair.earlier))
        .collect();
    let mut asks: Vec<Ask> = context.inbox("words").all(ASKS, task)?;
    asks.retain(|ask| kept.contains_key(&ask.rank));
    asks.sort_unstable();
    let (mut next, mut row) = (asks.iter().peekable(), 0);
    let home = context.inbox(context.homes()).file(task)?;
    home.messages(NAMES, 0, |name| {
        let rank = rank_of(task, row);
        row += 1;
        while let Some(ask) = next.next_if(|ask| ask.rank == rank) {
            let leader = kept.get(&rank).copied().unwrap_or(rank);
            let found = LocalFollower { rank, leader };
            let pieces = [bytemuck::bytes_of(&found), name];
            out.message(DROPPED, ask.home as usize, &pieces)?;
        }
        Ok(())
    })?;
    out.finish()
}

/// The newest captures for which documents of a home are dropped, if they are dropped themselves: the kept
/// document, and the name of the newest capture.
///
/// # Errors
/// Errors of reading.
pub fn dropped_newest(
    context: &Context<'_>,
    home: usize,
) -> Result<HashMap<i64, (i64, Vec<u8>), RandomState>> {
    let mut found = HashMap::default();
    if context.has_urls() {
        context
            .inbox("captured")
            .headed(DROPPED, home, |follower: LocalFollower, name| {
                found.insert(follower.rank, (follower.leader, name.to_vec()));
                Ok(())
            })?;
    }
    Ok(found)
}

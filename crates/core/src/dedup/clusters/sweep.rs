//! Removal for centres with very many neighbours, a few centres at a time.
//!
//! All centres are known, so members do not depend on one another. Each task has a range of members
//! and applies the centres to it in order. No list of pairs is built, and the judge filters all
//! members of a centre in the range by one call.

use super::context::Context;
use super::standing::{Refused, Standing, State};
use crate::dedup::documents::NearPair;
use crate::dedup::{Documents, Event, IndexedBlock, Judge, Parallel, Verdict};
use crate::{Error, Result};

/// Pairs of one task.
const PAIRS: usize = 4096;
/// Tasks whose events are in memory at a time; every pair may be an event.
const TASKS: usize = 128;

/// A range of members.
struct SweepTask<'s> {
    /// The position of the first member.
    first: u32,
    standings: &'s mut [Standing],
    events: Vec<Event>,
    refused: Refused,
    error: Option<Error>,
}

/// Buffers of a task.
#[derive(Default)]
struct SweepBuffers {
    undecided: Vec<u64>,
    possible: Vec<u64>,
}

/// Applies `centres` in the order of `lists`: removes the undecided members of a centre's list that
/// the judge confirms as its copies. Returns the number of refused pairs.
pub(super) fn sweep(
    block: IndexedBlock<'_>,
    centres: &Documents<'_>,
    lists: &[(u32, &[u32])],
    standings: &mut [Standing],
    context: &mut Context<'_, impl Parallel, impl Judge>,
) -> Result<Refused> {
    let mut tasks = split_into_tasks(lists, standings);
    let mut refused = Refused::default();
    for some in tasks.chunks_mut(TASKS) {
        let judge = context.judge;
        context.parallel.for_each(some, |task| {
            task.error = task.work(block, centres, lists, judge).err();
        });
        for task in some {
            if let Some(error) = task.error.take() {
                return Err(error);
            }
            let events = std::mem::take(&mut task.events);
            events.into_iter().try_for_each(&mut *context.sink)?;
            refused += task.refused;
        }
    }
    Ok(refused)
}

/// Ranges of members with about equally many pairs, split at quantiles of the longest list.
fn split_into_tasks<'s>(
    lists: &[(u32, &[u32])],
    standings: &'s mut [Standing],
) -> Vec<SweepTask<'s>> {
    let pairs: usize = lists.iter().map(|(_, list)| list.len()).sum();
    let longest = lists.iter().map(|(_, list)| *list);
    let longest = longest.max_by_key(|list| list.len()).unwrap_or_default();
    let parts = pairs.div_ceil(PAIRS);
    let mut tasks = Vec::with_capacity(parts);
    let (mut rest, mut first) = (standings, 0);
    for part in 1..=parts {
        let end = match longest.get(part * longest.len() / parts) {
            Some(end) if part < parts => *end,
            _ => first + rest.len() as u32,
        };
        let (standings, behind) = rest.split_at_mut((end - first) as usize);
        if !standings.is_empty() {
            tasks.push(SweepTask {
                first,
                standings,
                events: Vec::new(),
                refused: Refused::default(),
                error: None,
            });
        }
        (rest, first) = (behind, end);
    }
    tasks
}

impl SweepTask<'_> {
    fn work(
        &mut self,
        block: IndexedBlock<'_>,
        centres: &Documents<'_>,
        lists: &[(u32, &[u32])],
        judge: &impl Judge,
    ) -> Result<()> {
        let mut buffers = SweepBuffers::default();
        let end = self.first + self.standings.len() as u32;
        for (centre, list) in lists {
            let start = list.partition_point(|member| *member < self.first);
            let list = &list[start..];
            let own = &list[..list.partition_point(|member| *member < end)];
            self.apply(block, centres, *centre, own, judge, &mut buffers)?;
        }
        Ok(())
    }

    /// Removes those of `members` that the judge confirms as copies of `centre`.
    fn apply(
        &mut self,
        block: IndexedBlock<'_>,
        centres: &Documents<'_>,
        centre: u32,
        members: &[u32],
        judge: &impl Judge,
        SweepBuffers {
            undecided,
            possible,
        }: &mut SweepBuffers,
    ) -> Result<()> {
        let first = self.first;
        let earlier = centres.rank(centre);
        let is_undecided =
            |member: &&u32| self.standings[(**member - first) as usize].state == State::Undecided;
        undecided.clear();
        undecided.extend(
            members
                .iter()
                .filter(is_undecided)
                .map(|member| block.documents.rank(*member)),
        );
        possible.clear();
        judge.filter(earlier, undecided, possible);
        let mut event = |later: u64, verdict| {
            let member = (later - block.documents.rank(0)) as u32;
            let event = block.event(centres, NearPair { member, centre }, verdict);
            self.events.push(event);
        };
        let mut possible = possible.iter().copied().peekable();
        for &later in undecided.iter() {
            let member = (later - block.documents.rank(0)) as u32;
            let standing = &mut self.standings[(member - first) as usize];
            if possible.next_if_eq(&later).is_some() {
                let verdict = judge.verify(earlier, later)?;
                if verdict != Verdict::Refused {
                    event(later, verdict);
                    standing.state = State::Removed;
                    continue;
                }
            }
            let counts = standing.refusals.add();
            self.refused.add(counts);
            if counts && judge.reports_refusals() {
                event(later, Verdict::Refused);
            }
        }
        Ok(())
    }
}

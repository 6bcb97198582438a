//! Verification of near pairs in keep order, in parallel.

use std::ops::Range;

use super::context::Context;
use super::standing::{Refused, Standing, State};
use crate::dedup::documents::NearPair;
use crate::dedup::{Documents, Event, IndexedBlock, Judge, Parallel, Verdict};
use crate::{Error, Result};

/// Members of one task.
const MEMBERS: usize = 8;

/// The documents that may remove members: centres of earlier blocks, or documents of the block,
/// some of them undecided.
pub(super) struct CentreSet<'d> {
    pub documents: Documents<'d>,
    /// If they are of the block: the range of positions that become centres unless removed.
    /// Documents are numbered by position then.
    pub own: Option<Range<u32>>,
}

/// A member with its pairs that are still to be processed.
struct Member {
    position: u32,
    pairs: Range<u32>,
    standing: Standing,
}

#[derive(Default)]
struct VerifyTask {
    members: Vec<Member>,
    events: Vec<Event>,
    refused: Refused,
    possible: Vec<u64>,
    error: Option<Error>,
}

/// Decides the members of `pairs`, sorted by member, then by centre, with the result of visiting
/// the centres one by one. Returns the number of refused pairs.
///
/// Each member is compared with its centres in order, up to the first that verifies. It waits at a
/// document that is still undecided. So the comparisons are those of the sequential rule, and all
/// members that need not wait are processed in parallel.
pub(super) fn verify_pairs(
    block: IndexedBlock<'_>,
    centre_set: &CentreSet<'_>,
    pairs: &[NearPair],
    standings: &mut [Standing],
    context: &mut Context<'_, impl Parallel, impl Judge>,
) -> Result<Refused> {
    let mut tasks = split_into_tasks(pairs, standings);
    let mut refused = Refused::default();
    while !tasks.is_empty() {
        let (known, judge): (&[Standing], _) = (standings, context.judge);
        context.parallel.for_each(&mut tasks, |task| {
            let done = task.advance(block, centre_set, pairs, known, judge);
            task.error = done.err();
        });
        for task in &mut tasks {
            if let Some(error) = task.error.take() {
                return Err(error);
            }
            task.events.drain(..).try_for_each(&mut *context.sink)?;
            refused += std::mem::take(&mut task.refused);
            task.members.retain_mut(|member| {
                let at_end = member.pairs.is_empty();
                let is_own = |own: &Range<u32>| own.contains(&member.position);
                let is_removed = member.standing.state == State::Removed;
                if !is_removed && at_end && centre_set.own.as_ref().is_some_and(is_own) {
                    member.standing.state = State::Centre;
                }
                standings[member.position as usize] = member.standing;
                !is_removed && !at_end
            });
        }
        tasks.retain(|task| !task.members.is_empty());
    }
    Ok(refused)
}

/// The members of `pairs`, in order, as tasks of a few members.
fn split_into_tasks(pairs: &[NearPair], standings: &[Standing]) -> Vec<VerifyTask> {
    let mut tasks: Vec<VerifyTask> = Vec::new();
    let mut start = 0;
    for run in pairs.chunk_by(|a, b| a.member == b.member) {
        let end = start + run.len() as u32;
        let member = Member {
            position: run[0].member,
            pairs: start..end,
            standing: standings[run[0].member as usize],
        };
        start = end;
        match tasks.last_mut() {
            Some(task) if task.members.len() < MEMBERS => task.members.push(member),
            _ => tasks.push(VerifyTask {
                members: vec![member],
                ..VerifyTask::default()
            }),
        }
    }
    tasks
}

impl VerifyTask {
    fn advance(
        &mut self,
        block: IndexedBlock<'_>,
        centre_set: &CentreSet<'_>,
        pairs: &[NearPair],
        standings: &[Standing],
        judge: &impl Judge,
    ) -> Result<()> {
        for member in &mut self.members {
            while !member.pairs.is_empty() {
                let pair = pairs[member.pairs.start as usize];
                let own_state = centre_set.own.as_ref();
                match own_state.map(|_| standings[pair.centre as usize].state) {
                    Some(State::Undecided) => break,
                    Some(State::Removed) => {
                        member.pairs.start += 1;
                        continue;
                    }
                    Some(State::Centre) | None => {}
                }
                let ranks = (
                    centre_set.documents.rank(pair.centre),
                    block.documents.rank(member.position),
                );
                self.possible.clear();
                judge.filter(ranks.0, &[ranks.1], &mut self.possible);
                let verdict = match self.possible.is_empty() {
                    true => Verdict::Refused,
                    false => judge.verify(ranks.0, ranks.1)?,
                };
                member.pairs.start += 1;
                let is_removed = verdict != Verdict::Refused;
                let is_reported = if is_removed {
                    member.standing.state = State::Removed;
                    true
                } else {
                    let counts = member.standing.refusals.add();
                    self.refused.add(counts);
                    counts && judge.reports_refusals()
                };
                if is_reported {
                    let event = block.event(&centre_set.documents, pair, verdict);
                    self.events.push(event);
                }
                if is_removed {
                    break;
                }
            }
        }
        Ok(())
    }
}

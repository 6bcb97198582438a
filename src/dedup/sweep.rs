//! Centres with very many neighbours, a few centres at a time.
//!
//! All centres are known, so members do not wait for one another: each thread takes a range of
//! members and lets the centres pass over it in order. No list of pairs is made; what the judge
//! can refuse by a look at its summaries costs nanoseconds.

use super::settle::State;
use super::{Documents, Event, Judge, Parallel, Verdict};
use crate::search::join::SketchIndex;
use crate::{Error, Result};

/// Pairs that a thread takes at a time.
const PAIRS: usize = 4096;
/// Tasks whose events are held at a time: every pair may be one.
const TASKS: usize = 128;

/// A range of members.
struct Task<'s> {
    /// The position of the first.
    first: u32,
    states: &'s mut [State],
    events: Vec<Event>,
    refused: u64,
    error: Option<Error>,
}

/// Buffers of a task.
#[derive(Default)]
struct Buffers {
    undecided: Vec<u64>,
    possible: Vec<u64>,
}

/// Lets `centres` remove, in the order of `lists`, those undecided members of their lists that
/// verify; returns how many pairs were refused.
pub(super) fn sweep(
    block: (&SketchIndex<'_>, &Documents<'_>),
    centres: &Documents<'_>,
    lists: &[(u32, &[u32])],
    states: &mut [State],
    parallel: &impl Parallel,
    judge: &impl Judge,
    sink: &mut dyn FnMut(Event) -> Result<()>,
) -> Result<u64> {
    let mut tasks = cut(lists, states);
    let mut refused = 0;
    for some in tasks.chunks_mut(TASKS) {
        parallel.for_each(some, |task| {
            task.error = task.work(block, centres, lists, judge).err();
        });
        for task in some {
            if let Some(error) = task.error.take() {
                return Err(error);
            }
            let events = std::mem::take(&mut task.events);
            events.into_iter().try_for_each(&mut *sink)?;
            refused += task.refused;
        }
    }
    Ok(refused)
}

/// Ranges of members with about as many pairs each: the longest list says where to cut.
fn cut<'s>(lists: &[(u32, &[u32])], states: &'s mut [State]) -> Vec<Task<'s>> {
    let pairs: usize = lists.iter().map(|(_, list)| list.len()).sum();
    let longest = lists.iter().map(|(_, list)| *list);
    let longest = longest.max_by_key(|list| list.len()).unwrap_or_default();
    let parts = pairs.div_ceil(PAIRS);
    let mut tasks = Vec::with_capacity(parts);
    let (mut rest, mut first) = (states, 0);
    for part in 1..=parts {
        let end = match longest.get(part * longest.len() / parts) {
            Some(end) if part < parts => *end,
            _ => first + rest.len() as u32,
        };
        let (states, behind) = rest.split_at_mut((end - first) as usize);
        if !states.is_empty() {
            tasks.push(Task {
                first,
                states,
                events: Vec::new(),
                refused: 0,
                error: None,
            });
        }
        (rest, first) = (behind, end);
    }
    tasks
}

impl Task<'_> {
    fn work(
        &mut self,
        block: (&SketchIndex<'_>, &Documents<'_>),
        centres: &Documents<'_>,
        lists: &[(u32, &[u32])],
        judge: &impl Judge,
    ) -> Result<()> {
        let mut buffers = Buffers::default();
        let end = self.first + self.states.len() as u32;
        for (centre, list) in lists {
            let start = list.partition_point(|member| *member < self.first);
            let list = &list[start..];
            let own = &list[..list.partition_point(|member| *member < end)];
            self.pass(block, centres, *centre, own, judge, &mut buffers)?;
        }
        Ok(())
    }

    /// Lets a centre pass over its members in the range.
    fn pass(
        &mut self,
        (index, block): (&SketchIndex<'_>, &Documents<'_>),
        centres: &Documents<'_>,
        centre: u32,
        members: &[u32],
        judge: &impl Judge,
        Buffers {
            undecided,
            possible,
        }: &mut Buffers,
    ) -> Result<()> {
        let first = self.first;
        let earlier = centres.rank(centre);
        let is_undecided =
            |member: &&u32| self.states[(**member - first) as usize] == State::Undecided;
        undecided.clear();
        undecided.extend(
            members
                .iter()
                .filter(is_undecided)
                .map(|member| block.rank(*member)),
        );
        possible.clear();
        judge.sift(earlier, undecided, possible);
        let mut event = |later: u64, verdict| {
            let position = (later - block.rank(0)) as u32;
            let (a, b) = (centres.sketch(centre), block.sketch(position));
            self.events.push(Event {
                member: later,
                centre: earlier,
                score: index.method().score(a, b),
                verdict,
            });
            (position - first) as usize
        };
        let mut possible = possible.iter().copied().peekable();
        for &later in undecided.iter() {
            if possible.next_if_eq(&later).is_some() {
                let verdict = judge.verify(earlier, later)?;
                if verdict != Verdict::Refused {
                    let place = event(later, verdict);
                    self.states[place] = State::Removed;
                    continue;
                }
            }
            self.refused += 1;
            if judge.is_told(earlier, later) {
                event(later, Verdict::Refused);
            }
        }
        Ok(())
    }
}

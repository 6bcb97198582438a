use std::ops::Range;

use super::{Documents, Parallel};
use crate::search::join::{Near, Scratch, SketchIndex};

/// Queries that a thread takes at a time: as many as the tables of fingerprints like.
const QUERIES: usize = 32;

/// So few documents ask at a time if each has very many neighbours.
pub(super) const FEW: usize = 32;

/// Memory for what they find at a time.
const FOUND_BYTES: usize = 32 << 20;

/// How many neighbours each of a few documents may have at a time: `most` in all, if there is
/// memory for them.
pub(super) fn neighbours_of_each(few: usize, most: usize, index: &SketchIndex<'_>) -> usize {
    let bytes = index.bytes_per_candidate() + size_of::<u32>();
    (most.min(FOUND_BYTES / bytes) / few.max(1)).max(1)
}

/// A document of a block, and one before it whose sketch is near.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair {
    /// Its position in the block.
    pub member: u32,
    /// The number of the other among those who ask.
    pub centre: u32,
}

/// Asks an index for the neighbours of many documents, in parallel.
#[derive(Default)]
pub(super) struct Gatherer {
    tasks: Vec<Task>,
}

#[derive(Default)]
struct Task {
    queries: Vec<(u32, Range<u32>)>,
    scratch: Scratch,
    /// The members near each query, one list behind another, and where each list ends.
    members: Vec<u32>,
    ends: Vec<usize>,
    next: u32,
}

/// What is near each of those who asked.
pub(super) struct Gathered<'g> {
    tasks: &'g [Task],
    /// Everything before this position is there.
    pub end: u32,
}

impl Gatherer {
    /// What is near each number of `queries` in the range that comes with it, all with one end, as
    /// far as `wanted`.
    ///
    /// Complete for members before the end of the answer: no query gives more candidates than
    /// `limit` at once.
    pub(super) fn gather(
        &mut self,
        index: &SketchIndex<'_>,
        asking: &Documents<'_>,
        queries: impl ExactSizeIterator<Item = (u32, Range<u32>)>,
        limit: usize,
        wanted: impl Fn(Pair) -> bool + Sync + Send,
        parallel: &impl Parallel,
    ) -> Gathered<'_> {
        let tasks = deal(&mut self.tasks, queries);
        parallel.for_each(tasks, |task| task.work(index, asking, limit, &wanted));
        let end = tasks.iter().map(|task| task.next).min();
        Gathered {
            end: end.unwrap_or(u32::MAX),
            tasks,
        }
    }
}

impl Gathered<'_> {
    /// Those who asked, in order, with the members near them, ascending.
    pub(super) fn lists(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.tasks.iter().flat_map(|task| {
            let starts = [0].into_iter().chain(task.ends.iter().copied());
            let ranges = starts.zip(&task.ends);
            ranges.zip(&task.queries).map(|((start, end), query)| {
                let list = &task.members[start..*end];
                let complete = list.partition_point(|member| *member < self.end);
                (query.0, &list[..complete])
            })
        })
    }

    /// All pairs, by member, then by centre.
    pub(super) fn pairs(&self) -> Vec<Pair> {
        let of_list = |(centre, members): (u32, _)| {
            let members: &[u32] = members;
            members.iter().map(move |&member| Pair { member, centre })
        };
        let mut pairs: Vec<Pair> = self.lists().flat_map(of_list).collect();
        pairs.sort_unstable();
        pairs
    }
}

/// Deals the queries out to tasks; those of earlier calls are used again.
fn deal(
    tasks: &mut Vec<Task>,
    queries: impl ExactSizeIterator<Item = (u32, Range<u32>)>,
) -> &mut [Task] {
    let each = if queries.len() <= FEW { 1 } else { QUERIES };
    let count = queries.len().div_ceil(each);
    if tasks.len() < count {
        tasks.resize_with(count, Task::default);
    }
    let tasks = &mut tasks[..count];
    for task in tasks.iter_mut() {
        task.queries.clear();
    }
    for (number, query) in queries.enumerate() {
        tasks[number / each].queries.push(query);
    }
    tasks
}

impl Task {
    fn work(
        &mut self,
        index: &SketchIndex<'_>,
        asking: &Documents<'_>,
        limit: usize,
        wanted: &impl Fn(Pair) -> bool,
    ) {
        let query = |(number, within): &(u32, Range<u32>)| Near {
            sketch: asking.sketch(*number),
            within: within.clone(),
            limit,
        };
        let queries: Vec<Near<'_>> = self.queries.iter().map(query).collect();
        self.members.clear();
        self.ends.clear();
        self.next = u32::MAX;
        index.near_positions_batch(&queries, &mut self.scratch, |query, near, next| {
            let centre = self.queries[query].0;
            let is_wanted = |member: &u32| {
                wanted(Pair {
                    member: *member,
                    centre,
                })
            };
            self.members
                .extend(near.iter().copied().filter(|member| is_wanted(member)));
            self.ends.push(self.members.len());
            self.next = self.next.min(next);
        });
    }
}

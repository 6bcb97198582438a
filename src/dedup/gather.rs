use std::ops::Range;

use super::{Documents, Parallel};
use crate::search::join::{Near, Scratch, SketchIndex};

/// Queries that a thread takes at a time: as many as the tables of fingerprints like.
const QUERIES: usize = 32;

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
    pairs: Vec<Pair>,
}

#[derive(Default)]
struct Task {
    queries: Vec<(u32, Range<u32>)>,
    scratch: Scratch,
    pairs: Vec<Pair>,
    next: u32,
}

impl Gatherer {
    /// The pairs of `asking` with what is near in the range that each `(number, range)` of
    /// `queries` names, all with one end, as far as `wanted`: by member, then by centre.
    ///
    /// Complete for members before the returned position: no query gives more candidates than
    /// `limit` at once.
    pub(super) fn gather(
        &mut self,
        index: &SketchIndex<'_>,
        asking: &Documents<'_>,
        queries: impl ExactSizeIterator<Item = (u32, Range<u32>)>,
        limit: usize,
        wanted: impl Fn(Pair) -> bool + Sync + Send,
        parallel: &impl Parallel,
    ) -> (u32, &[Pair]) {
        let tasks = deal(&mut self.tasks, queries);
        parallel.for_each(tasks, |task| task.work(index, asking, limit, &wanted));
        let end = tasks.iter().map(|task| task.next).min();
        let end = end.unwrap_or(u32::MAX);
        self.pairs.clear();
        for task in tasks {
            let complete = task.pairs.iter().filter(|pair| pair.member < end);
            self.pairs.extend(complete);
        }
        self.pairs.sort_unstable();
        (end, &self.pairs)
    }
}

/// Deals the queries out to tasks; those of earlier calls are used again.
fn deal(
    tasks: &mut Vec<Task>,
    queries: impl ExactSizeIterator<Item = (u32, Range<u32>)>,
) -> &mut [Task] {
    let count = queries.len().div_ceil(QUERIES);
    if tasks.len() < count {
        tasks.resize_with(count, Task::default);
    }
    let tasks = &mut tasks[..count];
    for task in tasks.iter_mut() {
        task.queries.clear();
    }
    for (number, query) in queries.enumerate() {
        tasks[number / QUERIES].queries.push(query);
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
        self.pairs.clear();
        self.next = u32::MAX;
        let pairs = &mut self.pairs;
        index.near_batch(&queries, &mut self.scratch, |query, near, next| {
            let centre = self.queries[query].0;
            let proposed = near.iter().map(|&(member, _)| Pair { member, centre });
            pairs.extend(proposed.filter(|pair| wanted(*pair)));
            self.next = self.next.min(next);
        });
    }
}

//! Near pairs of a batch of documents, searched in parallel.

use std::ops::Range;

use crate::dedup::documents::NearPair;
use crate::dedup::{Documents, IndexedBlock, Parallel};
use crate::search::join::{NearQuery, Scratch, SketchIndex};

/// Queries of one task: the chunk size of the fingerprint tables.
const QUERIES: usize = 32;

/// Documents queried at a time if each has very many neighbours.
pub(super) const DENSE_QUERIES: usize = 32;

/// Memory for the neighbours of [`DENSE_QUERIES`] documents.
const FOUND_BYTES: usize = 32 << 20;

/// The neighbours that each of `queries` documents may have at a time: `most` in total, or as many
/// as fit in memory.
pub(super) fn neighbours_of_each(queries: usize, most: usize, index: &SketchIndex<'_>) -> usize {
    let bytes = index.bytes_per_candidate() + size_of::<u32>();
    (most.min(FOUND_BYTES / bytes) / queries.max(1)).max(1)
}

/// Searches an index for the neighbours of many documents, in parallel.
#[derive(Default)]
pub(super) struct Gatherer {
    tasks: Vec<GatherTask>,
}

#[derive(Default)]
struct GatherTask {
    queries: Vec<(u32, Range<u32>)>,
    scratch: Scratch,
    /// The lists of members near each query, concatenated.
    members: Vec<u32>,
    /// The end of each list in `members`.
    ends: Vec<usize>,
    next: u32,
}

/// The members near each queried document.
pub(super) struct Gathered<'g> {
    tasks: &'g [GatherTask],
    /// The lists are complete for members before this position.
    pub end: u32,
}

impl Gatherer {
    /// Finds the members near each document of `queries`, in the range given with it, that are of
    /// its partition and that `wanted` accepts. All ranges must end at the same position.
    ///
    /// A query yields at most `limit` candidates at once (more only for a single position). The
    /// answer is complete for the members before [`Gathered::end`].
    pub(super) fn gather(
        &mut self,
        block: IndexedBlock<'_>,
        querying: &Documents<'_>,
        queries: impl ExactSizeIterator<Item = (u32, Range<u32>)>,
        limit: usize,
        wanted: impl Fn(NearPair) -> bool + Sync + Send,
        parallel: &impl Parallel,
    ) -> Gathered<'_> {
        let tasks = split_into_tasks(&mut self.tasks, queries);
        let wanted = |pair: NearPair| {
            block.documents.partition(pair.member) == querying.partition(pair.centre)
                && wanted(pair)
        };
        parallel.for_each(tasks, |task| {
            task.work(block.index, querying, limit, &wanted)
        });
        let end = tasks.iter().map(|task| task.next).min();
        Gathered {
            end: end.unwrap_or(u32::MAX),
            tasks,
        }
    }
}

impl Gathered<'_> {
    /// The queried documents, in order, with the members near each, ascending.
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

    /// The number of all pairs.
    pub(super) fn count(&self) -> u64 {
        self.lists().map(|(_, members)| members.len() as u64).sum()
    }

    /// All pairs, by member, then by centre.
    pub(super) fn pairs(&self) -> Vec<NearPair> {
        let of_list = |(centre, members): (u32, _)| {
            let members: &[u32] = members;
            members
                .iter()
                .map(move |&member| NearPair { member, centre })
        };
        let mut pairs: Vec<NearPair> = self.lists().flat_map(of_list).collect();
        pairs.sort_unstable();
        pairs
    }
}

/// Distributes the queries over tasks; reuses those of earlier calls.
fn split_into_tasks(
    tasks: &mut Vec<GatherTask>,
    queries: impl ExactSizeIterator<Item = (u32, Range<u32>)>,
) -> &mut [GatherTask] {
    let each = if queries.len() <= DENSE_QUERIES {
        1
    } else {
        QUERIES
    };
    let count = queries.len().div_ceil(each);
    if tasks.len() < count {
        tasks.resize_with(count, GatherTask::default);
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

impl GatherTask {
    fn work(
        &mut self,
        index: &SketchIndex<'_>,
        querying: &Documents<'_>,
        limit: usize,
        wanted: &impl Fn(NearPair) -> bool,
    ) {
        let query = |(number, within): &(u32, Range<u32>)| NearQuery {
            sketch: querying.sketch(*number),
            within: within.clone(),
            limit,
        };
        let queries: Vec<NearQuery<'_>> = self.queries.iter().map(query).collect();
        self.members.clear();
        self.ends.clear();
        self.next = u32::MAX;
        index.near_positions_batch(&queries, &mut self.scratch, |query, near, next| {
            let centre = self.queries[query].0;
            let is_wanted = |member: &u32| {
                wanted(NearPair {
                    member: *member,
                    centre,
                })
            };
            self.members.extend(near.iter().copied().filter(is_wanted));
            self.ends.push(self.members.len());
            self.next = self.next.min(next);
        });
    }
}

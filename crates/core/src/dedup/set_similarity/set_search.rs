//! Search of a block's documents by their sets.

use std::ops::Range;

use super::set_index::{self, SetIndex};
use crate::dedup::documents::NearPair;
use crate::dedup::{Documents, IndexedBlock, Judge, Parallel, Sets};
use crate::{Error, Result};

/// Queries of one task.
const QUERIES: usize = 16;

/// The documents of a block that are found by their sets; none at first.
#[derive(Default)]
pub(crate) struct SetSearch {
    index: Option<SetIndex>,
    /// Whether each document is in the index; empty if none is.
    contains: Vec<bool>,
}

/// Some queries: documents, and the first positions that are searched.
struct SetSearchTask {
    queries: Vec<(u32, u32)>,
    pairs: Vec<NearPair>,
    error: Option<Error>,
}

/// Buffers of a task.
#[derive(Default)]
struct SetSearchBuffers {
    set: Vec<u64>,
    search: set_index::SetIndexBuffers,
    found: Vec<u32>,
    later: Vec<u64>,
    possible: Vec<u64>,
}

impl SetSearch {
    /// The memory of each document in bytes, besides the index.
    pub const fn bytes_per_document() -> usize {
        size_of::<bool>()
    }

    /// Whether a document is found by its set.
    pub fn contains(&self, position: u32) -> bool {
        let contains = self.contains.get(position as usize);
        contains.is_some_and(|contains| *contains)
    }

    /// Makes a new index of the `documents` at `positions` for which `moves` holds. If not all fit
    /// into memory, it has those of the index before, and the first of the others. Does nothing if
    /// the judge has no sets.
    ///
    /// # Errors
    /// Errors of reading the sets.
    pub fn build(
        &mut self,
        documents: &Documents<'_>,
        positions: Range<u32>,
        moves: impl Fn(u32) -> bool,
        judge: &impl Judge,
        parallel: &impl Parallel,
    ) -> Result<()> {
        let Some(sets) = judge.sets() else {
            return Ok(());
        };
        self.index = None;
        let (mut chosen, new): (Vec<u32>, Vec<u32>) = positions
            .filter(|position| moves(*position))
            .partition(|position| self.contains(*position));
        chosen.extend(new);
        let read = |position, set: &mut Vec<u64>| sets.read(documents.rank(position), set);
        let (index, count) =
            SetIndex::build(&chosen, read, sets.least(), sets.index_bytes(), parallel)?;
        self.contains.clear();
        self.contains.resize(documents.count() as usize, false);
        for position in &chosen[..count] {
            self.contains[*position as usize] = true;
        }
        self.index = Some(index);
        Ok(())
    }

    /// The near pairs of the documents `queries` of `centres` with documents of the index that
    /// `wanted` accepts and that are of the same partition. Each query has the position from which
    /// it searches. Leaves out only pairs that the judge would refuse.
    ///
    /// # Errors
    /// Errors of reading the sets.
    pub fn pairs(
        &self,
        block: IndexedBlock<'_>,
        centres: &Documents<'_>,
        queries: impl Iterator<Item = (u32, u32)>,
        wanted: impl Fn(u32) -> bool + Sync,
        judge: &impl Judge,
        parallel: &impl Parallel,
    ) -> Result<Vec<NearPair>> {
        let (Some(index), Some(sets)) = (&self.index, judge.sets()) else {
            return Ok(Vec::new());
        };
        let queries: Vec<(u32, u32)> = queries.collect();
        let task = |queries: &[(u32, u32)]| SetSearchTask {
            queries: queries.to_vec(),
            pairs: Vec::new(),
            error: None,
        };
        let mut tasks: Vec<SetSearchTask> = queries.chunks(QUERIES).map(task).collect();
        parallel.for_each(&mut tasks, |task| {
            let done = task.work((index, sets), block, centres, &wanted, judge);
            task.error = done.err();
        });
        let mut pairs = Vec::new();
        for task in tasks {
            if let Some(error) = task.error {
                return Err(error);
            }
            pairs.extend(task.pairs);
        }
        Ok(pairs)
    }
}

impl SetSearchTask {
    fn work(
        &mut self,
        (index, sets): (&SetIndex, &dyn Sets),
        block: IndexedBlock<'_>,
        centres: &Documents<'_>,
        wanted: &impl Fn(u32) -> bool,
        judge: &impl Judge,
    ) -> Result<()> {
        let (members, method) = (&block.documents, block.index.method());
        let mut buffers = SetSearchBuffers::default();
        for &(centre, start) in &self.queries {
            let SetSearchBuffers {
                set,
                search,
                found,
                later,
                possible,
            } = &mut buffers;
            let rank = centres.rank(centre);
            sets.read(rank, set)?;
            index.find(set, start, search, found);
            let partition = centres.partition(centre);
            later.clear();
            later.extend(
                found
                    .iter()
                    .filter(|member| wanted(**member) && members.partition(**member) == partition)
                    .map(|member| members.rank(*member)),
            );
            possible.clear();
            judge.filter(rank, later, possible);
            for rank in &*possible {
                let member = (rank - members.rank(0)) as u32;
                let score = method.score(centres.sketch(centre), members.sketch(member));
                if method.accepts(&score) {
                    self.pairs.push(NearPair { member, centre });
                }
            }
        }
        Ok(())
    }
}

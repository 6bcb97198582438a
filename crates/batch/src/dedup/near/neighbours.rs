//! Searches for near sketches in memory, on the current rayon pool.

use rayon::iter::{IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

use crate::Result;
use simtool_core::dedup::Parallel;
use simtool_core::kernel::Level;
use simtool_core::search::join::{AnyQuery, Scratch, SketchIndex};
use simtool_core::sketch::{Method, Sketches};

/// The most queries that a thread makes at a time.
const QUERIES: usize = 1024;
/// The least memory bound of an index: one of few sketches may need more than estimated.
const LEAST_INDEX_BYTES: usize = 1 << 20;

/// The current rayon pool, for `dedup/`, which does not depend on rayon.
pub struct Pool;

impl Parallel for Pool {
    fn for_each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync + Send) {
        items.par_iter_mut().for_each(work);
    }
}

/// The memory bound of an index of `sketches`: what [`bytes_for`](SketchIndex::bytes_for) estimates,
/// or `LEAST_INDEX_BYTES` if that is more.
pub(crate) fn index_bytes(method: &dyn Method, sketches: Sketches<'_>) -> usize {
    let bytes = match SketchIndex::bytes_per_sketch(method) {
        Some(each) => each * sketches.count(),
        None => {
            let each = |sketch| SketchIndex::bytes_for(method, sketch);
            sketches.iter().map(each).sum()
        }
    };
    bytes.max(LEAST_INDEX_BYTES)
}

/// Builds an index of `sketches` in about the memory that its sketches need.
///
/// # Errors
/// Errors of [`SketchIndex::build`].
pub fn build_index<'a>(
    method: &'a dyn Method,
    sketches: Sketches<'a>,
    level: Level,
) -> Result<SketchIndex<'a>> {
    SketchIndex::build(method, sketches, index_bytes(method, sketches), level)
}

/// For each of `queries`, whether `index` has a near sketch of another document. The documents of
/// both have consecutive ranks, from `first_indexed` and `first_query` on.
pub fn have_neighbours(
    index: &SketchIndex<'_>,
    first_indexed: u64,
    queries: Sketches<'_>,
    first_query: u64,
) -> Vec<bool> {
    let indexed = first_indexed..first_indexed + u64::from(index.count());
    let pieces: Vec<usize> = (0..queries.count()).step_by(QUERIES).collect();
    let found: Vec<Vec<bool>> = pieces
        .into_par_iter()
        .map_init(Scratch::default, |scratch, start| {
            let piece = start..queries.count().min(start + QUERIES);
            let batch: Vec<AnyQuery<'_>> = (first_query + start as u64..)
                .zip(queries.range(piece).iter())
                .map(|(rank, sketch)| AnyQuery {
                    sketch,
                    except: indexed
                        .contains(&rank)
                        .then(|| (rank - first_indexed) as u32),
                })
                .collect();
            let mut found = vec![false; batch.len()];
            index.any_near_batch(&batch, scratch, |query, any| found[query] = any);
            found
        })
        .collect();
    found.concat()
}

//! All pairs of a collection that a method finds.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::Result;
use crate::evaluate::{Found, FoundPair, Pair};
use crate::run::collection::Inputs;
use crate::run::held::Held;
use crate::run::neighbours::{index, usable};
use crate::run::sketcher::Sketched;
use crate::search::join::{NearQuery, Scratch};
use crate::sketch::Method;

/// Queries that a thread takes at a time.
const QUERIES: u32 = 256;

/// What a found pair takes until the evaluation is done: itself, and its place among verdicts.
const PAIR_BYTES: usize = size_of::<FoundPair>() + 16;
/// What it takes besides while its method is measured: its place in curves and among mistakes.
pub const MEASURED_BYTES: usize = 160;
/// Candidates of one answer, so that what is found is counted on the way.
const CANDIDATES: usize = 1 << 16;

/// Every pair of documents whose score the method accepts; uses the current rayon pool.
///
/// # Errors
/// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if the index or the pairs do not fit;
/// [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
pub fn all_pairs(
    method: &dyn Method,
    sketched: Sketched,
    inputs: &Inputs<'_>,
    held: &Held,
) -> Result<Found> {
    let (numbers, list) = usable(method, sketched, held)?;
    let sketches = list.all(method);
    let index = index(method, &list, held, inputs.resources.level)?;
    let starts: Vec<u32> = (0..index.count()).step_by(QUERIES as usize).collect();
    let what = format!("the pairs that {} finds", method.name());
    let search = |scratch: &mut Scratch, start: u32| {
        inputs.progress.check()?;
        let (mut found, mut taken) = (Vec::new(), Ok(()));
        let positions = start..index.count().min(start + QUERIES);
        let mut queries: Vec<(u32, NearQuery<'_>)> = positions
            .map(|position| {
                let query = NearQuery {
                    sketch: sketches.get(position as usize),
                    within: position + 1..index.count(),
                    limit: CANDIDATES,
                };
                (numbers[position as usize], query)
            })
            .collect();
        while !queries.is_empty() && taken.is_ok() {
            let asked: Vec<NearQuery<'_>> =
                queries.iter().map(|(_, query)| query.clone()).collect();
            index.near_batch(&asked, scratch, |place, near, next| {
                if taken.is_ok() {
                    taken = held.take(PAIR_BYTES * near.len(), &what);
                }
                let (number, query) = &mut queries[place];
                query.within.start = next;
                let pair = |&(position, score): &(u32, _)| {
                    let pair = Pair::new(*number, numbers[position as usize])?;
                    Some(FoundPair {
                        pair,
                        score: Some(score),
                    })
                };
                if taken.is_ok() {
                    found.extend(near.iter().filter_map(pair));
                }
            });
            queries.retain(|(_, query)| !query.within.is_empty());
        }
        taken.map(|()| found)
    };
    let starts = starts.into_par_iter();
    let found: Vec<Vec<FoundPair>> = starts
        .map_init(Scratch::default, search)
        .collect::<Result<_>>()?;
    let count = found.iter().map(Vec::len).sum::<usize>();
    let bytes = index.bytes() + size_of::<u32>() * numbers.len();
    drop(index);
    held.give(bytes);
    // While they are put together, and later while they are measured.
    held.take(MEASURED_BYTES * count, &what)?;
    let found = Found::new(found.into_iter().flatten().collect());
    held.give(MEASURED_BYTES * count);
    Ok(found)
}

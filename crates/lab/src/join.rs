//! All pairs of a collection that a method accepts.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::Result;
use simtool_batch::matching::{index, usable};
use simtool_core::search::join::{NearQuery, Scratch};
use simtool_core::sketch::Method;
use simtool_engine::collection::Inputs;
use simtool_engine::memory_account::MemoryAccount;
use simtool_engine::sketcher::Sketched;
use simtool_evaluate::{Found, FoundPair, Pair};

/// Queries of a thread at a time.
const QUERIES: u32 = 256;

/// The memory of a found pair until the evaluation ends: the pair and its verdict.
const PAIR_BYTES: usize = size_of::<FoundPair>() + 16;
/// The additional memory while its method is measured: entries in curves and among mistakes.
pub const MEASURED_BYTES: usize = 160;
/// Candidates of one answer; found pairs are accounted for after each answer.
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
    account: &MemoryAccount,
) -> Result<Found> {
    let (numbers, list) = usable(method, sketched, account)?;
    let sketches = list.all(method);
    let level = inputs.resources.level;
    let index = index(method, &list, account, level, inputs.progress)?;
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
                    taken = account.reserve(PAIR_BYTES * near.len(), &what);
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
    account.release(bytes);
    // Temporary memory for joining the lists, and later for measuring.
    account.reserve(MEASURED_BYTES * count, &what)?;
    let found = Found::new(found.into_iter().flatten().collect());
    account.release(MEASURED_BYTES * count);
    Ok(found)
}

//! All pairs of a collection that a method finds.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::evaluate::{Found, FoundPair, Pair};
use crate::run::collection::Inputs;
use crate::run::neighbours::usable;
use crate::run::sketcher::Sketched;
use crate::search::join::{Near, Scratch, SketchIndex};
use crate::sketch::Method;
use crate::{Error, ErrorKind, Result};

/// Queries that a thread takes at a time.
const QUERIES: u32 = 256;

/// Every pair of documents whose score the method accepts; uses the current rayon pool.
///
/// # Errors
/// [`ErrorKind::Memory`] if the pairs do not fit; [`ErrorKind::Interrupted`].
pub fn all_pairs(method: &dyn Method, sketched: &Sketched, inputs: &Inputs<'_>) -> Result<Found> {
    let (numbers, list) = usable(method, sketched);
    let sketches = list.all(method);
    let memory = usize::try_from(inputs.resources.memory_bytes).unwrap_or(usize::MAX);
    let index = SketchIndex::build(method, sketches, memory, inputs.resources.level)?;
    let most = memory / 2 / size_of::<FoundPair>();
    let mut pairs: Vec<FoundPair> = Vec::new();
    let starts: Vec<u32> = (0..index.count()).step_by(QUERIES as usize).collect();
    // Some at a time, so that what is found is counted on the way.
    for starts in starts.chunks(64) {
        inputs.progress.check()?;
        let found: Vec<Vec<FoundPair>> = starts
            .to_vec()
            .into_par_iter()
            .map_init(Scratch::default, |scratch, start| {
                let positions = start..index.count().min(start + QUERIES);
                let queries: Vec<Near<'_>> = positions
                    .clone()
                    .map(|position| Near {
                        sketch: sketches.get(position as usize),
                        within: position + 1..index.count(),
                        limit: usize::MAX,
                    })
                    .collect();
                let mut found = Vec::new();
                index.near_batch(&queries, scratch, |query, near, _| {
                    let number = numbers[(start as usize) + query];
                    let pair = |&(position, score): &(u32, _)| {
                        let pair = Pair::new(number, numbers[position as usize])?;
                        Some(FoundPair {
                            pair,
                            score: Some(score),
                        })
                    };
                    found.extend(near.iter().filter_map(pair));
                });
                found
            })
            .collect();
        pairs.extend(found.into_iter().flatten());
        if pairs.len() > most {
            let message = format!(
                "{} finds more than {most} pairs: give more memory, a stricter threshold, or \
                 only the listed pairs",
                method.name()
            );
            return Err(Error::new(ErrorKind::Memory, message));
        }
    }
    Ok(Found::new(pairs))
}

//! How many others a sketch is compared with, for methods that no join decides.
//!
//! An index finds the sketches that share a key or a feature with a query, or have a similar outline,
//! and compares each of them. If these are a part of all sketches, the time of all queries grows
//! with the square of their number. A sample shows this part.

use crate::Result;
use crate::engine::Resources;
use crate::io::usage::thread_time;
use crate::search::join::{NearQuery, Scratch};
use crate::sketch::{Method, Sketches};

use super::neighbours::build_index;

/// The queries that are made.
const QUERIES: usize = 256;
/// With fewer candidates for a query, most of its time is not for comparisons.
const LEAST_CANDIDATES: f64 = 16.0;

/// The candidates of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Candidates {
    /// The number of candidates, as a part of all sketches.
    pub share: f64,
    /// Seconds of one thread to compare a query with a candidate, or an upper bound.
    pub seconds: f64,
}

impl Candidates {
    /// The candidates of queries with some of `sketches` among all of them, in the current rayon pool.
    ///
    /// # Errors
    /// Those of the index.
    pub fn measure(
        sketches: Sketches<'_>,
        method: &dyn Method,
        resources: &Resources,
    ) -> Result<Candidates> {
        let count = sketches.count();
        let index = build_index(method, sketches, resources.level)?;
        let every = count.div_ceil(QUERIES).max(1);
        let queries: Vec<NearQuery<'_>> = sketches
            .iter()
            .step_by(every)
            .map(|sketch| NearQuery {
                sketch,
                within: 0..count as u32,
                limit: usize::MAX,
            })
            .collect();
        let (mut scratch, mut found) = (Scratch::default(), 0);
        let before = thread_time();
        index.near_batch(&queries, &mut scratch, |_, near, _| found += near.len());
        let seconds = thread_time().saturating_sub(before).as_secs_f64();
        let asked = queries.len().max(1) as f64;
        // Near ones are not accidental: a larger collection has no more of them.
        let compared = scratch.compared().saturating_sub(found as u64) as f64 / asked;
        Ok(Candidates {
            share: compared / count.max(1) as f64,
            seconds: seconds / asked / compared.max(LEAST_CANDIDATES),
        })
    }
}

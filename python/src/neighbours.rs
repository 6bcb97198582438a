//! All pairs of near fingerprints.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use simtool::engine::Progress;
use simtool::kernel::Level;
use simtool::search::hamming::{Index, Scratch, plan};
use simtool::{Error, ErrorKind, Result};

use crate::error::exception;
use crate::job;
use crate::sketches::within;

/// Comparisons of a thread between two checks for interruption, if all pairs are compared.
const COMPARISONS: usize = 1 << 24;
/// The fewest and the most queries that a thread takes at a time.
const QUERIES: (usize, usize) = (32, 1 << 12);
/// The memory of the tables.
const TABLE_BYTES: usize = 1 << 30;

/// A pair: the positions, the lower one first, and the number of different bits.
type Pair = (u32, u32, u8);

/// All pairs of `fingerprints`, little-endian numbers of 64 bits, that differ in at most `distance`
/// of their `width` lowest bits: positions (32 bits), other positions, and distances (8 bits). The
/// pairs are ordered by the first position, then by distance, then by the other position.
#[pyfunction]
#[pyo3(signature = (fingerprints, distance, width = 64, threads = None))]
pub fn neighbours<'py>(
    py: Python<'py>,
    fingerprints: &[u8],
    distance: u32,
    width: u32,
    threads: Option<usize>,
) -> PyResult<(
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
)> {
    let (values, rest) = fingerprints.as_chunks::<8>();
    let checked = within("width", width as usize, 64).and_then(|()| match rest {
        [] => job::threads(threads),
        _ => {
            let message = "fingerprints: expected 8 bytes for each";
            Err(Error::new(ErrorKind::Parameter, message))
        }
    });
    let threads = checked.map_err(|error| exception(&error))?;
    let values: Vec<u64> = values
        .iter()
        .map(|bytes| u64::from_le_bytes(*bytes))
        .collect();
    let progress = Arc::new(Progress::new());
    let lists = job::run(py, &progress, None, || {
        job::in_pool(threads, || pairs(&values, distance, width, &progress))
    })?;
    let pairs = || lists.iter().flatten();
    let first: Vec<u8> = pairs().flat_map(|(a, ..)| a.to_ne_bytes()).collect();
    let second: Vec<u8> = pairs().flat_map(|(_, b, _)| b.to_ne_bytes()).collect();
    let distances: Vec<u8> = pairs().map(|(.., distance)| *distance).collect();
    Ok((
        PyBytes::new(py, &first),
        PyBytes::new(py, &second),
        PyBytes::new(py, &distances),
    ))
}

fn pairs(values: &[u64], distance: u32, width: u32, progress: &Progress) -> Result<Vec<Vec<Pair>>> {
    let plan = plan(values, values.len(), width, distance, TABLE_BYTES)?;
    let index = Index::build(values, width, distance, plan.strategy, Level::best())?;
    let size = (COMPARISONS / values.len().max(1)).clamp(QUERIES.0, QUERIES.1);
    let starts: Vec<usize> = (0..values.len()).step_by(size).collect();
    let of_piece = |scratch: &mut Scratch, start: &usize| {
        progress.check()?;
        let queries = &values[*start..values.len().min(start + size)];
        let mut found = Vec::new();
        index.search_batch(queries, scratch, |query, hits| {
            let own = (start + query) as u32;
            let later = hits.iter().filter(|hit| hit.position > own);
            found.extend(later.map(|hit| (own, hit.position, hit.distance as u8)));
        });
        Ok(found)
    };
    starts
        .par_iter()
        .map_init(Scratch::default, of_piece)
        .collect()
}

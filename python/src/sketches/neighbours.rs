//! All pairs of near fingerprints.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use simtool::engine::Progress;
use simtool::{Error, ErrorKind};

use super::pairs::near_pairs;
use crate::error::exception;
use crate::job;
use crate::sketches::within;

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
    let found = job::run(py, &progress, None, |_| {
        job::in_pool(threads, || near_pairs(&values, width, distance, &progress))
    })?;
    Ok((
        PyBytes::new(py, &found.lower),
        PyBytes::new(py, &found.other),
        PyBytes::new(py, &found.distance),
    ))
}

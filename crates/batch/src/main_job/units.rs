//! Units: parts of the inputs that threads process.

use simtool_corpus::form_feed;

/// A run of whole pages of one input.
#[derive(Clone, Copy)]
pub(super) struct Unit<'a> {
    pub(super) bytes: &'a [u8],
}

/// The usual size of a unit: large enough for small fixed costs, small enough for its words to stay
/// in a cache.
const UNIT_BYTES: usize = 1 << 20;
/// Smaller units would have noticeable fixed costs.
const LEAST_UNIT_BYTES: usize = 32 << 10;
/// The intended number of units of small inputs, so that all threads have work.
const UNITS: usize = 64;

/// The units of all inputs, in order. Their borders depend on the inputs alone.
pub(super) fn units<'a>(inputs: &[&'a [u8]]) -> Vec<Unit<'a>> {
    let total: usize = inputs.iter().map(|input| input.len()).sum();
    let unit_bytes = (total / UNITS).clamp(LEAST_UNIT_BYTES, UNIT_BYTES);
    let ranges = |&input: &&'a [u8]| {
        let ranges = form_feed::units(input, unit_bytes).into_iter();
        ranges.map(move |range| Unit {
            bytes: &input[range],
        })
    };
    inputs.iter().flat_map(ranges).collect()
}

pub(super) fn total_bytes(units: &[Unit<'_>]) -> u64 {
    units.iter().map(|unit| unit.bytes.len() as u64).sum()
}

//! Fingerprints with their positions, divided into buckets.

use std::ops::Range;

use super::super::Fingerprint;
use crate::kernel::hamming::{Kernels, Key};

/// The fingerprints whose buckets are computed at a time.
const CHUNK: usize = 1024;

/// Two arrays of fingerprints and two of their positions. What one of them has is divided into
/// buckets in the other.
#[derive(Debug)]
pub(super) struct BucketBuffers<F> {
    values: [Vec<F>; 2],
    positions: [Vec<u32>; 2],
    /// A stack of the ends of buckets: those of a division, then those of the divisions of its
    /// buckets.
    ends: Vec<usize>,
}

/// Some bits of the number of a bucket.
#[derive(Clone, Copy)]
pub(super) struct Digit<F> {
    pub(super) key: Key<F>,
    pub(super) shift: u32,
    pub(super) bits: u32,
}

/// The buckets of a division, on the stack.
pub(super) struct Division {
    start: usize,
    first_end: usize,
    /// The number of buckets.
    pub(super) buckets: usize,
}

impl<F: Fingerprint> BucketBuffers<F> {
    /// The bytes of a fingerprint.
    pub(super) const BYTES: usize = 2 * (size_of::<F>() + 4);

    pub(super) fn new() -> Self {
        BucketBuffers {
            values: Default::default(),
            positions: Default::default(),
            ends: Vec::new(),
        }
    }

    /// Room for `count` fingerprints in the first arrays, for
    /// [`SourceReader::extract`](super::reader::SourceReader::extract).
    pub(super) fn first_arrays(&mut self) -> (&mut Vec<F>, &mut Vec<u32>) {
        (&mut self.values[0], &mut self.positions[0])
    }

    /// The fingerprints and positions at a range of the arrays `side`.
    pub(super) fn at(&self, side: usize, range: Range<usize>) -> (&[F], &[u32]) {
        (
            &self.values[side][range.clone()],
            &self.positions[side][range],
        )
    }

    /// Moves a range of the arrays `from` to the same range of the others, by bucket; stable. The
    /// source is unchanged.
    pub(super) fn divide(
        &mut self,
        range: Range<usize>,
        from: usize,
        digit: Digit<F>,
        kernels: &Kernels<F>,
    ) -> Division {
        let BucketBuffers {
            values,
            positions,
            ends,
        } = self;
        let [values_0, values_1] = values;
        let [positions_0, positions_1] = positions;
        let (values, moved, positions, moved_positions) = match from {
            0 => (values_0, values_1, positions_0, positions_1),
            _ => (values_1, values_0, positions_1, positions_0),
        };
        moved.resize(moved.len().max(range.end), F::default());
        moved_positions.resize(moved_positions.len().max(range.end), 0);
        let division = Division {
            start: range.start,
            first_end: ends.len(),
            buckets: 1 << digit.bits,
        };
        ends.resize(division.first_end + division.buckets, 0);
        let ends = &mut ends[division.first_end..];
        let (values, positions) = (&values[range.clone()], &positions[range]);
        let mut buckets = [0; CHUNK];
        for chunk in values.chunks(CHUNK) {
            for bucket in digit.of(chunk, &mut buckets, kernels) {
                ends[*bucket as usize] += 1;
            }
        }
        let mut start = division.start;
        for end in ends.iter_mut() {
            start += std::mem::replace(end, start);
        }
        // Each start becomes the end of its bucket as the bucket is filled.
        for (chunk, positions) in values.chunks(CHUNK).zip(positions.chunks(CHUNK)) {
            let buckets = digit.of(chunk, &mut buckets, kernels);
            for ((value, position), bucket) in chunk.iter().zip(positions).zip(buckets) {
                let end = &mut ends[*bucket as usize];
                moved[*end] = *value;
                moved_positions[*end] = *position;
                *end += 1;
            }
        }
        division
    }

    /// The range of a bucket of the last division, or of one before it.
    pub(super) fn bucket(&self, division: &Division, number: usize) -> Range<usize> {
        let end = self.ends[division.first_end + number];
        match number.checked_sub(1) {
            Some(before) => self.ends[division.first_end + before]..end,
            None => division.start..end,
        }
    }

    /// Forgets a division and all after it.
    pub(super) fn forget(&mut self, division: &Division) {
        self.ends.truncate(division.first_end);
    }

    /// Copies a range of the arrays `from` to the others.
    pub(super) fn copy(&mut self, range: Range<usize>, from: usize) {
        copy(&mut self.values, range.clone(), from);
        copy(&mut self.positions, range, from);
    }
}

fn copy<T: Copy>([first, second]: &mut [Vec<T>; 2], range: Range<usize>, from: usize) {
    match from {
        0 => second[range.clone()].copy_from_slice(&first[range]),
        _ => first[range.clone()].copy_from_slice(&second[range]),
    }
}

impl<F: Fingerprint> Digit<F> {
    /// The digits of a chunk of fingerprints.
    #[inline]
    fn of<'b>(self, chunk: &[F], buckets: &'b mut [u32; CHUNK], kernels: &Kernels<F>) -> &'b [u32] {
        let buckets = &mut buckets[..chunk.len()];
        (kernels.buckets)(chunk, self.key, buckets);
        if self.key.bucket_bits() > self.bits {
            let mask = (1 << self.bits) - 1;
            for bucket in buckets.iter_mut() {
                *bucket = *bucket >> self.shift & mask;
            }
        }
        buckets
    }
}

//! Equal fingerprints, of which the join needs one.

use std::collections::HashMap;
use std::ops::Range;

use super::super::Fingerprint;
use super::buffers::{BucketBuffers, Digit};
use super::context::JoinContext;
use super::marks::Marks;
use super::plan::KEY_BITS;
use crate::Result;
use crate::kernel::hamming::Key;

/// Finds equal fingerprints.
pub(super) struct EqualFingerprints<'a, F: Fingerprint> {
    pub(super) context: &'a JoinContext<'a, F>,
    /// All but the first of equal fingerprints.
    pub(super) repeated: &'a Marks,
}

/// The maximum number of fingerprints that are sorted by comparison.
const SMALL: usize = 32;

impl<F: Fingerprint> EqualFingerprints<'_, F> {
    /// Finds those among the first `count` fingerprints of the first arrays, which are in the order
    /// of their positions. Fails if the join is to stop.
    pub(super) fn held(&self, buffers: &mut BucketBuffers<F>, count: usize) -> Result<()> {
        let Some(bits) = count.checked_ilog2() else {
            return Ok(());
        };
        let key = Key::new(self.context.threshold.mask, bits.clamp(1, 2 * KEY_BITS));
        let low = key.bucket_bits().saturating_sub(KEY_BITS);
        let (high, low) = (
            Digit {
                key,
                shift: low,
                bits: key.bucket_bits() - low,
            },
            Digit {
                key,
                shift: 0,
                bits: low,
            },
        );
        let kernels = self.context.kernels;
        let division = buffers.divide(0..count, 0, high, kernels);
        let mut sorted = Vec::new();
        for number in 0..division.buckets {
            let bucket = buffers.bucket(&division, number);
            self.context.check()?;
            if bucket.len() <= SMALL || low.bits == 0 {
                self.small(buffers, 1, bucket, &mut sorted);
                continue;
            }
            let division = buffers.divide(bucket, 1, low, kernels);
            for number in 0..division.buckets {
                let bucket = buffers.bucket(&division, number);
                self.small(buffers, 0, bucket, &mut sorted);
            }
            buffers.forget(&division);
        }
        buffers.forget(&division);
        Ok(())
    }

    fn small(
        &self,
        buffers: &BucketBuffers<F>,
        side: usize,
        bucket: Range<usize>,
        sorted: &mut Vec<(F, u32)>,
    ) {
        if bucket.len() < 2 {
            return;
        }
        let (values, positions) = buffers.at(side, bucket);
        sorted.clear();
        sorted.extend(values.iter().copied().zip(positions.iter().copied()));
        sorted.sort_unstable();
        for equal in sorted.chunk_by(|a, b| a.0 == b.0) {
            for (_, position) in &equal[1..] {
                self.report(equal[0].1, *position);
            }
        }
    }

    /// Adds a fingerprint to the first ones of a set; for sets with more repetitions than fit.
    pub(super) fn add(&self, first: &mut HashMap<F, u32>, value: F, position: u32) {
        let known = *first.entry(value).or_insert(position);
        if known != position {
            self.report(known, position);
        }
    }

    fn report(&self, first: u32, other: u32) {
        self.repeated.insert(other);
        self.context.report(first, other, 0);
    }
}

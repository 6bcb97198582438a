//! Division of fingerprints by choices of blocks, in memory.

use std::ops::Range;
use std::sync::Arc;

use super::super::Fingerprint;
use super::super::sample::FingerprintSample;
use super::buffers::{BucketBuffers, Digit};
use super::compare::{Bucket, Comparer};
use super::context::{JoinContext, JoinOutput};
use super::path::{Blocks, Path};
use super::plan::{KEY_BITS, plan};
use crate::Result;
use crate::kernel::hamming::Key;

/// The fingerprints of which a new division is planned.
const SAMPLE: usize = 512;
/// The binary logarithm of the average size of a bucket, if bits are uniform.
const BUCKET_BITS: u32 = 3;

/// Buffers of a thread.
#[derive(Debug)]
pub(super) struct SelfJoinScratch<F> {
    pub(super) buffers: BucketBuffers<F>,
    pub(super) comparer: Comparer<F>,
}

impl<F: Fingerprint> SelfJoinScratch<F> {
    pub(super) fn new() -> Self {
        SelfJoinScratch {
            buffers: BucketBuffers::new(),
            comparer: Comparer::new(),
        }
    }
}

/// Joins the fingerprints of the buffers.
pub(super) struct Walker<'a, F: Fingerprint> {
    pub(super) scratch: &'a mut SelfJoinScratch<F>,
    pub(super) path: Path<F>,
    pub(super) context: &'a JoinContext<'a, F>,
}

impl<F: Fingerprint> Walker<'_, F> {
    /// Joins the first `count` fingerprints of the first arrays, which share the buckets of all
    /// blocks chosen but the last one.
    pub(super) fn join(&mut self, count: usize) -> Result<()> {
        let weight = self.path.weight();
        if self.path.last_mask() == F::default() {
            self.descend(0..count, 0)?;
            return self.context.advance(weight * count as u64);
        }
        self.divide(0..count, 0, weight)
    }

    /// Divides a range of the arrays `side` by the block that was chosen last, and joins each
    /// bucket. The range of the other arrays then has the same fingerprints, in any order.
    ///
    /// A fingerprint is `weight` of work.
    fn divide(&mut self, range: Range<usize>, side: usize, weight: u64) -> Result<()> {
        let (mask, kernels) = (self.path.last_mask(), self.context.kernels);
        let most = range.len().ilog2().saturating_sub(BUCKET_BITS);
        let key = Key::new(mask, most.clamp(1, KEY_BITS));
        let digit = Digit {
            key,
            shift: 0,
            bits: key.bucket_bits(),
        };
        let buffers = &mut self.scratch.buffers;
        let division = buffers.divide(range, side, digit, kernels);
        for number in 0..division.buckets {
            let bucket = self.scratch.buffers.bucket(&division, number);
            let work = weight * bucket.len() as u64;
            if bucket.len() > 1 {
                self.descend(bucket, 1 - side)?;
            }
            if work > 0 {
                self.context.advance(work)?;
            }
        }
        self.scratch.buffers.forget(&division);
        Ok(())
    }

    /// Joins the fingerprints of a bucket, at a range of the arrays `side`. The range then has the
    /// same fingerprints, in any order.
    fn descend(&mut self, bucket: Range<usize>, side: usize) -> Result<()> {
        let (count, mut next) = (bucket.len(), self.path.next_blocks());
        let is_small = self.context.costs.is_small::<F>(count, next.len());
        if is_small && !next.is_empty() || self.is_done(&bucket, side) {
            return self.compare(bucket, side);
        }
        let is_full = next.is_empty();
        if is_full {
            let Some(blocks) = self.plan(&bucket, side) else {
                return self.compare(bucket, side);
            };
            self.path.divide(Arc::new(blocks));
            next = self.path.next_blocks();
        }
        let mut here = side;
        for block in next {
            let before = self.path.choose(block);
            self.divide(bucket.clone(), here, 0)?;
            self.path.restore(before);
            here = 1 - here;
        }
        if is_full {
            self.path.unite();
        }
        if here != side {
            self.scratch.buffers.copy(bucket, here);
        }
        Ok(())
    }

    /// New blocks for a large bucket whose fingerprints agree in enough of the present ones.
    fn plan(&self, bucket: &Range<usize>, side: usize) -> Option<Blocks<F>> {
        if bucket.len() < self.context.costs.large || !self.path.is_divisible() {
            return None;
        }
        let (values, _) = self.scratch.buffers.at(side, bucket.clone());
        let step = values.len().div_ceil(SAMPLE);
        let values = values.iter().step_by(step).copied().collect();
        let (k, costs) = (self.context.threshold.k, &self.context.costs);
        let sample = FingerprintSample { values };
        plan(&sample, self.path.free_bits(), k, bucket.len(), costs)
    }

    /// Whether few fingerprints of a bucket have no neighbour yet, so that it is cheaper to compare
    /// these with all others than to divide the bucket.
    fn is_done(&self, bucket: &Range<usize>, side: usize) -> bool {
        let JoinOutput::Any(marks) = self.context.output else {
            return false;
        };
        if bucket.len() <= self.context.costs.few {
            return false;
        }
        let (_, positions) = self.scratch.buffers.at(side, bucket.clone());
        let is_lonely = |position: &&u32| !marks.contains(**position);
        // As many comparisons as in a small bucket.
        let lonely = positions.iter().filter(is_lonely).count();
        let blocks = self.path.next_blocks().len();
        self.context.costs.is_small::<F>(2 * lonely, blocks)
    }

    fn compare(&mut self, bucket: Range<usize>, side: usize) -> Result<()> {
        let SelfJoinScratch { buffers, comparer } = &mut *self.scratch;
        let (values, positions) = buffers.at(side, bucket);
        let bucket = Bucket { values, positions };
        comparer.bucket(bucket, &self.path, self.context)
    }
}

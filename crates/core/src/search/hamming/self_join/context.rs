//! What all threads of a join share.

use std::sync::atomic::{AtomicU64, Ordering};

use super::super::Fingerprint;
use super::marks::Marks;
use super::plan::Costs;
use super::source::{Near, Watch};
use crate::Result;
use crate::kernel::hamming::{Kernels, Threshold};

/// What a join finds.
#[derive(Clone, Copy)]
pub(super) enum JoinOutput<'a> {
    /// The positions that have a neighbour.
    Any(&'a Marks),
    /// Every pair.
    Pairs(&'a (dyn Fn(Near) + Sync)),
}

/// What all threads of a join share.
pub(super) struct JoinContext<'a, F: Fingerprint> {
    pub(super) threshold: Threshold<F>,
    pub(super) kernels: &'static Kernels<F>,
    pub(super) costs: Costs,
    pub(super) output: JoinOutput<'a>,
    pub(super) watch: &'a dyn Watch,
    pub(super) work: Work,
}

/// The work of a join, in fingerprints that are divided or compared.
#[derive(Default)]
pub(super) struct Work {
    pub(super) done: AtomicU64,
    pub(super) total: AtomicU64,
}

impl<F: Fingerprint> JoinContext<'_, F> {
    /// Reports two fingerprints at a distance of k or less.
    pub(super) fn report(&self, a: u32, b: u32, distance: u32) {
        match self.output {
            JoinOutput::Any(marks) => {
                marks.insert(a);
                marks.insert(b);
            }
            JoinOutput::Pairs(sink) => sink(Near {
                positions: [a.min(b), a.max(b)],
                distance,
            }),
        }
    }

    /// Fails if the join is to stop.
    pub(super) fn check(&self) -> Result<()> {
        self.advance(0)
    }

    /// Adds to the work that is done; fails if the join is to stop.
    pub(super) fn advance(&self, work: u64) -> Result<()> {
        let done = self.work.done.fetch_add(work, Ordering::Relaxed) + work;
        let total = self.work.total.load(Ordering::Relaxed).max(1);
        self.watch.reached((done as f64 / total as f64).min(1.0))
    }
}

//! What a self-join reads, and what it reports to.

use super::super::Fingerprint;
use crate::Result;

/// Fingerprints that are read several times, in memory or in a file.
pub trait Source<F>: Sync {
    /// The number of fingerprints.
    fn count(&self) -> usize;

    /// Calls `visit(first, fingerprints)` for runs of consecutive fingerprints, in order, until all
    /// are visited or it fails. `first` is the position of the first one of a run.
    ///
    /// # Errors
    /// Errors of reading and of `visit`.
    fn for_each(&self, visit: &mut dyn FnMut(u32, &[F]) -> Result<()>) -> Result<()>;
}

/// The fingerprints of a run of a slice, so that a join can be interrupted between runs.
const RUN: usize = 1 << 14;

impl<F: Fingerprint> Source<F> for [F] {
    fn count(&self) -> usize {
        self.len()
    }

    fn for_each(&self, visit: &mut dyn FnMut(u32, &[F]) -> Result<()>) -> Result<()> {
        let mut runs = self.chunks(RUN).zip((0..).step_by(RUN));
        runs.try_for_each(|(run, first)| visit(first, run))
    }
}

/// The progress of a join, and its interruption.
pub trait Watch: Sync {
    /// Called several times in a tenth of a second, from the threads that work. `share` is the part
    /// of the work that is done, from 0 to 1; it does not always ascend.
    ///
    /// # Errors
    /// An error stops the join, which returns it.
    fn reached(&self, share: f64) -> Result<()>;
}

/// Two near fingerprints of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Near {
    /// Their positions, ascending.
    pub positions: [u32; 2],
    /// The Hamming distance.
    pub distance: u32,
}

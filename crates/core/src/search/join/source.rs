//! What a join of sketches reads.

use crate::Result;
use crate::sketch::Sketches;

/// Sketches that are read several times.
pub trait SketchSource: Sync {
    /// The number of sketches.
    fn count(&self) -> u32;

    /// Calls `visit` for runs of consecutive sketches, in order, until all are visited or it fails.
    ///
    /// # Errors
    /// Errors of reading and of `visit`.
    fn for_each(&self, visit: &mut dyn FnMut(Sketches<'_>) -> Result<()>) -> Result<()>;
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use crate::search::hamming::self_join::Watch;

    /// Sketches that are read in runs of a given length.
    pub struct SketchRuns<'a>(pub Sketches<'a>, pub usize);

    impl SketchSource for SketchRuns<'_> {
        fn count(&self) -> u32 {
            self.0.count() as u32
        }

        fn for_each(&self, visit: &mut dyn FnMut(Sketches<'_>) -> Result<()>) -> Result<()> {
            let all = self.0.count();
            let mut firsts = (0..all).step_by(self.1);
            firsts.try_for_each(|first| visit(self.0.range(first..all.min(first + self.1))))
        }
    }

    /// Never stops a join, and checks the shares that it is told.
    pub struct Unwatched;

    impl Watch for Unwatched {
        fn reached(&self, share: f64) -> Result<()> {
            assert!((0.0..=1.0).contains(&share), "{share}");
            Ok(())
        }
    }
}

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
    /// Those of reading and of `visit`.
    fn for_each(&self, visit: &mut dyn FnMut(Sketches<'_>) -> Result<()>) -> Result<()>;
}

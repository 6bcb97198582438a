//! Pairs that verification did not confirm: the first of each document.

use bytemuck::{Pod, Zeroable};

use crate::Result;
use simtool_engine::spill_space::SpillSpace;
use simtool_files::{Sorted, Sorter};

use crate::dedup::decision::Decision;
use crate::dedup::memory;

/// The refused pairs.
pub struct Refused {
    /// The listed pairs; none unless the job lists them.
    pub listed: Sorted<Decision>,
    /// The number of refused pairs, listed or not; at most
    /// [`MAX_REFUSALS`](simtool_core::dedup::MAX_REFUSALS) for each document.
    pub count: u64,
}

impl Refused {
    /// No pairs.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn none(space: &SpillSpace<'_>) -> Result<Refused> {
        let none: Sorter<Decision> = space.sorter(memory::REFUSED);
        Ok(Refused {
            listed: none.finish()?,
            count: 0,
        })
    }
}

/// A refused pair that is listed.
///
/// Records sort by the later document, then by the earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct ListedPair {
    /// The later document in keep order.
    pub document: u32,
    /// The earlier document.
    pub kept: u32,
    /// The ranks of both, the later document first.
    pub ranks: [u32; 2],
    /// The score of the method.
    pub score: [u32; 2],
}

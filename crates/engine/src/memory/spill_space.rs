//! Memory and temporary space for sorting and spooling.

use std::path::Path;

use bytemuck::Pod;
use rayon::slice::ParallelSliceMut;

use crate::Result;
use simtool_files::{SharedSpool, Sorter, Spool};

/// The memory and the directory that a stage sorts with.
#[derive(Clone, Copy, Debug)]
pub struct SpillSpace<'a> {
    /// The directory of unnamed files.
    pub directory: &'a Path,
    /// Bytes of memory of a stage.
    pub memory_bytes: usize,
}

/// A share of the memory of a stage, in 64ths.
#[derive(Clone, Copy, Debug)]
pub struct Share(pub usize);

impl Share {
    /// All of it.
    pub const WHOLE: Share = Share(64);
}

impl SpillSpace<'_> {
    /// The bytes of a share.
    pub fn bytes(&self, share: Share) -> usize {
        self.memory_bytes / Share::WHOLE.0 * share.0
    }

    /// A sorter with a share of the memory.
    pub fn sorter<R: Pod + Ord + Send>(&self, share: Share) -> Sorter<R> {
        let bytes = self.bytes(share);
        Sorter::with_sort(self.directory, bytes, <[R]>::par_sort_unstable)
    }

    /// An empty temporary file to which threads write at the same time.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn shared_spool(&self) -> Result<SharedSpool> {
        SharedSpool::create(self.directory)
    }

    /// An empty temporary file.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn spool(&self) -> Result<Spool> {
        Spool::create(self.directory)
    }
}

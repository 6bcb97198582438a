//! Memory and temporary space for sorting and spooling.

use std::path::Path;

use bytemuck::Pod;
use rayon::slice::ParallelSliceMut;

use crate::Result;
use crate::io::{Sorter, Spool};

/// The memory and the directory that a stage sorts with.
#[derive(Clone, Copy, Debug)]
pub struct SpillSpace<'a> {
    /// The directory of unnamed files.
    pub directory: &'a Path,
    /// Bytes of memory of a stage.
    pub memory_bytes: usize,
}

impl SpillSpace<'_> {
    /// A sorter with one of `parts` equal parts of the memory.
    pub fn sorter<R: Pod + Ord + Send>(&self, parts: usize) -> Sorter<R> {
        Sorter::with_sort(
            self.directory,
            self.memory_bytes / parts,
            <[R]>::par_sort_unstable,
        )
    }

    /// An empty temporary file.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn spool(&self) -> Result<Spool> {
        Spool::create(self.directory)
    }
}

//! Memory and temporary space of the stages behind the first reading.

use std::path::Path;

use bytemuck::Pod;
use rayon::slice::ParallelSliceMut;

use crate::Result;
use crate::io::{Sorter, Spool};

/// Where the stages sort and put aside.
#[derive(Clone, Copy, Debug)]
pub struct Room<'a> {
    /// Where unnamed files go.
    pub directory: &'a Path,
    /// Bytes of memory of a stage, all its parts together.
    pub memory_bytes: usize,
}

impl Room<'_> {
    /// A sorter that takes one of `parts` equal parts of the memory.
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

//! What a first reading found in each chunk, kept in memory.

use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;

use super::seen_twice::SeenTwice;
use crate::Result;
use crate::table::numbering::Numbering;
use crate::table::segment::ChunkPlace;

/// What was found in the chunks so far, as long as it fits into memory.
///
/// The vectors of the workers are kept as they are: one vector of all of them would be written by the
/// thread that collects the chunks.
pub struct KeptChunks<T> {
    /// The place of each chunk, and what was found in it.
    chunks: Vec<(ChunkPlace, Vec<T>)>,
    /// Bytes that are left.
    free_bytes: usize,
}

impl<T: Copy + Send> KeptChunks<T> {
    /// No chunks; they may have `most_bytes` bytes.
    pub fn new(most_bytes: usize) -> KeptChunks<T> {
        KeptChunks {
            chunks: Vec::new(),
            free_bytes: most_bytes,
        }
    }

    /// Adds what was found in the chunk at `place`, without spare capacity. Returns whether everything
    /// fits; if not, nothing is kept.
    pub fn add(&mut self, place: ChunkPlace, found: Vec<T>) -> bool {
        let bytes = size_of::<(ChunkPlace, Vec<T>)>() + found.capacity() * size_of::<T>();
        let free = self.free_bytes.checked_sub(bytes);
        self.free_bytes = free.unwrap_or(0);
        match free {
            Some(_) if found.is_empty() => {}
            Some(_) => self.chunks.push((place, found)),
            None => self.chunks = Vec::new(),
        }
        free.is_some()
    }

    /// Keeps what may be repeated: its `key` is in the `table`. Then `number` gets each item with the
    /// number of the first document of its chunk. In the order of the input; uses the current rayon
    /// pool.
    ///
    /// # Errors
    /// Errors of [`Numbering::first_in`].
    pub fn into_repeated(
        mut self,
        (table, numbering): (&SeenTwice, &Numbering<'_>),
        key: impl Fn(&T) -> [u64; 2] + Sync,
        number: impl Fn(u32, &mut [T]) + Sync,
    ) -> Result<impl Iterator<Item = Vec<T>>> {
        self.chunks.par_sort_unstable_by_key(|(place, _)| *place);
        let chunks = self.chunks.par_iter_mut();
        chunks.try_for_each(|(place, found)| -> Result<()> {
            table.retain_repeated(found, &key);
            number(numbering.first_in(*place)?, found);
            Ok(())
        })?;
        Ok(self.chunks.into_iter().map(|(_, found)| found))
    }
}

//! What a first reading found in each chunk, kept in memory.

use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};

use super::seen_twice::SeenTwice;

/// What was found in the chunks so far, as long as it fits into memory.
///
/// The vectors of the workers are kept as they are: one vector of all of them would be written by the
/// thread that collects the chunks.
pub struct KeptChunks<T> {
    /// The number of the first document of each chunk, and what was found in it.
    chunks: Vec<(u32, Vec<T>)>,
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

    /// Adds what was found in a chunk whose first document is `first`, without spare capacity.
    /// Returns whether everything fits; if not, nothing is kept.
    pub fn add(&mut self, first: u32, found: Vec<T>) -> bool {
        let bytes = size_of::<(u32, Vec<T>)>() + found.capacity() * size_of::<T>();
        let free = self.free_bytes.checked_sub(bytes);
        self.free_bytes = free.unwrap_or(0);
        match free {
            Some(_) if found.is_empty() => {}
            Some(_) => self.chunks.push((first, found)),
            None => self.chunks = Vec::new(),
        }
        free.is_some()
    }

    /// Keeps what may be repeated: its `key` is in the `table`. Then `number` gets each item with the
    /// number of the first document of its chunk. Uses the current rayon pool.
    pub fn into_repeated(
        mut self,
        table: &SeenTwice,
        key: impl Fn(&T) -> [u64; 2] + Sync,
        number: impl Fn(u32, &mut [T]) + Sync,
    ) -> impl Iterator<Item = Vec<T>> {
        self.chunks.par_iter_mut().for_each(|(first, found)| {
            table.retain_repeated(found, &key);
            number(*first, found);
        });
        self.chunks.into_iter().map(|(_, found)| found)
    }
}

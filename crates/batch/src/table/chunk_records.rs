//! Records found in the chunks of a reading, which come in any order.

use std::marker::PhantomData;
use std::path::Path;

use bytemuck::{Pod, zeroed_vec};

use super::segment::ChunkPlace;
use crate::Result;
use simtool_engine::spill_space::SpillSpace;
use simtool_files::{RecordFile, Spool};

/// The records of chunks, in a temporary file.
pub struct ChunkRecords<T> {
    spool: Spool,
    /// For each chunk with records: its place, where they begin, and their number.
    chunks: Vec<(ChunkPlace, u64, usize)>,
    _records: PhantomData<T>,
}

impl<T: Pod> ChunkRecords<T> {
    /// No records; the file is in `directory`.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn new(directory: &Path) -> Result<ChunkRecords<T>> {
        Ok(ChunkRecords {
            spool: Spool::create(directory)?,
            chunks: Vec::new(),
            _records: PhantomData,
        })
    }

    /// Adds those of the chunk at `place`.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn add(&mut self, place: ChunkPlace, records: &[T]) -> Result<()> {
        if !records.is_empty() {
            let begin = self.spool.append(bytemuck::cast_slice(records))?;
            self.chunks.push((place, begin, records.len()));
        }
        Ok(())
    }

    /// All of them in a file, in the order of the chunks in the input.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn into_file(self, space: SpillSpace<'_>) -> Result<RecordFile<T>> {
        let mut spool = space.spool()?;
        self.for_each_chunk(|_, records| spool.append(bytemuck::cast_slice(&records)).map(drop))?;
        spool.finish()?.into_records()
    }

    /// Passes the records of each chunk to `visit`, in the order of the chunks in the input.
    ///
    /// # Errors
    /// Errors of the temporary file and of `visit`.
    pub fn for_each_chunk(
        mut self,
        mut visit: impl FnMut(ChunkPlace, Vec<T>) -> Result<()>,
    ) -> Result<()> {
        self.chunks.sort_unstable();
        let file = self.spool.finish()?;
        self.chunks
            .into_iter()
            .try_for_each(|(place, begin, count)| {
                let mut records: Vec<T> = zeroed_vec(count);
                file.fill_at(begin, bytemuck::cast_slice_mut(&mut records))?;
                visit(place, records)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_in_the_order_of_their_chunks() {
        let directory = tempfile::tempdir().unwrap();
        let mut records = ChunkRecords::<u32>::new(directory.path()).unwrap();
        let places = [(2, 0), (0, 1 << 32), (0, 1), (1, 5), (0, 0)];
        let places = places.map(|(source, chunk)| ChunkPlace { source, chunk });
        for (number, place) in (0..).zip(places) {
            records.add(place, &vec![number; number as usize]).unwrap();
        }
        let mut found = Vec::new();
        let visit = |place, records| {
            found.push((place, records));
            Ok(())
        };
        records.for_each_chunk(visit).unwrap();
        let expected = [4, 2, 1, 3].map(|number| (places[number], vec![number as u32; number]));
        assert_eq!(found, expected);
    }
}

//! The segments of a store, for reading.

use std::fs::File;
use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::Pod;

use super::entry::{DATA, Entry};
use crate::table::row::{Row, TableRow};
use crate::table::rows::{RowFile, RowRun};
use crate::table::segment::ChunkEntry;
use crate::workdir::Work;
use crate::{Error, Result};
use simtool_files::RecordFile;

/// The segments in the order of the documents, and the open file with their data.
pub struct StoredSegments<'a, R = Row> {
    work: &'a Work,
    row: PhantomData<R>,
    file: Arc<File>,
    entries: Vec<Entry>,
}

/// Where the sketches of a segment are in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SketchRun {
    /// The number of the segment's first document.
    pub first: u64,
    /// The offset of the sketch of that document.
    pub sketches: u64,
    /// The offset of the borders of the sketches, relative to the first sketch; if lengths vary.
    pub borders: u64,
}

impl<'a, R: TableRow> StoredSegments<'a, R> {
    /// The segments with `entries`, in the order in which they were appended.
    ///
    /// # Errors
    /// [`ErrorKind::Read`](crate::ErrorKind::Read).
    pub(super) fn of(work: &'a Work, mut entries: Vec<Entry>) -> Result<StoredSegments<'a, R>> {
        let path = work.path(DATA);
        let file = File::open(&path).map_err(|cause| Error::unreadable(&path, cause))?;
        // Stable, so that the segments of a unit stay in order.
        entries.sort_by_key(|entry| entry.unit);
        Ok(StoredSegments {
            work,
            row: PhantomData,
            file: Arc::new(file),
            entries,
        })
    }

    /// The chunks of all inputs, in order.
    ///
    /// # Errors
    /// [`ErrorKind::Read`](crate::ErrorKind::Read).
    pub fn chunks(&self) -> Result<Vec<ChunkEntry>> {
        let stored = self.records::<ChunkEntry>(|entry| entry.chunks, 0);
        let mut chunks = Vec::new();
        stored.read(0, usize::MAX, &mut chunks)?;
        Ok(chunks)
    }

    /// The rows of all documents.
    pub fn rows(&self) -> RowFile<R> {
        let (mut first, mut runs) = (0, Vec::new());
        for entry in self.entries.iter().filter(|entry| entry.rows > 0) {
            if let Some([_, begin, _, _, _, labels, _]) = entry.offsets() {
                runs.push(RowRun {
                    first,
                    begin,
                    labels,
                });
            }
            first += entry.rows;
        }
        RowFile::new(Arc::clone(&self.file), &self.work.path(DATA), runs, first)
    }

    /// The further numbers of all documents.
    pub fn columns(&self) -> RecordFile<u64> {
        self.records(|entry| entry.columns, 3)
    }

    /// All bytes of the store, for labels and sketches.
    pub fn bytes(&self) -> RecordFile<u8> {
        let ends = self.entries.iter().filter_map(Entry::offsets);
        let end = ends.map(|[.., end]| end).max().unwrap_or(0);
        RecordFile::of_runs(Arc::clone(&self.file), &self.work.path(DATA), [(end, 0)])
    }

    /// Where the sketches are, by the number of the first document.
    pub fn sketches(&self) -> Vec<SketchRun> {
        let mut first = 0;
        let mut runs = Vec::new();
        for entry in self.entries.iter().filter(|entry| entry.rows > 0) {
            if let Some([_, _, borders, _, sketches, ..]) = entry.offsets() {
                runs.push(SketchRun {
                    first,
                    sketches,
                    borders,
                });
            }
            first += entry.rows;
        }
        runs
    }

    /// The records that each segment has `count` of, in its part number `part`.
    fn records<T: Pod>(&self, count: impl Fn(&Entry) -> u64, part: usize) -> RecordFile<T> {
        let run = |entry: &Entry| Some((count(entry), entry.offsets()?[part]));
        let runs = self.entries.iter().filter_map(run);
        RecordFile::of_runs(Arc::clone(&self.file), &self.work.path(DATA), runs)
    }
}

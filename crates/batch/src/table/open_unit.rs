//! Units of the first reading that are not complete yet.

use super::row::{Row, TableRow};
use super::segment::Segment;
use super::segment_store::SegmentStore;
use crate::Result;
use simtool_corpus::{Position, Source};
use simtool_engine::Progress;
use simtool_engine::pipeline::Unit;

/// A segment is finished when it holds this many bytes, or covers this many bytes of chunks.
const SEGMENT_BYTES: usize = 4 << 20;
const SEGMENT_INPUT_BYTES: u64 = 128 << 20;
/// Chunks with few documents are joined to parts of this many bytes.
const PART_BYTES: usize = 64 << 10;

/// An incomplete unit, with the data that is not in a finished segment yet.
pub struct OpenUnit<R = Row> {
    number: usize,
    /// What is not in the store.
    pub rest: Unit,
    parts: Vec<Segment<R>>,
    documents: u64,
    bytes: usize,
    input_bytes: u64,
}

impl<R: TableRow> OpenUnit<R> {
    /// The rest of the unit `number` after its last segment in `store`; `None` if the unit is
    /// complete. The sources that are complete count as progress.
    pub fn resume(
        number: usize,
        mut rest: Unit,
        sources: &[Source],
        store: &SegmentStore<'_, R>,
        progress: &Progress,
    ) -> Option<OpenUnit<R>> {
        if let Some(last) = store.last_of(number) {
            let next = last.next();
            let done = match next {
                Some((source, _)) => rest.sources.start..source,
                None => rest.sources.clone(),
            };
            let sizes = done.filter_map(|source| sources.get(source as usize)?.bytes);
            progress.advance(sizes.sum());
            (rest.sources.start, rest.begin) = next?;
        }
        Some(OpenUnit {
            number,
            rest,
            parts: Vec::new(),
            documents: 0,
            bytes: 0,
            input_bytes: 0,
        })
    }

    /// The number of documents that are not in the store yet.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Appends the next chunk, after which `source` goes on at `end`; returns whether that finished
    /// a segment.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn append(
        &mut self,
        chunk: Segment<R>,
        (source, end): (u32, Position),
        store: &mut SegmentStore<'_, R>,
    ) -> Result<bool> {
        self.documents += chunk.rows.len() as u64;
        self.bytes += chunk.bytes();
        self.input_bytes += chunk.chunks.iter().map(|chunk| chunk.bytes).sum::<u64>();
        match self.parts.last_mut() {
            Some(last) if last.bytes() + chunk.bytes() <= PART_BYTES => last.append(&chunk),
            _ => self.parts.push(chunk),
        }
        if self.bytes < SEGMENT_BYTES && self.input_bytes < SEGMENT_INPUT_BYTES {
            return Ok(false);
        }
        (self.documents, self.bytes, self.input_bytes) = (0, 0, 0);
        let parts = std::mem::take(&mut self.parts);
        store.append(self.number, parts, Some((source, end)))?;
        Ok(true)
    }

    /// Finishes the last segment.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn finish(&mut self, store: &mut SegmentStore<'_, R>) -> Result<()> {
        self.documents = 0;
        store.append(self.number, std::mem::take(&mut self.parts), None)
    }
}

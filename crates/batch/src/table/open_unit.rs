//! Units of the first reading that are not complete yet.

use super::row::{Row, TableRow};
use super::segment::Segment;
use super::segment_store::SegmentStore;
use crate::Result;
use simtool_corpus::Position;
use simtool_engine::pipeline::Pipeline;
use simtool_engine::units::Unit;

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
    bytes: usize,
    input_bytes: u64,
}

impl<R: TableRow> OpenUnit<R> {
    /// The rest of the unit `number` after its last segment in `store`; `None` if the unit is
    /// complete. The sources that are complete count as progress.
    pub fn resume(
        number: usize,
        mut rest: Unit,
        pipeline: &Pipeline<'_>,
        store: &SegmentStore<'_, R>,
    ) -> Option<OpenUnit<R>> {
        if let Some(last) = store.last_of(number) {
            let next = last.next();
            pipeline.progress.advance(match (next, rest.section) {
                (Some((source, _)), _) => pipeline.bytes_of(rest.sources.start..source, None),
                (None, section) => pipeline.bytes_of(rest.sources.clone(), section),
            });
            (rest.sources.start, rest.begin) = next?;
        }
        Some(OpenUnit {
            number,
            rest,
            parts: Vec::new(),
            bytes: 0,
            input_bytes: 0,
        })
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
        self.bytes += chunk.bytes();
        self.input_bytes += chunk.chunks.iter().map(|chunk| chunk.bytes).sum::<u64>();
        match self.parts.last_mut() {
            Some(last) if last.bytes() + chunk.bytes() <= PART_BYTES => last.append(&chunk),
            _ => self.parts.push(chunk),
        }
        if self.bytes < SEGMENT_BYTES && self.input_bytes < SEGMENT_INPUT_BYTES {
            return Ok(false);
        }
        (self.bytes, self.input_bytes) = (0, 0);
        let parts = std::mem::take(&mut self.parts);
        store.append(self.number, parts, Some((source, end)))?;
        Ok(true)
    }

    /// Finishes the last segment.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn finish(&mut self, store: &mut SegmentStore<'_, R>) -> Result<()> {
        store.append(self.number, std::mem::take(&mut self.parts), None)
    }
}

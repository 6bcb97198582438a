//! The chunks that a task reads.

use std::ops::Range;

use simtool_core::Result;
use simtool_corpus::{Chunk, ChunkReader, Position, Reading, Source};

use crate::plan::{Piece, Plan};

/// The chunks that a task reads, one after another.
pub struct TaskChunks {
    pieces: std::vec::IntoIter<Piece>,
    /// The files of the current piece that are not open yet.
    rest: Range<u32>,
    section: Option<u64>,
    reader: Option<ChunkReader>,
}

impl TaskChunks {
    /// The chunks of a task.
    pub fn of(plan: &Plan, task: usize) -> TaskChunks {
        let pieces = plan.tasks.get(task).cloned();
        TaskChunks {
            pieces: pieces.unwrap_or_default().into_iter(),
            rest: 0..0,
            section: None,
            reader: None,
        }
    }

    /// The next chunk, in `buffer`; `None` after the last one. All calls get the same sources.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn next(
        &mut self,
        sources: &[Source],
        reading: &Reading,
        mut buffer: Vec<u8>,
    ) -> Result<Option<Chunk>> {
        loop {
            if let Some(reader) = &mut self.reader {
                if let Some(chunk) = reader.next(std::mem::take(&mut buffer))? {
                    return Ok(Some(chunk));
                }
                self.reader = None;
            }
            if self.rest.is_empty() {
                let Some(piece) = self.pieces.next() else {
                    return Ok(None);
                };
                self.rest = piece.first..piece.first + piece.count;
                self.section = piece.section;
            }
            let next = self.rest.next();
            let Some((number, source)) = next.and_then(|n| Some((n, sources.get(n as usize)?)))
            else {
                continue;
            };
            let begin =
                Position::of_section(self.section.unwrap_or_default(), reading.section_bytes);
            let reader = ChunkReader::open(source, number, reading, begin)?;
            self.reader = Some(match self.section {
                Some(section) => reader.within_section(section),
                None => reader,
            });
        }
    }
}

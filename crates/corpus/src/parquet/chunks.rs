//! The reader of a table, which cuts it into chunks.

use std::sync::Arc;

use super::memory_batches::MemoryBatches;
use super::memory_rows::MemoryRows;
use super::read::{Batches, Table};
use super::table_file::TableFile;
use crate::Result;
use crate::chunk::{Body, Chunk, Position};
use crate::decompress::changed;
use crate::document::{NO_MEMBER, Place, Reason, Skip};
use crate::reading::Reading;
use crate::source::{Source, SourceCopy};

/// Reads the chunks of a table: each is a batch of rows, or reports lost rows.
///
/// Borders depend only on the metadata of the file and on the [`Reading`]. Its memory is a batch and
/// the pages of that batch.
pub(crate) struct RowReader {
    source: u32,
    /// The batches; `None` if the metadata of the file is damaged.
    batches: Option<BatchReader>,
    file_bytes: u64,
    /// [`Reading::section_bytes`].
    section_bytes: u64,
    /// The first row of each section, and the end of the last.
    sections: Vec<u64>,
    /// The number of the only section that is read.
    only: Option<u64>,
    /// The start of the next chunk.
    start: Position,
    /// The damage of the whole file, if not reported yet.
    damage: Option<String>,
}

/// The rows of a file, or of memory.
enum BatchReader {
    File(Batches),
    Memory(MemoryBatches),
}

impl RowReader {
    /// Opens a file of `bytes` bytes, to read the chunks from position `from` on.
    pub(crate) fn open(
        source: &Source,
        bytes: u64,
        number: u32,
        reading: &Reading,
        from: Position,
    ) -> Result<RowReader> {
        if let Some(SourceCopy::Rows(rows)) = &source.copy {
            return Ok(RowReader::of_memory(source, rows, number, reading, from));
        }
        let path = source.file();
        let opened = TableFile::open(path)?;
        let found = opened.bytes();
        if found != bytes {
            return Err(changed(&path, bytes, found));
        }
        let mut start = Position {
            member: NO_MEMBER,
            ..from
        };
        let mut sections = Vec::new();
        let (batches, damage) = match Table::open(path, reading)? {
            Ok(table) => {
                sections = table.sections(source.sections(reading.section_bytes), reading);
                start.offset = first_row(from, &sections);
                (Some(BatchReader::File(table.batches(start.offset))), None)
            }
            Err(detail) => (None, (from.chunk == 0).then_some(detail)),
        };
        let mut reader = RowReader {
            source: number,
            batches,
            file_bytes: bytes,
            section_bytes: reading.section_bytes,
            sections,
            only: None,
            start,
            damage,
        };
        reader.enter();
        Ok(reader)
    }

    /// Reads rows in memory from position `from` on.
    fn of_memory(
        source: &Source,
        rows: &Arc<MemoryRows>,
        number: u32,
        reading: &Reading,
        from: Position,
    ) -> RowReader {
        let sections = rows.sections(source.sections(reading.section_bytes));
        let first = first_row(from, &sections);
        let batches = MemoryBatches::new(rows, first, sections.clone(), reading);
        let mut reader = RowReader {
            source: number,
            batches: Some(BatchReader::Memory(batches)),
            file_bytes: rows.text_bytes(),
            section_bytes: reading.section_bytes,
            sections,
            only: None,
            start: Position {
                member: NO_MEMBER,
                offset: first,
                ..from
            },
            damage: None,
        };
        reader.enter();
        reader
    }

    /// Numbers the next chunk by the section with its first row.
    fn enter(&mut self) {
        let first = self.start.offset;
        let begun = self.sections.partition_point(|row| *row <= first);
        let last = self.sections.len().saturating_sub(2);
        self.start.enter(begun.saturating_sub(1).min(last) as u64);
    }

    /// Ends where `section` does.
    pub(crate) fn within_section(&mut self, section: u64) {
        self.only = Some(section);
    }

    /// The current offset in the file, or in the only section that is read, estimated from the rows.
    pub(crate) fn file_offset(&self) -> u64 {
        let Some(batches) = &self.batches else {
            return self.file_bytes;
        };
        let (mut bytes, mut rows) = (0..self.file_bytes, 0..batches.rows());
        if let Some(only) = self.only
            && let Some(&[first, end]) = self.sections.get(only as usize..only as usize + 2)
        {
            let begin = only.saturating_mul(self.section_bytes);
            let behind = begin.saturating_add(self.section_bytes);
            bytes = begin.min(self.file_bytes)..behind.min(self.file_bytes);
            rows = first..end;
        }
        let read = self.start.offset.clamp(rows.start, rows.end) - rows.start;
        let part = u128::from(bytes.end - bytes.start) * u128::from(read);
        let part = part / u128::from((rows.end - rows.start).max(1));
        bytes.start + part as u64
    }

    /// The next chunk; `None` after the last one.
    ///
    /// # Errors
    /// [`ErrorKind::Read`](crate::ErrorKind::Read) if the file cannot be read.
    pub(crate) fn next(&mut self) -> Result<Option<Chunk>> {
        if let Some(detail) = self.damage.take() {
            return Ok(Some(self.lost(self.start.offset, 0, detail)));
        }
        let end = self
            .only
            .and_then(|only| self.sections.get(only as usize + 1));
        let (Some(batches), false) = (
            &mut self.batches,
            end.is_some_and(|end| self.start.offset >= *end),
        ) else {
            return Ok(None);
        };
        let next = match batches {
            BatchReader::File(batches) => batches.next().transpose()?.map(|next| {
                next.map(|(first, batch)| (first, batch.get_array_memory_size(), batch))
            }),
            BatchReader::Memory(batches) => batches.next()?.map(Ok),
        };
        Ok(next.map(|next| match next {
            Ok((first_row, memory_bytes, batch)) => {
                let next_row = first_row + batch.num_rows() as u64;
                let body = Body::Rows {
                    first_row,
                    batch,
                    memory_bytes,
                };
                self.chunk(next_row, body, None)
            }
            Err(lost) => self.lost(lost.first_row, lost.rows, lost.detail),
        }))
    }

    fn lost(&mut self, first_row: u64, rows: u64, detail: String) -> Chunk {
        let skip = Skip {
            place: Place::new(self.source, NO_MEMBER, first_row, rows),
            id: Vec::new(),
            reason: Reason::Damaged,
            detail,
        };
        let body = Body::Bytes {
            bytes: Vec::new(),
            members: Vec::new(),
            whole: Vec::new(),
        };
        self.chunk(first_row + rows, body, Some(skip))
    }

    fn chunk(&mut self, next_row: u64, body: Body, skip: Option<Skip>) -> Chunk {
        let start = self.start;
        self.start.chunk += 1;
        self.start.offset = next_row;
        self.enter();
        Chunk {
            source: self.source,
            start,
            end: self.start,
            body,
            skipped: skip.into_iter().collect(),
        }
    }
}

impl BatchReader {
    /// The number of all rows.
    fn rows(&self) -> u64 {
        match self {
            BatchReader::File(batches) => batches.rows(),
            BatchReader::Memory(batches) => batches.rows(),
        }
    }
}

/// The row at a position of a table with these borders of sections.
fn first_row(from: Position, sections: &[u64]) -> u64 {
    match from.begins_section() {
        true => {
            let first = sections.get(from.section() as usize).or(sections.last());
            first.copied().unwrap_or_default()
        }
        false => from.offset,
    }
}

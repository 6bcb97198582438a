//! The reader of a table, which cuts it into chunks.

use super::read::{Batches, Table};
use super::table_file::TableFile;
use crate::Result;
use crate::chunk::{Body, Chunk, Position};
use crate::decompress::changed;
use crate::document::{NO_MEMBER, Place, Reason, Skip};
use crate::reading::Reading;
use crate::source::Source;

/// Reads the chunks of a table: each is a batch of rows, or reports lost rows.
///
/// Borders depend only on the metadata of the file and on the [`Reading`]. Its memory is a batch and
/// the pages of that batch.
pub(crate) struct RowReader {
    source: u32,
    /// The batches; `None` if the metadata of the file is damaged.
    batches: Option<Batches>,
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

impl RowReader {
    /// Opens a file of `bytes` bytes, to read the chunks from position `from` on.
    pub(crate) fn open(
        source: &Source,
        bytes: u64,
        number: u32,
        reading: &Reading,
        from: Position,
    ) -> Result<RowReader> {
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
                if from.begins_section() {
                    let first = sections.get(from.section() as usize);
                    start.offset = first.copied().unwrap_or(table.rows());
                }
                (Some(table.batches(start.offset)), None)
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
        let next = batches.next().transpose()?;
        Ok(next.map(|next| match next {
            Ok((first_row, batch)) => {
                let rows = batch.num_rows() as u64;
                self.chunk(first_row + rows, Body::Rows { first_row, batch }, None)
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

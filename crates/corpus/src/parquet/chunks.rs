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
        let (batches, damage) = match Table::open(path, reading)? {
            Ok(table) => (Some(table.batches(from.offset)), None),
            Err(detail) => (None, (from.chunk == 0).then_some(detail)),
        };
        Ok(RowReader {
            source: number,
            batches,
            file_bytes: bytes,
            start: Position {
                member: NO_MEMBER,
                ..from
            },
            damage,
        })
    }

    /// The current offset in the file, estimated from the rows.
    pub(crate) fn file_offset(&self) -> u64 {
        let Some(batches) = &self.batches else {
            return self.file_bytes;
        };
        let rows = u128::from(batches.rows().max(1));
        let offset = u128::from(self.file_bytes) * u128::from(self.start.offset) / rows;
        u64::try_from(offset).map_or(self.file_bytes, |offset| offset.min(self.file_bytes))
    }

    /// The next chunk; `None` after the last one.
    ///
    /// # Errors
    /// [`ErrorKind::Read`](crate::ErrorKind::Read) if the file cannot be read.
    pub(crate) fn next(&mut self) -> Result<Option<Chunk>> {
        if let Some(detail) = self.damage.take() {
            return Ok(Some(self.lost(self.start.offset, 0, detail)));
        }
        let Some(batches) = &mut self.batches else {
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
        Chunk {
            source: self.source,
            start,
            end: self.start,
            body,
            skipped: skip.into_iter().collect(),
        }
    }
}

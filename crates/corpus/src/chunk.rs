//! Chunks: runs of whole documents, the unit of work.

use super::document::{NO_MEMBER, Place, Skip};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A position between two chunks of a source, at which reading can resume.
///
/// The default is the start of any source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Position {
    /// The number of the next chunk: that of its section in the upper 32 bits, and that of the chunks
    /// before it in the section.
    pub chunk: u64,
    /// The offset in the file of the gzip member or zstd frame that contains it or ends there;
    /// [`NO_MEMBER`] in a file that is not compressed.
    pub member: u64,
    /// The offset in the file or in the decompressed member; of Parquet files, the row.
    pub offset: u64,
}

/// A run of whole documents of a source.
///
/// Its borders depend only on the bytes of the source and on the job.
#[derive(Debug)]
pub struct Chunk {
    /// The number of the source.
    pub source: u32,
    /// Its start.
    pub start: Position,
    /// The start of the next chunk.
    pub end: Position,
    /// The documents.
    pub body: Body,
    /// Documents that the reader skipped; they follow those in `body`.
    pub skipped: Vec<Skip>,
}

/// The content of a chunk.
#[derive(Debug)]
pub enum Body {
    /// Unchanged records of the decompressed input.
    Bytes {
        /// The records, concatenated.
        bytes: Vec<u8>,
        /// For each gzip member or zstd frame that begins in the chunk: the index in `bytes` where
        /// it begins, and its offset in the file.
        members: Vec<(usize, u64)>,
        /// The members and frames that are entirely in the chunk.
        whole: Vec<WholeMember>,
    },
    /// A part of a record over the length limit, from a reader that
    /// [returns parts](super::ChunkReader::in_parts). It does not count as a chunk.
    Part {
        /// The bytes of the part.
        bytes: Vec<u8>,
        /// Whether the record is a document, which is reported as skipped.
        is_document: bool,
        /// Whether it is the last part of the record.
        is_last: bool,
    },
    /// Rows of a table.
    #[cfg(feature = "parquet")]
    Rows {
        /// The number of the first row in the file.
        first_row: u64,
        /// The requested columns.
        batch: arrow_array::RecordBatch,
        /// The bytes of memory that they use; of rows that were in memory before, the bytes of their
        /// texts.
        memory_bytes: usize,
    },
}

/// A gzip member or zstd frame of the input that is entirely in a chunk and has a valid checksum.
///
/// Only those with 256 bytes to 1 MiB of decompressed data are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeMember {
    /// The range of its decompressed bytes in the chunk.
    pub bytes: Range<usize>,
    /// The range of its compressed bytes in the file.
    pub file: Range<u64>,
}

impl Chunk {
    /// The bytes of its documents; empty for rows of a table and for parts of long records.
    pub fn bytes(&self) -> &[u8] {
        match &self.body {
            Body::Bytes { bytes, .. } => bytes,
            Body::Part { .. } => &[],
            #[cfg(feature = "parquet")]
            Body::Rows { .. } => &[],
        }
    }

    /// The number of bytes of memory that its documents use.
    pub fn memory_bytes(&self) -> usize {
        match &self.body {
            Body::Bytes { bytes, .. } | Body::Part { bytes, .. } => bytes.len(),
            #[cfg(feature = "parquet")]
            Body::Rows { memory_bytes, .. } => *memory_bytes,
        }
    }

    /// Returns the buffer, for the next chunk.
    pub fn into_buffer(self) -> Vec<u8> {
        match self.body {
            Body::Bytes { bytes, .. } | Body::Part { bytes, .. } => bytes,
            #[cfg(feature = "parquet")]
            Body::Rows { .. } => Vec::new(),
        }
    }

    /// The range in [`bytes`](Chunk::bytes) of the record at `place`; `None` if it is not there.
    pub fn range(&self, place: &Place) -> Option<Range<usize>> {
        let members: &[(usize, u64)] = match &self.body {
            Body::Bytes { members, .. } => members,
            Body::Part { .. } => return None,
            #[cfg(feature = "parquet")]
            Body::Rows { .. } => return None,
        };
        let begun = members.partition_point(|(_, member)| *member <= place.member);
        let begun = begun.checked_sub(1).and_then(|last| members.get(last));
        let start = match begun.filter(|(_, member)| *member == place.member) {
            Some(&(begin, _)) => begin.checked_add(usize::try_from(place.offset).ok()?)?,
            None if place.member == self.start.member => {
                usize::try_from(place.offset.checked_sub(self.start.offset)?).ok()?
            }
            None => return None,
        };
        let end = start.checked_add(usize::try_from(place.length).ok()?)?;
        (end <= self.bytes().len()).then_some(start..end)
    }

    /// The place in the source of `length` bytes of the chunk from `index` on.
    pub fn place(&self, index: usize, length: usize) -> Place {
        let members: &[(usize, u64)] = match &self.body {
            Body::Bytes { members, .. } => members,
            Body::Part { .. } => &[],
            #[cfg(feature = "parquet")]
            Body::Rows { .. } => &[],
        };
        let (member, offset) = locate(self.start, members, index);
        Place::new(self.source, member, offset, length as u64)
    }
}

/// The member and offset of the byte `index` bytes after `start`; `members` begin after `start`.
pub(super) fn locate(start: Position, members: &[(usize, u64)], index: usize) -> (u64, u64) {
    let begun = members.partition_point(|&(begin, _)| begin <= index);
    match begun.checked_sub(1).map(|last| members[last]) {
        Some((begin, member)) => (member, (index - begin) as u64),
        None => (start.member, start.offset + index as u64),
    }
}

/// The bits of a chunk's number that count the chunks of its section.
const CHUNK_BITS: u32 = 32;

impl Position {
    /// The start of the section with this number, which a [reader](super::ChunkReader) looks for.
    ///
    /// A section of a text has the documents that begin in its bytes, `number · section_bytes` to
    /// `(number + 1) · section_bytes`; one of a table has the row groups that do. Chunks end where
    /// sections do. A section may be empty.
    pub fn of_section(number: u64, section_bytes: u64) -> Position {
        match number {
            0 => Position::default(),
            _ => Position {
                chunk: number << CHUNK_BITS,
                member: NO_MEMBER,
                offset: number.saturating_mul(section_bytes),
            },
        }
    }

    /// The number of its section.
    pub fn section(&self) -> u64 {
        self.chunk >> CHUNK_BITS
    }

    /// Whether it is the start of a section behind the first one.
    pub(super) fn begins_section(&self) -> bool {
        self.section() > 0 && self.chunk == self.section() << CHUNK_BITS
    }

    /// Numbers the next chunk anew if it is in the section with this number, behind the current one.
    pub(super) fn enter(&mut self, section: u64) {
        if section > self.section() {
            self.chunk = section << CHUNK_BITS;
        }
    }

    /// The start of a source.
    pub(super) fn start(is_compressed: bool) -> Position {
        Position {
            chunk: 0,
            member: if is_compressed { 0 } else { NO_MEMBER },
            offset: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_the_inverse_of_places() {
        let chunk = |member, members| Chunk {
            source: 0,
            start: Position {
                chunk: 1,
                member,
                offset: 50,
            },
            end: Position::default(),
            body: Body::Bytes {
                bytes: vec![0; 40],
                members,
                whole: Vec::new(),
            },
            skipped: Vec::new(),
        };
        for chunk in [
            chunk(NO_MEMBER, vec![]),
            chunk(100, vec![(10, 200), (30, 300)]),
        ] {
            for index in 0..40 {
                for length in 0..40 - index {
                    let range = chunk.range(&chunk.place(index, length));
                    assert_eq!(range, Some(index..index + length));
                }
                assert_eq!(chunk.range(&chunk.place(index, 41 - index)), None);
            }
        }
    }

    #[test]
    fn bytes_are_located_in_the_member_they_are_in() {
        let start = Position {
            chunk: 3,
            member: 100,
            offset: 50,
        };
        let members = [(10, 200), (30, 300), (30, 320)];
        let found: Vec<_> = [0, 9, 10, 29, 30, 31]
            .map(|index| locate(start, &members, index))
            .into();
        let expected = [
            (100, 50),
            (100, 59),
            (200, 0),
            (200, 19),
            (320, 0),
            (320, 1),
        ];
        assert_eq!(found, expected);
    }
}

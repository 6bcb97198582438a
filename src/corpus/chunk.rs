//! A run of whole documents, the unit of work.

use super::document::{NO_MEMBER, Place, Skip};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A place between two chunks of a source, from which reading can resume.
///
/// The default is the start of any source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Position {
    /// The chunks before it.
    pub chunk: u64,
    /// The offset in the file of the gzip member or zstd frame it is in or at the end of;
    /// [`NO_MEMBER`] in a file that is not compressed.
    pub member: u64,
    /// The offset in the file, or in what the member decompresses to; the row of a Parquet file.
    pub offset: u64,
}

/// A run of whole documents of a source.
///
/// Its borders depend on the source's bytes and on the job alone.
#[derive(Debug)]
pub struct Chunk {
    /// The number of the source.
    pub source: u32,
    /// Where it begins.
    pub start: Position,
    /// Where the next one begins.
    pub end: Position,
    /// The documents.
    pub body: Body,
    /// What was lost behind the documents, found while reading.
    pub skipped: Vec<Skip>,
}

/// What a chunk holds.
#[derive(Debug)]
pub enum Body {
    /// Records as they stand in the decompressed input.
    Bytes {
        /// The records, one behind another.
        bytes: Vec<u8>,
        /// For each gzip member or zstd frame that begins in the chunk: the index in `bytes` at
        /// which it does, and its offset in the file.
        members: Vec<(usize, u64)>,
        /// Members and frames that lie in the chunk as a whole.
        whole: Vec<WholeMember>,
    },
    /// A part of a record that is longer than documents may be, from a reader that
    /// [gives them out in parts](super::ChunkReader::in_parts). It has no number among the chunks.
    Part {
        /// The bytes of the part.
        bytes: Vec<u8>,
        /// Whether the record is one that is reported as skipped.
        is_document: bool,
        /// Whether the record ends with it.
        is_last: bool,
    },
    /// Rows of a table.
    #[cfg(feature = "parquet")]
    Rows {
        /// The number in the file of the first one.
        first_row: u64,
        /// The columns that were asked for.
        batch: arrow::record_batch::RecordBatch,
    },
}

/// A gzip member or zstd frame of the input that a chunk holds from its first byte to its last, and
/// whose checksum is right.
///
/// Only those of 256 bytes to 1 MiB, decompressed, are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeMember {
    /// Its decompressed bytes, in the chunk.
    pub bytes: Range<usize>,
    /// Its compressed bytes, in the file.
    pub file: Range<u64>,
}

impl Chunk {
    /// The bytes of its documents; none for rows of a table and parts of long records.
    pub fn bytes(&self) -> &[u8] {
        match &self.body {
            Body::Bytes { bytes, .. } => bytes,
            Body::Part { .. } => &[],
            #[cfg(feature = "parquet")]
            Body::Rows { .. } => &[],
        }
    }

    /// How much memory its documents take.
    pub fn memory_bytes(&self) -> usize {
        match &self.body {
            Body::Bytes { bytes, .. } | Body::Part { bytes, .. } => bytes.len(),
            #[cfg(feature = "parquet")]
            Body::Rows { batch, .. } => batch.get_array_memory_size(),
        }
    }

    /// Gives the buffer back, for the next chunk.
    pub fn into_buffer(self) -> Vec<u8> {
        match self.body {
            Body::Bytes { bytes, .. } | Body::Part { bytes, .. } => bytes,
            #[cfg(feature = "parquet")]
            Body::Rows { .. } => Vec::new(),
        }
    }

    /// Where in [`bytes`](Chunk::bytes) the record at `place` stands; `None` if it does not.
    pub fn range(&self, place: &Place) -> Option<Range<usize>> {
        let members: &[(usize, u64)] = match &self.body {
            Body::Bytes { members, .. } => members,
            Body::Part { .. } => return None,
            #[cfg(feature = "parquet")]
            Body::Rows { .. } => return None,
        };
        // The last member that begins there: those before it are empty.
        let begun = members.iter().rfind(|(_, member)| *member == place.member);
        let start = match begun {
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

/// Member and offset of the byte at `index` behind `start`, if `members` begin in between.
pub(super) fn locate(start: Position, members: &[(usize, u64)], index: usize) -> (u64, u64) {
    let begun = members.partition_point(|&(begin, _)| begin <= index);
    match begun.checked_sub(1).map(|last| members[last]) {
        Some((begin, member)) => (member, (index - begin) as u64),
        None => (start.member, start.offset + index as u64),
    }
}

impl Position {
    /// The start of a source that is compressed or not.
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

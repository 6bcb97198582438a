//! Segments: finished parts of the first reading, which survive a crash.
//!
//! ```text
//! header │ chunks │ rows │ borders │ columns │ sketches │ labels │ xxh3-128 of all these
//! ```

use std::fs;
use std::io::Write;
use std::path::Path;

use bytemuck::{Pod, Zeroable};
use xxhash_rust::xxh3::xxh3_128;

use super::row::Row;
use super::work::Work;
use crate::corpus::Position;
use crate::sketch::SketchList;
use crate::{Error, ErrorKind, Result};

const MAGIC: [u8; 8] = *b"STSEG\0\0\x04";
const CHECKSUM_BYTES: usize = 16;

/// The header of a segment's file: where the segment ends in the input, and its numbers of
/// records and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Header {
    magic: [u8; 8],
    /// The source in which the next segment of the unit begins.
    pub source: u32,
    /// One if the unit is complete.
    pub complete: u32,
    /// The position in that source: chunk, member, offset.
    end: [u64; 3],
    chunks: u64,
    rows: u64,
    /// Borders of sketches, if their lengths vary.
    borders: u64,
    /// Numbers of [`Columns`](super::columns::Columns), as many for each row.
    columns: u64,
    sketch_bytes: u64,
    label_bytes: u64,
}

/// A chunk of the first reading, with which later readings are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ChunkEntry {
    /// xxh3-128 of its bytes or, if it has none (as rows of a table), of its texts' digests.
    pub digest: u128,
    /// Documents in it, skipped ones too.
    pub documents: u32,
    /// Its source.
    pub source: u32,
    /// Bytes of the whole chunk.
    pub bytes: u64,
}

/// The data of some chunks, in order.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    /// The chunks.
    pub chunks: Vec<ChunkEntry>,
    /// Their documents.
    pub rows: Vec<Row>,
    /// The documents' sketches.
    pub sketches: SketchList,
    /// The documents' labels; rows have offsets into them.
    pub labels: Vec<u8>,
    /// The documents' further numbers.
    pub columns: Vec<u64>,
}

impl Header {
    /// Where the next segment of the unit begins.
    pub fn end(&self) -> Position {
        let [chunk, member, offset] = self.end;
        Position {
            chunk,
            member,
            offset,
        }
    }

    /// The length of the whole file; `None` if it overflows.
    fn file_bytes(&self) -> Option<u64> {
        let chunks = self.chunks.checked_mul(size_of::<ChunkEntry>() as u64)?;
        let rows = self.rows.checked_mul(size_of::<Row>() as u64)?;
        let fixed = (size_of::<Header>() + CHECKSUM_BYTES) as u64;
        let numbers = self.borders.checked_add(self.columns)?;
        let numbers = numbers.checked_mul(size_of::<u64>() as u64)?;
        [chunks, rows, numbers, self.sketch_bytes, self.label_bytes]
            .into_iter()
            .try_fold(fixed, u64::checked_add)
    }
}

impl Segment {
    /// Approximate bytes of memory, without those of the chunk entries.
    pub fn bytes(&self) -> usize {
        size_of_val(self.rows.as_slice())
            + size_of_val(self.sketches.borders.as_slice())
            + size_of_val(self.columns.as_slice())
            + self.sketches.bytes.len()
            + self.labels.len()
    }

    /// Appends the data of the next chunk.
    pub fn append(&mut self, next: &Segment) {
        let labels = self.labels.len() as u64;
        self.chunks.extend_from_slice(&next.chunks);
        let moved = next.rows.iter().map(|row| Row {
            label: row.label + labels,
            ..*row
        });
        self.rows.extend(moved);
        self.sketches.append(&next.sketches);
        self.labels.extend_from_slice(&next.labels);
        self.columns.extend_from_slice(&next.columns);
    }

    /// Publishes the segment as `path` in the work directory. The next one of its unit begins at
    /// `end` in `source`, unless this one completes the unit.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn publish(
        &self,
        work: &Work,
        path: &Path,
        source: u32,
        end: Position,
        complete: bool,
    ) -> Result<()> {
        let bytes = self.encode(source, end, complete);
        let mut file = work.create(path)?;
        file.write_all(&bytes).map_err(|cause| file.error(cause))?;
        file.publish()
    }

    /// The bytes of a segment's file.
    fn encode(&self, source: u32, end: Position, complete: bool) -> Vec<u8> {
        let header = Header {
            magic: MAGIC,
            source,
            complete: complete.into(),
            end: [end.chunk, end.member, end.offset],
            chunks: self.chunks.len() as u64,
            rows: self.rows.len() as u64,
            borders: self.sketches.borders.len() as u64,
            columns: self.columns.len() as u64,
            sketch_bytes: self.sketches.bytes.len() as u64,
            label_bytes: self.labels.len() as u64,
        };
        let mut bytes = bytemuck::bytes_of(&header).to_vec();
        bytes.extend_from_slice(bytemuck::cast_slice(&self.chunks));
        bytes.extend_from_slice(bytemuck::cast_slice(&self.rows));
        bytes.extend_from_slice(bytemuck::cast_slice(&self.sketches.borders));
        bytes.extend_from_slice(bytemuck::cast_slice(&self.columns));
        bytes.extend_from_slice(&self.sketches.bytes);
        bytes.extend_from_slice(&self.labels);
        let checksum = xxh3_128(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads a segment.
    ///
    /// # Errors
    /// [`ErrorKind::Read`]; [`ErrorKind::Content`] if it is damaged.
    pub fn read(path: &Path) -> Result<(Header, Segment)> {
        let bytes = fs::read(path).map_err(|cause| Error::unreadable(path, cause))?;
        parse(&bytes).ok_or_else(|| {
            let message = "is damaged (start again with --restart)";
            Error::new(ErrorKind::Content, message).in_file(path)
        })
    }
}

fn parse(bytes: &[u8]) -> Option<(Header, Segment)> {
    let (content, checksum) = bytes.split_last_chunk::<CHECKSUM_BYTES>()?;
    let (header, rest) = content.split_at_checked(size_of::<Header>())?;
    let header: Header = bytemuck::pod_read_unaligned(header);
    let whole = header.magic == MAGIC
        && header.file_bytes() == Some(bytes.len() as u64)
        && xxh3_128(content).to_le_bytes() == *checksum;
    if !whole {
        return None;
    }
    let (chunks, rest) = rest.split_at_checked(header.chunks as usize * size_of::<ChunkEntry>())?;
    let (rows, rest) = rest.split_at_checked(header.rows as usize * size_of::<Row>())?;
    let (borders, rest) = rest.split_at_checked(header.borders as usize * size_of::<u64>())?;
    let (columns, rest) = rest.split_at_checked(header.columns as usize * size_of::<u64>())?;
    let (sketches, labels) = rest.split_at_checked(header.sketch_bytes as usize)?;
    let segment = Segment {
        chunks: bytemuck::pod_collect_to_vec(chunks),
        rows: bytemuck::pod_collect_to_vec(rows),
        sketches: SketchList {
            bytes: sketches.to_vec(),
            borders: bytemuck::pod_collect_to_vec(borders),
        },
        labels: labels.to_vec(),
        columns: bytemuck::pod_collect_to_vec(columns),
    };
    Some((header, segment))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment() -> Segment {
        let row = |label| Row {
            label,
            words: 7,
            ..Row::zeroed()
        };
        Segment {
            chunks: vec![ChunkEntry::zeroed(); 2],
            rows: vec![row(0), row(3)],
            sketches: SketchList {
                bytes: vec![1; 16],
                borders: vec![0, 5, 16],
            },
            labels: b"abcdef".to_vec(),
            columns: vec![7, 8],
        }
    }

    #[test]
    fn segments_are_read_as_they_were_written_and_labels_move() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("segment");
        let mut written = segment();
        written.append(&segment());
        let end = Position {
            chunk: 4,
            member: 5,
            offset: 6,
        };
        fs::write(&path, written.encode(9, end, true)).unwrap();
        let (header, read) = Segment::read(&path).unwrap();
        assert_eq!((header.source, header.complete, header.end()), (9, 1, end));
        assert_eq!(read.chunks, written.chunks);
        let labels: Vec<u64> = read.rows.iter().map(|row| row.label).collect();
        assert_eq!(labels, [0, 3, 6, 9]);
        assert_eq!(
            (read.sketches, read.labels, read.columns),
            (written.sketches, b"abcdefabcdef".to_vec(), vec![7, 8, 7, 8])
        );
    }

    #[test]
    fn all_damage_is_detected() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("segment");
        let bytes = segment().encode(0, Position::default(), false);
        assert!(parse(&bytes).is_some());
        for end in 0..bytes.len() {
            assert!(parse(&bytes[..end]).is_none());
        }
        for bit in 0..8 * bytes.len() {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(parse(&bytes).is_none(), "bit {bit}");
        }
        fs::write(&path, b"x").unwrap();
        let error = Segment::read(&path).unwrap_err();
        assert!(error.to_string().contains("is damaged"), "{error}");
    }
}

//! Segments: finished parts of the first reading.

use bytemuck::{Pod, Zeroable};

use super::row::{Row, TableRow};
use simtool_core::sketch::SketchList;
use simtool_corpus::Chunk;
use xxhash_rust::xxh3::xxh3_128;

/// The place of a chunk; in the order of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChunkPlace {
    /// Its source.
    pub source: u32,
    /// Its number there.
    pub chunk: u64,
}

impl ChunkPlace {
    /// The place of a chunk.
    pub fn of(chunk: &Chunk) -> ChunkPlace {
        ChunkPlace {
            source: chunk.source,
            chunk: chunk.start.chunk,
        }
    }
}

/// A chunk of the first reading, with which later readings are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ChunkEntry {
    /// xxh3-128 of its bytes or, if it has none (as rows of a table), of its texts' digests: low half,
    /// high half.
    pub digest: [u64; 2],
    /// Its number in the source: see [`Position`](simtool_corpus::Position).
    pub number: u64,
    /// Documents in it, skipped ones too.
    pub documents: u32,
    /// Its source.
    pub source: u32,
    /// Bytes of the whole chunk.
    pub bytes: u64,
}

impl ChunkEntry {
    /// A chunk with `documents` documents, whose texts have these digests.
    pub fn new(chunk: &Chunk, documents: u32, text_digests: &[u8]) -> ChunkEntry {
        ChunkEntry {
            digest: digest(match chunk.bytes() {
                [] => text_digests,
                bytes => bytes,
            }),
            number: chunk.start.chunk,
            documents,
            source: chunk.source,
            bytes: chunk.bytes().len() as u64,
        }
    }

    /// Its place.
    pub fn place(&self) -> ChunkPlace {
        ChunkPlace {
            source: self.source,
            chunk: self.number,
        }
    }
}

/// The digest of a chunk.
pub(super) fn digest(bytes: &[u8]) -> [u64; 2] {
    let digest = xxh3_128(bytes);
    [digest as u64, (digest >> 64) as u64]
}

/// The data of some chunks, in order.
#[derive(Clone, Debug)]
pub struct Segment<R = Row> {
    /// The chunks.
    pub chunks: Vec<ChunkEntry>,
    /// Their documents.
    pub rows: Vec<R>,
    /// The documents' sketches.
    pub sketches: SketchList,
    /// The documents' labels; rows have offsets into them.
    pub labels: Vec<u8>,
    /// Further numbers of the documents, as many for each: see
    /// [`Columns`](crate::table::columns::Columns).
    pub columns: Vec<u64>,
}

impl<R> Default for Segment<R> {
    fn default() -> Segment<R> {
        Segment {
            chunks: Vec::new(),
            rows: Vec::new(),
            sketches: SketchList::default(),
            labels: Vec::new(),
            columns: Vec::new(),
        }
    }
}

impl<R: TableRow> Segment<R> {
    /// Approximate bytes of memory, without those of the chunk entries.
    pub fn bytes(&self) -> usize {
        size_of_val(self.rows.as_slice())
            + size_of_val(self.sketches.borders.as_slice())
            + size_of_val(self.columns.as_slice())
            + self.sketches.bytes.len()
            + self.labels.len()
    }

    /// Gives back unused memory.
    pub fn shrink_to_fit(&mut self) {
        self.rows.shrink_to_fit();
        self.sketches.bytes.shrink_to_fit();
        self.sketches.borders.shrink_to_fit();
        self.labels.shrink_to_fit();
        self.columns.shrink_to_fit();
    }

    /// Appends the data of the next chunk.
    pub fn append(&mut self, next: &Segment<R>) {
        let labels = self.labels.len() as u64;
        self.chunks.extend_from_slice(&next.chunks);
        let first = self.rows.len();
        self.rows.extend_from_slice(&next.rows);
        let moved = self.rows.iter_mut().skip(first);
        moved.for_each(|row| row.move_label(labels));
        self.sketches.append(&next.sketches);
        self.labels.extend_from_slice(&next.labels);
        self.columns.extend_from_slice(&next.columns);
    }
}

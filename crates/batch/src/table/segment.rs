//! Segments: finished parts of the first reading.

use bytemuck::{Pod, Zeroable};

use super::row::{Row, TableRow};
use simtool_core::sketch::SketchList;
use simtool_corpus::Chunk;
use xxhash_rust::xxh3::xxh3_128;

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

impl ChunkEntry {
    /// A chunk with `documents` documents, whose texts have these digests.
    pub fn new(chunk: &Chunk, documents: u32, text_digests: &[u8]) -> ChunkEntry {
        ChunkEntry {
            digest: match chunk.bytes() {
                [] => xxh3_128(text_digests),
                bytes => xxh3_128(bytes),
            },
            documents,
            source: chunk.source,
            bytes: chunk.bytes().len() as u64,
        }
    }
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

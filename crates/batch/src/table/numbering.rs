//! The numbers of the documents of each chunk, for readings after the first.

use std::ops::Range;

use crate::{Error, ErrorKind, Result};
use simtool_corpus::{Body, Chunk, Source};

use super::bits::Bits;
use super::segment::{ChunkEntry, ChunkPlace, digest};
use super::stamp::changed;

/// The chunks of all sources, with the number of the first document of each.
#[derive(Debug)]
pub struct Numbering<'a> {
    chunks: &'a [ChunkEntry],
    /// The number of the first document of each chunk; then the count of all documents.
    first: Vec<u32>,
    /// For each source, the index of its first chunk; one entry more than there are sources.
    sources: Vec<usize>,
    units: &'a [Range<u32>],
}

impl<'a> Numbering<'a> {
    /// Numbers the documents of `chunks`, which are those of all sources in order.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if there are more than `u32::MAX` documents.
    pub fn new(
        chunks: &'a [ChunkEntry],
        sources: usize,
        units: &'a [Range<u32>],
    ) -> Result<Numbering<'a>> {
        let mut first = vec![0];
        let mut next = 0u32;
        for chunk in chunks {
            next = next.checked_add(chunk.documents).ok_or_else(too_many)?;
            first.push(next);
        }
        let starts = (0..=sources as u32)
            .map(|source| chunks.partition_point(|chunk| chunk.source < source))
            .collect();
        Ok(Numbering {
            chunks,
            first,
            sources: starts,
            units,
        })
    }

    /// The number of documents, including skipped ones and those of the reference.
    pub fn documents(&self) -> u64 {
        self.first.last().copied().unwrap_or_default().into()
    }

    /// The number of documents in the sources before `source`.
    pub fn documents_before(&self, source: u32) -> u32 {
        let chunk = self.sources.get(source as usize).copied();
        self.first[chunk.unwrap_or(self.chunks.len())]
    }

    /// The numbers of the documents of `source`.
    pub fn of_source(&self, source: u32) -> Range<u32> {
        self.documents_before(source)..self.documents_before(source + 1)
    }

    /// The numbers of the documents of a chunk of `source`, which is read again. Rows of tables are
    /// not compared.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if the chunk differs from the first reading.
    pub fn numbers_of(&self, chunk: &Chunk, source: &Source) -> Result<Range<u32>> {
        self.same_numbers(chunk).ok_or_else(|| changed(source))
    }

    fn same_numbers(&self, chunk: &Chunk) -> Option<Range<u32>> {
        let place = self.index_of(ChunkPlace::of(chunk))?;
        let entry = &self.chunks[place];
        let is_same = match &chunk.body {
            Body::Bytes { bytes, .. } => bytes.is_empty() || digest(bytes) == entry.digest,
            Body::Part { .. } => false,
            #[cfg(feature = "parquet")]
            Body::Rows { .. } => true,
        };
        let first = self.first[place];
        is_same.then_some(first..first + entry.documents)
    }

    /// The number of the first document of the chunk at `place`.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if there is no such chunk.
    pub fn first_in(&self, place: ChunkPlace) -> Result<u32> {
        let index = self.index_of(place).ok_or_else(|| {
            let ChunkPlace { source, chunk } = place;
            let message = format!("no chunk number {chunk} of source number {source}");
            Error::new(ErrorKind::Content, message)
        })?;
        Ok(self.first[index])
    }

    fn index_of(&self, place: ChunkPlace) -> Option<usize> {
        let source = place.source as usize;
        let begin = *self.sources.get(source)?;
        let own = self.chunks.get(begin..*self.sources.get(source + 1)?)?;
        let index = own.binary_search_by_key(&place.chunk, |chunk| chunk.number);
        Some(begin + index.ok()?)
    }

    /// The bytes of the chunks of `source`: those of the file or, if it is compressed, of its
    /// contents. Zero for tables.
    pub fn bytes_of(&self, source: u32) -> u64 {
        let [begin, end] = [source, source + 1].map(|source| {
            let place = self.sources.get(source as usize).copied();
            place.unwrap_or(self.chunks.len())
        });
        self.chunks[begin..end]
            .iter()
            .map(|chunk| chunk.bytes)
            .sum()
    }

    /// The units without the sources that have no document of `wanted`: runs of sources that one
    /// reader reads.
    pub fn units_with(&self, wanted: &Bits) -> Vec<Range<u32>> {
        let has_any = |source: u32| {
            let documents = self.of_source(source);
            wanted.any_of(documents.start, documents.len() as u32)
        };
        let mut found: Vec<Range<u32>> = Vec::new();
        for unit in self.units {
            let mut is_open = false;
            for source in unit.clone().filter(|&source| has_any(source)) {
                match found.last_mut() {
                    Some(last) if is_open && last.end == source => last.end += 1,
                    _ => found.push(source..source + 1),
                }
                is_open = true;
            }
        }
        found
    }
}
/// The error of more documents than have numbers.
pub fn too_many() -> Error {
    let message = format!("more than {} documents: split the input", u32::MAX);
    Error::new(ErrorKind::Content, message)
}

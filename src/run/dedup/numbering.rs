//! Which documents a chunk holds, for readings after the first.

use crate::Result;
use crate::corpus::{Body, Chunk, Position};
use crate::run::pipeline::Unit;
use xxhash_rust::xxh3::xxh3_128;

use super::bits::Bits;
use super::segment::ChunkEntry;
use super::sketching::too_many;

/// The chunks of all sources, with the number of the first document of each.
#[derive(Debug)]
pub struct Numbering<'a> {
    chunks: &'a [ChunkEntry],
    /// One more than there are chunks.
    first: Vec<u32>,
    /// For each source, where its chunks begin; one more than there are sources.
    sources: Vec<usize>,
    units: &'a [std::ops::Range<u32>],
}

impl<'a> Numbering<'a> {
    /// The numbers of the documents of `chunks`, which are those of all sources in order.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if there are more than `u32::MAX` documents.
    pub fn new(
        chunks: &'a [ChunkEntry],
        sources: usize,
        units: &'a [std::ops::Range<u32>],
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

    /// How many documents there are, skipped ones and those of the reference too.
    pub fn documents(&self) -> u64 {
        self.first.last().copied().unwrap_or_default().into()
    }

    /// How many documents stand before the sources from `source` on.
    pub fn documents_before(&self, source: u32) -> u32 {
        let chunk = self.sources.get(source as usize).copied();
        self.first[chunk.unwrap_or(self.chunks.len())]
    }

    /// The number of a chunk's first document and how many it has; `None` if it is not the chunk
    /// that it was at the first reading.
    pub fn first_of(&self, chunk: &Chunk) -> Option<(u32, u32)> {
        let source = chunk.source as usize;
        let (Some(&begin), Some(&end)) = (self.sources.get(source), self.sources.get(source + 1))
        else {
            return None;
        };
        let place = usize::try_from(chunk.start.chunk)
            .ok()
            .and_then(|place| begin.checked_add(place));
        let place = place.filter(|&place| place < end)?;
        let entry = &self.chunks[place];
        let is_same = match &chunk.body {
            Body::Bytes { bytes, .. } => bytes.is_empty() || xxh3_128(bytes) == entry.digest,
            Body::Part { .. } => false,
            #[cfg(feature = "parquet")]
            Body::Rows { .. } => true,
        };
        is_same.then_some((self.first[place], entry.documents))
    }

    /// The units in which any of `wanted` stands, to be read from their start.
    pub fn units_with(&self, wanted: &Bits) -> Vec<Unit> {
        let has_any = |sources: &std::ops::Range<u32>| {
            let (begin, end) = (
                self.documents_before(sources.start),
                self.documents_before(sources.end),
            );
            wanted.any_of(begin, end - begin)
        };
        let units = self.units.iter().filter(|sources| has_any(sources));
        units
            .map(|sources| Unit {
                sources: sources.clone(),
                begin: Position::default(),
            })
            .collect()
    }
}

//! What a search reads, and what it reads with.

use std::ops::Range;

use crate::skeleton::reading_memory::readers;
use crate::workdir::Work;
use simtool_corpus::{Compression, Reading, Source};
use simtool_engine::pipeline::{Pipeline, Unit};
use simtool_engine::units::units;
use simtool_engine::{Progress, Resources};

/// What a search reads, and what it reads with.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// All sources, those to compare with first.
    pub sources: &'a [Source],
    /// How many of them are compared with.
    pub references: usize,
    /// How documents are read.
    pub reading: &'a Reading,
    /// How documents to compare with are read.
    pub reference_reading: &'a Reading,
    /// The work directory.
    pub work: &'a Work,
    /// Threads, memory, temporary space.
    pub resources: &'a Resources,
    /// Notified of progress.
    pub progress: &'a Progress,
}

impl<'a> Inputs<'a> {
    /// The threads that read the sources.
    pub fn pipeline(&self) -> Pipeline<'a> {
        Pipeline {
            sources: self.sources,
            reading: self.reading,
            workers: self.resources.threads,
            readers: readers(self.resources, self.reading.max_document_bytes),
            progress: self.progress,
        }
    }

    /// The threads that read the documents to compare with.
    pub fn reference_pipeline(&self) -> Pipeline<'a> {
        Pipeline {
            reading: self.reference_reading,
            ..self.pipeline()
        }
    }

    /// The documents to compare with, grouped into units.
    pub fn reference_units(&self) -> Vec<Unit> {
        self.units_within(0..self.references as u32)
    }

    /// The documents of the input, grouped into units.
    pub fn own_units(&self) -> Vec<Unit> {
        self.units_within(self.references as u32..self.sources.len() as u32)
    }

    fn units_within(&self, sources: Range<u32>) -> Vec<Unit> {
        let units = units(self.sources).into_iter().filter_map(|unit| {
            let own = unit.start.max(sources.start)..unit.end.min(sources.end);
            (!own.is_empty()).then(|| Unit::whole(own))
        });
        units.collect()
    }
}

/// About the most bytes of the texts of `sources`; those of streams are not known.
pub fn text_bytes(sources: &[Source]) -> u64 {
    let text = sources.iter().map(|source| {
        let bytes = source.bytes.unwrap_or_default();
        match source.compression {
            Compression::None => bytes,
            // Texts compress to a fifth at most.
            Compression::Gzip | Compression::Zstd => bytes.saturating_mul(5),
        }
    });
    text.fold(0, u64::saturating_add)
}

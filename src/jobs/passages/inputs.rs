//! What a search reads, and what it reads with.

use crate::corpus::{Compression, Reading, Source};
use crate::engine::pipeline::Pipeline;
use crate::engine::{Progress, Resources};
use crate::jobs::dedup::{Work, readers};

/// What a search reads, and what it reads with.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// All sources, those to compare with first.
    pub sources: &'a [Source],
    /// How many of them are compared with.
    pub references: usize,
    /// How documents are read.
    pub reading: &'a Reading,
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

    /// About the most bytes of all texts; those of streams are not known.
    pub fn text_bytes(&self) -> u64 {
        let text = self.sources.iter().map(|source| {
            let bytes = source.bytes.unwrap_or_default();
            match source.compression {
                Compression::None => bytes,
                // Texts compress to a fifth at most.
                Compression::Gzip | Compression::Zstd => bytes.saturating_mul(5),
            }
        });
        text.fold(0, u64::saturating_add)
    }
}

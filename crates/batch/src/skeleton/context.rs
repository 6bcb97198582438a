//! The inputs and resources of a run.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::known_documents::KnownDocuments;
use super::settings::{BatchSettings, WrittenDocuments};
use crate::table::stamp::InputStamp;
use crate::workdir::Work;
use simtool_corpus::{Compression, LeftOut, Source};
use simtool_engine::pipeline::Pipeline;
use simtool_engine::units::{Unit, units};
use simtool_engine::{Progress, Resources};

/// The inputs and resources of a run.
#[derive(Clone, Copy)]
pub struct RunContext<'a> {
    /// All sources, those to compare with first. Streams are files by now.
    pub sources: &'a [Source],
    /// How many of them are compared with.
    pub references: u32,
    /// Known documents that are compared with instead, if any.
    pub known: Option<&'a dyn KnownDocuments>,
    /// Files that are not read, for the summary.
    pub left_out: &'a [LeftOut],
    /// The stamps of the sources' files when the run began.
    pub stamps: &'a [InputStamp],
    /// How documents are read and written.
    pub batch: BatchSettings<'a>,
    /// The documents that are written.
    pub written: &'a WrittenDocuments,
    /// For each directory of these with a file for each input, the files below the output directory.
    pub targets: &'a [Vec<PathBuf>],
    /// The output directory.
    pub out: &'a Path,
    /// The work directory.
    pub work: &'a Work,
    /// Threads, memory, temporary space.
    pub resources: &'a Resources,
    /// The threads that read, at most.
    pub readers: usize,
    /// Notified of progress; stops the run.
    pub progress: &'a Progress,
}

impl<'a> RunContext<'a> {
    /// The sources of the input, without those to compare with.
    pub fn own_sources(&self) -> &'a [Source] {
        self.sources
            .get(self.references as usize..)
            .unwrap_or_default()
    }

    /// The threads that read the sources.
    pub fn pipeline(&self) -> Pipeline<'a> {
        let reading = self.batch.reading;
        Pipeline {
            sources: self.sources,
            reading,
            workers: self.resources.threads,
            readers: self.readers,
            progress: self.progress,
        }
    }

    /// The threads that read the documents to compare with.
    pub fn reference_pipeline(&self) -> Pipeline<'a> {
        Pipeline {
            reading: self.batch.reference_reading,
            ..self.pipeline()
        }
    }

    /// The units of the documents to compare with.
    pub fn reference_units(&self) -> Vec<Unit> {
        let pipeline = self.reference_pipeline();
        let groups = self.groups_within(0..self.references).into_iter();
        groups.flat_map(|own| pipeline.sections(own)).collect()
    }

    /// The units of the documents of the input.
    pub fn own_units(&self) -> Vec<Unit> {
        let groups = self.own_groups().into_iter();
        groups
            .flat_map(|own| self.pipeline().sections(own))
            .collect()
    }

    /// The sources of the input, grouped into units of whole ones.
    pub fn own_groups(&self) -> Vec<Range<u32>> {
        self.groups_within(self.references..self.sources.len() as u32)
    }

    fn groups_within(&self, sources: Range<u32>) -> Vec<Range<u32>> {
        let units = units(self.sources).into_iter();
        let units = units.map(|unit| unit.start.max(sources.start)..unit.end.min(sources.end));
        units.filter(|own| !own.is_empty()).collect()
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

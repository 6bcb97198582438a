//! The third reading: writes the inputs without dropped documents, or with a mark on each.
//!
//! Records that could not be read are kept, unless the settings drop them. A file without dropped
//! documents is copied byte for byte, unless duplicates are marked or a compression level applies
//! to it. Other tables are written without damaged rows.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::Result;
use simtool_corpus::{Chunk, Format, Source};
use simtool_engine::pipeline::{Pipeline, Unit};

use super::marks::Marks;
use crate::dedup::first_reading::sketching::RunInputs;
use crate::table::bits::Bits;
use crate::table::document_table::DocumentTable;
use crate::table::numbering::Numbering;
use crate::table::row::Flags;
use crate::table::stamp::{Stamp, changed};
use crate::workdir::{OutputGroup, Outputs, Work};
use crate::write::annotation;
use crate::write::related::{self, OpenRelatedIds, RelatedCounts, RelatedIds};
use crate::write::rewritten::{Changes, Content, Replaced, RewrittenFiles};
use crate::write::settings::DumpSettings;

/// What happens to duplicates in the dump.
#[derive(Clone, Copy)]
pub enum Change<'a> {
    /// They are removed.
    Remove,
    /// They and their kept documents get a mark.
    Mark(&'a Marks<'a>),
}

/// Everything that is needed to write the dump.
pub struct Dump<'a> {
    /// The inputs.
    pub inputs: RunInputs<'a>,
    /// How the inputs are read.
    #[cfg(feature = "parquet")]
    pub reading: &'a simtool_corpus::Reading,
    /// The inputs' files as they were when the run began.
    pub stamps: &'a [Stamp],
    /// The numbers of documents.
    pub numbering: &'a Numbering<'a>,
    /// Their rows and labels.
    pub gathered: &'a DocumentTable,
    /// Documents to remove: duplicates unless they get a mark, and records that could not be read
    /// if the settings drop them.
    pub dropped: &'a Bits,
    /// Creates output files and records them.
    pub outputs: &'a Outputs,
    /// What happens to duplicates.
    pub change: Change<'a>,
    /// How files are written.
    pub settings: DumpSettings,
    /// The output directory.
    pub out: &'a Path,
    /// For each source of the input, its file below the output directory.
    pub targets: &'a [PathBuf],
    /// The work directory, which stores the counts of related records.
    pub work: &'a Work,
    /// The ids of dropped records, for the files that are being written.
    pub related: OpenRelatedIds,
    /// Whether it has the removed documents alone. Then sources without such have no file, and related
    /// records are not counted.
    pub only_removed: bool,
}

impl Dump<'_> {
    /// Writes a file for each source of the input that has none yet; returns how many related
    /// records were dropped, and how many sources have no file.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if a source changed; those of reading and writing.
    pub fn write(&self, units: &[Unit], pipeline: &Pipeline<'_>) -> Result<(RelatedCounts, u64)> {
        let mut group = OutputGroup::new(self.outputs, pipeline.progress);
        let finished = self.files().write(units, pipeline, self, &mut group)?;
        #[cfg(feature = "parquet")]
        self.write_tables(&finished.sources, pipeline.progress, &mut group)?;
        group.publish()?;
        let mut counts = RelatedCounts::default();
        let sources = (0..).zip(self.inputs.sources);
        let sources = sources.skip(self.inputs.references as usize);
        for (number, _) in sources.filter(|(_, source)| source.format == Format::Warc) {
            let own = related::stored(self.work, number)?;
            counts
                .iter_mut()
                .zip(own)
                .for_each(|(sum, own)| *sum += own);
        }
        Ok((counts, finished.unwritten))
    }

    /// The files that are written.
    pub(crate) fn files(&self) -> RewrittenFiles<'_> {
        RewrittenFiles {
            sources: self.inputs.sources,
            references: self.inputs.references,
            stamps: self.stamps,
            targets: self.targets,
            out: self.out,
            outputs: self.outputs,
            settings: self.settings,
        }
    }

    /// The changed records of `chunk`, whose documents are `numbers`: their ranges and
    /// replacements.
    fn changes(
        &self,
        source: &Source,
        chunk: &Chunk,
        numbers: Range<u32>,
    ) -> Result<Vec<Replaced>> {
        let bytes = chunk.bytes();
        // Kept records are searched for earlier marks only if the chunk contains the name of one.
        let has_marks = annotation::may_have_marks(source.format, bytes);
        let marks = match self.change {
            Change::Mark(marks) => Some(marks.of(numbers.clone())?),
            Change::Remove => None,
        };
        let mut changes = Vec::new();
        self.gathered.for_each_row(numbers, |number, row| {
            // Chunks do not contain records that the reader skipped.
            let Some(range) = chunk.range(&row.place) else {
                return Ok(());
            };
            match &marks {
                _ if self.dropped.contains(number) => changes.push((range, None)),
                Some(marks) if !row.flags.has(Flags::SKIPPED) => {
                    let mark = marks.get(number)?;
                    if mark.is_some() || has_marks {
                        let raw = &bytes[range.clone()];
                        let new = annotation::marked(source.format, raw, mark.as_ref());
                        changes.extend(new.map(|new| (range, Some(new))));
                    }
                }
                None | Some(_) => {}
            }
            Ok(())
        })?;
        Ok(changes)
    }

    fn related_ids(&self, number: u32) -> Result<std::sync::Arc<RelatedIds>> {
        let numbers = self.numbering.of_source(number);
        let read = || RelatedIds::read(self.gathered, numbers, self.dropped);
        self.related.of(number, read)
    }
}

impl Changes for Dump<'_> {
    fn is_unchanged(&self, number: u32, _: &Source) -> bool {
        let numbers = self.numbering.of_source(number);
        matches!(self.change, Change::Remove)
            && !self
                .dropped
                .any_of(numbers.start, numbers.end - numbers.start)
    }

    fn content(&self, number: u32, source: &Source) -> Result<Content> {
        let mut numbers = self.numbering.of_source(number);
        let had_none = numbers.is_empty();
        let has_some = numbers.any(|number| !self.dropped.contains(number));
        Ok(match self.only_removed {
            true if !has_some => Content::Nothing,
            true => Content::Documents,
            false => Content::new(has_some || had_none, source),
        })
    }

    fn of_chunk(&self, source: &Source, chunk: &Chunk) -> Result<(Vec<Replaced>, RelatedCounts)> {
        let (first, count) = self
            .numbering
            .first_of(chunk)
            .ok_or_else(|| changed(source))?;
        let mut changes = self.changes(source, chunk, first..first + count)?;
        if source.format != Format::Warc {
            return Ok((changes, RelatedCounts::default()));
        }
        let ids = self.related_ids(chunk.source)?;
        let (related, counts) = ids.find(chunk.bytes());
        changes.extend(related.into_iter().map(|range| (range, None)));
        changes.sort_by_key(|(range, _)| range.start);
        Ok((changes, counts))
    }

    fn end(&self, number: u32, counts: RelatedCounts) -> Result<()> {
        self.related.forget(number);
        match counts == RelatedCounts::default() || self.only_removed {
            true => Ok(()),
            false => related::store(self.work, number, counts),
        }
    }
}

//! Writes the documents of a run: as files like those of the input, or as shards.

use std::borrow::Cow;

use serde_json::Value;

use super::directory::Directory;
use super::edits::Edits;
use super::files;
use super::related::{self, OpenRelatedIds, RelatedCounts};
use super::settings::{DumpSettings, SkippedRecords};
#[cfg(feature = "parquet")]
use super::tables;
use crate::Result;
use crate::shards::ShardStreams;
use crate::skeleton::run_documents::RunDocuments;
use crate::skeleton::settings::REMOVED;
use crate::table::bits::Bits;
use crate::table::row::TableRow;
use crate::workdir::OutputGroup;
use simtool_corpus::{Format, Reading};
use simtool_engine::Stage;

/// The documents that are written.
pub struct Output<'a, R> {
    /// The documents of the run.
    pub documents: RunDocuments<'a, R>,
    /// What changes in those that are not removed.
    pub edits: Edits<'a>,
    /// How documents are read for shards.
    pub reading: &'a Reading,
}

/// What was written, for the summary.
#[derive(Default)]
pub struct WriteReport {
    /// A description of the shards, if there are any.
    pub shards: Option<Value>,
    /// How many inputs have no file, if there are files.
    pub unwritten: Option<u64>,
    /// How many related records are in no file.
    pub related: RelatedCounts,
}

impl<R: TableRow> Output<'_, R> {
    /// Writes the documents without the `removed` ones, and these to a directory of their own, as
    /// [`WrittenDocuments`](crate::skeleton::settings::WrittenDocuments) says. What an interrupted
    /// run completed is not written again.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if a source changed; those of reading and
    /// writing.
    pub fn write(&self, removed: &Bits) -> Result<WriteReport> {
        let run = &self.documents.run;
        let mut written = WriteReport::default();
        if !run.written.streams.is_empty() {
            let streams = ShardStreams {
                documents: self.documents,
                edits: self.edits,
                reading: self.reading,
            };
            written.shards = Some(self.stage(|| streams.write(removed))?);
        }
        for (name, targets) in run.written.files.iter().zip(run.targets) {
            let only_removed = *name == REMOVED;
            let dropped = match only_removed {
                true => Cow::Owned(self.others(removed)),
                false => self.not_written(removed)?,
            };
            let skipped = match only_removed {
                true => SkippedRecords::Drop,
                false => run.batch.dump.skipped,
            };
            let unwritten = self.write_directory(Directory {
                documents: self.documents,
                dropped: &dropped,
                edits: if only_removed {
                    Edits::None
                } else {
                    self.edits
                },
                settings: DumpSettings {
                    skipped,
                    ..run.batch.dump
                },
                targets,
                only_removed,
                related: OpenRelatedIds::default(),
            })?;
            if !only_removed {
                written.unwritten = Some(unwritten);
                written.related = self.related()?;
            }
        }
        Ok(written)
    }

    /// The documents that are not removed, and the records that could not be read.
    fn others(&self, removed: &Bits) -> Bits {
        let all = self.documents.numbering.documents();
        let mut others = Bits::none_of(all);
        let numbers = (0..all as u32).filter(|&number| !removed.contains(number));
        numbers.for_each(|number| others.insert(number));
        others
    }

    /// The removed documents, none if they get a mark instead, and the records that could not be
    /// read if the settings drop them.
    fn not_written<'b>(&self, removed: &'b Bits) -> Result<Cow<'b, Bits>> {
        let run = &self.documents.run;
        let all = self.documents.numbering.documents();
        let mut dropped = match run.written.marks {
            true => Cow::Owned(Bits::none_of(all)),
            false => Cow::Borrowed(removed),
        };
        if run.batch.dump.drops_skipped() {
            let dropped = dropped.to_mut();
            self.documents
                .table
                .for_each_row(0..all as u32, |number, row| {
                    if number.is_multiple_of(8192) {
                        run.progress.check()?;
                    }
                    if row.is_skipped() {
                        dropped.insert(number);
                    }
                    Ok(())
                })?;
        }
        Ok(dropped)
    }

    /// Writes the files of a directory; returns how many inputs have none.
    fn write_directory(&self, directory: Directory<'_, R>) -> Result<u64> {
        let run = &self.documents.run;
        self.stage(|| {
            let group = OutputGroup::new(run.work.outputs(), run.progress);
            let finished = files::write(&directory, &group)?;
            #[cfg(feature = "parquet")]
            tables::write(&directory, &finished.sources, &group)?;
            group.publish()?;
            Ok(finished.unwritten)
        })
    }

    /// How many related records are in no file.
    fn related(&self) -> Result<RelatedCounts> {
        let mut counts = RelatedCounts::default();
        let sources = self.documents.own_sources();
        for (number, _) in sources.filter(|(_, source)| source.format == Format::Warc) {
            let own = related::stored(self.documents.run.work, number)?;
            counts
                .iter_mut()
                .zip(own)
                .for_each(|(sum, own)| *sum += own);
        }
        Ok(counts)
    }

    /// Runs the stage of writing.
    fn stage<T>(&self, write: impl FnOnce() -> Result<T>) -> Result<T> {
        let run = &self.documents.run;
        let own = run.own_sources().iter();
        let total = own.filter_map(|source| source.bytes).sum();
        run.progress.begin(Stage::Write, total);
        let written = write()?;
        run.progress.end(total);
        Ok(written)
    }
}

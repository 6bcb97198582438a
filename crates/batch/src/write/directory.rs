//! A directory with a file for each input that has documents which are written.

use std::path::{Path, PathBuf};

use super::edits::Edits;
use super::related::{self, OpenRelatedIds, RelatedCounts};
use super::settings::DumpSettings;
use super::{copying, targets};
use crate::skeleton::run_documents::RunDocuments;
use crate::table::bits::Bits;
use crate::table::row::TableRow;
use crate::workdir::OutputGroup;
use crate::{Error, ErrorKind, Result};
use simtool_corpus::{Format, Source};
use simtool_files::AtomicFile;

/// The files of a directory, and what is in them.
pub struct Directory<'a, R> {
    /// The documents of the run.
    pub documents: RunDocuments<'a, R>,
    /// Those that are not written, among them the records that could not be read if the settings
    /// drop them.
    pub dropped: &'a Bits,
    /// What changes in the others.
    pub edits: Edits<'a>,
    /// How files are written.
    pub settings: DumpSettings,
    /// For each source of the input, its file below the output directory.
    pub targets: &'a [PathBuf],
    /// Whether it has the removed documents alone. Then sources without such have no file, and
    /// related records are not counted.
    pub only_removed: bool,
    /// The ids of dropped records, for the files that are being written.
    pub related: OpenRelatedIds,
}

/// What of a source is in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Documents; or the source has none.
    Documents,
    /// No document, but possibly other records.
    OtherRecords,
    /// Nothing.
    Nothing,
}

impl<R: TableRow> Directory<'_, R> {
    /// Whether the file of a source has all its documents as they are.
    pub fn is_unchanged(&self, number: u32) -> bool {
        let numbers = self.documents.numbering.of_source(number);
        let has_edits = match self.edits {
            Edits::None => false,
            Edits::Marks(_) => true,
            // If it is not known, the texts are read one by one.
            Edits::Texts(texts) => texts.has_any_of(numbers.clone()).unwrap_or(true),
        };
        let count = numbers.end - numbers.start;
        !has_edits && !self.dropped.any_of(numbers.start, count)
    }

    /// What of a source is in its file.
    pub fn content(&self, number: u32, source: &Source) -> Content {
        let mut numbers = self.documents.numbering.of_source(number);
        let had_none = numbers.is_empty();
        let has_some = numbers.any(|number| !self.dropped.contains(number));
        match source.format {
            _ if self.settings.empty_files || has_some => Content::Documents,
            _ if self.only_removed => Content::Nothing,
            _ if had_none => Content::Documents,
            Format::Warc => Content::OtherRecords,
            _ => Content::Nothing,
        }
    }

    /// Copies the file of a source.
    ///
    /// # Errors
    /// Errors of [`copying::copy`] and of [`OutputGroup::add`].
    pub fn copy(&self, number: u32, source: &Source, group: &OutputGroup<'_>) -> Result<()> {
        let run = &self.documents.run;
        let stamp = run.stamps.get(number as usize);
        let output = self.create(number)?;
        group.add(copying::copy(source, stamp, output, run.progress)?)
    }

    /// The output of a source, for a group.
    ///
    /// # Errors
    /// Errors of [`target`](Self::target).
    pub fn create(&self, source: u32) -> Result<AtomicFile> {
        let outputs = self.documents.run.work.outputs();
        Ok(outputs.create_later(&self.target(source)?))
    }

    /// The output file of a source; refuses links.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn target(&self, source: u32) -> Result<PathBuf> {
        let out: &Path = self.documents.run.out;
        let place = source.checked_sub(self.documents.run.references);
        let name = place.and_then(|place| self.targets.get(place as usize));
        let name = name.ok_or_else(|| {
            Error::new(ErrorKind::Content, format!("no target of source {source}"))
        })?;
        targets::check(out, std::slice::from_ref(name))?;
        Ok(out.join(name))
    }

    /// Notes the number of related records of a source, before its file is published.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn end(&self, number: u32, counts: RelatedCounts) -> Result<()> {
        self.related.forget(number);
        match counts == RelatedCounts::default() || self.only_removed {
            true => Ok(()),
            false => related::store(self.documents.run.work, number, counts),
        }
    }
}

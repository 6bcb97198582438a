//! The dump of tables. It copies all columns; chunks have only the requested ones.

use std::collections::HashSet;
use std::ops::Range;

use crate::{Error, ErrorKind, Result};
use simtool_corpus::parquet::{Annotation, Table, copy_annotated, copy_kept};
use simtool_corpus::{Format, Reason, Source};
use simtool_engine::Progress;
use simtool_files::AtomicFile;

use super::files::{Change, Dump};
use crate::table::document_table::DocumentTable;
use crate::table::row::{Flags, Row};
use crate::workdir::OutputGroup;
use crate::write::annotation::Mark;

/// Documents whose marks are read at a time.
const MARKS: u32 = 1024;

fn annotation(mark: Mark) -> Annotation {
    Annotation {
        duplicate_of: mark
            .duplicate_of
            .map(|id| String::from_utf8_lossy(&id).into_owned()),
        cluster: Some(mark.cluster.into()),
        cluster_size: Some(mark.cluster_size.into()),
        similarity: mark.similarity,
    }
}

/// The documents of a table, in order.
pub struct TableDocuments<'a> {
    gathered: &'a DocumentTable,
    next: u32,
    end: u32,
    /// The last document that was read.
    last: Option<TableDocument>,
}

/// A document of a table.
#[derive(Clone, Copy)]
pub struct TableDocument {
    row: Row,
    /// Whether it represents rows that the first reading could not read.
    pub is_lost: bool,
}

impl TableDocuments<'_> {
    /// The documents with these numbers.
    pub fn new(gathered: &DocumentTable, numbers: Range<u32>) -> TableDocuments<'_> {
        TableDocuments {
            gathered,
            next: numbers.start,
            end: numbers.end,
            last: None,
        }
    }

    /// The number of the document in `row`, or of the lost rows that include it, if any. Rows have
    /// to be requested in order.
    ///
    /// # Errors
    /// [`ErrorKind::Read`].
    pub fn at(&mut self, row: u64) -> Result<Option<(u32, TableDocument)>> {
        while self.next < self.end {
            let found = match self.last {
                Some(found) => found,
                None => self.read(self.next)?,
            };
            let place = found.row.place;
            if place.offset > row {
                self.last = Some(found);
                return Ok(None);
            }
            if row - place.offset < place.length {
                self.last = Some(found);
                return Ok(Some((self.next, found)));
            }
            self.next += 1;
            self.last = None;
        }
        Ok(None)
    }

    fn read(&self, number: u32) -> Result<TableDocument> {
        let row = self.gathered.rows.get(number.into())?;
        // Other skipped rows can be read, except for their texts.
        let is_lost = row.flags.has(Flags::SKIPPED)
            && self.gathered.label(&row)?.reason == Reason::Damaged.name().as_bytes();
        Ok(TableDocument { row, is_lost })
    }
}

impl Dump<'_> {
    /// Writes a table for each source that is a table and not `finished`. One whose rows cannot be
    /// located is copied byte for byte, or left out if the settings drop skipped records.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if a kept row cannot be copied; those of reading and writing;
    /// [`ErrorKind::Interrupted`].
    pub(crate) fn write_tables(
        &self,
        finished: &HashSet<u32>,
        progress: &Progress,
        group: &mut OutputGroup<'_>,
    ) -> Result<()> {
        let sources = (0..).zip(self.inputs.sources);
        for (number, source) in sources.skip(self.inputs.references as usize) {
            if source.format != Format::Parquet || finished.contains(&number) {
                continue;
            }
            match Table::open(source.file(), self.reading)? {
                Ok(_) => group.add(self.write_table(number, source, progress)?)?,
                Err(_) if self.settings.drops_skipped() => {}
                Err(_) => {
                    self.files().copy(number, source, progress, group)?;
                    continue;
                }
            }
            progress.advance(source.bytes.unwrap_or_default());
        }
        Ok(())
    }

    /// The file of a table, not published yet.
    fn write_table(&self, number: u32, source: &Source, progress: &Progress) -> Result<AtomicFile> {
        let numbers = self.numbering.of_source(number);
        let mut documents = TableDocuments::new(self.gathered, numbers.clone());
        // Kept documents that could be read and are not copied yet.
        let mut missing = 0u64;
        self.gathered.for_each_row(numbers, |number, row| {
            missing += u64::from(self.is_copied_row(number, row));
            Ok(())
        })?;
        let stay = missing;
        // Batches of this reading end elsewhere, so it may find rows that the first reading lost.
        // They were not compared and are left out.
        let mut kept_in = |row: u64| {
            if row.is_multiple_of(1024) {
                progress.check()?;
            }
            let Some((number, found)) = documents.at(row)? else {
                return Ok(None);
            };
            missing = missing.saturating_sub(self.is_copied_row(number, &found.row).into());
            let goes = found.is_lost || self.dropped.contains(number);
            Ok((!goes).then_some(number))
        };
        let mut file = self.files().create(number)?;
        match self.change {
            Change::Remove => copy_kept(source.file(), &mut file, &mut |row| {
                Ok(kept_in(row)?.is_some())
            })?,
            Change::Mark(marks) => {
                let mut numbers = 0..0;
                let mut some = marks.of(numbers.clone())?;
                copy_annotated(source.file(), &mut file, &mut |row| {
                    let Some(document) = kept_in(row)? else {
                        return Ok(None);
                    };
                    if !numbers.contains(&document) {
                        numbers = document..document.saturating_add(MARKS);
                        some = marks.of(numbers.clone())?;
                    }
                    Ok(Some(
                        some.get(document)?
                            .map_or_else(Annotation::default, annotation),
                    ))
                })?
            }
        };
        if missing > 0 {
            let message = format!(
                "{missing} of {stay} rows that stay cannot be copied: a column that is not needed \
                 to compare them is damaged (choose --write ids)",
            );
            return Err(Error::new(ErrorKind::Content, message).in_file(&source.path));
        }
        Ok(file)
    }

    /// Whether a document that could be read has to be copied.
    fn is_copied_row(&self, number: u32, row: &Row) -> bool {
        !self.dropped.contains(number) && !row.flags.has(Flags::SKIPPED)
    }
}

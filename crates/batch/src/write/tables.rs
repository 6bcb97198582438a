//! Parquet files with their documents that are written. They have all columns; chunks have only the
//! requested ones.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::Range;

use super::annotation::Mark;
use super::background::with_background;
use super::directory::Directory;
use super::edits::Edits;
use crate::shards::row_groups;
use crate::skeleton::reading_memory::spare_bytes;
use crate::skeleton::settings::WrittenDocuments;
use crate::table::document_table::{DocumentCursor, DocumentTable};
use crate::table::row::TableRow;
use crate::workdir::OutputGroup;
use crate::{Error, ErrorKind, Result};
use simtool_corpus::parquet::{Annotation, Table, copy_annotated, copy_kept};
use simtool_corpus::{Format, Reason, Source};
use simtool_files::AtomicFile;

/// Documents whose marks are read at a time.
const MARKS: u32 = 1024;

/// Writes a table for each source that is a table and not `finished`, the largest first. One whose
/// rows cannot be located is copied byte for byte, or left out if the settings drop skipped records.
///
/// # Errors
/// [`ErrorKind::Content`] if a kept row cannot be copied; those of reading and writing;
/// [`ErrorKind::Interrupted`].
pub fn write<R: TableRow>(
    directory: &Directory<'_, R>,
    finished: &HashSet<u32>,
    group: &OutputGroup<'_>,
) -> Result<()> {
    let run = &directory.documents.run;
    let sources = directory.documents.own_sources();
    let mut tables: Vec<_> = sources
        .filter(|(number, source)| source.format == Format::Parquet && !finished.contains(number))
        .collect();
    tables.sort_by_key(|(_, source)| Reverse(source.bytes));
    let write = |number, source: &Source| {
        match Table::open(source.file(), run.batch.reading)? {
            Ok(_) => group.add(write_table(directory, number, source)?)?,
            Err(_) if directory.settings.drops_skipped() => {}
            Err(_) => return directory.copy(number, source, group),
        }
        run.progress.advance(source.bytes.unwrap_or_default());
        Ok(())
    };
    let spare = spare_bytes(run.resources, run.batch.reading.max_document_bytes);
    let parallel = row_groups(spare, 1, run.resources.threads);
    with_background(parallel as u64, |background| {
        let mut tables = tables.into_iter();
        tables.try_for_each(|(number, source)| background.run(1, move || write(number, source)))
    })
}

/// The file of a table, not published yet.
fn write_table<R: TableRow>(
    directory: &Directory<'_, R>,
    number: u32,
    source: &Source,
) -> Result<AtomicFile> {
    let documents = &directory.documents;
    let numbers = documents.numbering.of_source(number);
    let is_copied = |number: u32, row: &R| !directory.dropped.contains(number) && !row.is_skipped();
    // Kept documents that could be read and are not copied yet.
    let mut missing = 0u64;
    documents
        .table
        .for_each_row(numbers.clone(), |number, row| {
            missing += u64::from(is_copied(number, row));
            Ok(())
        })?;
    let kept = missing;
    // Batches of this reading end elsewhere, so it may find rows that the first reading lost.
    // They were not compared and are left out.
    let mut rows = TableDocuments::new(documents.table, numbers);
    let mut kept_in = |row: u64| {
        if row.is_multiple_of(1024) {
            documents.run.progress.check()?;
        }
        let Some((number, found)) = rows.at(row)? else {
            return Ok(None);
        };
        missing = missing.saturating_sub(is_copied(number, &found.row).into());
        let is_dropped = found.is_lost || directory.dropped.contains(number);
        Ok((!is_dropped).then_some(number))
    };
    let mut file = directory.create(number)?;
    match directory.edits {
        Edits::None | Edits::Texts(_) => copy_kept(source.file(), &mut file, &mut |row| {
            Ok(kept_in(row)?.is_some())
        })?,
        Edits::Marks(marks) => {
            let (mut first, mut some) = (0, Vec::new());
            copy_annotated(source.file(), &mut file, &mut |row| {
                let Some(number) = kept_in(row)? else {
                    return Ok(None);
                };
                if number < first || number - first >= some.len() as u32 {
                    first = number;
                    some = marks.of(first..first.saturating_add(MARKS))?;
                }
                let mark = some.get_mut((number - first) as usize);
                let mark = mark.and_then(Option::take).map(annotation);
                Ok(Some(mark.unwrap_or_default()))
            })?
        }
    };
    match missing {
        0 => Ok(file),
        _ => Err(not_copied(missing, kept, documents.run.written, source)),
    }
}

/// The error of kept rows of `source` that cannot be copied.
pub fn not_copied(missing: u64, kept: u64, written: &WrittenDocuments, source: &Source) -> Error {
    let message = format!(
        "{missing} of {kept} kept rows cannot be copied: a column that is not needed to compare \
         them is damaged ({})",
        written.advice,
    );
    Error::new(ErrorKind::Content, message).in_file(&source.path)
}

fn annotation(mark: Mark) -> Annotation {
    Annotation {
        duplicate_of: mark
            .duplicate_of
            .map(|id| String::from_utf8_lossy(&id).into_owned()),
        cluster: Some(mark.cluster.into()),
        cluster_size: Some(mark.counts.size.into()),
        cluster_sources: Some(mark.counts.sources.into()),
        cluster_sites: Some(mark.counts.sites.into()),
        similarity: mark.similarity,
    }
}

/// The documents of a table, in order.
struct TableDocuments<'a, R> {
    cursor: DocumentCursor<'a, R>,
    next: u32,
    end: u32,
    /// The last document that was read.
    last: Option<TableDocument<R>>,
}

/// A document of a table.
#[derive(Clone, Copy)]
struct TableDocument<R> {
    row: R,
    /// Whether it represents rows that the first reading could not read.
    is_lost: bool,
}

impl<R: TableRow> TableDocuments<'_, R> {
    /// The documents with these numbers.
    fn new(table: &DocumentTable<R>, numbers: Range<u32>) -> TableDocuments<'_, R> {
        TableDocuments {
            cursor: table.cursor(),
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
    fn at(&mut self, row: u64) -> Result<Option<(u32, TableDocument<R>)>> {
        while self.next < self.end {
            let found = match self.last {
                Some(found) => found,
                None => self.read(self.next)?,
            };
            let place = found.row.place();
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

    fn read(&mut self, number: u32) -> Result<TableDocument<R>> {
        let row = self.cursor.row(number)?;
        // Other skipped rows can be read, except for their texts.
        let is_lost = row.is_skipped()
            && self.cursor.label(&row)?.reason == Reason::Damaged.name().as_bytes();
        Ok(TableDocument { row, is_lost })
    }
}

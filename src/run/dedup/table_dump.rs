//! The dump of tables: each is copied with all its columns, which its chunks do not have.

use std::path::Path;

use crate::corpus::parquet::{Table, copy_annotated, copy_kept};
use crate::corpus::{Format, Source};
use crate::run::Progress;
use crate::{Error, ErrorKind, Result};

use super::dump::{Change, Dump};
use super::gathered::Gathered;

/// The documents of a table, in order.
struct Documents<'a> {
    gathered: &'a Gathered,
    next: u32,
    end: u32,
}

impl Documents<'_> {
    /// The document that stands in `row`, if there is one; rows are asked for in order.
    fn at(&mut self, row: u64) -> Result<Option<u32>> {
        while self.next < self.end {
            let place = self.gathered.rows.get(self.next.into())?.place;
            if place.offset >= row {
                return Ok((place.offset == row).then_some(self.next));
            }
            self.next += 1;
        }
        Ok(None)
    }
}

impl Dump<'_> {
    /// Writes a table for each of the sources that are one. One whose rows cannot be found at all
    /// is left out. In marked tables, rows without a text stay.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if a row that stays cannot be copied, or if there is no place for
    /// the mark; those of reading and writing; [`ErrorKind::Interrupted`].
    pub(super) fn write_tables(&self, progress: &Progress, directory: &Path) -> Result<()> {
        let sources = (0..).zip(self.inputs.sources);
        for (number, source) in sources.skip(self.inputs.references as usize) {
            let is_table = source.format == Format::Parquet;
            if is_table && self.is_written(source, directory, progress) {
                continue;
            }
            if is_table && Table::open(source.file(), self.reading)?.is_ok() {
                self.write_table(number, source, progress, directory)?;
            }
            if is_table {
                progress.advance(source.bytes.unwrap_or_default());
            }
        }
        Ok(())
    }

    fn write_table(
        &self,
        number: u32,
        source: &Source,
        progress: &Progress,
        directory: &Path,
    ) -> Result<()> {
        let (next, end) = (
            self.numbering.documents_before(number),
            self.numbering.documents_before(number + 1),
        );
        let mut documents = Documents {
            gathered: self.gathered,
            next,
            end,
        };
        let mut document_in = |row: u64| {
            if row.is_multiple_of(1024) {
                progress.check()?;
            }
            documents.at(row)
        };
        let mut file = self.outputs.create(&self.target(number, directory)?)?;
        match self.change {
            Change::Leave => {
                let stay = (next..end).filter(|&document| !self.dropped.contains(document));
                let stay = stay.count() as u64;
                let written = copy_kept(source.file(), &mut file, &mut |row| {
                    let document = document_in(row)?;
                    Ok(document.is_some_and(|document| !self.dropped.contains(document)))
                })?;
                if written != stay {
                    let message = format!(
                        "{} of {stay} rows that stay cannot be copied: a column that is not needed \
                         to compare them is damaged (choose --write ids)",
                        stay.saturating_sub(written),
                    );
                    return Err(Error::new(ErrorKind::Content, message).in_file(&source.path));
                }
            }
            Change::Mark(kept) => {
                copy_annotated(source.file(), &mut file, &mut |row| {
                    let Some(document) = document_in(row)? else {
                        return Ok(None);
                    };
                    let id = self.kept_id(kept, document)?;
                    Ok(id.map(|id| String::from_utf8_lossy(&id).into_owned()))
                })?;
            }
        }
        file.publish()
    }
}

//! Parquet files without the rows that the action drops.

use std::collections::HashSet;

use super::rewriting::Rewriting;
use super::search::Search;
use crate::workdir::OutputGroup;
use crate::{Error, ErrorKind, Result};
use simtool_corpus::parquet::{Table, copy_kept};
use simtool_corpus::{Format, Source};
use simtool_engine::pipeline::Pipeline;
use simtool_files::{AtomicFile, RecordCursor};

/// Writes a table for each source that is one and is not `finished`. One whose rows cannot be
/// located is copied byte for byte, or left out if the settings drop skipped records.
///
/// # Errors
/// [`ErrorKind::Content`] if a row that stays cannot be copied; those of reading and writing;
/// [`ErrorKind::Interrupted`].
pub fn write<S: Search>(
    rewriting: &Rewriting<'_, S>,
    finished: &HashSet<u32>,
    pipeline: &Pipeline<'_>,
    group: &mut OutputGroup<'_>,
) -> Result<()> {
    let files = &rewriting.files;
    let sources = (0..).zip(files.sources).skip(files.references as usize);
    for (number, source) in sources {
        if source.format != Format::Parquet || finished.contains(&number) {
            continue;
        }
        match Table::open(source.file(), rewriting.search.common().reading)? {
            Ok(_) => group.add(write_table(rewriting, number, source, pipeline)?)?,
            Err(_) if files.settings.drops_skipped() => {}
            Err(_) => {
                files.copy(number, source, pipeline.progress, group)?;
                continue;
            }
        }
        pipeline.progress.advance(source.bytes.unwrap_or_default());
    }
    Ok(())
}

/// The file of a table, not published yet.
fn write_table<S: Search>(
    rewriting: &Rewriting<'_, S>,
    number: u32,
    source: &Source,
    pipeline: &Pipeline<'_>,
) -> Result<AtomicFile> {
    let numbers = rewriting.numbering.of_source(number);
    let mut rows = RecordCursor::new(&rewriting.table.rows);
    let mut stay = 0u64;
    for number in numbers.clone() {
        let is_skipped = rows.get(number.into())?.is_skipped();
        stay += u64::from(!is_skipped && !rewriting.goes(number, false));
    }
    let mut missing = stay;
    let mut rows = RecordCursor::new(&rewriting.table.rows);
    let mut next = numbers.start;
    let mut stays = |row: u64| {
        if row.is_multiple_of(1024) {
            pipeline.progress.check()?;
        }
        while next < numbers.end {
            let found = rows.get(next.into())?;
            if found.place.offset > row {
                break;
            }
            if row - found.place.offset < found.place.length {
                let is_skipped = found.is_skipped();
                let goes = rewriting.goes(next, is_skipped);
                missing -= u64::from(!goes && !is_skipped && missing > 0);
                return Ok(!goes);
            }
            next += 1;
        }
        Ok(false)
    };
    let mut file = rewriting.files.create(number)?;
    copy_kept(source.file(), &mut file, &mut stays)?;
    if missing > 0 {
        let message = format!(
            "{missing} of {stay} rows that stay cannot be copied: a column that is not needed to \
             find repeated {} is damaged (choose --action mark)",
            S::NAMES.noun[1],
        );
        return Err(Error::new(ErrorKind::Content, message).in_file(&source.path));
    }
    Ok(file)
}

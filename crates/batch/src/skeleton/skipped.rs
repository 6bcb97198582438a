//! `skipped.jsonl`: the records that could not be read.

use std::path::Path;

use crate::Result;
use crate::table::document_table::DocumentTable;
use crate::table::row::TableRow;
use crate::workdir::Outputs;
use simtool_corpus::Source;
use simtool_engine::Progress;
use simtool_engine::documents::name_of;
use simtool_report::json_lines::{self, At};

/// The report of the records that could not be read, which every job writes after the lists of
/// documents.
pub const SKIPPED: &str = "skipped.jsonl";
/// Rows that are read at a time.
const BLOCK: usize = 4096;

/// Writes the lines of the records of `table` that could not be read, in input order.
///
/// # Errors
/// Errors of reading and writing; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
pub fn write_skipped<R: TableRow>(
    table: &DocumentTable<R>,
    sources: &[Source],
    (outputs, path): (&Outputs, &Path),
    progress: &Progress,
) -> Result<()> {
    let mut file = outputs.create(path)?;
    let mut cursor = table.cursor();
    table.rows.for_each_block(BLOCK, |_, rows| {
        progress.check()?;
        for row in rows.iter().filter(|row| row.is_skipped()) {
            let label = cursor.label(row)?;
            let name = name_of(sources, row.place())?;
            let skipped = json_lines::Skipped {
                id: &label.id,
                at: At::new(&name, row.place()),
                reason: &label.reason,
                detail: &label.detail,
            };
            json_lines::skipped(&skipped, &mut file).map_err(|cause| file.error(cause))?;
        }
        Ok(())
    })?;
    file.publish()
}

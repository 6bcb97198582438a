//! The rows of tables that are written.

use arrow_array::RecordBatch;

use crate::Result;
use crate::table::document_table::DocumentTable;
use crate::table::row::TableRow;
use crate::table::rows::RowCursor;
use crate::table::stamp::changed;
use crate::write::edits::Edits;
use simtool_corpus::parquet::with_texts;
use simtool_corpus::{Body, Chunk, Position};
use simtool_engine::documents::{DocumentReader, source_of};
use simtool_engine::pipeline::Pipeline;

/// Finds the wanted documents of a table by their rows.
pub struct WantedRows<'a, R, N> {
    rows: RowCursor<'a, R>,
    /// The numbers of the wanted documents that were not found yet, in order.
    numbers: N,
    /// The next one of them, and its row.
    next: Option<(u32, u64)>,
}

impl<'a, R: TableRow, N: Iterator<Item = u32>> WantedRows<'a, R, N> {
    /// Finds the documents `numbers`, which are in order.
    pub fn new(table: &'a DocumentTable<R>, numbers: N) -> WantedRows<'a, R, N> {
        WantedRows {
            rows: RowCursor::new(&table.rows),
            numbers,
            next: None,
        }
    }

    /// The number of the document in `row`, if it is wanted. Rows have to be requested in order.
    ///
    /// # Errors
    /// [`ErrorKind::Read`](crate::ErrorKind::Read).
    pub fn at(&mut self, row: u64) -> Result<Option<u32>> {
        loop {
            let Some((number, found)) = self.next else {
                let Some(number) = self.numbers.next() else {
                    return Ok(None);
                };
                self.next = Some((number, self.rows.get(number.into())?.place().offset));
                continue;
            };
            if found > row {
                return Ok(None);
            }
            self.next = None;
            if found == row {
                return Ok(Some(number));
            }
        }
    }
}

/// Rows of the table with the number `source`, whose documents are `numbers`, with the new texts of
/// those that get one.
///
/// # Errors
/// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if a text is not as it was; those of
/// [`with_texts`].
pub fn with_new_texts(
    pipeline: &Pipeline<'_>,
    edits: Edits<'_>,
    source: u32,
    batch: RecordBatch,
    numbers: &[u32],
) -> Result<RecordBatch> {
    let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else {
        return Ok(batch);
    };
    let Some(texts) = edits.texts_of(*first..last.saturating_add(1))? else {
        return Ok(batch);
    };
    let number_of = |row: u32| numbers.get(row as usize).copied();
    let has = |row| number_of(row).is_some_and(|number| texts.has(number));
    if !(0..numbers.len() as u32).any(has) {
        return Ok(batch);
    }
    let chunk = Chunk {
        source,
        start: Position::default(),
        end: Position::default(),
        body: Body::Rows {
            first_row: 0,
            batch: batch.clone(),
            memory_bytes: 0,
        },
        skipped: Vec::new(),
    };
    let source = source_of(pipeline.sources, source)?;
    let mut new: Vec<Option<Vec<u8>>> = numbers.iter().map(|_| None).collect();
    let mut reader = DocumentReader::new(pipeline.sources, pipeline.reading);
    reader
        .documents(&chunk)?
        .for_each_wanted(has, |row, found| {
            let document = found.map_err(|_| changed(source))?;
            if let (Some(number), Some(new)) = (number_of(row), new.get_mut(row as usize)) {
                *new = Some(texts.of(number, source, document.text)?);
            }
            Ok(())
        })?;
    let field = &pipeline.reading.text_field;
    with_texts(&batch, field, &new).map_err(|error| error.in_file(&source.path))
}

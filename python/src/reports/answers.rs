//! The answers of an index about rows, as a table.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{RecordBatch, UInt64Array};
use pyo3::prelude::*;
use simtool::report::columns::Kind::{Decimal, Flag, Text, Whole};
use simtool::report::report_batches::RowObject::{Field, Row};
use simtool::report::report_batches::{ReportBatches, ReportTable, TablePart};
use simtool::{Error, ErrorKind, Result};

use crate::error::exception;
use crate::tables::table::Table;

/// The answers in `lines`: for each answered row its number, id, verdict, whether it was added, and the
/// first match. `skipped` are the lines of skipped rows.
#[pyfunction]
pub fn read_answers(lines: &[u8], skipped: &[u8]) -> PyResult<Table> {
    answers(lines, skipped).map_err(|error| exception(&error))
}

fn answers(lines: &[u8], skipped: &[u8]) -> Result<Table> {
    let batches = |lines, parts| {
        ReportBatches::new(
            lines,
            ReportTable { list: None, parts },
            Path::new("answers"),
        )
    };
    let start = TablePart::new(Row, &[("start", Whole)]).named(|_| "row".to_owned());
    let of_row = [("id", Text), ("verdict", Text), ("added", Flag)];
    let of_match = [
        ("id", Text),
        ("distance", Whole),
        ("estimate", Decimal),
        ("similarity", Decimal),
        ("payload", Text),
    ];
    let of_match = TablePart::new(Field("matches"), &of_match).named(|field| match field {
        "id" => "match".to_owned(),
        field => field.to_owned(),
    });
    let parts = vec![
        start.clone(),
        TablePart::new(Row, &of_row),
        of_match,
        TablePart::new(Row, &[("matches", Whole)]),
    ];
    // Every row is in one of the lists, and both are in the order of the rows.
    let skipped: Vec<RecordBatch> = batches(skipped, vec![start]).collect::<Result<_>>()?;
    let places = skipped.iter().flat_map(starts);
    let (mut skipped, mut next) = (places.peekable(), 0);
    let found = batches(lines, parts);
    let schema = found.schema();
    let found = found.map(|batch| {
        let batch = batch?;
        let rows = starts(&batch).map(|start| {
            while skipped.next_if(|place| *place < start).is_some() {
                next += 1;
            }
            next += 1;
            next - 1
        });
        let rows = UInt64Array::from_iter_values(rows);
        let mut columns = batch.columns().to_vec();
        columns[0] = Arc::new(rows);
        RecordBatch::try_new(batch.schema(), columns)
            .map_err(|error| Error::new(ErrorKind::Content, error.to_string()))
    });
    let batches = found.collect::<Result<_>>()?;
    Ok(Table { schema, batches })
}

/// Where rows start, from the first column.
fn starts(batch: &RecordBatch) -> impl Iterator<Item = u64> + '_ {
    batch
        .column(0)
        .as_primitive::<UInt64Type>()
        .values()
        .iter()
        .copied()
}

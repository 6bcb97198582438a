//! Reports about rows: which rows they are about, and their columns.

pub(super) mod answers;
pub(super) mod passages;
pub(super) mod result;
mod state;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, LargeStringArray, RecordBatch, UInt64Array,
};
use arrow_schema::{Field, Schema};
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter_record_batch;
use pyo3::prelude::*;
use simtool::jobs::report_batches;
use simtool::{Error, ErrorKind, Result};

use crate::error::exception;
use crate::tables::ids::{Document, RowIds, rows_of};
use crate::tables::import::arrow;
use crate::tables::table::Table;

/// A report about rows of data, as a table.
#[derive(Clone)]
pub struct RowReport {
    /// The columns of the table, in order.
    names: Vec<String>,
    /// The columns of documents, by the names of those with their ids.
    documents: Vec<(String, Vec<Document>)>,
    /// The other columns of the report.
    columns: RecordBatch,
}

impl RowReport {
    /// Reads a report of `command` in `out` about rows in the file `data`, for a table with the columns
    /// `names`. Of a document, `NAME` and `NAME_row` are its id and its row; of `id`, `row`.
    ///
    /// # Errors
    /// Errors of reading; [`ErrorKind::Content`] if a row has no number.
    pub fn read(
        (out, command, report): (&Path, &str, &str),
        data: &str,
        names: &[&str],
    ) -> Result<RowReport> {
        let batches = report_batches(out, command, report)?;
        let schema = batches.schema();
        let is_document = |name: &str| schema.index_of(&about(name, "file")).is_ok();
        let (ids, others): (Vec<&str>, Vec<&str>) =
            names.iter().copied().partition(|name| is_document(name));
        let others: Vec<usize> = others
            .into_iter()
            .filter_map(|name| schema.index_of(name).ok())
            .collect();
        let mut documents: Vec<(String, Vec<Document>)> = ids
            .into_iter()
            .map(|name| (name.to_owned(), Vec::new()))
            .collect();
        let mut parts = Vec::new();
        for batch in batches {
            let batch = batch?;
            for (name, found) in &mut documents {
                add_documents(&batch, name, data, found)?;
            }
            parts.push(batch.project(&others).map_err(unusable)?);
        }
        let schema = Arc::new(schema.project(&others).map_err(unusable)?);
        Ok(RowReport {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            documents,
            columns: concat_batches(&schema, &parts).map_err(unusable)?,
        })
    }

    /// The same report, whose table lacks columns.
    pub fn hiding(mut self, names: &[&str]) -> RowReport {
        self.names.retain(|known| !names.contains(&known.as_str()));
        self
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.columns.num_rows()
    }

    /// The documents of a column.
    pub fn documents(&self, name: &str) -> &[Document] {
        let mut all = self.documents.iter();
        let found = all.find(|(known, _)| known == name);
        found.map_or(&[], |(_, documents)| documents)
    }

    /// A column.
    pub fn column(&self, name: &str) -> &ArrayRef {
        &self.columns[name]
    }

    /// A column of whole numbers.
    pub fn whole(&self, name: &str) -> &UInt64Array {
        self.column(name).as_primitive::<UInt64Type>()
    }

    /// A column of decimal numbers.
    pub fn decimal(&self, name: &str) -> &Float64Array {
        self.column(name).as_primitive::<Float64Type>()
    }

    /// The rows for which `is_wanted`.
    pub fn filter(&self, is_wanted: impl Fn(usize) -> bool) -> Result<RowReport> {
        let mask: Vec<bool> = (0..self.len()).map(is_wanted).collect();
        let documents = self.documents.iter().map(|(name, documents)| {
            let wanted = documents
                .iter()
                .zip(&mask)
                .filter(|(_, is_wanted)| **is_wanted);
            (
                name.clone(),
                wanted.map(|(document, _)| document.clone()).collect(),
            )
        });
        Ok(RowReport {
            names: self.names.clone(),
            documents: documents.collect(),
            columns: filter_record_batch(&self.columns, &BooleanArray::from(mask.clone()))
                .map_err(unusable)?,
        })
    }

    /// The same report with the values of a column, which may be new.
    pub fn with(self, name: &str, values: impl Iterator<Item = Option<u64>>) -> Result<RowReport> {
        let values: ArrayRef = Arc::new(values.collect::<UInt64Array>());
        let schema = self.columns.schema();
        let fields = schema.fields().iter().map(|field| field.name().as_str());
        let columns = fields.zip(self.columns.columns().iter().cloned());
        let columns = columns.filter(|(known, _)| *known != name);
        let columns = columns.chain([(name, values)]);
        let columns = columns.map(|(name, column)| (name, column, true));
        Ok(RowReport {
            columns: RecordBatch::try_from_iter_with_nullable(columns).map_err(unusable)?,
            ..self
        })
    }

    /// The table, with ids of rows.
    ///
    /// # Errors
    /// `simtool_dedup.Error` for ids that cannot be put together.
    pub fn table(&self, ids: &RowIds) -> PyResult<Table> {
        let columns = self.names.iter().map(|name| {
            let mut documents = self.documents.iter();
            let column = documents.find_map(|(known, documents)| {
                if known == name {
                    return Some(
                        ids.column(documents)
                            .map(|column| (ids.metadata(&column), column)),
                    );
                }
                let is_row = about(known, "row") == *name;
                is_row.then(|| Ok((HashMap::new(), rows_of(documents))))
            });
            let column = column.unwrap_or_else(|| Ok((HashMap::new(), self.column(name).clone())));
            let (metadata, column) = column?;
            let field = Field::new(name, column.data_type().clone(), true);
            Ok((field.with_metadata(metadata), column))
        });
        let (fields, columns): (Vec<Field>, Vec<ArrayRef>) =
            columns.collect::<PyResult<Vec<_>>>()?.into_iter().unzip();
        let table = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns);
        Ok(table.map_err(arrow)?.into())
    }
}

/// The skipped rows of the file `data`.
///
/// # Errors
/// Errors of [`RowReport::read`].
pub fn skipped(out: &Path, command: &str, data: &str) -> Result<RowReport> {
    let columns = ["id", "row", "reason", "detail"];
    let all = RowReport::read((out, command, "skipped"), data, &columns)?;
    let documents = all.documents("id");
    all.filter(|row| matches!(documents[row], Document::Row(_)))
}

/// The name of a column about the document whose id is in the column `document`.
pub fn about(document: &str, what: &str) -> String {
    match document {
        "id" => what.to_owned(),
        document => format!("{document}_{what}"),
    }
}

/// Adds the documents of a batch, whose ids are in the column `name`.
fn add_documents(
    batch: &RecordBatch,
    name: &str,
    data: &str,
    documents: &mut Vec<Document>,
) -> Result<()> {
    let texts = |name: &str| -> &LargeStringArray { batch[name].as_string() };
    for (id, file) in texts(name).iter().zip(texts(&about(name, "file"))) {
        let row = |id: &str| {
            let unknown = |_| unusable(format!("{id:?} is no number of a row"));
            id.parse().map_err(unknown)
        };
        documents.push(match (id, file) {
            (None, _) => Document::Nothing,
            (Some(id), None) => Document::Known(id.to_owned()),
            (Some(id), Some(file)) if file == data => Document::Row(row(id)?),
            (Some(id), Some(_)) => Document::Against(row(id)?),
        });
    }
    Ok(())
}

fn unusable(cause: impl ToString) -> Error {
    Error::new(ErrorKind::Content, cause.to_string())
}

/// A report of a run over files as a table; see [`report_batches`].
#[pyfunction]
pub fn read_report(py: Python<'_>, out: PathBuf, command: &str, name: &str) -> PyResult<Table> {
    let read = || {
        let batches = report_batches(&out, command, name)?;
        let schema = batches.schema();
        Ok(Table {
            schema,
            batches: batches.collect::<Result<_>>()?,
        })
    };
    py.detach(read).map_err(|error| exception(&error))
}

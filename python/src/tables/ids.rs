//! The documents of reports about rows, and their ids as a column.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{FieldRef, Schema};
use arrow_select::interleave::interleave;
use pyo3::prelude::*;
use simtool::corpus::parquet::value_text;

use super::columns::{column, field, readable};
use super::import::arrow;
use super::table::{Table, text_column};
use super::texts::Texts;

/// The beginning of the keys in the metadata of a field that name its extension type.
const EXTENSION: &str = "ARROW:extension:";

/// A document of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// None.
    Nothing,
    /// A row of the data.
    Row(u64),
    /// A row of the data that it was compared with.
    Against(u64),
    /// A document of an index.
    Known(String),
}

impl Document {
    /// The number of the row; `None` if it is no row.
    pub fn row(&self) -> Option<u64> {
        match self {
            Document::Row(row) | Document::Against(row) => Some(*row),
            Document::Nothing | Document::Known(_) => None,
        }
    }

    /// A text from which [`decode`](Self::decode) makes the document; `None` for none.
    pub fn encode(&self) -> Option<String> {
        match self {
            Document::Nothing => None,
            Document::Row(row) => Some(format!("r{row}")),
            Document::Against(row) => Some(format!("a{row}")),
            Document::Known(id) => Some(format!("k{id}")),
        }
    }

    /// The document of a text of [`encode`](Self::encode); none for other texts.
    pub fn decode(text: Option<&str>) -> Document {
        let found = text.and_then(|text| match text.split_at_checked(1)? {
            ("r", row) => row.parse().ok().map(Document::Row),
            ("a", row) => row.parse().ok().map(Document::Against),
            ("k", id) => Some(Document::Known(id.to_owned())),
            _ => None,
        });
        found.unwrap_or(Document::Nothing)
    }

    /// Whether it is a row of the data that it was compared with.
    pub fn is_against(&self) -> bool {
        matches!(self, Document::Against(_))
    }
}

/// The numbers of rows; null for what is no row.
pub fn rows_of(documents: &[Document]) -> ArrayRef {
    let rows = documents.iter().map(|document| {
        let row = document.row();
        row.and_then(|row| i64::try_from(row).ok())
    });
    Arc::new(rows.collect::<Int64Array>())
}

/// The ids of rows: a column of each batch.
#[derive(Clone)]
struct Ids {
    field: FieldRef,
    columns: Vec<ArrayRef>,
    /// The number of the first row of each.
    first: Vec<u64>,
}

impl Ids {
    fn of(table: &Table, path: &str) -> PyResult<Ids> {
        let no_column = || pyo3::exceptions::PyKeyError::new_err(path.to_owned());
        let columns = table
            .batches
            .iter()
            .map(|batch| column(batch, path).ok_or_else(no_column));
        let field = field(&table.schema, path).ok_or_else(no_column)?;
        let columns: Vec<ArrayRef> = columns.collect::<PyResult<_>>()?;
        let first = columns.iter().scan(0, |next, column| {
            let first = *next;
            *next += column.len() as u64;
            Some(first)
        });
        Ok(Ids {
            field: Arc::new(field.as_ref().clone().with_name("id")),
            first: first.collect(),
            columns,
        })
    }

    /// The column and the place in it of a row.
    fn place(&self, row: u64) -> (usize, usize) {
        let column = self
            .first
            .partition_point(|first| *first <= row)
            .saturating_sub(1);
        (column, (row - self.first[column]) as usize)
    }

    fn text(&self, row: u64) -> Option<String> {
        let (column, row) = self.place(row);
        let column = readable(&self.field, self.columns[column].slice(row, 1));
        if column.is_null(0) {
            return None;
        }
        match Texts::of(&column) {
            Some(texts) => texts
                .get(0)
                .map(|text| String::from_utf8_lossy(text).into_owned()),
            None => value_text(column.as_ref(), 0),
        }
    }

    /// A table with the column `id`.
    fn table(&self) -> PyResult<Table> {
        let schema = Arc::new(Schema::new(vec![Arc::clone(&self.field)]));
        let columns = self.columns.iter().cloned();
        let batches = columns.map(|column| RecordBatch::try_new(Arc::clone(&schema), vec![column]));
        let batches = batches.collect::<Result<_, _>>().map_err(arrow)?;
        Ok(Table { schema, batches })
    }
}

/// The ids of the data, and of those that they were compared with, as tables.
pub type IdState<T> = (Option<T>, Option<T>);
/// A table and the path of its column with ids.
pub type IdColumn<'py> = (Bound<'py, Table>, String);

/// The ids of the rows of the data, and of those that they were compared with.
#[derive(Clone)]
pub struct RowIds {
    data: Option<Ids>,
    against: Option<Ids>,
}

impl RowIds {
    /// Takes the columns; without one, ids are the numbers of rows.
    ///
    /// # Errors
    /// `KeyError` for a column that does not exist.
    pub fn new(data: Option<IdColumn<'_>>, against: Option<IdColumn<'_>>) -> PyResult<RowIds> {
        let of = |ids: Option<IdColumn<'_>>| {
            ids.map(|(table, path)| Ids::of(table.get(), &path))
                .transpose()
        };
        Ok(RowIds {
            data: of(data)?,
            against: of(against)?,
        })
    }

    /// The columns as tables, from which [`restored`](Self::restored) makes the same ids.
    ///
    /// # Errors
    /// `simtool_dedup.Error` for columns that are no table.
    pub fn state(&self) -> PyResult<IdState<Table>> {
        let table = |ids: &Option<Ids>| ids.as_ref().map(Ids::table).transpose();
        Ok((table(&self.data)?, table(&self.against)?))
    }

    /// The ids of a state.
    ///
    /// # Errors
    /// `KeyError` for tables of another form.
    pub fn restored((data, against): IdState<Bound<'_, Table>>) -> PyResult<RowIds> {
        let column = |table| (table, "id".to_owned());
        RowIds::new(data.map(column), against.map(column))
    }

    /// The metadata of a field of the [`column`](Self::column) `column`: its extension type.
    pub fn metadata(&self, column: &ArrayRef) -> HashMap<String, String> {
        let ids = self.data.as_ref();
        let ids = ids.filter(|ids| ids.field.data_type() == column.data_type());
        let all = ids.into_iter().flat_map(|ids| ids.field.metadata());
        all.filter(|(key, _)| key.starts_with(EXTENSION))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }

    /// The ids of documents: the values of the columns of ids, of their type if it is the same
    /// everywhere, else as texts; the numbers of rows if there are no columns.
    ///
    /// # Errors
    /// `simtool_dedup.Error` for columns that cannot be put together.
    pub fn column(&self, documents: &[Document]) -> PyResult<ArrayRef> {
        let has_known = documents
            .iter()
            .any(|what| matches!(what, Document::Known(_)));
        let has_against = documents.iter().any(Document::is_against);
        let Some(ids) = &self.data else {
            if has_known || (has_against && self.against.is_some()) {
                let text = |what: &Document| match what {
                    Document::Row(row) => Some(row.to_string()),
                    what => self.text(what),
                };
                return Ok(text_column(documents.iter().map(text)));
            }
            return Ok(rows_of(documents));
        };
        let against = self.against.as_ref();
        let data_type = ids.columns.first().map(|column| column.data_type());
        let columns = against.into_iter().flat_map(|against| &against.columns);
        let mut columns = columns.chain(&ids.columns);
        let is_one_type = columns.all(|column| Some(column.data_type()) == data_type);
        if has_known || !is_one_type || (has_against && against.is_none()) {
            return Ok(text_column(documents.iter().map(|what| self.text(what))));
        }
        let Some(data_type) = data_type else {
            return Ok(text_column(documents.iter().map(|_| None)));
        };
        // The first array has the missing id.
        let none = arrow_array::new_null_array(data_type, 1);
        let all = against.into_iter().flat_map(|against| &against.columns);
        let before = 1 + ids.columns.len();
        let arrays: Vec<&dyn Array> = std::iter::once(&none)
            .chain(&ids.columns)
            .chain(all)
            .map(|column| &**column)
            .collect();
        let place = |what: &Document| match (what, against) {
            (Document::Row(row), _) => {
                let (column, row) = ids.place(*row);
                (1 + column, row)
            }
            (Document::Against(row), Some(against)) => {
                let (column, row) = against.place(*row);
                (before + column, row)
            }
            _ => (0, 0),
        };
        let places: Vec<(usize, usize)> = documents.iter().map(place).collect();
        interleave(&arrays, &places).map_err(arrow)
    }

    fn text(&self, what: &Document) -> Option<String> {
        match what {
            Document::Nothing => None,
            Document::Known(id) => Some(id.clone()),
            Document::Row(row) => self.data.as_ref()?.text(*row),
            Document::Against(row) => match &self.against {
                Some(ids) => ids.text(*row),
                None => Some(row.to_string()),
            },
        }
    }
}

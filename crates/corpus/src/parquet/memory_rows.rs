//! Rows of a table in memory.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryViewArray, RecordBatch, StringViewArray, StructArray};
use arrow_schema::{ArrowError, DataType};
use arrow_select::take::take;

use crate::{Error, ErrorKind, Result};

/// Rows in memory, which are read like those of a file. Their columns are shared, not copied.
#[derive(Debug)]
pub struct MemoryRows {
    batches: Vec<RecordBatch>,
    /// The number of the first row of each batch, and the number of all rows.
    first: Vec<u64>,
    text_bytes: u64,
}

impl MemoryRows {
    /// The rows of `batches`, whose texts are in the column `text`.
    ///
    /// A dictionary of texts becomes views of its values, which take 16 bytes for each row.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] for damaged dictionaries.
    pub fn new(batches: &[RecordBatch], text: &str) -> Result<MemoryRows> {
        let plain = |batch: &RecordBatch| without_dictionaries(&batch.clone().into());
        let batches = batches
            .iter()
            .map(|batch| plain(batch).map(RecordBatch::from));
        let batches: Vec<RecordBatch> = batches
            .collect::<std::result::Result<_, _>>()
            .map_err(unusable)?;
        let rows = batches.iter().map(|batch| batch.num_rows() as u64);
        let first = rows.scan(0, |next, rows| {
            *next += rows;
            Some(*next)
        });
        let texts = batches
            .iter()
            .filter_map(|batch| batch.column_by_name(text));
        let text_bytes = texts.map(text_bytes).sum();
        Ok(MemoryRows {
            first: std::iter::once(0).chain(first).collect(),
            text_bytes,
            batches,
        })
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.first.last().copied().unwrap_or_default()
    }

    /// The bytes of all texts.
    pub fn text_bytes(&self) -> u64 {
        self.text_bytes
    }

    /// The rows from number `from` on up to number `end`, as far as they are in one batch.
    pub(super) fn part(&self, from: u64, end: u64) -> Option<RecordBatch> {
        let number = self
            .first
            .partition_point(|row| *row <= from)
            .checked_sub(1)?;
        let (batch, first) = (self.batches.get(number)?, self.first[number]);
        let begin = (from - first) as usize;
        let most = batch.num_rows().min((end - first) as usize);
        Some(batch.slice(begin, most - begin))
    }

    /// The first row of each of `count` sections, which have about the same number of rows, and the
    /// number of rows.
    pub(super) fn sections(&self, count: u64) -> Vec<u64> {
        let border = |number| u128::from(self.rows()) * u128::from(number) / u128::from(count);
        (0..=count).map(|number| border(number) as u64).collect()
    }
}

/// The bytes of a column of texts, in time that does not depend on their lengths.
fn text_bytes(texts: &ArrayRef) -> u64 {
    let between = |offsets: &[i32]| i64::from(offsets[offsets.len() - 1] - offsets[0]);
    let between_large = |offsets: &[i64]| offsets[offsets.len() - 1] - offsets[0];
    // A view begins with the length.
    let of_views = |views: &[u128]| views.iter().map(|view| i64::from(*view as u32)).sum();
    let bytes: i64 = match texts.data_type() {
        DataType::Utf8 => between(texts.as_string().value_offsets()),
        DataType::Binary => between(texts.as_binary().value_offsets()),
        DataType::LargeUtf8 => between_large(texts.as_string().value_offsets()),
        DataType::LargeBinary => between_large(texts.as_binary().value_offsets()),
        DataType::Utf8View => of_views(texts.as_string_view().views()),
        DataType::BinaryView => of_views(texts.as_binary_view().views()),
        _ => 0,
    };
    bytes as u64
}

/// Columns without dictionaries, also in columns that are structures.
fn without_dictionaries(columns: &StructArray) -> std::result::Result<StructArray, ArrowError> {
    let arrays = columns.columns().iter().map(without_dictionary);
    let arrays: Vec<ArrayRef> = arrays.collect::<std::result::Result<_, _>>()?;
    let fields = columns.fields().iter().zip(&arrays).map(|(field, array)| {
        let field = field.as_ref().clone();
        field.with_data_type(array.data_type().clone())
    });
    StructArray::try_new_with_length(
        fields.collect(),
        arrays,
        columns.nulls().cloned(),
        columns.len(),
    )
}

fn without_dictionary(array: &ArrayRef) -> std::result::Result<ArrayRef, ArrowError> {
    if let Some(columns) = array.as_struct_opt() {
        return Ok(Arc::new(without_dictionaries(columns)?));
    }
    let Some(dictionary) = array.as_any_dictionary_opt() else {
        return Ok(Arc::clone(array));
    };
    let values = dictionary.values();
    let views: ArrayRef = match values.data_type() {
        DataType::Utf8 => Arc::new(StringViewArray::from(values.as_string::<i32>())),
        DataType::LargeUtf8 => Arc::new(StringViewArray::from(values.as_string::<i64>())),
        DataType::Binary => Arc::new(BinaryViewArray::from(values.as_binary::<i32>())),
        DataType::LargeBinary => Arc::new(BinaryViewArray::from(values.as_binary::<i64>())),
        _ => Arc::clone(values),
    };
    take(&views, dictionary.keys(), None)
}

/// The error for columns that cannot be used.
pub(super) fn unusable(cause: ArrowError) -> Error {
    Error::new(
        ErrorKind::Content,
        format!("the rows cannot be read: {cause}"),
    )
}

//! The values of a row.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::DataType;

use super::value_text::value_text;
use crate::document::{FieldValue, FieldValues, MAX_FIELDS};
use crate::reading::Reading;

/// The columns of a batch that contain the fields of documents.
#[derive(Debug)]
pub struct Fields {
    text: Option<Column>,
    id: Option<Column>,
    url: Option<Column>,
    date: Option<Column>,
    further: Vec<Option<Column>>,
    // Buffers for values that are not strings.
    id_text: String,
    url_text: String,
    date_text: String,
    further_texts: [String; MAX_FIELDS],
}

/// A row of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<'a> {
    /// The text; `None` if it is null or not a string.
    pub text: Option<&'a [u8]>,
    /// The id, as text; empty if there is none.
    pub id: &'a [u8],
    /// The URL; empty if there is none.
    pub url: &'a [u8],
    /// The date, as text; empty if there is none.
    pub date: &'a [u8],
    /// The values of the further fields.
    pub fields: FieldValues<'a>,
}

impl Fields {
    /// Finds the columns that `reading` names.
    pub fn of(batch: &RecordBatch, reading: &Reading) -> Fields {
        let find = |name: &str| Column::find(batch, name);
        Fields {
            text: find(&reading.text_field),
            id: find(&reading.id_field),
            url: find(&reading.url_field),
            date: find(&reading.date_field),
            further: reading.fields.iter().map(|name| find(name)).collect(),
            id_text: String::new(),
            url_text: String::new(),
            date_text: String::new(),
            further_texts: Default::default(),
        }
    }

    /// The row at `index`; beyond the end of the batch, one without values.
    pub fn row(&mut self, index: usize) -> Row<'_> {
        let text = self.text.as_ref().and_then(|column| column.string(index));
        let mut fields = FieldValues::default();
        let further = self.further.iter().zip(&mut self.further_texts);
        for ((column, buffer), value) in further.zip(&mut fields) {
            let Some(column) = column else { continue };
            let number = column.number(index);
            let text = column.text(index, buffer);
            // A number that is none is a missing one.
            let text = text.filter(|_| !number.is_some_and(f64::is_nan));
            *value = text.map(|text| FieldValue { text, number });
        }
        Row {
            text,
            id: written(self.id.as_ref(), index, &mut self.id_text),
            url: written(self.url.as_ref(), index, &mut self.url_text),
            date: written(self.date.as_ref(), index, &mut self.date_text),
            fields,
        }
    }
}

fn written<'a>(column: Option<&'a Column>, index: usize, buffer: &'a mut String) -> &'a [u8] {
    let text = column.and_then(|column| column.text(index, buffer));
    text.unwrap_or_default()
}

/// A column, perhaps nested in others.
#[derive(Debug)]
pub(in crate::parquet) struct Column {
    /// The columns that contain it, outermost first. It is null where one of them is.
    parents: Vec<ArrayRef>,
    values: ArrayRef,
}

impl Column {
    /// The column at `path`; `None` if there is none.
    pub(in crate::parquet) fn find(batch: &RecordBatch, path: &str) -> Option<Column> {
        let mut parents = Vec::new();
        let whole = StructArray::from(batch.clone());
        let values = descend(&whole, path, &mut parents)?;
        Some(Column { parents, values })
    }

    fn has(&self, index: usize) -> bool {
        let present = |array: &ArrayRef| index < array.len() && array.is_valid(index);
        present(&self.values) && self.parents.iter().all(present)
    }

    /// A string or bytes, in any layout; `None` for null and other types.
    fn string(&self, index: usize) -> Option<&[u8]> {
        self.has(index)
            .then(|| string(self.values.as_ref(), index))
            .flatten()
    }

    /// The length of a string; 0 for null and other types.
    pub(in crate::parquet) fn bytes(&self, index: usize) -> usize {
        self.string(index).map_or(0, <[u8]>::len)
    }

    fn number(&self, index: usize) -> Option<f64> {
        if !self.has(index) {
            return None;
        }
        match self.values.data_type() {
            DataType::Float32 => Some(
                self.values
                    .as_primitive::<Float32Type>()
                    .value(index)
                    .into(),
            ),
            DataType::Float64 => Some(self.values.as_primitive::<Float64Type>().value(index)),
            kind if kind.is_numeric() => value_text(self.values.as_ref(), index)?.parse().ok(),
            _ => None,
        }
    }

    /// A string, or a number, date, time or boolean as text; `None` for null and for other types,
    /// such as lists.
    fn text<'b>(&'b self, index: usize, buffer: &'b mut String) -> Option<&'b [u8]> {
        if !self.has(index) {
            return None;
        }
        if let Some(text) = string(self.values.as_ref(), index) {
            return Some(text);
        }
        *buffer = value_text(self.values.as_ref(), index)?;
        Some(buffer.as_bytes())
    }
}

/// The field at a dotted `path`. A column whose name contains the dots takes precedence.
fn descend(within: &StructArray, path: &str, parents: &mut Vec<ArrayRef>) -> Option<ArrayRef> {
    if let Some(found) = within.column_by_name(path) {
        return Some(found.clone());
    }
    let (name, rest) = path.split_once('.')?;
    let outer = within.column_by_name(name)?;
    parents.push(outer.clone());
    descend(outer.as_struct_opt()?, rest, parents)
}

fn string(array: &dyn Array, index: usize) -> Option<&[u8]> {
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().value(index).as_bytes()),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().value(index).as_bytes()),
        DataType::Utf8View => Some(array.as_string_view().value(index).as_bytes()),
        DataType::Binary => Some(array.as_binary::<i32>().value(index)),
        DataType::LargeBinary => Some(array.as_binary::<i64>().value(index)),
        DataType::BinaryView => Some(array.as_binary_view().value(index)),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary_opt()?;
            let key = *dictionary.normalized_keys().get(index)?;
            let values = dictionary.values();
            (key < values.len() && values.is_valid(key)).then(|| string(values.as_ref(), key))?
        }
        _ => None,
    }
}

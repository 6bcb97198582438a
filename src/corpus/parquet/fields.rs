//! The values of a row.

use arrow::array::{Array, ArrayRef, AsArray, StructArray};
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use arrow::record_batch::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};

use crate::corpus::document::FieldValue;
use crate::corpus::reading::Reading;

/// The columns of a batch that hold the fields of documents.
#[derive(Debug)]
pub struct Fields {
    text: Option<Column>,
    id: Option<Column>,
    url: Option<Column>,
    date: Option<Column>,
    keep: Option<Column>,
    // What is no string in the table is written here.
    id_text: String,
    url_text: String,
    date_text: String,
    keep_text: String,
}

/// A row of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<'a> {
    /// The text; `None` if it is null or no string.
    pub text: Option<&'a [u8]>,
    /// The id, as text; empty if there is none.
    pub id: &'a [u8],
    /// The URL; empty if there is none.
    pub url: &'a [u8],
    /// The date, as text; empty if there is none.
    pub date: &'a [u8],
    /// What decides which copy is kept, if there is such a field.
    pub keep_field: Option<FieldValue<'a>>,
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
            keep: reading.keep_field.as_deref().and_then(find),
            id_text: String::new(),
            url_text: String::new(),
            date_text: String::new(),
            keep_text: String::new(),
        }
    }

    /// The row of the batch at `index`; one without values behind its end.
    pub fn row(&mut self, index: usize) -> Row<'_> {
        let text = self.text.as_ref().and_then(|column| column.string(index));
        Row {
            text,
            id: written(self.id.as_ref(), index, &mut self.id_text),
            url: written(self.url.as_ref(), index, &mut self.url_text),
            date: written(self.date.as_ref(), index, &mut self.date_text),
            keep_field: self.keep.as_ref().and_then(|column| {
                let number = column.number(index).map(FieldValue::Number);
                number.or_else(|| {
                    let text = written(Some(column), index, &mut self.keep_text);
                    (!text.is_empty()).then_some(FieldValue::Text(text))
                })
            }),
        }
    }
}

fn written<'a>(column: Option<&'a Column>, index: usize, buffer: &'a mut String) -> &'a [u8] {
    let Some(column) = column else { return &[] };
    match column.string(index) {
        Some(value) => value,
        None => column.write(index, buffer),
    }
}

/// A column, perhaps within others.
#[derive(Debug)]
struct Column {
    /// What it is within, outermost first: where those are null, it is.
    parents: Vec<ArrayRef>,
    values: ArrayRef,
}

impl Column {
    fn find(batch: &RecordBatch, path: &str) -> Option<Column> {
        let mut parents = Vec::new();
        let whole = StructArray::from(batch.clone());
        let values = descend(&whole, path, &mut parents)?;
        Some(Column { parents, values })
    }

    fn has(&self, index: usize) -> bool {
        let present = |array: &ArrayRef| index < array.len() && array.is_valid(index);
        present(&self.values) && self.parents.iter().all(present)
    }

    /// A string or bytes, however they are laid out; `None` for null and anything else.
    fn string(&self, index: usize) -> Option<&[u8]> {
        self.has(index)
            .then(|| string(self.values.as_ref(), index))
            .flatten()
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
            kind if kind.is_integer() => {
                let mut digits = String::new();
                self.write(index, &mut digits);
                digits.parse().ok()
            }
            _ => None,
        }
    }

    /// A number, a time or a truth value in Arrow's own notation; nothing for lists and the like.
    fn write<'b>(&self, index: usize, buffer: &'b mut String) -> &'b [u8] {
        buffer.clear();
        if self.has(index) && !self.values.data_type().is_nested() {
            let options = FormatOptions::default();
            let formatter = ArrayFormatter::try_new(self.values.as_ref(), &options);
            let wrote = formatter.map(|formatter| formatter.value(index).write(buffer));
            if !matches!(wrote, Ok(Ok(()))) {
                buffer.clear();
            }
        }
        buffer.as_bytes()
    }
}

/// The field at the end of a dotted `path`; a name with dots in it comes before a path.
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

//! Columns of a table by their paths.

use std::fmt::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeStringArray, RecordBatch};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use arrow_select::nullif::nullif;
use simtool::{Error, ErrorKind, Result};

use super::texts::Texts;

/// The name of the extension type of UUIDs.
const UUID: &str = "arrow.uuid";

/// The column at `path`, in which dots lead into nested fields; `None` if there is none. A column
/// whose whole name is `path` comes first.
pub fn column(batch: &RecordBatch, path: &str) -> Option<ArrayRef> {
    if let Some(column) = batch.column_by_name(path) {
        return Some(column.clone());
    }
    let mut names = path.split('.');
    let mut found = batch.column_by_name(names.next()?)?.clone();
    for name in names {
        let outer = found.as_struct_opt()?;
        let inner = outer.column_by_name(name)?;
        found = match outer.nulls() {
            None => inner.clone(),
            Some(nulls) => {
                nullif(inner, &arrow_array::BooleanArray::new(!nulls.inner(), None)).ok()?
            }
        };
    }
    Some(found)
}

/// The field of the [`column`] at `path`.
pub fn field<'a>(schema: &'a Schema, path: &str) -> Option<&'a FieldRef> {
    if let Some((_, field)) = schema.fields().find(path) {
        return Some(field);
    }
    let mut names = path.split('.');
    let (_, mut found) = schema.fields().find(names.next()?)?;
    for name in names {
        let DataType::Struct(fields) = found.data_type() else {
            return None;
        };
        (_, found) = fields.find(name)?;
    }
    Some(found)
}

/// The column at `path` of a batch, [`readable`].
pub fn readable_column(batch: &RecordBatch, path: &str) -> Option<ArrayRef> {
    let found = column(batch, path)?;
    Some(readable(field(batch.schema_ref(), path)?, found))
}

/// The texts of UUIDs; other columns as they are.
pub fn readable(field: &Field, column: ArrayRef) -> ArrayRef {
    let uuids = column.as_fixed_size_binary_opt();
    match uuids.filter(|_| field.extension_type_name() == Some(UUID)) {
        Some(uuids) => {
            let texts = uuids.iter().map(|bytes| bytes.map(uuid_text));
            Arc::new(texts.collect::<LargeStringArray>())
        }
        None => column,
    }
}

/// Hexadecimal digits in groups of 8, 4, 4, 4 and 12.
fn uuid_text(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (place, byte) in bytes.iter().enumerate() {
        let hyphen = if matches!(place, 4 | 6 | 8 | 10) {
            "-"
        } else {
            ""
        };
        // A `String` takes everything.
        let _ = write!(text, "{hyphen}{byte:02x}");
    }
    text
}

/// The texts of the column at `path` in each batch.
///
/// # Errors
/// [`ErrorKind::Parameter`] if there is no such column, or if it is not text.
pub fn texts(schema: &SchemaRef, batches: &[RecordBatch], path: &str) -> Result<Vec<Texts>> {
    let of = |batch| {
        let column = column(batch, path).ok_or_else(|| no_column(schema, "text", path))?;
        Texts::of(&column).ok_or_else(|| {
            let message = format!(
                "text {path:?}: the column has the type {}, expected text",
                column.data_type()
            );
            Error::new(ErrorKind::Parameter, message)
        })
    };
    check(schema, "text", path)?;
    batches.iter().map(of).collect()
}

/// Fails if there is no column at `path`.
///
/// # Errors
/// [`ErrorKind::Parameter`], naming the `setting` and the columns.
pub fn check(schema: &SchemaRef, setting: &str, path: &str) -> Result<()> {
    let empty = RecordBatch::new_empty(schema.clone());
    match column(&empty, path) {
        Some(_) => Ok(()),
        None => Err(no_column(schema, setting, path)),
    }
}

fn no_column(schema: &SchemaRef, setting: &str, path: &str) -> Error {
    let names: Vec<&str> = schema
        .fields()
        .iter()
        .map(|field| field.name().as_str())
        .collect();
    let message = format!(
        "{setting} {path:?}: there is no such column; the data has {}",
        names.join(", ")
    );
    Error::new(ErrorKind::Parameter, message)
}

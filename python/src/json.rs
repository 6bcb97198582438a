//! JSON of texts and of Arrow values.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use simtool::corpus::parquet::value_text;

use crate::columns::Texts;

/// Bytes that are searched at once for characters to escape.
const BLOCK: usize = 32;

/// Appends `bytes` as a JSON string. Bytes that are not UTF-8 are kept, as in damaged dumps.
pub fn string(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    // The first byte that was not copied yet.
    let mut start = 0;
    for (number, block) in bytes.chunks(BLOCK).enumerate() {
        // Without branches, so that the compiler uses vector instructions.
        if block
            .iter()
            .fold(true, |plain, &byte| plain & is_plain(byte))
        {
            continue;
        }
        let special = block
            .iter()
            .enumerate()
            .filter(|(_, byte)| !is_plain(**byte));
        for (place, &byte) in special {
            let end = number * BLOCK + place;
            out.extend_from_slice(&bytes[start..end]);
            escaped(byte, out);
            start = end + 1;
        }
    }
    out.extend_from_slice(&bytes[start..]);
    out.push(b'"');
}

#[inline(always)]
fn is_plain(byte: u8) -> bool {
    (byte >= b' ') & (byte != b'"') & (byte != b'\\')
}

fn escaped(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'\n' => out.extend_from_slice(b"\\n"),
        b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
        byte => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
    }
}

/// A column whose values are written as JSON.
pub enum Column {
    /// Texts.
    Texts(Texts),
    /// Objects: the names and columns of their fields, and the array itself.
    Objects(Vec<(String, Column)>, ArrayRef),
    /// Numbers, booleans, dates and times; other values are written as `null`.
    Values(ArrayRef),
}

impl Column {
    /// The column of `array`.
    pub fn of(array: &ArrayRef) -> Column {
        if let Some(texts) = Texts::of(array) {
            return Column::Texts(texts);
        }
        match array.as_struct_opt() {
            None => Column::Values(array.clone()),
            Some(object) => {
                let fields = object.fields().iter().zip(object.columns());
                let fields = fields.map(|(field, inner)| (field.name().clone(), Column::of(inner)));
                Column::Objects(fields.collect(), array.clone())
            }
        }
    }

    /// Appends the value of a row.
    pub fn write(&self, row: usize, out: &mut Vec<u8>) {
        match self {
            Column::Texts(texts) => match texts.get(row) {
                Some(text) => string(text, out),
                None => out.extend_from_slice(b"null"),
            },
            Column::Objects(_, array) if array.is_null(row) => out.extend_from_slice(b"null"),
            Column::Objects(fields, _) => {
                out.push(b'{');
                for (number, (name, column)) in fields.iter().enumerate() {
                    if number > 0 {
                        out.push(b',');
                    }
                    string(name.as_bytes(), out);
                    out.push(b':');
                    column.write(row, out);
                }
                out.push(b'}');
            }
            Column::Values(array) => value(array.as_ref(), row, out),
        }
    }
}

/// Appends a number or a boolean as it is, and a date or a time as a string.
fn value(array: &dyn Array, row: usize, out: &mut Vec<u8>) {
    let data_type = array.data_type();
    let is_finite = match data_type {
        DataType::Float32 => array.as_primitive::<Float32Type>().value(row).is_finite(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).is_finite(),
        _ => true,
    };
    let text = match array.is_valid(row) && is_finite {
        true => value_text(array, row),
        false => None,
    };
    let is_bare = data_type.is_numeric() || *data_type == DataType::Boolean;
    match text {
        None => out.extend_from_slice(b"null"),
        Some(text) if is_bare => out.extend_from_slice(text.as_bytes()),
        Some(text) => string(text.as_bytes(), out),
    }
}

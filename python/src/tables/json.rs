//! JSON of texts and of Arrow values.

use crate::tables::texts::Texts;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use simtool::corpus::parquet::value_text;

/// Bytes that are searched at once for characters to escape.
const BLOCK: usize = 32;
/// The lowest and the highest bit of each byte of a word.
const LOWEST: u64 = 0x0101_0101_0101_0101;
const HIGHEST: u64 = 0x8080_8080_8080_8080;

/// Appends `bytes` as a JSON string. Bytes that are not UTF-8 are kept, as in damaged dumps.
pub fn string(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    // The first byte that was not copied yet.
    let mut start = 0;
    let mut escape = |end: usize, out: &mut Vec<u8>| {
        out.extend_from_slice(&bytes[start..end]);
        escaped(bytes[end], out);
        start = end + 1;
    };
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    for (number, block) in blocks.iter().enumerate() {
        // Without branches, so that the compiler uses vector instructions.
        let any = block.iter().fold(false, |any, &byte| any | !is_plain(byte));
        if !any {
            continue;
        }
        for (word, place) in block.as_chunks::<8>().0.iter().zip((0..).step_by(8)) {
            let mut special = special(u64::from_le_bytes(*word));
            while special != 0 {
                let byte = special.trailing_zeros() as usize / 8;
                escape(number * BLOCK + place + byte, out);
                special &= special - 1;
            }
        }
    }
    for (byte, end) in rest.iter().zip(bytes.len() - rest.len()..) {
        if !is_plain(*byte) {
            escape(end, out);
        }
    }
    out.extend_from_slice(&bytes[start..]);
    out.push(b'"');
}

/// The highest bit of each byte of `word` that is not plain.
fn special(word: u64) -> u64 {
    // That of each byte of `bits` that is zero.
    let zeros = |bits: u64| !(((bits & !HIGHEST) + !HIGHEST) | bits) & HIGHEST;
    let is = |byte: u8| zeros(word ^ (LOWEST * u64::from(byte)));
    let is_control = zeros(word & (LOWEST * 0xe0));
    is_control | is(b'"') | is(b'\\')
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

//! Rows of tables as JSON.

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, StructArray};
use arrow_schema::DataType;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::json_value::append;
use simtool_corpus::parquet::value_text;

/// Appends a row as a JSON object, with the columns for whose positions `is_included` holds.
pub fn append_object(
    out: &mut Vec<u8>,
    batch: &RecordBatch,
    row: usize,
    is_included: impl Fn(usize) -> bool,
) {
    let schema = batch.schema_ref();
    let columns = schema.fields().iter().zip(batch.columns()).enumerate();
    let included = columns.filter(|(place, _)| is_included(*place));
    object(
        out,
        included.map(|(_, (field, column))| (field.name().as_str(), column.as_ref())),
        row,
    );
}

/// Appends a value. Numbers and booleans are JSON, lists are arrays, structs and maps with names
/// are objects. Dates, times, decimals and numbers without a JSON form are strings, as are bytes,
/// in base64 unless they are UTF-8.
fn value(out: &mut Vec<u8>, array: &dyn Array, row: usize) {
    if !array.is_valid(row) {
        return out.extend_from_slice(b"null");
    }
    match array.data_type() {
        DataType::Utf8 => append(out, array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => append(out, array.as_string::<i64>().value(row)),
        DataType::Utf8View => append(out, array.as_string_view().value(row)),
        DataType::Binary => bytes(out, array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => bytes(out, array.as_binary::<i64>().value(row)),
        DataType::BinaryView => bytes(out, array.as_binary_view().value(row)),
        DataType::List(_) => list(out, &array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => list(out, &array.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => list(out, &array.as_fixed_size_list().value(row)),
        DataType::Struct(_) => structure(out, array.as_struct(), row),
        DataType::Map(..) => list(out, &array.as_map().value(row)),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary_opt();
            let key = dictionary.and_then(|found| found.normalized_keys().get(row).copied());
            match (dictionary, key) {
                (Some(found), Some(key)) if key < found.values().len() => {
                    value(out, found.values().as_ref(), key);
                }
                _ => out.extend_from_slice(b"null"),
            }
        }
        kind => {
            let text = value_text(array, row);
            let is_json = kind.is_integer() || kind.is_floating() || *kind == DataType::Boolean;
            match text {
                Some(text) if is_json && text.parse::<serde_json::Value>().is_ok() => {
                    out.extend_from_slice(text.as_bytes());
                }
                Some(text) => append(out, &text),
                None => out.extend_from_slice(b"null"),
            }
        }
    }
}

fn bytes(out: &mut Vec<u8>, value: &[u8]) {
    match std::str::from_utf8(value) {
        Ok(text) => append(out, text),
        Err(_) => append(out, &STANDARD.encode(value)),
    }
}

fn list(out: &mut Vec<u8>, values: &dyn Array) {
    out.push(b'[');
    for place in 0..values.len() {
        if place > 0 {
            out.push(b',');
        }
        value(out, values, place);
    }
    out.push(b']');
}

fn structure(out: &mut Vec<u8>, array: &StructArray, row: usize) {
    let columns = array.fields().iter().zip(array.columns());
    object(
        out,
        columns.map(|(field, column)| (field.name().as_str(), column.as_ref())),
        row,
    );
}

fn object<'a>(
    out: &mut Vec<u8>,
    members: impl Iterator<Item = (&'a str, &'a dyn Array)>,
    row: usize,
) {
    out.push(b'{');
    for (place, (name, array)) in members.enumerate() {
        if place > 0 {
            out.push(b',');
        }
        append(out, name);
        out.push(b':');
        value(out, array, row);
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int32Type;
    use arrow_array::{
        ArrayRef, BinaryArray, Date32Array, DictionaryArray, Float64Array, Int64Array, ListArray,
        StringArray,
    };
    use arrow_schema::Field;

    use super::*;

    #[test]
    fn values_of_every_kind_are_json() {
        let lists = [Some(vec![Some(1), None]), Some(vec![]), None];
        let inner: ArrayRef = Arc::new(StringArray::from(vec![Some("x"), None, Some("z")]));
        let columns: [(&str, ArrayRef); 8] = [
            (
                "s\"",
                Arc::new(StringArray::from(vec!["a\n\u{e9}", "", "\u{0}"])),
            ),
            (
                "n",
                Arc::new(Int64Array::from(vec![Some(i64::MIN), None, Some(7)])),
            ),
            (
                "f",
                Arc::new(Float64Array::from(vec![0.1, f64::NAN, -1e300])),
            ),
            ("d", Arc::new(Date32Array::from(vec![0, 19_844, i32::MAX]))),
            (
                "b",
                Arc::new(BinaryArray::from(vec![&b"ok"[..], b"\xff", b""])),
            ),
            (
                "l",
                Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists)),
            ),
            (
                "t",
                Arc::new(StructArray::from(vec![(
                    Arc::new(Field::new("i", DataType::Utf8, true)),
                    inner,
                )])),
            ),
            (
                "k",
                Arc::new(DictionaryArray::<Int32Type>::from_iter([
                    Some("q"),
                    None,
                    Some("q"),
                ])),
            ),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let row = |row| {
            let mut out = Vec::new();
            append_object(&mut out, &batch, row, |_| true);
            let parsed: serde_json::Value = serde_json::from_slice(&out).unwrap();
            assert!(parsed.is_object());
            String::from_utf8(out).unwrap()
        };
        let expected = [
            r#"{"s\"":"a\né","n":-9223372036854775808,"f":0.1,"d":"1970-01-01","b":"ok","l":[1,null],"t":{"i":"x"},"k":"q"}"#,
            r#"{"s\"":"","n":null,"f":"NaN","d":"2024-05-01","b":"/w==","l":[],"t":{"i":null},"k":null}"#,
            r#"{"s\"":"\u0000","n":7,"f":-1e300,"d":null,"b":"","l":null,"t":{"i":"z"},"k":"q"}"#,
        ];
        for (number, expected) in expected.into_iter().enumerate() {
            assert_eq!(row(number), expected);
        }
    }
}

//! Rows with other texts.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_schema::DataType;

use crate::{Error, ErrorKind, Result};

/// The rows with `texts` as the values of the column at `path`, which
/// [`Fields`](crate::parquet::Fields) would find; rows without one keep theirs. Bytes that are not UTF-8 become U+FFFD.
///
/// # Errors
/// [`ErrorKind::Content`] if there is no such column, if it has another type than those that Parquet
/// has for texts, or if it would be longer than Arrow allows.
pub fn with_texts(
    batch: &RecordBatch,
    path: &str,
    texts: &[Option<Vec<u8>>],
) -> Result<RecordBatch> {
    let all = within(&StructArray::from(batch.clone()), path, texts)?;
    RecordBatch::try_new(batch.schema(), all.columns().to_vec()).map_err(impossible)
}

/// Replaces the texts in the column at `path` below a structure.
fn within(all: &StructArray, path: &str, texts: &[Option<Vec<u8>>]) -> Result<StructArray> {
    let place = |name: &str| all.fields().iter().position(|field| field.name() == name);
    // As for reading, a column whose name contains the dots takes precedence.
    let (place, rest) = match (place(path), path.split_once('.')) {
        (Some(place), _) => (Some(place), None),
        (None, Some((name, rest))) => (place(name), Some(rest)),
        (None, None) => (None, None),
    };
    let place = place.ok_or_else(|| impossible("the column is missing"))?;
    let mut columns = all.columns().to_vec();
    columns[place] = match (rest, columns[place].as_struct_opt()) {
        (None, _) => replaced(columns[place].as_ref(), texts)?,
        (Some(rest), Some(inner)) => Arc::new(within(inner, rest, texts)?),
        (Some(_), None) => return Err(impossible("the column is missing")),
    };
    let nulls = all.nulls().cloned();
    StructArray::try_new(all.fields().clone(), columns, nulls).map_err(impossible)
}

/// A column with other texts.
fn replaced(column: &dyn Array, texts: &[Option<Vec<u8>>]) -> Result<ArrayRef> {
    let new = |row: usize| {
        let text = texts.get(row)?.as_deref()?;
        Some(String::from_utf8_lossy(text))
    };
    let rows = 0..column.len();
    let bytes = rows.clone().filter_map(|row| Some(new(row)?.len())).sum();
    if column.get_buffer_memory_size().saturating_add(bytes) > i32::MAX as usize {
        return Err(impossible("they are too long for a column"));
    }
    match column.data_type() {
        DataType::Utf8 => {
            let (old, mut out) = (column.as_string::<i32>(), StringBuilder::new());
            for row in rows {
                match new(row) {
                    Some(text) => out.append_value(text),
                    None => out.append_option(old.is_valid(row).then(|| old.value(row))),
                }
            }
            Ok(Arc::new(out.finish()))
        }
        DataType::Binary => {
            let (old, mut out) = (column.as_binary::<i32>(), BinaryBuilder::new());
            for row in rows {
                match new(row) {
                    Some(text) => out.append_value(text.as_bytes()),
                    None => out.append_option(old.is_valid(row).then(|| old.value(row))),
                }
            }
            Ok(Arc::new(out.finish()))
        }
        kind => Err(impossible(format!("a column of the type {kind}"))),
    }
}

fn impossible(detail: impl std::fmt::Display) -> Error {
    let message = format!("texts cannot be changed: {detail}");
    Error::new(ErrorKind::Content, message)
}

#[cfg(test)]
mod tests {
    use arrow_array::{BinaryArray, Int64Array, StringArray};
    use arrow_schema::Field;

    use super::*;

    /// Promise (Repeated units): Shards have the documents that stay, with …
    #[test]
    fn only_the_given_texts_change() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("c")]));
        let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&b"x"[..], b"\xff", b""]));
        let field = |name: &str, kind| Arc::new(Field::new(name, kind, true));
        let inner = StructArray::try_new(
            vec![field("b.c", DataType::Utf8), field("d", DataType::Binary)].into(),
            vec![texts.clone(), bytes],
            texts.nulls().cloned(),
        );
        let columns: [(&str, ArrayRef); 3] = [
            ("n", Arc::new(Int64Array::from(vec![1, 2, 3]))),
            ("a", Arc::new(inner.unwrap())),
            ("a.d", texts),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let new = [None, None, Some("é\u{fffd}".to_owned())];
        let given = [None, None, Some(b"\xc3\xa9\xff".to_vec())];
        let inner = |batch: &RecordBatch| batch.column(1).as_struct().clone();
        let strings = |array: &ArrayRef| -> Vec<Option<String>> {
            let array = array.as_string::<i32>().iter();
            array.map(|text| text.map(str::to_owned)).collect()
        };
        let old = [Some("a".to_owned()), None, new[2].clone()];

        let changed = with_texts(&batch, "a.d", &given).unwrap();
        assert_eq!(strings(changed.column(2)), old);
        assert_eq!(inner(&changed), inner(&batch));

        let changed = with_texts(&batch, "a.b.c", &given).unwrap();
        assert_eq!(strings(inner(&changed).column(0)), old);
        assert_eq!(inner(&changed).nulls(), inner(&batch).nulls());
        assert_eq!(inner(&changed).column(1), inner(&batch).column(1));
        assert_eq!(changed.column(2), batch.column(2));

        for path in ["n", "a", "x", "a.x", "n.x"] {
            let error = with_texts(&batch, path, &given).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Content, "{path}");
        }
        let alone = RecordBatch::try_from_iter([("d", inner(&batch).column(1).clone())]).unwrap();
        let changed = with_texts(&alone, "d", &given).unwrap();
        let changed: Vec<_> = changed.column(0).as_binary::<i32>().iter().collect();
        assert_eq!(
            changed,
            [Some(&b"x"[..]), Some(b"\xff"), Some("é\u{fffd}".as_bytes())]
        );
    }
}

//! The bytes of rows of tables.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_schema::DataType;

/// The bytes of a value: of texts their length, of numbers their width, of others the sum of what
/// they hold. Null has none.
pub fn row_bytes(array: &dyn Array, row: usize) -> u64 {
    if !array.is_valid(row) {
        return 0;
    }
    let all = |values: &dyn Array| {
        (0..values.len())
            .map(|place| row_bytes(values, place))
            .sum()
    };
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).len() as u64,
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).len() as u64,
        DataType::Utf8View => array.as_string_view().value(row).len() as u64,
        DataType::Binary => array.as_binary::<i32>().value(row).len() as u64,
        DataType::LargeBinary => array.as_binary::<i64>().value(row).len() as u64,
        DataType::BinaryView => array.as_binary_view().value(row).len() as u64,
        DataType::List(_) => all(&array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => all(&array.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => all(&array.as_fixed_size_list().value(row)),
        DataType::Map(..) => all(&array.as_map().value(row)),
        DataType::Struct(_) => {
            let columns = array.as_struct().columns().iter();
            columns.map(|column| row_bytes(column, row)).sum()
        }
        DataType::FixedSizeBinary(width) => width.unsigned_abs().into(),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary_opt();
            let key = dictionary.and_then(|found| found.normalized_keys().get(row).copied());
            match (dictionary, key) {
                (Some(found), Some(key)) if key < found.values().len() => {
                    row_bytes(found.values().as_ref(), key)
                }
                _ => 0,
            }
        }
        kind => kind.primitive_width().unwrap_or(1) as u64,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int32Type;
    use arrow_array::{
        ArrayRef, BooleanArray, DictionaryArray, Int64Array, ListArray, StringArray,
        StringViewArray, StructArray,
    };
    use arrow_schema::Field;

    use super::*;

    #[test]
    fn bytes_are_those_of_the_values() {
        let lists = [Some(vec![Some(1), None, Some(2)]), None];
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("h\u{e9}"), None]));
        let structure = StructArray::from(vec![(
            Arc::new(Field::new("x", DataType::Utf8, true)),
            Arc::clone(&texts),
        )]);
        let arrays: [(ArrayRef, [u64; 2]); 7] = [
            (texts, [3, 0]),
            (
                Arc::new(StringViewArray::from(vec![
                    Some(""),
                    Some("longer than twelve"),
                ])),
                [0, 18],
            ),
            (Arc::new(Int64Array::from(vec![Some(1), None])), [8, 0]),
            (Arc::new(BooleanArray::from(vec![true, false])), [1, 1]),
            (
                Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists)),
                [8, 0],
            ),
            (Arc::new(structure), [3, 0]),
            (
                Arc::new(DictionaryArray::<Int32Type>::from_iter([Some("abc"), None])),
                [3, 0],
            ),
        ];
        for (array, expected) in arrays {
            let found = [0, 1].map(|row| row_bytes(array.as_ref(), row));
            assert_eq!(found, expected, "{}", array.data_type());
        }
    }
}

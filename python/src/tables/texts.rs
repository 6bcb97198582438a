//! Texts of a column.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray};
use arrow_schema::DataType;
use arrow_select::take::take;

/// Texts of a column as bytes.
pub enum Texts {
    /// No value.
    Nothing,
    /// Offsets of 32 bits.
    Small(BinaryArray),
    /// Offsets of 64 bits.
    Large(LargeBinaryArray),
    /// Views.
    View(BinaryViewArray),
}

impl Texts {
    /// The texts of `array`; buffers are shared, except those of a dictionary. `None` for a type
    /// that is not text.
    pub fn of(array: &ArrayRef) -> Option<Texts> {
        Some(match array.data_type() {
            DataType::Null => Texts::Nothing,
            DataType::Utf8 => Texts::Small(BinaryArray::from(array.as_string().clone())),
            DataType::LargeUtf8 => Texts::Large(LargeBinaryArray::from(array.as_string().clone())),
            DataType::Utf8View => Texts::View(array.as_string_view().clone().to_binary_view()),
            DataType::Binary => Texts::Small(array.as_binary().clone()),
            DataType::LargeBinary => Texts::Large(array.as_binary().clone()),
            DataType::BinaryView => Texts::View(array.as_binary_view().clone()),
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary_opt()?;
                let values = take(dictionary.values(), dictionary.keys(), None).ok()?;
                return Texts::of(&values);
            }
            _ => return None,
        })
    }

    /// The text of a row; `None` if it is null.
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        match self {
            Texts::Nothing => None,
            Texts::Small(array) => array.is_valid(row).then(|| array.value(row)),
            Texts::Large(array) => array.is_valid(row).then(|| array.value(row)),
            Texts::View(array) => array.is_valid(row).then(|| array.value(row)),
        }
    }
}

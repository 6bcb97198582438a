//! The lengths of the values of a dictionary.

use std::sync::Arc;

use parquet::basic::Type;
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use super::catch_panic::catch_panic;
use super::table_file::TableFile;

/// The maximum number of bytes of values that are not texts.
const OTHER_BYTES: u64 = 16;

/// The length of the longest value in the dictionary of a column of `rows` rows, which is
/// decompressed. The page headers must have been checked.
pub(super) fn longest(
    file: &TableFile,
    column: &ColumnChunkMetaData,
    rows: u64,
) -> Result<u64, String> {
    match column.column_type() {
        Type::BYTE_ARRAY => {}
        Type::FIXED_LEN_BYTE_ARRAY => {
            return Ok(u64::try_from(column.column_descr().type_length()).unwrap_or(0));
        }
        _ => return Ok(OTHER_BYTES),
    }
    let rows = usize::try_from(rows).map_err(|error| error.to_string())?;
    let first = catch_panic(|| {
        let mut pages = SerializedPageReader::new(Arc::new(file.clone()), column, rows, None)?;
        pages.get_next_page()
    })?;
    Ok(match first {
        Some(Page::DictionaryPage { buf, .. }) => longest_of(&buf),
        // The decoder reports the error.
        _ => 0,
    })
}

/// The length of the longest value; each is preceded by its length in four bytes.
fn longest_of(mut values: &[u8]) -> u64 {
    let mut longest = 0;
    while let Some((length, rest)) = values.split_first_chunk() {
        let length = u32::from_le_bytes(*length);
        longest = longest.max(u64::from(length).min(rest.len() as u64));
        values = rest.get(length as usize..).unwrap_or_default();
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claimed_lengths_are_bounded() {
        assert_eq!(longest_of(b""), 0);
        assert_eq!(longest_of(b"\x01\0\0\0a\x03\0\0\0bcd\0\0\0\0"), 3);
        assert_eq!(longest_of(b"\xff\xff\xff\xffabc"), 3);
        assert_eq!(longest_of(b"\x01\0\0"), 0);
    }
}

//! Validation of page headers, before the decoder allocates the sizes that they claim.
//!
//! The header of a page claims a decompressed size, and that of a dictionary a number of values. The
//! decoder allocates as much before it reads the bytes. Source: parquet.thrift, Apache Parquet.

use super::thrift::{BOOLEAN, MAX_DEPTH, NUMBER, STRUCTURE, ThriftReader};
use crate::parquet::table_file::TableFile;
use parquet::basic::Compression;
use parquet::file::metadata::ColumnChunkMetaData;
use std::io;

/// The number of bytes first read for a page header.
const HEADER_BYTES: u64 = 1 << 10;
/// The maximum length of a page header, which may contain the least and the greatest value.
const MAX_HEADER_BYTES: u64 = 16 << 20;

/// Kinds of pages (`PageType`): DATA_PAGE, DICTIONARY_PAGE and DATA_PAGE_V2.
const DATA: i32 = 0;
const DICTIONARY: i32 = 2;
const SECOND_DATA: i32 = 3;

/// The kinds of the known fields, from id 1 on, of a page header and of its three nested structures.
/// The decoder assumes them and ignores the kinds in the file.
const HEADER_KINDS: &[u8] = &[
    NUMBER, NUMBER, NUMBER, NUMBER, STRUCTURE, STRUCTURE, STRUCTURE, STRUCTURE,
];
const DATA_KINDS: &[u8] = &[NUMBER, NUMBER, NUMBER, NUMBER, STRUCTURE];
const DICTIONARY_KINDS: &[u8] = &[NUMBER, NUMBER, BOOLEAN];
const SECOND_DATA_KINDS: &[u8] = &[
    NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, BOOLEAN, STRUCTURE,
];

/// The encoding of values that share a prefix with the previous one (`Encoding`).
const DELTA_BYTE_ARRAY: i32 = 7;

/// The sizes of the values of a column, according to its page headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ValueSizes {
    /// The mean number of bytes of a value, in the page with the greatest mean.
    pub mean: u64,
    /// The maximum number of bytes that a value shares with the previous one; not counted in the mean.
    pub repeated: u64,
    /// Whether values may be in a dictionary, which is not counted in the mean either.
    pub has_dictionary: bool,
}

/// The header of a page.
#[derive(Debug, Default)]
struct PageHeader {
    kind: i32,
    uncompressed: i32,
    compressed: i32,
    /// The number of values, for each kind of page.
    data_values: i32,
    dictionary_values: i32,
    second_data_values: i32,
    /// The encoding of the values, for both kinds of data pages.
    encoding: i32,
    second_encoding: i32,
}

/// Checks that the pages of a column claim only sizes that they can have, at most `most` bytes each.
pub(crate) fn check(
    file: &TableFile,
    column: &ColumnChunkMetaData,
    most: u64,
) -> Result<ValueSizes, String> {
    let mut sizes = ValueSizes::default();
    let (mut start, length) = column.byte_range();
    let end = start.saturating_add(length);
    while start < end {
        let wrong = |what: &str| {
            format!(
                "column {}, byte {start}: {what}",
                column.column_path().string()
            )
        };
        let header = read(file, start, end)
            .map_err(|cause| wrong(&format!("the header of a page cannot be read: {cause}")))?;
        let (header, header_bytes) = header.ok_or_else(|| wrong("not a page header"))?;
        let left = end - start - header_bytes;
        let body = header
            .check(left, column.compression(), most)
            .map_err(|what| wrong(&what))?;
        start += header_bytes + body;
        sizes.add(&header);
    }
    Ok(sizes)
}

impl ValueSizes {
    fn add(&mut self, header: &PageHeader) {
        let bytes = u64::try_from(header.uncompressed).unwrap_or(0);
        let values = u64::try_from(header.values()).unwrap_or(0);
        let encoding = match header.kind {
            SECOND_DATA => header.second_encoding,
            _ => header.encoding,
        };
        self.mean = self.mean.max(bytes.checked_div(values).unwrap_or(0));
        self.has_dictionary |= header.kind == DICTIONARY;
        if encoding == DELTA_BYTE_ARRAY {
            self.repeated = self.repeated.max(bytes);
        }
    }
}

impl PageHeader {
    /// The number of values of a data page.
    fn values(&self) -> i32 {
        match self.kind {
            DATA => self.data_values,
            SECOND_DATA => self.second_data_values,
            _ => 0,
        }
    }

    /// The number of bytes of the page after its header; `left` are left in the column. The error
    /// describes an impossible claim of the header.
    fn check(&self, left: u64, codec: Compression, most: u64) -> Result<u64, String> {
        let size =
            |claim: i32| u64::try_from(claim).map_err(|_| format!("a page with a size of {claim}"));
        let compressed = size(self.compressed)?;
        let uncompressed = size(self.uncompressed)?;
        if compressed > left {
            return Err(format!(
                "a page of {compressed} bytes where the column has {left} left"
            ));
        }
        let most = max_from(compressed, codec).min(most);
        if uncompressed > most {
            return Err(format!(
                "a page of {compressed} bytes that claims to be {uncompressed} decompressed: at \
                 most {most} can be read"
            ));
        }
        // Every value has at least one byte.
        if self.kind == DICTIONARY && size(self.dictionary_values)? > uncompressed {
            return Err(format!(
                "a dictionary of {uncompressed} bytes that claims {} values",
                self.dictionary_values
            ));
        }
        Ok(compressed)
    }
}

/// The maximum decompressed size of `compressed` bytes.
fn max_from(compressed: u64, codec: Compression) -> u64 {
    let factor = match codec {
        Compression::UNCOMPRESSED => 1,
        // A copy of 64 bytes has three bytes.
        Compression::SNAPPY => 22,
        // One byte extends a match by 255.
        Compression::LZ4 | Compression::LZ4_RAW => 255,
        // A match of 258 bytes has two bits.
        Compression::GZIP(_) => 1032,
        _ => return u64::MAX,
    };
    // A page without values may have a few bytes.
    (compressed + 16).saturating_mul(factor)
}

/// The header of the page at `start`, in a column that ends at `end`, and its length.
fn read(file: &TableFile, start: u64, end: u64) -> io::Result<Option<(PageHeader, u64)>> {
    let most = MAX_HEADER_BYTES.min(end - start);
    let mut want = HEADER_BYTES.min(most);
    loop {
        let mut bytes = vec![0; want as usize];
        file.read_exact_at(&mut bytes, start)?;
        let mut rest = ThriftReader::new(&bytes);
        if let Some(header) = parse(&mut rest) {
            return Ok(Some((header, want - rest.len() as u64)));
        }
        if want == most {
            return Ok(None);
        }
        want = (16 * want).min(most);
    }
}

fn parse(rest: &mut ThriftReader<'_>) -> Option<PageHeader> {
    let mut header = PageHeader::default();
    rest.fields(&mut |rest, id, kind| {
        expect(HEADER_KINDS, id, kind)?;
        match id {
            1 => header.kind = number(rest)?,
            2 => header.uncompressed = number(rest)?,
            3 => header.compressed = number(rest)?,
            5 => [header.data_values, header.encoding] = numbers(rest, DATA_KINDS, [1, 2])?,
            7 => [header.dictionary_values] = numbers(rest, DICTIONARY_KINDS, [1])?,
            8 => {
                [header.second_data_values, header.second_encoding] =
                    numbers(rest, SECOND_DATA_KINDS, [1, 4])?;
            }
            _ => rest.field(kind, MAX_DEPTH)?,
        }
        Some(())
    })?;
    Some(header)
}

/// `None` if the decoder would assume another kind of the field.
fn expect(known: &[u8], id: i64, kind: u8) -> Option<()> {
    let place = usize::try_from(id).ok().and_then(|id| id.checked_sub(1));
    let known = place.and_then(|place| known.get(place));
    known.is_none_or(|&known| known == kind).then_some(())
}

/// The numbers in the fields `ids` of a structure with the `known` kinds; 0 for absent fields.
fn numbers<const N: usize>(
    rest: &mut ThriftReader<'_>,
    known: &[u8],
    ids: [i64; N],
) -> Option<[i32; N]> {
    let mut found = [0; N];
    rest.fields(&mut |rest, id, kind| {
        expect(known, id, kind)?;
        match ids.iter().position(|&wanted| wanted == id) {
            Some(place) => found[place] = number(rest)?,
            None => rest.field(kind, MAX_DEPTH)?,
        }
        Some(())
    })?;
    Some(found)
}

fn number(rest: &mut ThriftReader<'_>) -> Option<i32> {
    i32::try_from(rest.integer()?).ok()
}

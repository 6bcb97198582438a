//! A look at the heads of pages before the decoder allocates what they claim.
//!
//! A page says how long it is decompressed, and a dictionary how many values it has; the decoder
//! makes room for as much before it looks at the bytes. Source: parquet.thrift, Apache Parquet.

use super::thrift::{MOST_DEPTH, NUMBER, Rest, STRUCTURE, TRUTH};
use parquet::basic::Compression;
use parquet::file::metadata::ColumnChunkMetaData;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// How much is read to find the head of a page, at first and at most: it may hold the least and
/// the greatest value.
const HEAD_BYTES: u64 = 1 << 10;
const MOST_HEAD_BYTES: u64 = 16 << 20;

/// Kinds of pages (`PageType`).
const DATA: i32 = 0;
const DICTIONARY: i32 = 2;
const SECOND_DATA: i32 = 3;

/// The kinds of the fields that the decoder knows, from 1 on, of the head of a page and of what the
/// three kinds of pages have in it. It does not look at the kind that stands there.
const OF_HEAD: &[u8] = &[
    NUMBER, NUMBER, NUMBER, NUMBER, STRUCTURE, STRUCTURE, STRUCTURE, STRUCTURE,
];
const OF_DATA: &[u8] = &[NUMBER, NUMBER, NUMBER, NUMBER, STRUCTURE];
const OF_DICTIONARY: &[u8] = &[NUMBER, NUMBER, TRUTH];
const OF_SECOND_DATA: &[u8] = &[
    NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, TRUTH, STRUCTURE,
];

/// Values that repeat the beginning of the one before (`Encoding`: DELTA_BYTE_ARRAY).
const BY_THE_ONE_BEFORE: i32 = 7;

/// What the heads of a column's pages say of its values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Weight {
    /// Bytes of a value: the mean of the page in which values are longest.
    pub mean: u64,
    /// The most bytes that a value repeats of those before it, so that they do not count in the
    /// mean.
    pub repeated: u64,
    /// Whether values may stand in a dictionary, where they do not count in the mean either.
    pub has_dictionary: bool,
}

/// What the head of a page says.
#[derive(Debug, Default)]
struct Head {
    kind: i32,
    uncompressed: i32,
    compressed: i32,
    /// How many values there are, for each kind of page.
    data_values: i32,
    dictionary_values: i32,
    second_data_values: i32,
    /// How values are written, for both kinds of data pages.
    encoding: i32,
    second_encoding: i32,
}

/// Whether the pages of a column claim only what they may hold, and at most `most` bytes each.
pub(super) fn check(
    file: &File,
    column: &ColumnChunkMetaData,
    most: u64,
) -> Result<Weight, String> {
    let mut weight = Weight::default();
    let (mut start, length) = column.byte_range();
    let end = start.saturating_add(length);
    while start < end {
        let wrong = |what: &str| {
            format!(
                "column {}, byte {start}: {what}",
                column.column_path().string()
            )
        };
        let head = read(file, start, end)
            .map_err(|cause| wrong(&format!("the head of a page cannot be read: {cause}")))?;
        let (head, head_bytes) = head.ok_or_else(|| wrong("no head of a page"))?;
        let left = end - start - head_bytes;
        let body = head
            .check(left, column.compression(), most)
            .map_err(|what| wrong(&what))?;
        start += head_bytes + body;
        weight.add(&head);
    }
    Ok(weight)
}

impl Weight {
    fn add(&mut self, head: &Head) {
        let bytes = u64::try_from(head.uncompressed).unwrap_or(0);
        let values = u64::try_from(head.values()).unwrap_or(0);
        let encoding = match head.kind {
            SECOND_DATA => head.second_encoding,
            _ => head.encoding,
        };
        self.mean = self.mean.max(bytes.checked_div(values).unwrap_or(0));
        self.has_dictionary |= head.kind == DICTIONARY;
        if encoding == BY_THE_ONE_BEFORE {
            self.repeated = self.repeated.max(bytes);
        }
    }
}

impl Head {
    /// The values of a data page.
    fn values(&self) -> i32 {
        match self.kind {
            DATA => self.data_values,
            SECOND_DATA => self.second_data_values,
            _ => 0,
        }
    }

    /// The bytes of the page behind its head, of which there are `left` in the column; what is
    /// wrong, if it cannot be what its head says.
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
        let most = most_from(compressed, codec).min(most);
        if uncompressed > most {
            return Err(format!(
                "a page of {compressed} bytes that claims to be {uncompressed} decompressed: at \
                 most {most} can be read"
            ));
        }
        // Every value takes a byte or more.
        if self.kind == DICTIONARY && size(self.dictionary_values)? > uncompressed {
            return Err(format!(
                "a dictionary of {uncompressed} bytes that claims {} values",
                self.dictionary_values
            ));
        }
        Ok(compressed)
    }
}

/// The most bytes that so many `compressed` ones can become.
fn most_from(compressed: u64, codec: Compression) -> u64 {
    let factor = match codec {
        Compression::UNCOMPRESSED => 1,
        // A copy of 64 bytes takes three.
        Compression::SNAPPY => 22,
        // A byte makes a match longer by 255.
        Compression::LZ4 | Compression::LZ4_RAW => 255,
        // A match of 258 bytes takes two bits.
        Compression::GZIP(_) => 1032,
        _ => return u64::MAX,
    };
    // A few bytes may stand for the page of no values.
    (compressed + 16).saturating_mul(factor)
}

/// The head of the page at `start` of a column that ends at `end`, and its length.
fn read(file: &File, start: u64, end: u64) -> io::Result<Option<(Head, u64)>> {
    let most = MOST_HEAD_BYTES.min(end - start);
    let mut want = HEAD_BYTES.min(most);
    loop {
        let mut bytes = vec![0; want as usize];
        file.read_exact_at(&mut bytes, start)?;
        let mut rest = Rest::new(&bytes);
        if let Some(head) = parse(&mut rest) {
            return Ok(Some((head, want - rest.len() as u64)));
        }
        if want == most {
            return Ok(None);
        }
        want = (16 * want).min(most);
    }
}

fn parse(rest: &mut Rest<'_>) -> Option<Head> {
    let mut head = Head::default();
    rest.fields(&mut |rest, id, kind| {
        expect(OF_HEAD, id, kind)?;
        match id {
            1 => head.kind = number(rest)?,
            2 => head.uncompressed = number(rest)?,
            3 => head.compressed = number(rest)?,
            5 => [head.data_values, head.encoding] = numbers(rest, OF_DATA, [1, 2])?,
            7 => [head.dictionary_values] = numbers(rest, OF_DICTIONARY, [1])?,
            8 => {
                [head.second_data_values, head.second_encoding] =
                    numbers(rest, OF_SECOND_DATA, [1, 4])?;
            }
            _ => rest.field(kind, MOST_DEPTH)?,
        }
        Some(())
    })?;
    Some(head)
}

/// Nothing if the decoder would take the field for another kind than it is.
fn expect(known: &[u8], id: i64, kind: u8) -> Option<()> {
    let place = usize::try_from(id).ok().and_then(|id| id.checked_sub(1));
    let known = place.and_then(|place| known.get(place));
    known.is_none_or(|&known| known == kind).then_some(())
}

/// The numbers that are the fields `ids` of a structure of `known` kinds; those that are not there
/// are 0.
fn numbers<const N: usize>(rest: &mut Rest<'_>, known: &[u8], ids: [i64; N]) -> Option<[i32; N]> {
    let mut found = [0; N];
    rest.fields(&mut |rest, id, kind| {
        expect(known, id, kind)?;
        match ids.iter().position(|&wanted| wanted == id) {
            Some(place) => found[place] = number(rest)?,
            None => rest.field(kind, MOST_DEPTH)?,
        }
        Some(())
    })?;
    Some(found)
}

fn number(rest: &mut Rest<'_>) -> Option<i32> {
    i32::try_from(rest.integer()?).ok()
}

//! Documents, their places, and the reasons for skipped ones.

use bytemuck::{Pod, Zeroable};

/// The [`Place::member`] of a record in a file that is not compressed.
pub const NO_MEMBER: u64 = u64::MAX;

/// The place of a record in its source.
///
/// Within a source, the order of (member, offset) is the order of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(C)]
pub struct Place {
    /// The offset in the file of the gzip member or zstd frame in which the record begins.
    /// [`NO_MEMBER`] if the file is not compressed.
    pub member: u64,
    /// The offset in the file or in the decompressed member; of Parquet files, the row.
    pub offset: u64,
    /// The length of the decompressed record with its separator; of Parquet files, one row.
    pub length: u64,
    /// The number of the source.
    pub source: u32,
    /// Always zero.
    pub _reserved: u32,
}

impl Place {
    /// The place of `length` bytes at `offset` in a `member` of a source.
    pub fn new(source: u32, member: u64, offset: u64, length: u64) -> Self {
        Place {
            member,
            offset,
            length,
            source,
            _reserved: 0,
        }
    }
}

/// A document: bytes of its chunk, or bytes decoded by the worker's parser.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// The place of its record.
    pub place: Place,
    /// The unchanged record with its separator; empty for a row of a Parquet file.
    ///
    /// Only the last record of a file may lack its [separator](super::Format::separator).
    pub raw: &'a [u8],
    /// Its id in the input; empty if it has none.
    pub id: &'a [u8],
    /// Its URL; empty if it has none.
    pub url: &'a [u8],
    /// Its date as written in the input; empty if it has none.
    pub date: &'a [u8],
    /// The values of [`Reading::fields`](super::Reading::fields), in that order; `None` for a field
    /// that it does not have.
    pub fields: FieldValues<'a>,
    /// Its text.
    pub text: &'a [u8],
    /// The reason why characters of the text may be wrong.
    pub doubt: Doubt,
}

/// A reason why characters of a text may be wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Doubt {
    /// No reason.
    #[default]
    None,
    /// Some bytes or JSON escapes are not valid characters.
    Broken,
    /// The document names an unknown character set, so its character set was guessed.
    UnknownCharset,
}

impl Doubt {
    /// The doubt of a text with an unknown label, or with invalid bytes.
    pub(super) fn of(unknown_label: bool, is_broken: bool) -> Doubt {
        match (unknown_label, is_broken) {
            (true, _) => Doubt::UnknownCharset,
            (false, true) => Doubt::Broken,
            (false, false) => Doubt::None,
        }
    }
}

/// The value of a field of a record: a string, a number or a boolean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldValue<'a> {
    /// The decoded string, or the number or boolean as it is written.
    pub text: &'a [u8],
    /// If it is a number: its value, rounded to the nearest `f64`.
    pub number: Option<f64>,
}

/// The maximum number of fields that a job can request besides those of every document.
pub const MAX_FIELDS: usize = 12;

/// The values of requested fields.
pub type FieldValues<'a> = [Option<FieldValue<'a>>; MAX_FIELDS];

/// The result of parsing a record that should be a document.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one value at a time, on the stack; a box would be an allocation for each document"
)]
pub enum Parsed<'a> {
    /// A document.
    Document(Document<'a>),
    /// A record that could not be read, and the reason.
    Skipped(Skip),
    /// A record that the caller did not request; it was not decoded.
    Unwanted,
}

/// A document that could not be read, or several documents lost to one damaged place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// Its place, or the start of the lost bytes.
    pub place: Place,
    /// Its id; empty if it could not be read.
    pub id: Vec<u8>,
    /// The kind of reason.
    pub reason: Reason,
    /// A description for people.
    pub detail: String,
}

/// The reason why a document was skipped.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Reason {
    /// Compressed bytes or rows of a Parquet file that are damaged.
    Damaged,
    /// The input ends within the record.
    Truncated,
    /// Longer than the limit for documents, before or after decoding.
    TooLarge,
    /// A line that is not a JSON object.
    BadJson,
    /// A record without the field of the text, or with another value in it than a string.
    NoText,
    /// A WARC or ARC record with an invalid header.
    BadRecord,
    /// A transfer or content encoding that cannot be decoded.
    BadEncoding,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Reason; 7] = [
        Reason::Damaged,
        Reason::Truncated,
        Reason::TooLarge,
        Reason::BadJson,
        Reason::NoText,
        Reason::BadRecord,
        Reason::BadEncoding,
    ];

    /// The name that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Damaged => "damaged",
            Reason::Truncated => "truncated",
            Reason::TooLarge => "too_large",
            Reason::BadJson => "bad_json",
            Reason::NoText => "no_text",
            Reason::BadRecord => "bad_record",
            Reason::BadEncoding => "bad_encoding",
        }
    }
}

/// The description of a document of `length` bytes that exceeds the limit of `most`.
pub(super) fn too_large(length: u64, most: u64) -> String {
    format!("{length} bytes; the limit is {most}")
}

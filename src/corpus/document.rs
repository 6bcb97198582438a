//! A document, and why there is none.

use bytemuck::{Pod, Zeroable};

/// The [`Place::member`] of what stands in a file that is not compressed.
pub const NO_MEMBER: u64 = u64::MAX;

/// Where a record stands.
///
/// Places of one source are in the order of their records if compared by (member, offset).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(C)]
pub struct Place {
    /// The offset in the file of the gzip member or zstd frame in which the record begins;
    /// [`NO_MEMBER`] if the file is not compressed.
    pub member: u64,
    /// The offset in the file, or in what the member decompresses to; the row of a Parquet file.
    pub offset: u64,
    /// The bytes of the record, decompressed, its separator included; one row of a Parquet file.
    pub length: u64,
    /// The number of the source.
    pub source: u32,
    /// Zero.
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

/// A document as it stands in its chunk, or as it was decoded by the worker's parser.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// Where its record stands.
    pub place: Place,
    /// The record verbatim, its separator included; empty for a row of a Parquet file.
    ///
    /// Only the last record of a file may lack its [separator](super::Format::separator).
    pub raw: &'a [u8],
    /// The id it goes by in its input; empty if it has none.
    pub id: &'a [u8],
    /// Its URL; empty if it has none.
    pub url: &'a [u8],
    /// Its date as written; empty if it has none.
    pub date: &'a [u8],
    /// What the field holds that decides which copy is kept, if there is one.
    pub keep_field: Option<FieldValue<'a>>,
    /// Its text.
    pub text: &'a [u8],
    /// Why characters of the text may be wrong.
    pub doubt: Doubt,
}

/// Why characters of a text may be wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Doubt {
    /// There is no reason for it.
    #[default]
    None,
    /// Bytes were not valid in its character set.
    Broken,
    /// It names a character set that is not known here, so that it was guessed.
    UnknownCharset,
}

impl Doubt {
    /// The doubt of a text with an unknown label, or with bytes that mean nothing.
    pub(super) fn of(unknown_label: bool, is_broken: bool) -> Doubt {
        match (unknown_label, is_broken) {
            (true, _) => Doubt::UnknownCharset,
            (false, true) => Doubt::Broken,
            (false, false) => Doubt::None,
        }
    }
}

/// What a field of a record holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldValue<'a> {
    /// A number, rounded to the nearest double.
    Number(f64),
    /// A string, decoded.
    Text(&'a [u8]),
}

/// What a parser makes of a record that is meant to be a document.
#[derive(Debug)]
pub enum Parsed<'a> {
    /// A document.
    Document(Document<'a>),
    /// A record that is no document, and why.
    Skipped(Skip),
    /// A record that nobody asked for; it was not decoded.
    Unwanted,
}

/// A document that could not be read, or several that damage took at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// Where it stands, or where what was lost begins.
    pub place: Place,
    /// Its id, if that could be read.
    pub id: Vec<u8>,
    /// Why it was skipped.
    pub reason: Reason,
    /// What was wrong, for people.
    pub detail: String,
}

/// Why a document was skipped.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Reason {
    /// Compressed bytes, or rows of a Parquet file, that are not what they have to be.
    Damaged,
    /// The input ends before the record does.
    Truncated,
    /// Longer than a document may be, as it stands or decoded.
    TooLarge,
    /// A line that is not a JSON object.
    BadJson,
    /// A record without the field that holds the text, or with something else in it than a string.
    NoText,
    /// A WARC or ARC record whose header makes no sense.
    BadRecord,
    /// A transfer or content encoding that cannot be undone.
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

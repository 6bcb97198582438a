//! The location and the id of a document in a report.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use simtool_corpus::{NO_MEMBER, Place};

/// The location of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct At<'a> {
    /// The file, as named by the user.
    pub file: &'a str,
    /// The offset in the file, or in the decompressed member.
    pub start: u64,
    /// The length in bytes, decompressed.
    pub length: u64,
    /// The offset of the compressed member in the file.
    pub member: Option<u64>,
}

impl<'a> At<'a> {
    /// The location of `place` in `file`.
    pub fn new(file: &'a str, place: Place) -> At<'a> {
        At {
            file,
            start: place.offset,
            length: place.length,
            member: (place.member != NO_MEMBER).then_some(place.member),
        }
    }
}

/// The Base64 of an id or a payload that is not UTF-8.
pub fn base64_if_needed(id: &[u8]) -> Option<String> {
    std::str::from_utf8(id)
        .is_err()
        .then(|| STANDARD.encode(id))
}

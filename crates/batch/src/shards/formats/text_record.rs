//! A document by its text and what is known of it.

use std::borrow::Cow;

use super::encoder::ShardDocument;
use crate::scope::Languages;
use simtool_core::sketch::digest::of_text;
use simtool_corpus::NO_MEMBER;
use simtool_engine::naming::name;

/// The text of a document and what is known of it.
pub struct TextRecord<'a> {
    /// Its id; if it has none, file and place.
    pub id: String,
    /// Its URL.
    pub url: Option<Cow<'a, str>>,
    /// Its date, as the input has it.
    pub date: Option<Cow<'a, str>>,
    /// Its text.
    pub text: Cow<'a, str>,
    /// The code of its language.
    pub language: Option<String>,
    /// xxh3-128 of its text.
    pub digest: String,
    /// Its file.
    pub source: Cow<'a, str>,
    /// Where it begins, as reports have it.
    pub start: u64,
    /// The member where it begins, if the file is compressed.
    pub member: Option<u64>,
}

impl<'a> TextRecord<'a> {
    /// The record of a document; `languages` finds its language.
    pub fn new(named: &ShardDocument<'a>, languages: &Languages) -> TextRecord<'a> {
        let ShardDocument {
            source, document, ..
        } = named;
        let place = document.place;
        let text = lossy(document.text);
        TextRecord {
            id: id(named),
            url: known(document.url),
            date: known(document.date),
            language: languages
                .of(document)
                .map(|code| String::from_utf8_lossy(&code).into_owned()),
            digest: format!("{:032x}", of_text(text.as_bytes())),
            text,
            source: source.path.to_string_lossy(),
            start: place.offset,
            member: (place.member != NO_MEMBER).then_some(place.member),
        }
    }
}

/// The text of some bytes. Most are valid, which `String::from_utf8_lossy` finds out slowly.
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// The id of a document in reports.
pub fn id(named: &ShardDocument<'_>) -> String {
    let id = name(named.source, named.document.id, named.document.place);
    String::from_utf8_lossy(&id).into_owned()
}

/// A label, unless the document has none.
pub fn known(label: &[u8]) -> Option<Cow<'_, str>> {
    (!label.is_empty()).then(|| String::from_utf8_lossy(label))
}

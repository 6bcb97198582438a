//! Payloads: data that an index stores with a document.

use std::borrow::Cow;

use serde::Serialize;

use simtool_corpus::Document;

/// The data that an index stores and returns with a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Payload {
    /// Nothing.
    #[default]
    None,
    /// The URL.
    Url,
    /// The date.
    Date,
    /// A JSON object with `url` and `date`, or with the one that the document has.
    UrlAndDate,
}

#[derive(Serialize)]
struct UrlAndDateJson<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    url: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    date: Cow<'a, str>,
}

impl Payload {
    /// The payload of a document; empty if it has no such data.
    pub(super) fn of<'a>(self, document: &Document<'a>) -> Cow<'a, [u8]> {
        let (url, date) = (document.url, document.date);
        match self {
            Payload::None => Cow::Borrowed(&[]),
            Payload::Url => Cow::Borrowed(url),
            Payload::Date => Cow::Borrowed(date),
            Payload::UrlAndDate if url.is_empty() && date.is_empty() => Cow::Borrowed(&[]),
            Payload::UrlAndDate => {
                let both = UrlAndDateJson {
                    url: String::from_utf8_lossy(url),
                    date: String::from_utf8_lossy(date),
                };
                // Strings are always JSON.
                Cow::Owned(serde_json::to_vec(&both).unwrap_or_default())
            }
        }
    }
}

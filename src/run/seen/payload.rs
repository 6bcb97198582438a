//! What is kept with a document.

use std::borrow::Cow;

use serde::Serialize;

use crate::corpus::Document;

/// What is kept with a document, and comes back with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Payload {
    /// Nothing.
    #[default]
    None,
    /// Its URL.
    Url,
    /// Its date.
    Date,
    /// Both, as a JSON object: `url` and `date`, or what there is of them.
    UrlAndDate,
}

#[derive(Serialize)]
struct Both<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    url: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    date: Cow<'a, str>,
}

impl Payload {
    /// That of a document; nothing if it has none of it.
    pub(super) fn of<'a>(self, document: &Document<'a>) -> Cow<'a, [u8]> {
        let (url, date) = (document.url, document.date);
        match self {
            Payload::None => Cow::Borrowed(&[]),
            Payload::Url => Cow::Borrowed(url),
            Payload::Date => Cow::Borrowed(date),
            Payload::UrlAndDate if url.is_empty() && date.is_empty() => Cow::Borrowed(&[]),
            Payload::UrlAndDate => {
                let both = Both {
                    url: String::from_utf8_lossy(url),
                    date: String::from_utf8_lossy(date),
                };
                // Strings are always JSON.
                Cow::Owned(serde_json::to_vec(&both).unwrap_or_default())
            }
        }
    }
}

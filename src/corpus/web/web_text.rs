//! From a record to its text.

use super::charset;
use super::content_encoding;
use super::html;
use super::http::{Message, first_chunk, join_chunks};
use super::lines::trim;
use super::warc::{Kind, Record};
use super::{HtmlText, Reason};

/// What a record's text is: decides whether it is a document, and extracts the text.
///
/// Documents are HTML, XHTML and plain text: HTTP responses of any status (error pages repeat each
/// other like any page, and what they say is on record), resources, and conversions. One extractor
/// serves any number of records and reuses its buffers; the text depends on the record alone.
#[derive(Debug)]
pub struct WebText {
    which: HtmlText,
    most_bytes: usize,
    body: Vec<u8>,
    scratch: Vec<u8>,
    decoded: String,
    text: Vec<u8>,
}

/// The text of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    /// UTF-8.
    pub text: &'a [u8],
    /// The name of the character set that it came in.
    pub charset: &'static str,
    /// Whether replacement characters stand for bytes that mean nothing in it.
    pub broken: bool,
}

/// Kinds of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Media {
    Html,
    Plain,
}

impl WebText {
    /// An extractor for bodies of at most `most_bytes`, each layer undone.
    pub fn new(which: HtmlText, most_bytes: u64) -> WebText {
        WebText {
            which,
            most_bytes: usize::try_from(most_bytes).unwrap_or(usize::MAX),
            body: Vec::new(),
            scratch: Vec::new(),
            decoded: String::new(),
            text: Vec::new(),
        }
    }

    /// Whether `record` is a document.
    ///
    /// Looks at the heads only: O(head) time. A body without a type counts as HTML if it begins
    /// with a tag; a compressed one without a type is none.
    pub fn is_document(&self, record: &Record<'_>) -> bool {
        Part::of(record).is_some()
    }

    /// The text of `record`; empty if it is no document.
    ///
    /// What is UTF-8 plain text already is not copied.
    ///
    /// # Errors
    ///
    /// [`Reason::TooLarge`] if the body, as it is or decompressed, has more than the most bytes;
    /// [`Reason::BadEncoding`] if it cannot be decompressed.
    pub fn text<'a>(&'a mut self, record: &Record<'a>) -> Result<Text<'a>, (Reason, String)> {
        let Some(part) = Part::of(record) else {
            return Ok(Text {
                text: &[],
                charset: "UTF-8",
                broken: false,
            });
        };
        if part.body.len() > self.most_bytes {
            let detail = format!("{} bytes; the most is {}", part.body.len(), self.most_bytes);
            return Err((Reason::TooLarge, detail));
        }
        let bytes = match part.message.filter(is_encoded) {
            None => part.body,
            Some(message) => {
                self.body.clear();
                if !message.is_chunked() || !join_chunks(part.body, &mut self.body) {
                    self.body.extend_from_slice(part.body);
                }
                let encodings = message.values("content-encoding");
                content_encoding::decode(
                    encodings,
                    &mut self.body,
                    &mut self.scratch,
                    self.most_bytes,
                )?;
                &self.body
            }
        };
        let is_html = part.media == Media::Html;
        let decoded = charset::decode(bytes, part.content_type, is_html, &mut self.decoded);
        let text = match part.media {
            Media::Plain => decoded.text.as_bytes(),
            Media::Html => {
                self.text.clear();
                html::text(decoded.text, self.which, &mut self.text);
                &self.text
            }
        };
        Ok(Text {
            text,
            charset: decoded.charset,
            broken: decoded.broken,
        })
    }
}

fn is_encoded(message: &Message<'_>) -> bool {
    message.is_chunked() || message.values("content-encoding").next().is_some()
}

/// The part of a record that a document is in.
struct Part<'a> {
    media: Media,
    content_type: &'a [u8],
    message: Option<Message<'a>>,
    body: &'a [u8],
}

impl<'a> Part<'a> {
    fn of(record: &Record<'a>) -> Option<Part<'a>> {
        let message = match record.kind {
            Kind::Response => Message::split(record.body),
            Kind::Conversion | Kind::Resource => None,
            Kind::Other => return None,
        };
        let (content_type, body) = match &message {
            Some(message) => {
                let mut types = message.values("content-type");
                (
                    types.find(|value| !value.is_empty()).unwrap_or_default(),
                    message.body,
                )
            }
            // A response that lost its head says nothing about itself.
            None if is_type(record.content_type, "application/http") => (&[][..], record.body),
            None => (record.content_type, record.body),
        };
        let media = match content_type {
            [] if record.kind == Kind::Conversion => Media::Plain,
            [] if begins_with_tag(body, &message) => Media::Html,
            _ => Media::of(content_type)?,
        };
        Some(Part {
            media,
            content_type,
            message,
            body,
        })
    }
}

impl Media {
    fn of(content_type: &[u8]) -> Option<Media> {
        let is = |known| is_type(content_type, known);
        if is("text/html") || is("application/xhtml+xml") {
            Some(Media::Html)
        } else if is("text/plain") {
            Some(Media::Plain)
        } else {
            None
        }
    }
}

/// Whether `content_type` is `known`, parameters aside.
fn is_type(content_type: &[u8], known: &str) -> bool {
    let end = memchr::memchr2(b';', b',', content_type).unwrap_or(content_type.len());
    trim(&content_type[..end]).eq_ignore_ascii_case(known.as_bytes())
}

/// Whether a body looks like HTML: its first character begins a tag, a comment or a declaration.
fn begins_with_tag(body: &[u8], message: &Option<Message<'_>>) -> bool {
    /// How far to look; more white space in front than that means nothing.
    const MOST_BYTES: usize = 1024;
    let body = match message {
        Some(message) if message.is_chunked() => first_chunk(body).unwrap_or(body),
        _ => body,
    };
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let start = body[..body.len().min(MOST_BYTES)].trim_ascii_start();
    matches!(start, [b'<', next, ..] if next.is_ascii_alphabetic() || matches!(next, b'!' | b'?'))
}

#[cfg(test)]
mod tests;

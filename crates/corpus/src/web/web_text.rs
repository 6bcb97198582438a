//! Extraction of the text of a record.

use super::archives::http::{Message, first_chunk, join_chunks};
use super::archives::warc::{Kind, Record};
use super::charset;
use super::content_encoding;
use super::html;
use super::{HtmlText, Reason};

/// Recognises records that are documents, and extracts their text.
///
/// Documents are HTML, XHTML and plain text in HTTP responses of any status, resources and
/// conversions. (Error pages repeat each other like other pages.) An extractor is reusable for any
/// number of records and reuses its buffers; a text depends only on its record.
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
    /// The text in UTF-8.
    pub text: &'a [u8],
    /// The name of its original character set.
    pub charset: &'static str,
    /// Whether some bytes were invalid and became replacement characters.
    pub broken: bool,
    /// Whether its label is unknown, so that the character set was guessed.
    pub unknown_label: bool,
}

/// The media type of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Media {
    Html,
    Plain,
}

impl WebText {
    /// An extractor for bodies of at most `most_bytes`, before and after each decompression.
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
    /// Reads only the headers and at most the first KiB of the body, in O(headers) time. A body
    /// without a type counts as HTML if it begins with a tag, so a compressed one does not.
    pub fn is_document(&self, record: &Record<'_>) -> bool {
        Part::of(record).is_some()
    }

    /// The text of `record`; empty if it is not a document.
    ///
    /// Plain text in UTF-8 is not copied, unless it is chunked or compressed.
    ///
    /// # Errors
    ///
    /// [`Reason::TooLarge`] if the body exceeds the limit, compressed or decompressed;
    /// [`Reason::BadEncoding`] if it cannot be decompressed.
    pub fn text<'a>(&'a mut self, record: &Record<'a>) -> Result<Text<'a>, (Reason, String)> {
        let Some(part) = Part::of(record) else {
            return Ok(Text {
                text: &[],
                charset: "UTF-8",
                broken: false,
                unknown_label: false,
            });
        };
        if part.body.len() > self.most_bytes {
            let detail = format!(
                "{} bytes; the limit is {}",
                part.body.len(),
                self.most_bytes
            );
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
            unknown_label: decoded.unknown_label,
        })
    }
}

fn is_encoded(message: &Message<'_>) -> bool {
    message.is_chunked() || message.values("content-encoding").next().is_some()
}

/// The part of a record that contains the document.
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
            // Metadata that the crawler wrote about itself.
            Kind::Resource if record.url.starts_with(b"metadata:") => return None,
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
            // A response without its headers has no type.
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

/// Whether `content_type`, without parameters, is `known`.
fn is_type(content_type: &[u8], known: &str) -> bool {
    let end = memchr::memchr2(b';', b',', content_type).unwrap_or(content_type.len());
    content_type[..end]
        .trim_ascii()
        .eq_ignore_ascii_case(known.as_bytes())
}

/// Whether a body looks like HTML: its first character begins a tag, a comment or a declaration.
fn begins_with_tag(body: &[u8], message: &Option<Message<'_>>) -> bool {
    /// The number of bytes examined.
    const MAX_BYTES: usize = 1024;
    let body = match message {
        Some(message) if message.is_chunked() => first_chunk(body).unwrap_or(body),
        _ => body,
    };
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let start = body[..body.len().min(MAX_BYTES)].trim_ascii_start();
    matches!(start, [b'<', next, ..] if next.is_ascii_alphabetic() || matches!(next, b'!' | b'?'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::archives::warc::{Next, next_record};
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};
    use std::io::Read;
    use std::path::PathBuf;

    const MOST: u64 = 4 << 20;

    fn record<'a>(kind: Kind, content_type: &'a str, body: &'a [u8]) -> Record<'a> {
        Record {
            raw: body,
            kind,
            id: b"",
            url: b"",
            date: b"",
            content_type: content_type.as_bytes(),
            body,
        }
    }

    fn text_of(record: &Record<'_>) -> Option<String> {
        let mut web = WebText::new(HtmlText::Visible, MOST);
        let is_document = web.is_document(record);
        let text = web.text(record).unwrap();
        assert!(is_document || text.text.is_empty());
        is_document.then(|| String::from_utf8(text.text.to_vec()).unwrap())
    }

    fn response(message: &str) -> Option<String> {
        text_of(&record(
            Kind::Response,
            "application/http; msgtype=response",
            message.as_bytes(),
        ))
    }

    #[test]
    fn which_responses_are_documents() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            response("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>a"),
            some("a")
        );
        assert_eq!(
            response("HTTP/1.1 404\r\nContent-Type: TEXT/HTML;charset=x\r\n\r\n<p>a"),
            some("a")
        );
        assert_eq!(
            response("HTTP/1.1 200\r\ncontent-type: application/xhtml+xml\r\n\r\n<p>a"),
            some("a")
        );
        assert_eq!(
            response("HTTP/1.1 200\r\ncontent-type: text/plain\r\n\r\n<p> a"),
            some("<p> a")
        );
        assert_eq!(
            response("HTTP/1.1 200\r\ncontent-type: text/css\r\n\r\n<p>a"),
            None
        );
        assert_eq!(
            response("HTTP/1.1 200\r\n\r\n \n<!doctype html><p>a"),
            some("a")
        );
        assert_eq!(
            response("HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n<p>a\r\n0\r\n\r\n"),
            some("a")
        );
        assert_eq!(response("HTTP/1.1 200\r\n\r\n\u{feff}a < b"), None);
        // Chunks that are none.
        let message =
            "HTTP/1.1 200\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n<p>a";
        assert_eq!(response(message), some("a"));
        // A lost head.
        assert_eq!(response("<html>a"), some("a"));
        assert_eq!(response("GIF89a"), None);
    }

    #[test]
    fn which_other_records_are_documents() {
        let found = |kind, content_type| text_of(&record(kind, content_type, b"<p>a"));
        assert_eq!(found(Kind::Conversion, "text/plain"), Some("<p>a".into()));
        assert_eq!(found(Kind::Conversion, ""), Some("<p>a".into()));
        assert_eq!(found(Kind::Conversion, "image/png"), None);
        assert_eq!(found(Kind::Resource, "text/html"), Some("a".into()));
        assert_eq!(found(Kind::Resource, ""), Some("a".into()));
        assert_eq!(found(Kind::Resource, "text/dns"), None);
        assert_eq!(found(Kind::Response, "text/dns"), None);
        assert_eq!(found(Kind::Other, "text/html"), None);
        let mut log = record(Kind::Resource, "text/plain", b"a");
        log.url = b"metadata://gnu.org/software/wget/warc/wget_arguments.txt";
        assert_eq!(text_of(&log), None);
    }

    #[test]
    fn large_bodies_are_refused() {
        let body = vec![b'a'; MOST as usize + 1];
        let mut web = WebText::new(HtmlText::Visible, MOST);
        let found = web.text(&record(Kind::Conversion, "text/plain", &body));
        assert_eq!(found.unwrap_err().0, Reason::TooLarge);
        let found = web.text(&record(Kind::Conversion, "text/plain", &body[1..]));
        assert_eq!(found.unwrap().text.len(), MOST as usize);
    }

    proptest! {
        #[test]
        fn nothing_panics(
            head in "(HTTP/1.1 200\n)?((Content-Type: text/(html|plain)(; charset=(gbk|utf-16|x))?|Content-Encoding: (gzip|br|deflate|zstd)|Transfer-Encoding: chunked)\n){0,3}\n?",
            body in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(&b"<p>3\r\n0&;"[..])], 0..100),
        ) {
            let message = [head.as_bytes(), &body].concat();
            let mut web = WebText::new(HtmlText::Main, 1000);
            for (kind, content_type) in [(Kind::Response, "application/http"), (Kind::Conversion, "")] {
                if let Ok(found) = web.text(&record(kind, content_type, &message)) {
                    prop_assert!(std::str::from_utf8(found.text).is_ok());
                }
            }
        }
    }

    /// A test archive of a public project, if present.
    fn archive(name: &str) -> Option<Vec<u8>> {
        let directory = std::env::var_os("SIMTOOL_DATA_DIR")?;
        let path = PathBuf::from(directory).join("warc").join(name);
        let mut bytes = std::fs::read(path).unwrap();
        if name.ends_with(".gz") {
            let members = std::mem::take(&mut bytes);
            flate2::bufread::MultiGzDecoder::new(&members[..])
                .read_to_end(&mut bytes)
                .unwrap();
        }
        Some(bytes)
    }

    /// The records, and the places and descriptions of damage.
    fn pieces(archive: &[u8]) -> (Vec<Record<'_>>, Vec<(usize, usize, String)>) {
        let (mut found, mut damage) = (Vec::new(), Vec::new());
        let mut at = 0;
        loop {
            match next_record(&archive[at..], true) {
                Next::Record(record) => {
                    at += record.raw.len();
                    found.push(record);
                }
                Next::Damaged {
                    resume_at, detail, ..
                } => {
                    damage.push((at, resume_at, detail));
                    at += resume_at;
                }
                Next::Incomplete { .. } => panic!("nothing follows"),
                Next::End => return (found, damage),
            }
        }
    }

    fn records(archive: &[u8]) -> Vec<Record<'_>> {
        let (found, damage) = pieces(archive);
        assert_eq!(damage, []);
        let raws: Vec<_> = found.iter().map(|record| record.raw).collect();
        assert_eq!(raws.concat(), archive);
        found
    }

    fn texts(archive: &[u8], which: HtmlText) -> Vec<String> {
        let mut web = WebText::new(which, MOST);
        let records = records(archive);
        let documents: Vec<_> = records
            .iter()
            .filter(|record| web.is_document(record))
            .collect();
        let text = |record: &Record<'_>| web.text(record).unwrap().text.to_vec();
        documents
            .into_iter()
            .map(text)
            .map(|text| String::from_utf8(text).unwrap())
            .collect()
    }

    #[test]
    fn a_crawl_of_177_pages_of_which_106_are_distinct() {
        let Some(archive) = archive("aut-example.warc.gz") else {
            return;
        };
        let records = records(&archive);
        let responses = records
            .iter()
            .filter(|record| record.kind == Kind::Response);
        assert_eq!(responses.count(), 299);
        let web = WebText::new(HtmlText::Visible, MOST);
        let pages: Vec<_> = records
            .iter()
            .filter(|record| web.is_document(record))
            .collect();
        assert_eq!(pages.len(), 177);
        // The bodies are compared before decoding; one of them is empty.
        let bodies: BTreeSet<_> = pages
            .iter()
            .map(|page| Message::split(page.body).unwrap().body)
            .collect();
        assert_eq!(bodies.len(), 106);
        // Equal bodies have equal texts.
        for which in [HtmlText::Visible, HtmlText::Main] {
            let mut web = WebText::new(which, MOST);
            let mut seen = BTreeMap::new();
            for page in &pages {
                let body = Message::split(page.body).unwrap().body;
                let text = web.text(page).unwrap().text.to_vec();
                assert_eq!(seen.entry(body).or_insert_with(|| text.clone()), &text);
            }
            let distinct: BTreeSet<_> = seen.values().collect();
            // Some differ only in their markup.
            if which == HtmlText::Visible {
                assert_eq!(distinct.len(), 95);
            }
        }
    }

    #[test]
    fn a_page_and_its_conversion_agree() {
        let (Some(page), Some(conversion)) = (
            archive("cc-whirlwind.warc.gz"),
            archive("cc-whirlwind.warc.wet.gz"),
        ) else {
            return;
        };
        let (page, conversion) = (
            texts(&page, HtmlText::Visible),
            texts(&conversion, HtmlText::Visible),
        );
        assert_eq!((page.len(), conversion.len()), (1, 1));
        let words = |text: &str| -> BTreeSet<String> {
            text.split(|c: char| !c.is_alphanumeric())
                .map(str::to_lowercase)
                .collect()
        };
        let (page, conversion) = (words(&page[0]), words(&conversion[0]));
        let shared = page.intersection(&conversion).count();
        let all = page.union(&conversion).count();
        assert!(
            shared * 100 >= all * 90,
            "{shared} of {all}: {:?}",
            page.symmetric_difference(&conversion)
        );
    }

    #[test]
    fn archives_of_other_tools_are_read() {
        let example =
            "This domain is established to be used for illustrative examples in documents.";
        for name in [
            "warcio-example.warc.gz",
            "warcio-example-bad-non-chunked.warc.gz",
        ] {
            let Some(archive) = archive(name) else { return };
            let texts = texts(&archive, HtmlText::Visible);
            assert_eq!(texts.len(), 1, "{name}");
            assert!(texts[0].contains(example), "{name}: {texts:?}");
        }
        let Some(archive) = archive("ukwa-transfer_compression_brotli.warc.gz") else {
            return;
        };
        // The other resource is metadata of Wget.
        let texts = texts(&archive, HtmlText::Visible);
        assert_eq!(texts.len(), 1);
        assert!(texts[0].is_ascii() && texts[0].len() > 20, "{texts:?}");
    }

    #[test]
    fn a_truncated_record_does_not_affect_others() {
        let Some(archive) = archive("warcio-example-trunc.warc") else {
            return;
        };
        // The Content-Length of the response is two bytes less than its block.
        let (found, damage) = pieces(&archive);
        let kinds: Vec<_> = found.iter().map(|record| record.kind).collect();
        assert_eq!(kinds, [Kind::Other; 3]);
        let places: Vec<_> = damage
            .iter()
            .map(|(at, length, _)| (*at, *length))
            .collect();
        assert_eq!(places, [(1197, 1363), (2560, 6)], "{damage:?}");
    }
}

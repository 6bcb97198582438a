//! Which characters do these bytes mean?
//!
//! In this order: a byte-order mark, the label of the HTTP header, the label in the page's own
//! first kilobyte, UTF-8 if the bytes are valid UTF-8, UTF-16 if the NUL bytes say so, and what a
//! detector makes of the bytes. Labels are what the web means by them: `gb2312` is GBK,
//! `iso-8859-1` is windows-1252.
//!
//! Source: WHATWG Encoding and HTML §13.2.3; detection: Henri Sivonen, chardetng.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{CoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::markup::{Attributes, Token, Tokens};

/// Where a page may say which character set it is in.
const PRESCAN_BYTES: usize = 1024;

/// How many bytes the detector sees, from the first that is not ASCII.
const DETECTION_BYTES: usize = 64 << 10;

/// Decoded text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// The text, without its byte-order mark.
    pub text: &'a str,
    /// The name of the character set, as in the WHATWG's list.
    pub charset: &'static str,
    /// Whether replacement characters stand for bytes that mean nothing.
    pub broken: bool,
}

/// Decodes `bytes`; `header` is the value of a Content-Type header, empty if there is none.
///
/// `is_html` says whether labels in the bytes count. The text is in `buffer` unless the bytes are
/// valid UTF-8 already: those are not copied. Never fails; bytes that mean nothing become U+FFFD.
/// At most three bytes of text for each byte.
pub fn decode<'a>(
    bytes: &'a [u8],
    header: &[u8],
    is_html: bool,
    buffer: &'a mut String,
) -> Decoded<'a> {
    if let Some((encoding, mark_bytes)) = Encoding::for_bom(bytes) {
        return decode_as(encoding, &bytes[mark_bytes..], buffer);
    }
    let label = header_label(header).or_else(|| meta_label(bytes).filter(|_| is_html));
    match label {
        Some(encoding) if encoding == UTF_16LE || encoding == UTF_16BE => {
            // "utf-16" means little-endian, but some mean their own.
            decode_as(utf_16(bytes).unwrap_or(encoding), bytes, buffer)
        }
        Some(encoding) => decode_as(encoding, bytes, buffer),
        None => decode_unlabelled(bytes, buffer),
    }
}

fn decode_unlabelled<'a>(bytes: &'a [u8], buffer: &'a mut String) -> Decoded<'a> {
    if let Some(encoding) = utf_16(bytes) {
        return decode_as(encoding, bytes, buffer);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Decoded {
            text,
            charset: UTF_8.name(),
            broken: false,
        },
        Err(error) => decode_as(detect(bytes, error.valid_up_to()), bytes, buffer),
    }
}

/// UTF-8 in which little is wrong is UTF-8 with an accident; else the detector decides.
fn detect(bytes: &[u8], valid_bytes: usize) -> &'static Encoding {
    let start = Encoding::ascii_valid_up_to(bytes).min(valid_bytes);
    let sample = &bytes[start..bytes.len().min(start + DETECTION_BYTES)];
    let mut wide = 0usize;
    let mut wrong = 0usize;
    for chunk in sample.utf8_chunks() {
        wide += chunk
            .valid()
            .chars()
            .filter(|character| !character.is_ascii())
            .count();
        wrong += usize::from(!chunk.invalid().is_empty());
    }
    if wide > 0 && wrong <= wide / 10 {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    let last = start + sample.len() == bytes.len();
    detector.feed(sample, last);
    detector.guess(None, Utf8Detection::Allow)
}

fn decode_as<'a>(
    encoding: &'static Encoding,
    bytes: &'a [u8],
    buffer: &'a mut String,
) -> Decoded<'a> {
    let charset = encoding.name();
    if encoding == UTF_8
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return Decoded {
            text,
            charset,
            broken: false,
        };
    }
    buffer.clear();
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut rest = bytes;
    let mut broken = false;
    loop {
        // Most text grows by less than a half.
        buffer.reserve(rest.len() + rest.len() / 2 + 64);
        let (result, read, replaced) = decoder.decode_to_string(rest, buffer, true);
        broken |= replaced;
        rest = &rest[read..];
        if result == CoderResult::InputEmpty {
            return Decoded {
                text: buffer,
                charset,
                broken,
            };
        }
    }
}

/// The character set that a Content-Type names.
fn header_label(header: &[u8]) -> Option<&'static Encoding> {
    let place = find_ignoring_case(header, b"charset")?;
    let behind = header[place + b"charset".len()..].trim_ascii_start();
    let value = behind.strip_prefix(b"=")?.trim_ascii_start();
    let value = match value.first() {
        Some(quote @ (b'"' | b'\'')) => value[1..].split(|byte| byte == quote).next()?,
        _ => value
            .split(|byte| matches!(byte, b';' | b',' | b' ' | b'\t'))
            .next()?,
    };
    known_label(value)
}

/// Labels for "do not decode" count as none.
fn known_label(label: &[u8]) -> Option<&'static Encoding> {
    Encoding::for_label_no_replacement(label)
}

/// The character set that a page names in its head, or in its XML declaration.
fn meta_label(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(PRESCAN_BYTES)];
    let mut tags = Tokens::new(head);
    let label = xml_label(head).or_else(|| {
        tags.find_map(|tag| match tag {
            Token::Open { name, attributes } if name.eq_ignore_ascii_case(b"meta") => {
                meta_tag_label(attributes)
            }
            _ => None,
        })
    })?;
    // What was read as ASCII is not UTF-16.
    match label {
        label if label == UTF_16LE || label == UTF_16BE => Some(UTF_8),
        label if label.name() == "x-user-defined" => Some(WINDOWS_1252),
        label => Some(label),
    }
}

fn meta_tag_label(attributes: &[u8]) -> Option<&'static Encoding> {
    let mut charset = None;
    let mut content = None;
    let mut is_content_type = false;
    for (name, value) in Attributes::new(attributes) {
        if name.eq_ignore_ascii_case(b"charset") {
            charset = known_label(value.trim_ascii());
        } else if name.eq_ignore_ascii_case(b"content") {
            content = header_label(value);
        } else if name.eq_ignore_ascii_case(b"http-equiv") {
            is_content_type = value.trim_ascii().eq_ignore_ascii_case(b"content-type");
        }
    }
    charset.or(content.filter(|_| is_content_type))
}

fn xml_label(head: &[u8]) -> Option<&'static Encoding> {
    let declaration = head.strip_prefix(b"<?xml")?;
    let end = memchr::memmem::find(declaration, b"?>")?;
    let mut attributes = Attributes::new(&declaration[..end]);
    let (_, value) = attributes.find(|(name, _)| name.eq_ignore_ascii_case(b"encoding"))?;
    known_label(value.trim_ascii())
}

/// UTF-16 without a mark: markup and spaces are ASCII, so every other byte is often NUL, and the
/// bytes between them never are.
fn utf_16(bytes: &[u8]) -> Option<&'static Encoding> {
    let sample = &bytes[..bytes.len().min(PRESCAN_BYTES)];
    let pairs = sample.len() / 2;
    let nul = |at: usize| {
        sample
            .iter()
            .skip(at)
            .step_by(2)
            .filter(|&&byte| byte == 0)
            .count()
    };
    if pairs < 2 || memchr::memchr(0, sample).is_none() {
        return None;
    }
    match (nul(0), nul(1)) {
        (0, low) if low * 4 >= pairs => Some(UTF_16LE),
        (high, 0) if high * 4 >= pairs => Some(UTF_16BE),
        _ => None,
    }
}

fn find_ignoring_case(bytes: &[u8], name: &[u8]) -> Option<usize> {
    bytes
        .windows(name.len())
        .position(|window| window.eq_ignore_ascii_case(name))
}

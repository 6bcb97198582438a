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

/// Whether `bytes` are UTF-16, by their byte-order mark or by their NUL bytes.
pub fn is_utf_16(bytes: &[u8]) -> bool {
    let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    match marked {
        Some(encoding) => encoding != UTF_8,
        None => utf_16(bytes).is_some(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded(bytes: &[u8], header: &str) -> (String, &'static str, bool) {
        let mut buffer = String::new();
        let decoded = decode(bytes, header.as_bytes(), true, &mut buffer);
        (decoded.text.to_owned(), decoded.charset, decoded.broken)
    }

    fn utf_16(text: &str, big: bool) -> Vec<u8> {
        let units = text.encode_utf16();
        units
            .flat_map(|unit| {
                if big {
                    unit.to_be_bytes()
                } else {
                    unit.to_le_bytes()
                }
            })
            .collect()
    }

    #[test]
    fn labels_in_the_header() {
        let cases: [(&str, &str, &str); 8] = [
            ("gb2312", "GBK", "汉字编码"),
            ("\"GB18030\"", "gb18030", "汉字€编码"),
            ("big5 ", "Big5", "漢字"),
            ("Shift_JIS;x=y", "Shift_JIS", "日本語テスト"),
            ("euc-kr", "EUC-KR", "한국어"),
            ("iso-8859-1", "windows-1252", "“naïve”"),
            ("'cp1251'", "windows-1251", "Привет"),
            ("utf-8", "UTF-8", "ünïcödé 汉字"),
        ];
        for (label, name, text) in cases {
            let encoding = Encoding::for_label(name.as_bytes()).unwrap();
            let (bytes, _, unmappable) = encoding.encode(text);
            assert!(!unmappable);
            let found = decoded(&bytes, &format!("text/html; Charset = {label}"));
            assert_eq!(found, (text.to_owned(), name, false));
        }
    }

    #[test]
    fn labels_in_the_page() {
        let heads = [
            "<meta charset=gbk>",
            "<!-- <meta charset=big5> --><META name=x content='text/html; charset=big5'><meta/charset='GB2312'>",
            "<html><head><title>x</title><meta http-equiv=\"Content-Type\" content=\"text/html; charset=gb2312\">",
            "<meta content=\"text/html;charset=GBK\" http-equiv=content-type />",
            "<?xml version=\"1.0\" encoding=\"gbk\"?><html>",
        ];
        for head in heads {
            let page = format!("{head}汉字");
            let (bytes, _, _) = encoding_rs::GBK.encode(&page);
            assert_eq!(
                decoded(&bytes, "text/html"),
                (page.clone(), "GBK", false),
                "{head}"
            );
            // The header comes before the page.
            assert_eq!(decoded(&bytes, "text/html; charset=koi8-r").1, "KOI8-R");
        }
        let late = format!("{}<meta charset=gbk>", " ".repeat(PRESCAN_BYTES));
        assert_eq!(decoded(late.as_bytes(), "").1, "UTF-8");
        assert_eq!(decoded(b"<meta charset=utf-16>", "").1, "UTF-8");
    }

    #[test]
    fn marks_come_first() {
        assert_eq!(
            decoded(b"\xef\xbb\xbfa", "text/html; charset=gbk"),
            ("a".into(), "UTF-8", false)
        );
        let bytes = [b"\xff\xfe".to_vec(), utf_16("aß汉", false)].concat();
        assert_eq!(
            decoded(&bytes, "text/html; charset=utf-8"),
            ("aß汉".into(), "UTF-16LE", false)
        );
    }

    #[test]
    fn utf_16_without_a_mark() {
        let page = "<html><body>Grüße, 汉字";
        for (big, name) in [(false, "UTF-16LE"), (true, "UTF-16BE")] {
            let bytes = utf_16(page, big);
            assert_eq!(decoded(&bytes, ""), (page.into(), name, false));
            assert_eq!(
                decoded(&bytes, "text/html; charset=utf-16"),
                (page.into(), name, false)
            );
        }
    }

    #[test]
    fn unlabelled_pages_are_guessed() {
        assert_eq!(
            decoded("Grüße".as_bytes(), ""),
            ("Grüße".into(), "UTF-8", false)
        );
        let texts = [
            (
                encoding_rs::GBK,
                "这是一个没有标明编码的中文网页，检测器应该能够认出它来。",
            ),
            (
                encoding_rs::SHIFT_JIS,
                "これは文字コードが書かれていない日本語のページです。",
            ),
            (
                encoding_rs::WINDOWS_1251,
                "Это страница без указания кодировки, но на русском языке.",
            ),
        ];
        for (encoding, text) in texts {
            let (bytes, _, _) = encoding.encode(text);
            assert_eq!(
                decoded(&bytes, "text/html"),
                (text.into(), encoding.name(), false)
            );
        }
    }

    #[test]
    fn broken_bytes_are_reported() {
        let found = decoded(b"\xe6\xb1\x89\xe5\xad\x97\xe6\xb1\x89\xe5\xad\x97\xe6\xb1\x89\xe5\xad\x97\xe6\xb1\x89\xe5\xad\x97\xe6\xb1\x89\xe5\xad\x97 \xff", "");
        assert_eq!(
            found,
            ("汉字汉字汉字汉字汉字 \u{fffd}".into(), "UTF-8", true)
        );
        assert!(decoded(b"\xff\xff", "text/html; charset=gbk").2);
        assert!(decoded(b"a\xff", "text/html; charset=utf-8").2);
    }

    proptest! {
        #[test]
        fn nothing_panics_and_growth_is_bounded(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(&b"<meta charset='\"=; >-!"[..])], 0..200),
            label in prop::sample::select(vec!["", "gbk", "utf-16", "iso-2022-jp", "x-user-defined", "big5", "hz-gb-2312", "\"", "'gbk"]),
        ) {
            let (text, _, _) = decoded(&bytes, &format!("text/html;charset={label}"));
            prop_assert!(text.len() <= 3 * bytes.len() + 3);
        }
    }
}

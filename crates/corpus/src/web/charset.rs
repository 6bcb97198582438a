//! Detection and decoding of character sets.
//!
//! The character set is determined by the first of these: a byte-order mark; the label of the HTTP
//! header; the label in the first kilobyte of the page or in an XML declaration; UTF-16 or UTF-32
//! if the bytes [look like it](Wide); ISO-2022-JP if they are ASCII with its escapes; UTF-8 if they
//! are valid or nearly valid UTF-8; a detector. Labels have the meaning of the web: `gb2312` is
//! GBK, `iso-8859-1` is windows-1252.
//!
//! Source: WHATWG Encoding and HTML §13.2.3; detection: Henri Sivonen, chardetng.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    BIG5, CoderResult, EUC_KR, Encoding, GBK, ISO_2022_JP, MACINTOSH, SHIFT_JIS, UTF_8, UTF_16BE,
    UTF_16LE, WINDOWS_874, WINDOWS_1252, X_MAC_CYRILLIC,
};
use memchr::memmem;

use super::html::markup::{Attributes, Token, Tokens};
use super::wide::{Wide, is_nearly_utf_8};

/// The number of bytes of a page searched for a label.
const PRESCAN_BYTES: usize = 1024;

/// The number of bytes for the detector, from the first that is not ASCII.
const DETECTION_BYTES: usize = 64 << 10;

/// The escape before two-byte characters of ISO-2022-JP.
const JAPANESE_ESCAPES: &[u8] = b"\x1b$";

/// Names of character sets that the list of the WHATWG lacks, for encodings that it has.
static OTHER_NAMES: [(&str, &Encoding); 9] = [
    ("cp874", WINDOWS_874),
    ("cp932", SHIFT_JIS),
    ("cp936", GBK),
    ("cp949", EUC_KR),
    ("cp950", BIG5),
    ("mac-cyrillic", X_MAC_CYRILLIC),
    ("mac-roman", MACINTOSH),
    ("maccyrillic", X_MAC_CYRILLIC),
    ("macroman", MACINTOSH),
];

/// Names of unsupported character sets whose texts are ASCII bytes with escapes.
static SEVEN_BIT_NAMES: [&str; 6] = [
    "hz-gb-2312",
    "iso-2022-cn",
    "iso-2022-cn-ext",
    "iso-2022-kr",
    "unicode-1-1-utf-7",
    "utf-7",
];

/// Decoded text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// The text, without its byte-order mark.
    pub text: &'a str,
    /// The name of the character set in the list of the WHATWG, or "UTF-32LE" or "UTF-32BE".
    pub charset: &'static str,
    /// Whether some bytes were invalid and became replacement characters.
    pub broken: bool,
    /// Whether the label of the text is unknown, so that the character set was guessed.
    pub unknown_label: bool,
}

/// The labels of a text; the first known one counts.
#[derive(Default)]
struct Labels {
    known: Option<&'static Encoding>,
    has_unknown: bool,
    /// Whether an unknown one is of a character set whose texts look like ASCII.
    has_seven_bit: bool,
}

impl Labels {
    fn note(&mut self, label: &[u8]) {
        if self.known.is_none() {
            self.known = known_label(label);
            self.has_unknown |= self.known.is_none() && !label.is_empty();
            let is_label = |name: &&str| label.eq_ignore_ascii_case(name.as_bytes());
            self.has_seven_bit |= SEVEN_BIT_NAMES.iter().any(is_label);
        }
    }
}

/// Decodes `bytes`; `header` is the value of a Content-Type header, empty if there is none.
///
/// If `is_html`, labels in markup count. The label of an XML declaration counts in any text, except
/// in valid UTF-8 beyond ASCII that is not HTML: such a text was converted after the declaration
/// was written. The text is in `buffer`, except that valid UTF-8 is not copied. Never fails;
/// invalid bytes become U+FFFD. Each byte becomes at most three bytes of text.
pub fn decode<'a>(
    bytes: &'a [u8],
    header: &[u8],
    is_html: bool,
    buffer: &'a mut String,
) -> Decoded<'a> {
    if let Some((wide, mark_bytes)) = Wide::marked(bytes) {
        return decode_wide(wide, &bytes[mark_bytes..], buffer);
    }
    if let Some(text) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return decode_as(UTF_8, text, buffer);
    }
    let mut labels = Labels::default();
    labels.note(header_label(header).unwrap_or_default());
    if labels.known.is_none() {
        note_own_labels(bytes, is_html, &mut labels);
    }
    match labels.known {
        Some(encoding) if encoding == UTF_16LE || encoding == UTF_16BE => {
            // "utf-16" means little-endian, but some pages use it for big-endian.
            let wide = Wide::unmarked(bytes).and_then(Wide::encoding);
            decode_as(wide.unwrap_or(encoding), bytes, buffer)
        }
        Some(encoding) => decode_as(encoding, bytes, buffer),
        None => decode_unlabelled(bytes, &labels, buffer),
    }
}

fn decode_unlabelled<'a>(bytes: &'a [u8], labels: &Labels, buffer: &'a mut String) -> Decoded<'a> {
    if let Some(wide) = Wide::unmarked(bytes) {
        return decode_wide(wide, bytes, buffer);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if text.is_ascii() && is_iso_2022_jp(bytes) => {
            decode_as(ISO_2022_JP, bytes, buffer)
        }
        Ok(text) => Decoded {
            unknown_label: labels.has_seven_bit && text.is_ascii(),
            ..utf_8(text)
        },
        Err(error) => Decoded {
            unknown_label: labels.has_unknown,
            ..decode_as(detect(bytes, error.valid_up_to()), bytes, buffer)
        },
    }
}

fn utf_8(text: &str) -> Decoded<'_> {
    Decoded {
        text,
        charset: UTF_8.name(),
        broken: false,
        unknown_label: false,
    }
}

fn decode_wide<'a>(wide: Wide, bytes: &'a [u8], buffer: &'a mut String) -> Decoded<'a> {
    if let Some(encoding) = wide.encoding() {
        return decode_as(encoding, bytes, buffer);
    }
    let broken = wide.decode_utf_32(bytes, buffer);
    Decoded {
        broken,
        charset: wide.name(),
        ..utf_8(buffer)
    }
}

/// Whether `bytes`, which must be ASCII, are valid ISO-2022-JP with escapes.
fn is_iso_2022_jp(bytes: &[u8]) -> bool {
    memmem::find(bytes, JAPANESE_ESCAPES).is_some()
        && ISO_2022_JP
            .decode_without_bom_handling_and_without_replacement(bytes)
            .is_some()
}

/// Whether [`decode`] returns `bytes` unchanged if they have no label. Much faster than decoding.
pub fn is_plain_utf_8(bytes: &[u8]) -> bool {
    Wide::of(bytes).is_none()
        && Encoding::utf8_valid_up_to(bytes) == bytes.len()
        && memmem::find(bytes, JAPANESE_ESCAPES).is_none()
}

/// The character set of bytes that are not valid UTF-8: UTF-8 if few characters are invalid,
/// otherwise the guess of the detector.
fn detect(bytes: &[u8], valid_bytes: usize) -> &'static Encoding {
    let start = Encoding::ascii_valid_up_to(bytes).min(valid_bytes);
    let sample = &bytes[start..bytes.len().min(start + DETECTION_BYTES)];
    if is_nearly_utf_8(sample) {
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
        return utf_8(text);
    }
    buffer.clear();
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut rest = bytes;
    let mut broken = false;
    loop {
        // Most texts grow by less than half.
        buffer.reserve(rest.len() + rest.len() / 2 + 64);
        let (result, read, replaced) = decoder.decode_to_string(rest, buffer, true);
        broken |= replaced;
        rest = &rest[read..];
        if result == CoderResult::InputEmpty {
            return Decoded {
                text: buffer,
                charset,
                broken,
                unknown_label: false,
            };
        }
    }
}

/// The label of the character set in a Content-Type.
fn header_label(header: &[u8]) -> Option<&[u8]> {
    let place = find_ignoring_case(header, b"charset")?;
    let behind = header[place + b"charset".len()..].trim_ascii_start();
    let value = behind.strip_prefix(b"=")?.trim_ascii_start();
    match value.first() {
        Some(quote @ (b'"' | b'\'')) => value[1..].split(|byte| byte == quote).next(),
        _ => value
            .split(|byte| matches!(byte, b';' | b',' | b' ' | b'\t'))
            .next(),
    }
}

/// The character set of a label. The labels of the encoding `replacement` are unknown.
fn known_label(label: &[u8]) -> Option<&'static Encoding> {
    let other = || {
        let mut names = OTHER_NAMES.iter();
        let (_, encoding) = names.find(|(name, _)| label.eq_ignore_ascii_case(name.as_bytes()))?;
        Some(*encoding)
    };
    Encoding::for_label_no_replacement(label).or_else(other)
}

/// Collects the labels in the markup of a page and in the XML declaration of any text.
fn note_own_labels(bytes: &[u8], is_html: bool, labels: &mut Labels) {
    let head = &bytes[..bytes.len().min(PRESCAN_BYTES)];
    match xml_label(head) {
        // Only very short texts in other character sets are valid UTF-8 by accident.
        Some(_) if !is_html && !bytes.is_ascii() && std::str::from_utf8(bytes).is_ok() => {}
        Some(label) => labels.note(label),
        None => {}
    }
    if is_html && labels.known.is_none() {
        for tag in Tokens::new(head) {
            if let Token::Open { name, attributes } = tag
                && name.eq_ignore_ascii_case(b"meta")
            {
                note_meta_tag(attributes, labels);
            }
        }
    }
    // The label was read as ASCII, so the text is not UTF-16.
    labels.known = labels.known.map(|label| match label {
        label if label == UTF_16LE || label == UTF_16BE => UTF_8,
        label if label.name() == "x-user-defined" => WINDOWS_1252,
        label => label,
    });
}

fn note_meta_tag(attributes: &[u8], labels: &mut Labels) {
    let mut charset = None;
    let mut content = None;
    let mut is_content_type = false;
    for (name, value) in Attributes::new(attributes) {
        if name.eq_ignore_ascii_case(b"charset") {
            charset = Some(value.trim_ascii());
        } else if name.eq_ignore_ascii_case(b"content") {
            content = header_label(value);
        } else if name.eq_ignore_ascii_case(b"http-equiv") {
            is_content_type = value.trim_ascii().eq_ignore_ascii_case(b"content-type");
        }
    }
    labels.note(charset.unwrap_or_default());
    labels.note(content.filter(|_| is_content_type).unwrap_or_default());
}

fn xml_label(head: &[u8]) -> Option<&[u8]> {
    let declaration = head.strip_prefix(b"<?xml")?;
    let end = memmem::find(declaration, b"?>")?;
    let mut attributes = Attributes::new(&declaration[..end]);
    let (_, value) = attributes.find(|(name, _)| name.eq_ignore_ascii_case(b"encoding"))?;
    Some(value.trim_ascii())
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
    fn xml_declarations_count_in_any_text() {
        let plain = |bytes: &[u8]| {
            let mut buffer = String::new();
            let decoded = decode(bytes, b"", false, &mut buffer);
            (
                decoded.text.to_owned(),
                decoded.charset,
                decoded.unknown_label,
            )
        };
        let text = |label: &str| {
            format!(
                "<?xml version='1.0' encoding='{label}'?>\n<rss>Привет, это лента новостей</rss>"
            )
        };
        for (label, encoding) in [
            ("x-mac-cyrillic", X_MAC_CYRILLIC),
            ("MacCyrillic", X_MAC_CYRILLIC),
            ("windows-1251", encoding_rs::WINDOWS_1251),
            ("IBM866", encoding_rs::IBM866),
        ] {
            let text = text(label);
            let (bytes, _, _) = encoding.encode(&text);
            assert_eq!(
                plain(&bytes),
                (text.clone(), encoding.name(), false),
                "{label}"
            );
            // The text was converted without its declaration.
            assert_eq!(plain(text.as_bytes()), (text.clone(), "UTF-8", false));
        }
        // Bytes of these are ASCII, and other characters are in escapes.
        for (label, is_unknown) in [("HZ-GB-2312", true), ("utf-7", true), ("x-foo", false)] {
            let text = format!("<?xml version='1.0' encoding='{label}'?><p>~{{<:Ky2;~}}</p>");
            assert_eq!(plain(text.as_bytes()), (text.clone(), "UTF-8", is_unknown));
        }
        // IBM855 is not in the list of the WHATWG.
        let bytes = X_MAC_CYRILLIC.encode(&text("IBM855")).0.into_owned();
        assert!(plain(&bytes).2);
        assert!(!plain(text("IBM855").as_bytes()).2);
        let mut buffer = String::new();
        let page = b"<html><meta charset=x-nonsense><p>gr\xfc\xdfe";
        assert!(decode(page, b"text/html; charset=x-nonsense", true, &mut buffer).unknown_label);
        assert!(!decode(page, b"text/html; charset=latin1", true, &mut buffer).unknown_label);
        let page = b"<html><meta charset=x-nonsense><meta charset=latin1><p>gr\xfc\xdfe";
        assert!(!decode(page, b"text/html; charset=x-nonsense", true, &mut buffer).unknown_label);
        assert!(!decode(page, b"text/html; charset=", true, &mut buffer).unknown_label);
    }

    #[test]
    fn escapes_of_iso_2022_jp_are_decoded() {
        let text = "日本語の文章です。";
        let (bytes, _, _) = ISO_2022_JP.encode(text);
        assert!(!is_plain_utf_8(&bytes));
        assert_eq!(decoded(&bytes, ""), (text.into(), "ISO-2022-JP", false));
        // A text with invalid escapes.
        let colours = b"a \x1b$ b";
        assert_eq!(decoded(colours, "").1, "UTF-8");
    }

    #[test]
    fn utf_32_is_decoded() {
        let text = "<p>größer 汉字 😀";
        let values = || "\u{feff}".chars().chain(text.chars()).map(u32::from);
        let little: Vec<u8> = values().flat_map(u32::to_le_bytes).collect();
        let big: Vec<u8> = values().flat_map(u32::to_be_bytes).collect();
        for (bytes, name) in [(little, "UTF-32LE"), (big, "UTF-32BE")] {
            assert_eq!(
                decoded(&bytes, "text/html; charset=utf-8"),
                (text.into(), name, false)
            );
            assert_eq!(decoded(&bytes[4..], ""), (text.into(), name, false));
        }
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

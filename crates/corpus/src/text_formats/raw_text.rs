//! The text of documents outside web archives: character sets and HTML.

use crate::document::Doubt;
use crate::reading::HtmlText;
use crate::web::{charset, html};

/// Converts the bytes of documents to UTF-8 text; reusable for any number of documents.
#[derive(Debug)]
pub struct RawText {
    which: HtmlText,
    decoded: String,
    text: Vec<u8>,
}

impl RawText {
    /// Of a page, `which` part is its text.
    pub fn new(which: HtmlText) -> RawText {
        RawText {
            which,
            decoded: String::new(),
            text: Vec::new(),
        }
    }

    /// The text of `bytes`, and the doubt about its characters.
    ///
    /// UTF-8 that is not HTML is not copied. Bytes are HTML if `is_html`, or if they
    /// [begin like a page](html::is_page).
    pub(crate) fn of_bytes<'a>(&'a mut self, bytes: &'a [u8], is_html: bool) -> (&'a [u8], Doubt) {
        let is_html = is_html || html::is_page(bytes);
        if !is_html && charset::is_plain_utf_8(bytes) {
            return (bytes, Doubt::None);
        }
        let decoded = charset::decode(bytes, b"", is_html, &mut self.decoded);
        let doubt = Doubt::of(decoded.unknown_label, decoded.broken);
        // A page in UTF-16 is only recognised after decoding.
        if !is_html && !html::is_page(decoded.text.as_bytes()) {
            return (decoded.text.as_bytes(), doubt);
        }
        self.text.clear();
        html::text(decoded.text, self.which, &mut self.text);
        (&self.text, doubt)
    }

    /// The text of a string, as of a field of JSON Lines. It is HTML if it
    /// [begins like a page](html::is_page).
    pub fn of_string<'a>(&'a mut self, text: &'a [u8]) -> &'a [u8] {
        if html::is_page(text)
            && let Ok(page) = std::str::from_utf8(text)
        {
            self.text.clear();
            html::text(page, self.which, &mut self.text);
            return &self.text;
        }
        text
    }
}

/// Whether `text` is valid UTF-8. Several times as fast as the standard library if not ASCII.
pub(crate) fn is_utf8(text: &[u8]) -> bool {
    encoding_rs::Encoding::utf8_valid_up_to(text) == text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{GBK, SHIFT_JIS, WINDOWS_1251};

    fn text_of(bytes: &[u8], is_html: bool) -> (String, bool) {
        let mut texts = RawText::new(HtmlText::Visible);
        let (text, doubt) = texts.of_bytes(bytes, is_html);
        (
            String::from_utf8(text.to_vec()).unwrap(),
            doubt != Doubt::None,
        )
    }

    fn utf_16(text: &str, mark: bool) -> Vec<u8> {
        let mark = if mark { "\u{feff}" } else { "" };
        let units = mark.encode_utf16().chain(text.encode_utf16());
        units.flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn character_sets_of_plain_text_are_found() {
        let chinese = "近重复文本检测的目标是在大规模网页中找出内容几乎相同的页面。".repeat(5);
        let japanese = "これは文字コードの判定を確かめるための日本語の文章です。".repeat(5);
        let russian = "Поиск почти одинаковых текстов в больших собраниях страниц.".repeat(5);
        let cases = [
            (GBK.encode(&chinese).0.into_owned(), &chinese),
            (SHIFT_JIS.encode(&japanese).0.into_owned(), &japanese),
            (WINDOWS_1251.encode(&russian).0.into_owned(), &russian),
            (utf_16(&chinese, true), &chinese),
            (russian.clone().into_bytes(), &russian),
        ];
        for (bytes, text) in cases {
            assert_eq!(text_of(&bytes, false), (text.clone(), false));
        }
        let english = "A text of ASCII characters, with spaces.";
        assert_eq!(text_of(&utf_16(english, false), false).0, english);
        let broken = [
            "größer, länger, kürzer und wärmer ".repeat(4).as_bytes(),
            b"\xff",
        ]
        .concat();
        let (text, is_broken) = text_of(&broken, false);
        assert!(text.starts_with("größer") && is_broken);
    }

    /// Promise (Deduplication): HTML gives the same text in …
    #[test]
    fn html_pages_lose_their_markup_in_any_format() {
        let page = "<!DOCTYPE html><title>t</title><p>a &amp; b<p>\u{4e2d}\u{6587}";
        let text = "a & b\n\u{4e2d}\u{6587}".to_owned();
        assert_eq!(text_of(page.as_bytes(), false), (text.clone(), false));
        assert_eq!(text_of(&utf_16(page, true), false), (text.clone(), false));
        let labelled = format!("<html><meta charset=gbk>{page}");
        let bytes = GBK.encode(&labelled).0.into_owned();
        assert_eq!(text_of(&bytes, false), (text, false));
        assert_eq!(text_of(b"<p>a<b>b", true).0, "ab");
        assert_eq!(text_of(b"<p>a<b>b", false).0, "<p>a<b>b");
        let mut texts = RawText::new(HtmlText::Visible);
        assert_eq!(texts.of_string(b" <html lang=en><p>a"), b"a");
        assert_eq!(texts.of_string(b"<htmlize>"), b"<htmlize>");
        let mut texts = RawText::new(HtmlText::Markup);
        assert_eq!(texts.of_string(b"<html><p>a"), b"<html><p>a");
    }
}

//! The text of an HTML page: its article, or all visible text.
//!
//! The main text is usually the article that dom_smoothie extracts, a port of Mozilla's
//! Readability. The [visible text](super::visible_text) is used for pages without main text, for
//! pages that would take too long, and in builds without the feature `html`.

use memchr::{memchr, memmem};

use super::HtmlText;
use super::visible_text::visible_text;
use main_text::main_text;

/// Appends the text of `html` to `out`.
///
/// Never fails and never panics. O(length) time for [`HtmlText::Visible`]. [`HtmlText::Main`] takes
/// a bounded number of steps in addition; if a page needs more, the result is its visible text.
pub fn text(html: &str, which: HtmlText, out: &mut Vec<u8>) {
    match which {
        HtmlText::Markup => out.extend_from_slice(html.as_bytes()),
        HtmlText::Main if main_text(html, out) => {}
        HtmlText::Main | HtmlText::Visible => visible_text(html.as_bytes(), out),
    }
}

/// The number of bytes searched for the first element.
const PROLOGUE_BYTES: usize = 4096;

/// Whether a text is an HTML page: it begins with `<!doctype html` or `<html`, after any white space,
/// byte-order mark, XML declaration and comments.
pub fn is_page(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut rest = text[..text.len().min(PROLOGUE_BYTES)].trim_ascii_start();
    // For most texts, the loop ends at once.
    while rest.first() == Some(&b'<') {
        let end = match rest {
            [b'<', b'!', b'-', b'-', ..] => memmem::find(rest, b"-->").map(|end| end + 3),
            [b'<', b'?', b'x', b'm', b'l', ..] => memchr(b'>', rest).map(|end| end + 1),
            _ => return begins_with(rest, b"<!doctype html") || begins_with(rest, b"<html"),
        };
        rest = end.map_or(&[][..], |end| rest[end..].trim_ascii_start());
    }
    false
}

/// Whether `text` begins with `tag`, in upper or lower case, and the name ends there.
fn begins_with(text: &[u8], tag: &[u8]) -> bool {
    let begin = text.get(..tag.len());
    begin.is_some_and(|begin| begin.eq_ignore_ascii_case(tag))
        && text
            .get(tag.len())
            .is_none_or(|&byte| byte == b'>' || byte.is_ascii_whitespace())
}

/// In a build without the extractor, no page has main text.
#[cfg(not(feature = "html"))]
mod main_text {
    pub(super) fn main_text(_html: &str, _out: &mut Vec<u8>) -> bool {
        false
    }
}

#[cfg(feature = "html")]
mod article;
#[cfg(feature = "html")]
mod main_element;
#[cfg(feature = "html")]
mod main_text;
#[cfg(feature = "html")]
mod work;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text_of(html: &str, which: HtmlText) -> String {
        let mut out = Vec::new();
        text(html, which, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn page() -> String {
        let paragraph = "<p>The cat sat on the mat, and the dog, who had seen it all before, \
            slept on; nobody, as far as anyone could tell, minded much.</p>";
        format!(
            "<html><head><title>Cats</title></head><body><nav><ul><li><a href=/>Home</a></ul></nav>\
             <div class=article>{}</div><div class=footer>Imprint</div></body></html>",
            paragraph.repeat(8)
        )
    }

    #[test]
    #[cfg(feature = "html")]
    fn the_article_excludes_navigation_and_footer() {
        let main = text_of(&page(), HtmlText::Main);
        assert!(main.starts_with("The cat sat"), "{main}");
        assert!(
            !main.contains("Home") && !main.contains("Imprint"),
            "{main}"
        );
        assert_eq!(main.lines().count(), 8);
    }

    #[test]
    fn pages_are_recognised_by_their_first_bytes() {
        for page in [
            "<!DOCTYPE html>",
            "\u{feff}\n <!doctype HTML PUBLIC \"x\">",
            "<html>",
            "<HTML lang=en>",
            "<?xml version=\"1.0\"?>\n<!-- saved from x --><!-- > --> <html\n>",
        ] {
            assert!(is_page(page.as_bytes()), "{page}");
        }
        let late = format!("<!--{}--><html>", " ".repeat(PROLOGUE_BYTES));
        for text in [
            "",
            "<",
            "text <html>",
            "<htmlx>",
            "<p>",
            "<!doctype htmlx>",
            "<!-- <html>",
            "<?php <html>",
            "<svg>",
            &late,
        ] {
            assert!(!is_page(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn visible_text_is_complete() {
        let visible = text_of(&page(), HtmlText::Visible);
        assert!(visible.starts_with("Home\nThe cat sat") && visible.ends_with("Imprint"));
    }

    #[test]
    fn pages_without_an_article_fall_back() {
        for html in [
            "",
            "<p>short",
            "<ul><li><a href=/>one</a><li><a href=/>two</a></ul>",
        ] {
            assert_eq!(
                text_of(html, HtmlText::Main),
                text_of(html, HtmlText::Visible)
            );
        }
    }

    #[test]
    fn deep_and_wide_pages_become_visible_text() {
        let count = 100_000;
        let pages = [
            "<div>".repeat(count) + "deep",
            "<b>".repeat(count) + "bold",
            "<svg><tr>".repeat(count) + "foreign",
            "<table><tr><td>".repeat(count) + "tables",
            "<div><!--</div>-->".repeat(count) + "hidden ends",
            "<div></x>".repeat(count) + "wrong ends",
            (0..count)
                .map(|number| format!("<font color={number}><p>"))
                .collect::<String>(),
            "<p>".repeat(count) + &"<a href=/>x</a>".repeat(count),
            "<li>x".repeat(2 * count),
            // Few elements in the source, many nodes in the tree.
            "<p>text".to_owned() + &"<!>".repeat(6 * count),
            "<p>text".to_owned() + &"x<!---->".repeat(3 * count),
            "<p>text".to_owned() + &"</p>".repeat(6 * count),
            "<p><b id=1><b id=2><b id=3><b id=4><b id=5><b id=6></p>".to_owned()
                + &"<p>x".repeat(count),
            "<p a b c d e f g h i j k l>x".repeat(count),
        ];
        for html in pages {
            assert_eq!(
                text_of(&html, HtmlText::Main),
                text_of(&html, HtmlText::Visible)
            );
        }
    }

    /// Pages for which the time of the extractor, tree builder or serializer grows with the square of
    /// the length, or is hundreds of times longer than usual.
    fn expensive_pages() -> Vec<String> {
        let text =
            |start: &str, unit: &str| format!("{start}{}", unit.repeat(300_000 / unit.len()));
        let numbered = |unit: &dyn Fn(usize) -> String| (0..50_000).map(unit).collect::<String>();
        let nested = |depth: usize, open: &str, close: &str| {
            let page = open.repeat(depth) + "text, text" + &close.repeat(depth);
            page.repeat(600_000 / page.len())
        };
        let title = format!("<title>{}</title>", "abc de ".repeat(20_000));
        vec![
            text("<p>", "&"),
            text("<p>", "&a"),
            text("<p>", "& "),
            text("<p>", "£"),
            text("<p>", "&amp;"),
            text("<p>", "x&nbsp;"),
            text("<p>", "&</x>"),
            text("<title>", "&"),
            text("<textarea>", "&"),
            text("<template>", "&"),
            text("<table><tr>", "<td title='&&&&&&&&&&&&&&&&&&&&&&&&'>&</x>"),
            format!("<p title='{}'>text", "&".repeat(300_000)),
            format!("<p {}>text", numbered(&|number| format!("a{number} "))),
            numbered(&|number| format!("<body a{number}>")),
            numbered(&|number| format!("<html a{number}>")),
            title.clone() + &"<h2>a heading of this page</h2>".repeat(1000),
            format!("<meta content='{title}'>") + &"<h2>a heading</h2>".repeat(1000),
            format!("<h1>{title}</h1>") + &"<h2>a heading</h2>".repeat(1000),
            nested(200, "<div>", "</div>"),
            nested(200, "<span>", "</span>"),
            nested(50, "<table><tr><td>", "</table>"),
            nested(100, "<ul><li>", "</ul>"),
            "<object>".repeat(400) + &"word, ".repeat(100_000),
            "<div>".repeat(400) + &"word, ".repeat(100_000),
        ]
    }

    #[test]
    fn expensive_pages_become_visible_text() {
        for html in expensive_pages() {
            let start: String = html.chars().take(60).collect();
            assert_eq!(
                text_of(&html, HtmlText::Main),
                text_of(&html, HtmlText::Visible),
                "{start}"
            );
        }
    }

    #[test]
    #[cfg(feature = "html")]
    fn large_ordinary_pages_have_main_text() {
        let paragraph = "<p>« Jean & Marie&nbsp;: £ 5 », a-t-il dit, puis il est parti, sans un \
            mot de plus, vers la gare.</p>";
        let article = format!("<h2>Un titre</h2>{}", paragraph.repeat(20)).repeat(50);
        let page = format!(
            "<html><head><title>Un titre</title></head><body><nav><a href=/>Home</a></nav>\
             <div class=article>{article}</div></body></html>"
        );
        let main = text_of(&page, HtmlText::Main);
        assert!(
            main.len() > 50_000 && !main.contains("Home"),
            "{}",
            main.len()
        );
    }

    proptest! {
        #[test]
        fn nothing_panics(html in "([<>/!&;#x='\" a-]|<p>|<script|</script>|<!--|-->|<table>|<td>|<b>|</b>|<svg>|<title>|汉|\n){0,60}") {
            let main = text_of(&html, HtmlText::Main);
            prop_assert!(main.len() <= html.len());
        }
    }
}

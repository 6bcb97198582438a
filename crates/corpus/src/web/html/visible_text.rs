//! The visible text of an HTML page.
//!
//! No tree is built. Elements with invisible content are skipped, block elements end a line, white
//! space is collapsed, and entities become characters.

use super::elements::{Element, visit};
use super::text_writer::TextWriter;

/// Appends the visible text of `html` to `out`.
///
/// Lines are separated by one LF, words by one space, with none at the ends. Entities are decoded as
/// in browsers. Linear time for any bytes; memory only for `out`, for the texts of templates and for
/// the longest text between two tags. Adds at most as many bytes as `html` has, except for the
/// entities `&nLt;` and `&nGt;`, which grow from 5 bytes to 6. UTF-8 stays UTF-8.
///
/// The templates of a page (scripts whose type is that of markup or Markdown) are a part of its text
/// if they have more text than the rest of it has, because a script then fills the page with them.
pub fn visible_text(html: &[u8], out: &mut Vec<u8>) {
    let begin = out.len();
    let templates = visit(html, &mut TextWriter::new(out));
    if templates.is_empty() {
        return;
    }
    let mut text = Vec::new();
    let mut writer = TextWriter::new(&mut text);
    for template in templates {
        writer.gap(Element::Block);
        // A template in another one is not searched for, so the time is linear.
        visit(template, &mut writer);
    }
    if text.len() > out.len() - begin {
        if out.len() > begin {
            out.push(b'\n');
        }
        out.extend_from_slice(&text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn visible(html: &str) -> String {
        let mut out = Vec::new();
        visible_text(html.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn pages() {
        let cases = [
            ("", ""),
            ("  plain \n text ", "plain text"),
            ("<p>a<p>b<br>c <b>d</b>e", "a\nb\nc de"),
            ("<table><tr><td>a<td>b</tr><tr><td>c", "a b\nc"),
            (
                "<head><title>t</title><style>s{}</style></head><body>b",
                "b",
            ),
            (
                "a<script>if (a < b) '</b>';</SCRIPT >b<noscript>n</noscript>c",
                "abc",
            ),
            ("a<template><p>x<template>y</template>z</template>b", "ab"),
            ("a<!-- <p> -- > -->b<!---->c<!-->d<!--e--!>f", "abcdf"),
            (
                "a<!doctype html>b<?php x ?>c</ d>e</>f<![CDATA[g]]>h",
                "abcefh",
            ),
            ("<a title='x>y' b=\">\" c=d'>e</a>", "e"),
            ("1 < 2 & 3 > 2 <", "1 < 2 & 3 > 2 <"),
            (
                "&lt;p&gt; &eacute;&Eacute; &copy &nosuch; &#65;&#x42;&#150; &#0; &;&#;&#x;",
                "<p> éÉ © &nosuch; AB– \u{fffd} &;&#;&#x;",
            ),
            ("a&#32;&#10; b&nbsp;c", "a b\u{a0}c"),
            (
                "&copyright &copy2024 &nbspfoo &amp;lt; &Hopf; &nGt; &check &alpha x",
                "©right ©2024 \u{a0}foo &lt; ℍ ≫\u{20d2} &check &alpha x",
            ),
            ("<script src=x />kept", "kept"),
            // A template with more text than the rest, and one with less.
            (
                "menu<script type='text/x-handlebars-template'><p>a longer text</script>",
                "menu\na longer text",
            ),
            ("a menu<script type=text/template>text</script>", "a menu"),
            (
                "<script type=text/x-template>a<br></script> \
                 <script type=text/html><script type=text/html>b</script><script>c</script>",
                "a",
            ),
            ("a<script>never closed <p>b", "a"),
            ("a<p title='never closed>b", "a"),
            ("a<!-- never closed <p>b", "a"),
            ("汉字<b>汉</b>字", "汉字汉字"),
        ];
        for (html, text) in cases {
            assert_eq!(visible(html), text, "{html}");
        }
    }

    #[test]
    fn hostile_pages_take_linear_time() {
        let pieces = [
            "<",
            "<!",
            "<!--",
            "<!-- --",
            "<a ",
            "<a '",
            "<a b=",
            "</",
            "&",
            "&#",
            "&#9",
            "&a",
            "&amp;",
            "&CounterClockwiseContourIntegra",
            "<script>",
            "<script type=text/template>",
            "<script type=text/template>a</script>",
            "</script",
            "<template>",
            "<div>",
            "<!---",
            " \n",
        ];
        for piece in pieces {
            let html = piece.repeat(200_000);
            assert!(visible(&html).len() <= html.len(), "{piece}");
        }
    }

    proptest! {
        #[test]
        fn text_is_tidy_and_no_longer_than_its_page(html in "([<>/!&;#x='\" a-]|<p>|<script|</script>|<script type=text/html>|<!--|-->|&amp;|汉|\n){0,60}") {
            let text = visible(&html);
            prop_assert!(text.len() <= html.len());
            prop_assert_eq!(text.trim_ascii(), text.as_str());
            for double in ["  ", "\n\n", " \n", "\n "] {
                prop_assert!(!text.contains(double));
            }
        }
    }
}

//! The visible text of an HTML page.
//!
//! No tree is built. Elements with invisible content are skipped, block elements end a line, white
//! space is collapsed, and entities become characters.

use htmlize::{Context, unescape_bytes_in};
use memchr::{memchr, memmem};

use super::markup::{Attributes, Token, Tokens};

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
    let mut templates = Vec::new();
    let mut writer = Writer::new(out);
    writer.page(html, |template| templates.push(template));
    if templates.is_empty() {
        return;
    }
    let mut text = Vec::new();
    let mut text_writer = Writer::new(&mut text);
    for template in templates {
        text_writer.gap(Element::Block);
        // A template in another one is not searched for, so the time is linear.
        text_writer.page(template, drop);
    }
    if text.len() > out.len() - begin {
        if out.len() > begin {
            out.push(b'\n');
        }
        out.extend_from_slice(&text);
    }
}

/// Whether a script with these attributes is a template: markup or Markdown, not a program.
fn is_template(attributes: &[u8]) -> bool {
    const KINDS: [&[u8]; 6] = [
        b"template",
        b"tmpl",
        b"handlebars",
        b"mustache",
        b"text/html",
        b"markdown",
    ];
    let is_type = |(name, value): &(&[u8], &[u8])| {
        let value = value.to_ascii_lowercase();
        name.eq_ignore_ascii_case(b"type")
            && KINDS
                .iter()
                .any(|kind| memmem::find(&value, kind).is_some())
    };
    Attributes::new(attributes).any(|attribute| is_type(&attribute))
}

/// The effect of an element on the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Element {
    /// None.
    Inline,
    /// Separates words, like a table cell.
    Cell,
    /// Begins and ends a line.
    Block,
    /// Its content is neither visible nor markup.
    Hidden,
    /// Its content is markup, but not visible.
    Template,
}

/// Whether the content of the element is neither visible nor markup.
#[cfg(feature = "html")]
pub(super) fn is_hidden(name: &[u8]) -> bool {
    Element::named(name) == Element::Hidden
}

impl Element {
    fn named(name: &[u8]) -> Element {
        /// The longest name below.
        const LONGEST: usize = 10;
        let mut lower = [0; LONGEST];
        let Some(lower) = lower.get_mut(..name.len()) else {
            return Element::Inline;
        };
        lower.copy_from_slice(name);
        lower.make_ascii_lowercase();
        match &*lower {
            b"script" | b"style" | b"noscript" | b"title" | b"iframe" | b"noembed"
            | b"noframes" => Element::Hidden,
            b"template" => Element::Template,
            b"td" | b"th" | b"option" | b"button" | b"input" | b"select" | b"img" => Element::Cell,
            b"address" | b"article" | b"aside" | b"blockquote" | b"body" | b"br" | b"caption"
            | b"center" | b"dd" | b"details" | b"dialog" | b"dir" | b"div" | b"dl" | b"dt"
            | b"fieldset" | b"figcaption" | b"figure" | b"footer" | b"form" | b"frameset"
            | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"head" | b"header" | b"hgroup"
            | b"hr" | b"html" | b"legend" | b"li" | b"listing" | b"main" | b"menu" | b"nav"
            | b"ol" | b"optgroup" | b"p" | b"plaintext" | b"pre" | b"search" | b"section"
            | b"summary" | b"table" | b"tbody" | b"textarea" | b"tfoot" | b"thead" | b"tr"
            | b"ul" | b"xmp" => Element::Block,
            _ => Element::Inline,
        }
    }
}

/// The separator between the last character and the next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
}

struct Writer<'o> {
    out: &'o mut Vec<u8>,
    gap: Gap,
    written: bool,
}

impl<'o> Writer<'o> {
    fn new(out: &'o mut Vec<u8>) -> Writer<'o> {
        Writer {
            out,
            gap: Gap::None,
            written: false,
        }
    }

    /// Adds the visible text of `html`, and calls `template` with each template in it.
    fn page<'a>(&mut self, html: &'a [u8], mut template: impl FnMut(&'a [u8])) {
        let mut tokens = Tokens::new(html);
        // `template` elements may be nested.
        let mut templates = 0usize;
        while let Some(token) = tokens.next() {
            let element = match token {
                Token::Text(text) => {
                    if templates == 0 {
                        self.text(text);
                    }
                    continue;
                }
                Token::Open { name, .. } | Token::Close(name) => Element::named(name),
            };
            match (element, token) {
                // As in XHTML, `<script/>` is a whole element.
                (Element::Hidden, Token::Open { attributes, .. }) if attributes.ends_with(b"/") => {
                }
                (Element::Hidden, Token::Open { name, attributes }) => {
                    let start = tokens.position();
                    tokens.skip_raw(name);
                    if name.eq_ignore_ascii_case(b"script") && is_template(attributes) {
                        template(&html[start..tokens.position()]);
                    }
                }
                (Element::Template, Token::Open { .. }) => templates += 1,
                (Element::Template, _) => templates = templates.saturating_sub(1),
                _ if templates == 0 => self.gap(element),
                _ => {}
            }
        }
    }

    fn gap(&mut self, element: Element) {
        let gap = match element {
            Element::Block => Gap::Line,
            Element::Cell => Gap::Space,
            _ => Gap::None,
        };
        self.gap = self.gap.max(gap);
    }

    fn text(&mut self, text: &[u8]) {
        if memchr(b'&', text).is_some() {
            self.words(&unescape_bytes_in(text, Context::General));
        } else {
            self.words(text);
        }
    }

    /// Adds text without entities.
    fn words(&mut self, text: &[u8]) {
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            let word = rest
                .iter()
                .position(u8::is_ascii_whitespace)
                .unwrap_or(rest.len());
            self.push(&rest[..word]);
            if word < rest.len() {
                self.gap = self.gap.max(Gap::Space);
            }
            at += word + 1;
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        match self.gap {
            Gap::Space if self.written => self.out.push(b' '),
            Gap::Line if self.written => self.out.push(b'\n'),
            _ => {}
        }
        self.out.extend_from_slice(bytes);
        self.gap = Gap::None;
        self.written = true;
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

//! An estimate of the cost of building the tree of a page.

use ahash::AHashMap;

use super::markup::{Attributes, Token, Tokens};

/// Estimates of the size of the tree of a page.
///
/// The time of a tree builder is proportional to elements times depth. It creates open formatting
/// elements (`<b>`, `<font>`) again in every following block, so a short malicious page can be
/// expensive. It compares each attribute with the previous ones of its tag, and those of each further
/// `<html>` or `<body>` with those of the first one. Memory grows with the nodes of the tree:
/// elements, texts, comments and declarations. All numbers except the depth are upper bounds, for HTML
/// as read by [`Tokens`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    elements: usize,
    /// The maximum number of elements that are open at a time, without those that are
    /// [closed implicitly](is_closed_implicitly). The real depth may be a few times as large. An
    /// element without an end tag counts as open to the end of the page, so it may also be smaller.
    depth: usize,
    /// Elements, including those created again, texts, comments and declarations.
    nodes: usize,
    attributes: usize,
    /// Comparisons of the names of attributes.
    compared: usize,
}

/// The maximum depth, that of browsers. Deeper pages are accidents or attacks.
const MAX_DEPTH: usize = 512;

/// About as many elements as a page of 8 MiB has.
const MAX_ELEMENTS: usize = 200_000;

/// A node takes at most 450 bytes of memory without its attributes: 225 MB in total.
const MAX_NODES: usize = 500_000;

/// An attribute takes about 120 bytes of memory.
const MAX_ATTRIBUTES: usize = 1_000_000;

/// The comparisons for a tag with some 6300 attributes.
const MAX_COMPARED: usize = 20_000_000;

impl Cost {
    /// Estimates the cost of a page; stops when it [is too high](Cost::is_too_high). O(length) time;
    /// memory for the names of open elements.
    pub(super) fn of(html: &[u8]) -> Cost {
        let mut cost = Cost::default();
        let mut open: AHashMap<Vec<u8>, usize> = AHashMap::new();
        let (mut depth, mut formatting, mut foreign) = (0, 0, 0usize);
        let mut tokens = Tokens::new(html);
        let mut name = Vec::new();
        let (mut root_attributes, mut nodes) = (0, 0);
        while let Some(token) = tokens.next() {
            if cost.is_too_high() {
                break;
            }
            // Every token may create a node, and the open formatting elements again.
            nodes += 1 + formatting;
            cost.nodes = nodes + tokens.skipped();
            let (written, opens, attributes) = match token {
                Token::Text(_) => continue,
                Token::Open { name, attributes } => {
                    (name, true, Attributes::new(attributes).count())
                }
                Token::Close(name) => (name, false, 0),
            };
            name.clear();
            name.extend(written.iter().map(u8::to_ascii_lowercase));
            cost.attributes += attributes;
            cost.compared += attributes * attributes / 2;
            if opens && matches!(&*name, b"html" | b"body") {
                root_attributes += attributes;
                cost.compared += root_attributes;
            }
            if opens {
                cost.elements += 1;
                if foreign == 0 && (is_void(&name) || is_closed_implicitly(&name)) {
                    continue;
                }
                if foreign == 0 && is_raw(&name) {
                    tokens.skip_raw(written);
                    continue;
                }
                *open.entry(name.clone()).or_default() += 1;
                depth += 1;
                formatting += usize::from(is_formatting(&name));
                foreign += usize::from(is_foreign(&name));
                cost.depth = cost.depth.max(depth);
            } else if let Some(count) = open.get_mut(&name).filter(|count| **count > 0) {
                *count -= 1;
                depth -= 1;
                formatting -= usize::from(is_formatting(&name));
                foreign -= usize::from(is_foreign(&name));
            }
        }
        cost.nodes = nodes + tokens.skipped();
        cost
    }

    /// Whether the cost exceeds the limits.
    pub(super) fn is_too_high(&self) -> bool {
        self.depth > MAX_DEPTH
            || self.elements > MAX_ELEMENTS
            || self.nodes > MAX_NODES
            || self.attributes > MAX_ATTRIBUTES
            || self.compared > MAX_COMPARED
    }
}

/// Elements without content.
fn is_void(name: &[u8]) -> bool {
    matches!(
        name,
        b"area"
            | b"base"
            | b"br"
            | b"col"
            | b"embed"
            | b"hr"
            | b"img"
            | b"input"
            | b"link"
            | b"meta"
            | b"param"
            | b"source"
            | b"track"
            | b"wbr"
    )
}

/// Elements closed by the next of their kind or by the end of their parent. Any number of them in
/// sequence is not deep.
fn is_closed_implicitly(name: &[u8]) -> bool {
    matches!(
        name,
        b"p" | b"li"
            | b"dt"
            | b"dd"
            | b"option"
            | b"tr"
            | b"td"
            | b"th"
            | b"thead"
            | b"tbody"
            | b"tfoot"
            | b"html"
            | b"head"
            | b"body"
    )
}

/// Elements whose content is not markup.
fn is_raw(name: &[u8]) -> bool {
    matches!(
        name,
        b"script"
            | b"style"
            | b"title"
            | b"textarea"
            | b"iframe"
            | b"noembed"
            | b"noframes"
            | b"xmp"
    )
}

/// The formatting elements of HTML §13.2.4.2.
fn is_formatting(name: &[u8]) -> bool {
    matches!(
        name,
        b"a" | b"b"
            | b"big"
            | b"code"
            | b"em"
            | b"font"
            | b"i"
            | b"nobr"
            | b"s"
            | b"small"
            | b"strike"
            | b"strong"
            | b"tt"
            | b"u"
    )
}

/// Elements whose content has other parsing rules.
fn is_foreign(name: &[u8]) -> bool {
    matches!(name, b"svg" | b"math")
}

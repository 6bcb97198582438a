//! Writing of text without superfluous white space.

use htmlize::{Context, unescape_bytes_in};
use memchr::memchr;

use super::elements::{Element, Visitor};
use super::markup::Token;

/// The separator between the last character and the next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
}

/// Appends text to a buffer: lines separated by one LF, words by one space, with none at the ends.
pub(super) struct TextWriter<'o> {
    out: &'o mut Vec<u8>,
    gap: Gap,
    written: bool,
}

impl<'o> TextWriter<'o> {
    pub(super) fn new(out: &'o mut Vec<u8>) -> TextWriter<'o> {
        TextWriter {
            out,
            gap: Gap::None,
            written: false,
        }
    }

    /// Whether the next character begins a line.
    pub(super) fn is_new_line(&self) -> bool {
        !self.written || self.gap == Gap::Line
    }

    /// The number of bytes written, with those that were there before.
    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    pub(super) fn gap(&mut self, element: Element) {
        let gap = match element {
            Element::Block => Gap::Line,
            Element::Cell => Gap::Space,
            _ => Gap::None,
        };
        self.gap = self.gap.max(gap);
    }

    pub(super) fn text(&mut self, text: &[u8]) {
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

impl Visitor for TextWriter<'_> {
    fn text(&mut self, text: &[u8]) {
        self.text(text);
    }

    fn tag(&mut self, element: Element, _: Token<'_>) {
        self.gap(element);
    }
}

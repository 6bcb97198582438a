//! The lines of visible text of a page, with the elements around each.

use super::context::Context;
use super::scopes::Scopes;
use crate::web::html::elements::{Element, Visitor, visit};
use crate::web::html::markup::{Attributes, Token};
use crate::web::html::text_writer::TextWriter;

/// A page with more bytes is not divided into lines.
const MAX_BYTES: usize = 1 << 30;

/// A page with more lines or elements is not either. As much as 64 MB of memory for each.
const MAX_LINES: usize = 1 << 20;
const MAX_ELEMENTS: usize = 1 << 21;

/// A line of visible text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Its first byte in the text; it ends before the line end that precedes the next line.
    start: u32,
    /// The number of its bytes in links.
    pub(super) link_bytes: u32,
    /// What the elements around it say.
    pub(super) context: Context,
    /// A hash of the names and classes of the elements around it.
    pub(super) kind: u32,
    /// The number of the innermost element around it.
    pub(super) element: u32,
}

/// A page as lines.
pub(super) struct PageLines {
    /// The visible text, without [templates](PageLines::has_templates).
    pub(super) text: Vec<u8>,
    pub(super) lines: Vec<Line>,
    /// For each element by its number, that of the element around it, which is less; that of the
    /// first, 0, is 0.
    pub(super) parents: Vec<u32>,
    /// Whether the page has scripts whose text may be visible.
    pub(super) has_templates: bool,
}

impl PageLines {
    /// Divides a page into lines; `None` if it is too large. O(length) time.
    pub(super) fn read(html: &[u8]) -> Option<PageLines> {
        if html.len() > MAX_BYTES {
            return None;
        }
        let mut text = Vec::new();
        let mut reader = LineReader {
            writer: TextWriter::new(&mut text),
            lines: Vec::new(),
            scopes: Scopes::new(),
            is_link: false,
        };
        let has_templates = !visit(html, &mut reader).is_empty();
        let LineReader { lines, scopes, .. } = reader;
        let parents = scopes.into_parents();
        let is_small = lines.len() <= MAX_LINES && parents.len() <= MAX_ELEMENTS;
        is_small.then_some(PageLines {
            text,
            lines,
            parents,
            has_templates,
        })
    }

    /// The text of a line.
    pub(super) fn line(&self, number: usize) -> &[u8] {
        let start = self.lines[number].start as usize;
        let next = self.lines.get(number + 1);
        let end = next.map_or(self.text.len(), |next| next.start as usize - 1);
        &self.text[start..end]
    }

    /// The lines for which `is_chosen` is true, with a line end between two.
    pub(super) fn chosen(&self, is_chosen: impl Fn(usize) -> bool) -> Vec<u8> {
        let mut text = Vec::new();
        for number in (0..self.lines.len()).filter(|&number| is_chosen(number)) {
            if !text.is_empty() {
                text.push(b'\n');
            }
            text.extend_from_slice(self.line(number));
        }
        text
    }
}

struct LineReader<'o> {
    writer: TextWriter<'o>,
    lines: Vec<Line>,
    scopes: Scopes,
    is_link: bool,
}

impl Visitor for LineReader<'_> {
    fn text(&mut self, text: &[u8]) {
        let is_new = self.writer.is_new_line();
        let before = self.writer.len();
        self.writer.text(text);
        let after = self.writer.len();
        if after == before {
            return;
        }
        if is_new {
            let scope = self.scopes.innermost();
            self.lines.push(Line {
                // After the line end, if it is not the first.
                start: (before + usize::from(before > 0)) as u32,
                link_bytes: 0,
                context: scope.context,
                kind: scope.kind,
                element: scope.number,
            });
        }
        if let Some(line) = self.lines.last_mut().filter(|_| self.is_link) {
            line.link_bytes += (after - before) as u32;
        }
    }

    fn tag(&mut self, element: Element, tag: Token<'_>) {
        self.writer.gap(element);
        match tag {
            Token::Open { name, attributes } if name.eq_ignore_ascii_case(b"a") => {
                let mut attributes = Attributes::new(attributes);
                self.is_link = attributes.any(|(name, _)| name.eq_ignore_ascii_case(b"href"));
            }
            Token::Open { name, attributes } => self.scopes.open(element, name, attributes),
            Token::Close(name) if name.eq_ignore_ascii_case(b"a") => self.is_link = false,
            Token::Close(name) => self.scopes.close(element, name),
            Token::Text(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::context::{FOOTER, LIST, NAVIGATION};
    use super::*;
    use crate::web::html::visible_text::visible_text;
    use proptest::prelude::*;

    #[test]
    fn lines_have_the_elements_around_them() {
        let html = "a<nav><ul><li class=x1>b <a href=/>c</a><li class=x2><a name=d>d</a></ul></nav>\
                    <p>e<p>f</x></div><footer>g<br>h</footer>i";
        let page = PageLines::read(html.as_bytes()).unwrap();
        let item = NAVIGATION | LIST;
        let expected = [
            ("a", 0, 0),
            ("b c", item, 2),
            ("d", item, 0),
            ("e", 0, 0),
            ("f", 0, 0),
            ("g", FOOTER, 0),
            ("h", FOOTER, 0),
            ("i", 0, 0),
        ];
        for (number, (text, context, link_bytes)) in expected.into_iter().enumerate() {
            let line = page.lines[number];
            assert_eq!(page.line(number), text.as_bytes());
            assert_eq!(
                (line.context, line.link_bytes),
                (context, link_bytes),
                "{text}"
            );
        }
        assert_eq!(page.lines.len(), expected.len());
        let kinds: Vec<u32> = page.lines.iter().map(|line| line.kind).collect();
        assert_eq!(kinds[1], kinds[2]);
        assert_eq!(kinds[3], kinds[4]);
        assert_ne!(kinds[1], kinds[3]);
    }

    proptest! {
        /// Promise (Deduplication): The main text of a page …
        #[test]
        fn all_lines_are_the_visible_text(html in "([<>/a &]|<p>|</p>|<div class=b1>|</div>|<li>|<a href=x>|</a>|<td>|<script>|</script>|&amp;|汉|\n){0,60}") {
            let mut visible = Vec::new();
            visible_text(html.as_bytes(), &mut visible);
            let page = PageLines::read(html.as_bytes()).unwrap();
            prop_assert_eq!(&page.text, &visible);
            prop_assert_eq!(&page.chosen(|_| true), &visible);
            let lines = visible.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
            prop_assert_eq!(page.lines.len(), lines.count());
            for (number, line) in page.lines.iter().enumerate() {
                prop_assert!((line.element as usize) < page.parents.len());
                prop_assert!(line.link_bytes as usize <= page.line(number).len() + 1);
            }
            for (number, &parent) in page.parents.iter().enumerate().skip(1) {
                prop_assert!((parent as usize) < number);
            }
        }
    }
}

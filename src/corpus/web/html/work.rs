//! The work that a page would take the library that finds its article.
//!
//! Counted on the tree of the page before the library begins, so that the decision to take the
//! visible text instead depends on the page alone, never on time.

use dom_query::{Document, NodeData, NodeRef};
use memchr::memchr2_iter;

/// Counts of what the library does more than once for each byte or element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    /// Elements, each times its depth: every ancestor asks for its descendants.
    nested_elements: u64,
    /// Bytes of text, each times its depth: every ancestor asks for its text.
    nested_text: u64,
    /// Bytes that the serializer of html5ever looks at: behind each character that may have to be
    /// escaped it searches up to the next angle bracket.
    searched: u64,
    /// Elements that are compared with the title.
    headings: u64,
    /// Bytes that the title has at most.
    title: u64,
}

/// A page of 8 MiB with 200 000 elements has less if it is not deeper than usual.
const MOST_NESTED_ELEMENTS: u64 = 3_000_000;

/// 8 MiB of text at a depth of 17.
const MOST_NESTED_TEXT: u64 = 150_000_000;

/// A quarter of a second of searching at most; a text of 1 MiB in one element may have 5000
/// ampersands.
const MOST_SEARCHED: u64 = 5_000_000_000;

/// Bytes of the title that are compared with headings.
const MOST_COMPARED: u64 = 10_000_000;

/// A node to count, and what is known from its ancestors.
struct Pending<'a> {
    node: NodeRef<'a>,
    depth: u64,
    /// Elements around it that are serialized by themselves.
    objects: u64,
    is_title: bool,
}

impl Work {
    /// O(size of the tree) time and memory.
    pub(super) fn of(document: &Document) -> Work {
        let mut work = Work::default();
        let mut longest_label = 0;
        let mut pending = vec![Pending {
            node: document.root(),
            depth: 0,
            objects: 0,
            is_title: false,
        }];
        while let Some(place) = pending.pop() {
            let mut inner = Pending {
                depth: place.depth + 1,
                ..place
            };
            let mut contents = None;
            let is_read = place.node.query_or(false, |node| match &node.data {
                NodeData::Text { contents } => {
                    work.text(contents.as_ref(), &place);
                    false
                }
                NodeData::Element(element) => {
                    let name: &str = element.name.local.as_ref();
                    work.nested_elements += place.depth;
                    for attribute in &element.attrs {
                        let value: &str = attribute.value.as_ref();
                        work.searched += searched(value) * (place.objects + 1);
                        if name == "meta" && &*attribute.name.local == "content" {
                            longest_label = longest_label.max(value.len() as u64);
                        }
                    }
                    let is_heading = matches!(name, "h1" | "h2");
                    work.headings += u64::from(is_heading);
                    inner.is_title |= name == "title" || (is_heading && work.headings == 1);
                    inner.objects += u64::from(name == "object");
                    contents = element.template_contents;
                    // What is in these is removed first.
                    !matches!(name, "script" | "style")
                }
                _ => true,
            });
            if !is_read {
                continue;
            }
            if let Some(contents) = contents {
                let node = NodeRef::new(contents, place.node.tree);
                pending.push(Pending { node, ..inner });
            }
            // In the order of the document, for the first heading.
            let mut child = place.node.last_child();
            while let Some(node) = child {
                pending.push(Pending { node, ..inner });
                child = node.prev_sibling();
            }
        }
        work.title = work.title.max(longest_label);
        work
    }

    fn text(&mut self, text: &str, place: &Pending<'_>) {
        let length = text.len() as u64;
        self.nested_text += length * place.depth;
        self.searched += searched(text) * (place.objects + 1);
        self.title += if place.is_title { length } else { 0 };
    }

    /// Whether it is more than a page should take.
    pub(super) fn is_too_much(&self) -> bool {
        self.nested_elements > MOST_NESTED_ELEMENTS
            || self.nested_text > MOST_NESTED_TEXT
            || self.searched > MOST_SEARCHED
            || self.headings.saturating_mul(self.title) > MOST_COMPARED
    }
}

/// How many bytes of `text` the serializer looks at besides its own length, from above: for each
/// ampersand and each first byte of U+0080 to U+00BF, the bytes between two angle brackets.
fn searched(text: &str) -> u64 {
    let runs = text
        .as_bytes()
        .split(|byte| matches!(byte, b'<' | b'>'))
        .map(|run| memchr2_iter(b'&', 0xc2, run).count() as u64 * run.len() as u64);
    runs.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(html: &str) -> Work {
        Work::of(&Document::from(html))
    }

    #[test]
    fn counts_are_those_of_the_tree() {
        let found = work(
            "<title>abc</title><h1>de</h1><div><p>a&amp;b<p title='&&<&'>cd</div><script>&&&</script>",
        );
        let expected = Work {
            // html 1; head and body 2; title, h1, div, script 3; two paragraphs 4.
            nested_elements: 1 + 2 * 2 + 4 * 3 + 2 * 4,
            nested_text: 3 * 4 + 2 * 4 + 3 * 5 + 2 * 5,
            searched: 3 + 2 * 2 + 1,
            headings: 1,
            title: 5,
        };
        assert_eq!(found, expected);
        assert!(!found.is_too_much());
    }

    #[test]
    fn what_is_serialized_again_counts_again() {
        let once = work("<p>&amp;&amp;").searched;
        assert_eq!(work("<object><object><p>&amp;&amp;").searched, 3 * once);
        assert!(work("<template><p>&amp;</template>").searched > 0);
    }
}

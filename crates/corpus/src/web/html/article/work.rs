//! The estimated work of the article extractor for a page.
//!
//! It is counted on the tree of the page before the extractor starts. So the decision to use the
//! visible text instead depends only on the page, never on time.

use dom_query::{Document, NodeData, NodeRef};
use memchr::memchr2_iter;

/// Counts of operations that the extractor repeats for a byte or element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    /// The sum of the depths of all elements: every ancestor visits its descendants.
    nested_elements: u64,
    /// The sum of the depths of all bytes of text: every ancestor reads its text.
    nested_text: u64,
    /// The number of bytes that the serializer of html5ever examines. After each character that may
    /// need escaping, it searches for the next angle bracket.
    searched: u64,
    /// The number of bytes of text and attributes.
    bytes: u64,
    /// The number of elements that are compared with the title.
    headings: u64,
    /// The maximum number of bytes of the title.
    title: u64,
}

/// A page of 8 MiB with 200 000 elements at usual depths has fewer.
const MAX_NESTED_ELEMENTS: u64 = 3_000_000;

/// As much as 8 MiB of text at a depth of 17 have.
const MAX_NESTED_TEXT: u64 = 150_000_000;

/// The maximum of [`Work::searched`] for each byte: 0.2 µs. So any text in one element may have as many
/// ampersands.
const MAX_SEARCHED: u64 = 4096;

/// The maximum number of bytes of titles compared with headings.
const MAX_COMPARED: u64 = 10_000_000;

/// A node to count, with the state of its ancestors.
struct Pending<'a> {
    node: NodeRef<'a>,
    depth: u64,
    /// The number of ancestors that are serialized separately.
    objects: u64,
    is_title: bool,
}

impl Work {
    /// Counts the work for a document. O(size of the tree) time and memory.
    pub(super) fn of(document: &Document) -> Work {
        let mut work = Work::default();
        let mut longest_label = 0;
        let mut pending = vec![Pending {
            node: document.root(),
            depth: 0,
            objects: 0,
            is_title: false,
        }];
        while let Some(parent) = pending.pop() {
            let mut inner = Pending {
                depth: parent.depth + 1,
                ..parent
            };
            let mut contents = None;
            let is_read = parent.node.query_or(false, |node| match &node.data {
                NodeData::Text { contents } => {
                    work.text(contents.as_ref(), &parent);
                    false
                }
                NodeData::Element(element) => {
                    let name: &str = element.name.local.as_ref();
                    work.nested_elements += parent.depth;
                    for attribute in &element.attrs {
                        let value: &str = attribute.value.as_ref();
                        work.searched += searched(value) * (parent.objects + 1);
                        work.bytes += value.len() as u64;
                        if name == "meta" && &*attribute.name.local == "content" {
                            longest_label = longest_label.max(value.len() as u64);
                        }
                    }
                    let is_heading = matches!(name, "h1" | "h2");
                    work.headings += u64::from(is_heading);
                    inner.is_title |= name == "title" || (is_heading && work.headings == 1);
                    inner.objects += u64::from(name == "object");
                    contents = element.template_contents;
                    // The extractor removes the contents of these first.
                    !matches!(name, "script" | "style")
                }
                _ => true,
            });
            if !is_read {
                continue;
            }
            if let Some(contents) = contents {
                let node = NodeRef::new(contents, parent.node.tree);
                pending.push(Pending { node, ..inner });
            }
            // In document order, to find the first heading.
            let mut child = parent.node.last_child();
            while let Some(node) = child {
                pending.push(Pending { node, ..inner });
                child = node.prev_sibling();
            }
        }
        work.title = work.title.max(longest_label);
        work
    }

    fn text(&mut self, text: &str, parent: &Pending<'_>) {
        let length = text.len() as u64;
        self.nested_text += length * parent.depth;
        self.searched += searched(text) * (parent.objects + 1);
        self.bytes += length;
        self.title += if parent.is_title { length } else { 0 };
    }

    /// Whether the work exceeds a limit.
    pub(super) fn is_too_much(&self) -> bool {
        self.nested_elements > MAX_NESTED_ELEMENTS
            || self.nested_text > MAX_NESTED_TEXT
            || self.searched > self.bytes.saturating_mul(MAX_SEARCHED)
            || self.headings.saturating_mul(self.title) > MAX_COMPARED
    }
}

/// An upper bound on the bytes of `text` that the serializer examines repeatedly: for each ampersand
/// and each first byte of U+0080 to U+00BF, the bytes between the surrounding angle brackets.
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
            bytes: 3 + 2 + 3 + 2 + 4,
            headings: 1,
            title: 5,
        };
        assert_eq!(found, expected);
        assert!(!found.is_too_much());
    }

    #[test]
    fn many_ampersands_are_too_much_for_any_length() {
        for (count, length, is_too_much) in [
            (4000, 4000, false),
            (4200, 4200, true),
            (4000, 400_000, false),
            (4200, 400_000, true),
        ] {
            let text = "&amp;".repeat(count) + &"a".repeat(length - count);
            assert_eq!(
                work(&format!("<p>{text}")).is_too_much(),
                is_too_much,
                "{count}"
            );
        }
    }

    #[test]
    fn nested_objects_count_several_times() {
        let once = work("<p>&amp;&amp;").searched;
        assert_eq!(work("<object><object><p>&amp;&amp;").searched, 3 * once);
        assert!(work("<template><p>&amp;</template>").searched > 0);
    }
}

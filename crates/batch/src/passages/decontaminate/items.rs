//! The words of the reference items.

use simtool_core::text::WordRange;

/// The words of all reference items, one item after another.
#[derive(Default)]
pub struct Items {
    /// The hashes of the words.
    pub words: Vec<u64>,
    /// The bytes of the words in the texts of their items.
    pub ranges: Vec<WordRange>,
    /// The items, in input order.
    pub items: Vec<Item>,
    /// The hashes of the words of all answers; empty if the job needs no answers.
    pub answers: Vec<u64>,
    /// Where the answer of each item ends among them.
    pub answer_ends: Vec<u32>,
    /// The most words of an answer that have to be in a row.
    pub answer_words: usize,
}

/// A reference item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The number of its document.
    pub document: u32,
    /// The place of its first word among those of all items.
    pub first: u32,
    /// Whether a word of it is a single character of a script without spaces between words.
    pub has_unspaced_scripts: bool,
}

impl Items {
    /// The places of the words of an item.
    pub fn words_of(&self, item: usize) -> std::ops::Range<usize> {
        let end = self.items.get(item + 1).map(|next| next.first as usize);
        self.items[item].first as usize..end.unwrap_or(self.words.len())
    }

    /// The item with the word at `place`. O(log n).
    pub fn item_at(&self, place: u32) -> usize {
        self.items.partition_point(|item| item.first <= place) - 1
    }

    /// The words of the answer of an item; none if it has no answer.
    pub fn answer_of(&self, item: usize) -> &[u64] {
        let end = |item: usize| self.answer_ends.get(item).map_or(0, |end| *end as usize);
        match item {
            0 => &self.answers[..end(0)],
            _ => &self.answers[end(item - 1)..end(item)],
        }
    }

    /// Appends the items of a chunk whose first document has the number `first`.
    pub fn append(&mut self, first: u32, chunk: &Items) {
        let before = self.words.len() as u32;
        self.words.extend_from_slice(&chunk.words);
        self.ranges.extend_from_slice(&chunk.ranges);
        let answers = self.answers.len() as u32;
        self.answers.extend_from_slice(&chunk.answers);
        self.answer_ends
            .extend(chunk.answer_ends.iter().map(|end| answers + end));
        self.items.extend(chunk.items.iter().map(|item| Item {
            document: first + item.document,
            first: before + item.first,
            ..*item
        }));
    }
}

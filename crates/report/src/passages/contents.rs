//! The contents of a page.

use crate::places::Places;

/// The contents of the page of a search for passages.
pub struct PassagesPage {
    /// Settings and inputs, by name.
    pub facts: Vec<(String, String)>,
    /// A passage and several: "unit" and "units", for example.
    pub noun: [&'static str; 2],
    /// What a passage is: "repeated", for example.
    pub found: &'static str,
    /// The file of the most frequent passages.
    pub list: &'static str,
    /// What the action does with repeated passages, as a verb: "cut", for example.
    pub action: String,
    /// The same as a participle.
    pub done: &'static str,
    /// Totals of the input.
    pub totals: PassageTotals,
    /// Passages of the input, with repetitions, if they are counted.
    pub units: Option<u64>,
    /// Different passages that are removed, and their occurrences that are.
    pub removed: [u64; 2],
    /// The files with the most repeated bytes, or the directories of small files.
    pub sources: Places<PassageTotals>,
    /// Documents by the share of their text that is repeated: none, then tenths, then all.
    pub shares: Vec<u64>,
    /// The most frequent passages.
    pub most_frequent: Vec<PassageRow>,
    /// The items of the documents to compare with, if there are such.
    pub items: Option<Items>,
    /// The documents with the most repeated bytes.
    pub worst: Vec<WorstDocument>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Documents and bytes: seen, kept, dropped and skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassageTotals {
    /// Documents.
    pub documents: [u64; 4],
    /// Bytes.
    pub bytes: [u64; 4],
    /// Documents with repeated passages.
    pub changed: u64,
    /// Bytes of repeated passages.
    pub repeated_bytes: u64,
}

impl PassageTotals {
    /// Adds the totals of other documents.
    pub fn add(&mut self, more: &PassageTotals) {
        let pairs = [
            (&mut self.documents, &more.documents),
            (&mut self.bytes, &more.bytes),
        ];
        for (sums, more) in pairs {
            let pairs = sums.iter_mut().zip(more);
            pairs.for_each(|(sum, more)| *sum += more);
        }
        self.changed += more.changed;
        self.repeated_bytes += more.repeated_bytes;
    }
}

/// A repeated passage.
pub struct PassageRow {
    /// The beginning of its text.
    pub text: Vec<u8>,
    /// Its occurrences, and those that are removed.
    pub counts: [u64; 2],
    /// Documents and sites with an occurrence.
    pub places: [u64; 2],
    /// The bytes of the removed occurrences.
    pub bytes: u64,
}

/// The items of which parts were searched.
pub struct Items {
    /// By file, or directory of small files: the items, those that were found, and those that are too
    /// short.
    pub files: Places<[u64; 3]>,
    /// The items of which most was found.
    pub rows: Vec<ItemRow>,
}

/// An item and the document that has most of it.
pub struct ItemRow {
    /// The ids of the item and of the document.
    pub ids: [Vec<u8>; 2],
    /// The beginning of the item, and of the stretch of the document.
    pub texts: [Vec<u8>; 2],
    /// The n-grams of the item, and those that were found.
    pub grams: [u64; 2],
    /// Whether the document has an edited form of the item.
    pub is_edited: bool,
    /// The number of documents with one.
    pub documents: u64,
}

/// A document with repeated passages.
pub struct WorstDocument {
    /// Its id.
    pub id: Vec<u8>,
    /// The beginning of its text.
    pub text: Vec<u8>,
    /// The same without repeated passages.
    pub rest: Vec<u8>,
    /// The bytes of the text, and those of repeated passages.
    pub bytes: [u64; 2],
}

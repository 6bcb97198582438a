//! What is found of reference items.

use bytemuck::{Pod, Zeroable};

/// What was found of a reference item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ItemRecord {
    /// The number of its document.
    pub document: u32,
    /// Its words.
    pub words: u32,
    /// Its different n-grams; 0 if it is too short.
    pub grams: u32,
    /// The n-grams that were found.
    pub found: u32,
    /// The n-grams that are ignored, as too many documents have them.
    pub ignored: u32,
    /// The number of documents with one of its n-grams, or with an edited form of it.
    pub documents: u32,
    /// The document with the most of them, of several the first; none if `best_found` is 0.
    pub best: u32,
    /// The number of them in that document.
    pub best_found: u32,
    /// The first byte, in that document's text, of the stretch with the most of them.
    pub best_start: u32,
    /// The byte after that stretch.
    pub best_end: u32,
    /// 1 if the best document has an edited form of it: the n-grams are those of the search for these.
    pub is_edited: u32,
}

/// Totals of the items of a reference file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReferenceTotals {
    /// All items.
    pub items: u64,
    /// The items of which a part was found.
    pub found: u64,
    /// The items with too few words to be looked for.
    pub too_short: u64,
}

impl ItemRecord {
    /// Whether the item has too few words to be looked for.
    pub fn is_too_short(&self) -> bool {
        self.grams == 0
    }

    /// Adds what the documents that have no n-gram of the item have of its edited form. The best
    /// document is the one with the larger share of the item.
    pub fn add_edited(&mut self, edited: &ItemRecord) {
        let part = |item: &ItemRecord, other: &ItemRecord| {
            u64::from(item.best_found) * u64::from(other.grams.max(1))
        };
        let documents = self.documents.saturating_add(edited.documents);
        if self.is_too_short() || part(edited, self) > part(self, edited) {
            *self = *edited;
            self.is_edited = u32::from(edited.best_found > 0);
        }
        self.documents = documents;
    }

    /// The share of its n-grams that was found.
    pub fn share(&self) -> f64 {
        f64::from(self.found) / f64::from(self.grams.max(1))
    }
}

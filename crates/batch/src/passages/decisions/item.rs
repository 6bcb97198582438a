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
    /// The number of documents with one of its n-grams.
    pub documents: u32,
    /// The document with the most of them, of several the first; none if `best_found` is 0.
    pub best: u32,
    /// The number of them in that document.
    pub best_found: u32,
    /// The first byte, in that document's text, of the stretch with the most of them.
    pub best_start: u32,
    /// The byte after that stretch.
    pub best_end: u32,
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

    /// The share of its n-grams that was found.
    pub fn share(&self) -> f64 {
        f64::from(self.found) / f64::from(self.grams.max(1))
    }
}

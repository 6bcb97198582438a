//! The hashes of a document's words.

/// The hashes of a document's words, in text order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordHashes {
    /// The XXH3-64 of each folded word.
    pub short: Vec<u64>,
    /// The XXH3-128 of each folded word, empty unless requested.
    pub long: Vec<u128>,
}

impl WordHashes {
    /// Removes all hashes; keeps the memory.
    pub fn clear(&mut self) {
        self.short.clear();
        self.long.clear();
    }
}

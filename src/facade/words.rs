//! Words and shingles as the program's defaults have them.

use crate::kernel::Level;
use crate::text::shingles::{shingles, sort_to_set};
use crate::text::{Choice, Tokenizer, WordHashes};

/// Cuts texts into words; keeps its buffers between texts.
pub struct Words {
    tokenizer: Tokenizer,
    hashes: WordHashes,
}

impl Words {
    /// With the default tokenizer.
    pub fn new() -> Words {
        Words {
            tokenizer: Tokenizer::new(Choice::default(), Level::best()),
            hashes: WordHashes::default(),
        }
    }

    /// The hashes of the words of `text`, in order.
    pub fn of(&mut self, text: &[u8]) -> &[u64] {
        self.tokenizer.hash_words(text, false, &mut self.hashes);
        &self.hashes.short
    }

    /// The set of the shingles of `text`, of `width` words each, sorted.
    pub fn shingles(&mut self, text: &[u8], width: usize) -> Vec<u64> {
        let mut set = Vec::new();
        shingles(self.of(text), width, &mut set);
        sort_to_set(&mut set);
        set
    }
}

/// The number of words in a shingle.
pub fn shingle_width() -> usize {
    Choice::default().usual_width()
}

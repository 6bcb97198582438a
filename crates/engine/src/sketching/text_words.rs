//! From a text to its words, shingles and sketches.

use simtool_core::kernel::Level;
use simtool_core::sketch::{Method, Needs, SketchScratch, TokenizedDocument};
use simtool_core::text::shingles::{shingles, sort_to_set};
use simtool_core::text::{Choice, Spelling, Tokenizer, WordHashes};

/// After a longer text, all buffers are freed; each is at most proportional to the longest text.
const MAX_KEPT_TEXT: usize = 4 << 20;

/// Cuts texts into words, one text after another; one for each thread.
pub struct WordReader {
    tokenizer: Tokenizer,
    needs: Needs,
    buffers: Buffers,
}

/// Buffers that are kept between texts.
#[derive(Default)]
struct Buffers {
    words: WordHashes,
    spelling: Spelling,
    shingles: Vec<u64>,
    scratch: SketchScratch,
}

/// A text with its words. Frees the buffers when dropped, if the text is very long.
pub struct TextWords<'a> {
    text: &'a [u8],
    buffers: &'a mut Buffers,
}

impl WordReader {
    /// A reader of words as `choice` defines them, for methods with `needs`.
    pub fn new(choice: Choice, needs: Needs, level: Level) -> WordReader {
        WordReader {
            tokenizer: Tokenizer::new(choice, level),
            needs,
            buffers: Buffers {
                scratch: SketchScratch::new(level),
                ..Buffers::default()
            },
        }
    }

    /// The words of `text`, in the forms that are needed.
    pub fn read<'a>(&'a mut self, text: &'a [u8]) -> TextWords<'a> {
        let Buffers {
            words, spelling, ..
        } = &mut self.buffers;
        let Needs { long, spelled, .. } = self.needs;
        if spelled {
            self.tokenizer.spell_words(text, long, words, spelling);
        } else if self.needs != Needs::default() {
            self.tokenizer.hash_words(text, long, words);
        }
        TextWords {
            text,
            buffers: &mut self.buffers,
        }
    }
}

impl TextWords<'_> {
    /// The 64-bit hashes of the words, in order.
    pub fn hashes(&self) -> &[u64] {
        &self.buffers.words.short
    }

    /// The same list, from which words may be removed before [`shingles`](Self::shingles).
    pub fn hashes_mut(&mut self) -> &mut Vec<u64> {
        &mut self.buffers.words.short
    }

    /// The hashes of the first words, at most `most`.
    pub fn first(&self, most: usize) -> WordHashes {
        let WordHashes { short, long } = &self.buffers.words;
        WordHashes {
            short: short[..most.min(short.len())].to_vec(),
            long: long[..most.min(long.len())].to_vec(),
        }
    }

    /// The hashes of the shingles of `width` words, in order.
    pub fn shingles(&mut self, width: usize) -> &mut Vec<u64> {
        let Buffers {
            words,
            shingles: list,
            ..
        } = &mut *self.buffers;
        shingles(&words.short, width, list);
        list
    }

    /// The set of the shingles of `width` words, sorted.
    pub fn shingle_set(&mut self, width: usize) -> &[u64] {
        let set = self.shingles(width);
        sort_to_set(set);
        set
    }

    /// Appends the sketch by `method`, whose needs must be among those of the reader; returns
    /// whether the text has features.
    pub fn sketch(&mut self, method: &dyn Method, out: &mut Vec<u8>) -> bool {
        let Buffers {
            words,
            spelling,
            scratch,
            ..
        } = &mut *self.buffers;
        let document = TokenizedDocument {
            text: self.text,
            short: &words.short,
            long: &words.long,
            spelled: spelling.all(),
        };
        method.sketch(document, scratch, out)
    }
}

impl Drop for TextWords<'_> {
    fn drop(&mut self) {
        if self.text.len() > MAX_KEPT_TEXT {
            *self.buffers = Buffers::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_of_giant_texts_are_freed() {
        let mut reader = WordReader::new(Choice::default(), Needs::HASHES, Level::best());
        let words = |count: usize| "word ".repeat(count).into_bytes();
        assert_eq!(reader.read(&words(9)).shingle_set(5).len(), 1);
        assert!(reader.buffers.words.short.capacity() >= 9);
        reader.read(&words(MAX_KEPT_TEXT / 5 + 1)).shingles(5);
        assert_eq!(reader.buffers.words.short.capacity(), 0);
        assert_eq!(reader.buffers.shingles.capacity(), 0);
        // Also of a single word, whose buffers are not those of the hashes.
        reader.read(&words(9));
        reader.read(&vec![b'a'; MAX_KEPT_TEXT + 1]);
        assert_eq!(reader.buffers.words.short.capacity(), 0);
    }
}

//! Words and shingles as the program's defaults have them.

use crate::engine::text_words::WordReader;
use crate::kernel::Level;
use crate::sketch::Needs;
use crate::text::Choice;

/// A reader of words with the default tokenizer, for methods with `needs`.
pub fn word_reader(needs: Needs) -> WordReader {
    WordReader::new(Choice::default(), needs, Level::best())
}

/// The number of words in a shingle.
pub fn shingle_width() -> usize {
    Choice::default().usual_width()
}

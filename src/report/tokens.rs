//! The words, numbers and signs of two texts, to be [aligned](super::alignment).

use ahash::AHashMap;

use unicode_segmentation::UnicodeSegmentation;

/// A piece of text that stays together: a word, a sign, or a run of bytes that are no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'t> {
    /// Its bytes.
    pub bytes: &'t [u8],
    /// What stands before it.
    pub gap: Gap,
}

/// White space between tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// None.
    None,
    /// Some, in the line.
    Space,
    /// A line feed among it.
    Line,
}

impl Token<'_> {
    /// Whether it is a word or a number, rather than a sign.
    pub fn is_word(&self) -> bool {
        self.bytes
            .utf8_chunks()
            .any(|chunk| chunk.valid().chars().any(char::is_alphanumeric))
    }
}

/// Cuts a text at the word boundaries of Unicode Standard Annex #29 and leaves white space out.
pub fn tokens(text: &[u8]) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut gap = Gap::None;
    for chunk in text.utf8_chunks() {
        for piece in chunk.valid().split_word_bounds() {
            if piece.contains('\n') {
                gap = Gap::Line;
            } else if piece.chars().all(char::is_whitespace) {
                gap = if gap == Gap::Line { gap } else { Gap::Space };
            } else {
                tokens.push(Token {
                    bytes: piece.as_bytes(),
                    gap,
                });
                gap = Gap::None;
            }
        }
        if !chunk.invalid().is_empty() {
            tokens.push(Token {
                bytes: chunk.invalid(),
                gap,
            });
            gap = Gap::None;
        }
    }
    tokens
}

/// The same number for the same bytes, in both texts.
pub fn numbers(texts: [&[Token<'_>]; 2]) -> [Vec<u32>; 2] {
    let mut known: AHashMap<&[u8], u32> = AHashMap::new();
    texts.map(|tokens| {
        let mut numbers = Vec::with_capacity(tokens.len());
        for token in tokens {
            let next = known.len() as u32;
            numbers.push(*known.entry(token.bytes).or_insert(next));
        }
        numbers
    })
}

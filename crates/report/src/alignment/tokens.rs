//! The words, numbers and signs of two texts, to be [aligned](crate::alignment).

use std::borrow::Cow;

use ahash::AHashMap;
use simtool_core::text::fold;
use unicode_segmentation::UnicodeSegmentation;

/// A token: a word, a number, a sign, or an invalid UTF-8 sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'t> {
    /// Its bytes.
    pub bytes: &'t [u8],
    /// The white space before it.
    pub gap: Gap,
}

/// White space between tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// None.
    None,
    /// White space without a line feed.
    Space,
    /// White space with line feeds.
    Line {
        /// Whether there is more than one.
        is_blank: bool,
        /// The columns between the last one and the token, at most 40; a tab has four.
        indent: u8,
    },
}

/// The maximum number of columns of an indentation.
const MAX_INDENT: usize = 40;
/// The columns of a tab.
const TAB: usize = 4;

impl Gap {
    /// Whether it has a line feed.
    pub fn is_line(self) -> bool {
        matches!(self, Gap::Line { .. })
    }

    /// The gap with more white space at its end.
    fn and(self, space: &str) -> Gap {
        match self {
            _ if space.contains('\n') => Gap::Line {
                is_blank: self.is_line(),
                indent: 0,
            },
            Gap::Line { is_blank, indent } => {
                let columns = space.chars().map(|one| if one == '\t' { TAB } else { 1 });
                let indent = usize::from(indent) + columns.sum::<usize>();
                Gap::Line {
                    is_blank,
                    indent: indent.min(MAX_INDENT) as u8,
                }
            }
            Gap::None | Gap::Space => Gap::Space,
        }
    }
}

impl Token<'_> {
    /// Whether it is a word or a number, not a sign.
    pub fn is_word(&self) -> bool {
        self.bytes
            .utf8_chunks()
            .any(|chunk| chunk.valid().chars().any(char::is_alphanumeric))
    }
}

/// Splits a text at the word boundaries of Unicode Standard Annex #29, without white space.
pub fn tokens(text: &[u8]) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut gap = Gap::None;
    for chunk in text.utf8_chunks() {
        for piece in chunk.valid().split_word_bounds() {
            if piece.contains('\n') || piece.chars().all(char::is_whitespace) {
                gap = gap.and(piece);
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

/// Which tokens are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equality {
    /// Tokens with the same bytes.
    Bytes,
    /// Tokens that are [folded](simtool_core::text::fold) to the same text, as words are.
    Folded,
}

/// Numbers the tokens of both texts; equal ones have equal numbers.
pub fn numbers(texts: [&[Token<'_>]; 2], equality: Equality) -> [Vec<u32>; 2] {
    let mut known: AHashMap<Cow<'_, [u8]>, u32> = AHashMap::new();
    texts.map(|tokens| {
        let mut numbers = Vec::with_capacity(tokens.len());
        for token in tokens {
            let next = known.len() as u32;
            let key = match equality {
                Equality::Bytes => Cow::Borrowed(token.bytes),
                Equality::Folded => folded(token.bytes),
            };
            numbers.push(*known.entry(key).or_insert(next));
        }
        numbers
    })
}

/// The folded bytes; of invalid UTF-8, the bytes themselves.
fn folded(bytes: &[u8]) -> Cow<'_, [u8]> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Owned(fold(text).into_bytes()),
        Err(_) => Cow::Borrowed(bytes),
    }
}

//! The role of folded characters in words.

use unicode_normalization::char::is_combining_mark;

/// The role of a folded character in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Not part of a word.
    Separator,
    /// A letter or digit.
    Letter,
    /// Continues a word but does not start one.
    Mark,
    /// A word by itself, with the marks behind it: a character of a script without spaces between
    /// words, or whose spaces are set in different ways (Hangul).
    Single,
}

/// Blocks of the scripts whose characters are words. Source of the first line: the line breaking
/// class SA of Unicode Standard Annex #14, by blocks.
const SINGLES: [(u32, u32); 24] = [
    // Thai and Lao, Burmese, Khmer, Tai Le and New Tai Lue, Tai Tham, Tai Viet, Ahom.
    (0x0e00, 0x0eff),
    (0x1000, 0x109f),
    (0x1780, 0x17ff),
    (0x1950, 0x19df),
    (0x1a20, 0x1aaf),
    (0xa9e0, 0xa9ff),
    (0xaa60, 0xaadf),
    (0x11700, 0x1174f),
    // Hangul.
    (0x1100, 0x11ff),
    (0xa960, 0xa97f),
    (0xac00, 0xd7ff),
    // Hiragana, Katakana, their extensions and repeat marks; Nushu.
    (0x3031, 0x3035),
    (0x3041, 0x30ff),
    (0x31f0, 0x31ff),
    (0x1aff0, 0x1b2ff),
    // Han: unified and compatibility ideographs, the iteration mark, the zero and Hangzhou
    // numerals.
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3400, 0x4dbf),
    (0x4e00, 0x9fff),
    (0xf900, 0xfaff),
    (0x20000, 0x2fa1f),
    (0x30000, 0x323af),
    (0x323b0, 0x3347f),
    // Tangut and Khitan.
    (0x16fe0, 0x18d8f),
];

/// Whether a character is a word by itself.
pub fn is_word_alone(character: char) -> bool {
    role(character) == Role::Single
}

/// The role of a character that folds to itself.
pub(super) fn role(character: char) -> Role {
    let code = u32::from(character);
    let mut singles = SINGLES.iter();
    match character {
        _ if is_combining_mark(character) => Role::Mark,
        _ if !character.is_alphanumeric() => Role::Separator,
        _ if singles.any(|(first, last)| (first..=last).contains(&&code)) => Role::Single,
        _ => Role::Letter,
    }
}

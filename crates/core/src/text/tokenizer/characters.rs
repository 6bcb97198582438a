//! How each character is folded.
//!
//! By NFKC_Casefold (the Unicode Standard, section 3.13, "Caseless Matching"): compatibility forms
//! such as full-width letters and ligatures, upper and lower case, and default-ignorable characters
//! such as soft hyphens, zero-width spaces, joiners and variation selectors do not count. Besides,
//! all [`APOSTROPHES`] are the apostrophe of ASCII.

use caseless::Caseless;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::per_character::PerCharacter;
use super::script::{Role, role};
use super::utf8::valid_parts;

/// Letters and punctuation that are written for an apostrophe, besides the full-width form.
const APOSTROPHES: [char; 6] = [
    '\u{2bb}', '\u{2bc}', '\u{55a}', '\u{2018}', '\u{2019}', '\u{201b}',
];

/// Default_Ignorable_Code_Point. Source: DerivedCoreProperties of the Unicode Character Database;
/// a test compares it with a library.
const IGNORED: [(char, char); 17] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fff8}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// How a character is folded, if it is not beside others of its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    /// To itself. It never composes with the character before it.
    Same,
    /// To another character that never composes with the one before.
    Changed(char),
    /// A combining mark of this combining class that folds to itself and composes with nothing.
    Mark(u8),
    /// To several characters, of which the first one does not compose with the character before.
    Several,
    /// To nothing, or to something that may compose with the character before.
    Joining,
}

impl Fold {
    /// How `character` is changed to `changed`, NFKC of one character.
    fn of(character: char, changed: &str) -> Fold {
        let mut characters = changed.chars();
        let Some(first) = characters.next() else {
            return Fold::Joining;
        };
        let class = canonical_combining_class(first);
        let is_same = changed.chars().eq([character]);
        match characters.next() {
            _ if is_nfc_quick([first].into_iter()) != IsNormalized::Yes => Fold::Joining,
            None if is_same && is_combining_mark(first) => Fold::Mark(class),
            _ if class > 0 => Fold::Joining,
            Some(_) => Fold::Several,
            None if is_same => Fold::Same,
            None => Fold::Changed(first),
        }
    }

    /// Whether the character belongs to the cluster of the one before it.
    #[inline]
    pub(super) fn joins(self) -> bool {
        matches!(self, Fold::Mark(_) | Fold::Joining)
    }
}

/// A character in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Folded {
    pub(super) fold: Fold,
    /// The role of the folded character, of the first one if there are several; that of a mark if
    /// there is none.
    pub(super) role: Role,
}

impl Folded {
    /// Whether the character is a mark on the one before it, or is ignored.
    pub(super) fn is_mark(self) -> bool {
        self.fold.joins() && self.role == Role::Mark
    }
}

/// How all characters are folded.
pub(super) static FOLDED: PerCharacter<Folded> = PerCharacter::new(|character| {
    let folded = folded(character);
    Folded {
        fold: Fold::of(character, &folded),
        role: folded.chars().next().map_or(Role::Mark, role),
    }
});

/// The folded form of a character by itself; what is ignored is empty.
pub(super) fn folded(character: char) -> String {
    let once: String = [character].into_iter().nfd().default_case_fold().collect();
    let twice: String = once.nfkd().default_case_fold().collect();
    without_ignored(&twice)
}

/// The composed form of a character by itself, like the folded form, but in its own case.
pub(in crate::text) fn composed(character: char) -> String {
    without_ignored(character.encode_utf8(&mut [0; 4]))
}

/// NFKC of a text without what is ignored, and with one apostrophe.
fn without_ignored(text: &str) -> String {
    let is_ignored = |c: &char| {
        let mut ranges = IGNORED.iter();
        ranges.any(|(first, last)| (first..=last).contains(&c))
    };
    let normal: String = text.nfkc().filter(|c| !is_ignored(c)).collect();
    normal.replace(APOSTROPHES, "'")
}

/// Whether a text is its own composed form. Some texts that are get false.
pub(in crate::text) fn is_composed(text: &str) -> bool {
    static COMPOSED: PerCharacter<Fold> = PerCharacter::new(|c| Fold::of(c, &composed(c)));
    let mut order = 0;
    text.chars().all(|character| match COMPOSED.of(character) {
        Fold::Same => {
            order = 0;
            true
        }
        Fold::Mark(class) => std::mem::replace(&mut order, class) <= class || class == 0,
        _ => false,
    })
}

/// Whether a character is a word of its own.
pub(in crate::text) fn is_single(character: char) -> bool {
    FOLDED.of(character).role == Role::Single
}

/// Whether a text has a character that is a word of its own: one of a script without spaces between
/// words, such as Han, kana and Thai, or of Hangul.
pub fn has_unspaced_scripts(text: &[u8]) -> bool {
    !text.is_ascii() && valid_parts(text).any(|part| part.contains(is_single))
}

/// Whether no word ends between two characters: both are letters or digits of words of several, or
/// the second one is a mark on the first or ignored.
pub(in crate::text) fn joins(before: char, next: char) -> bool {
    match (FOLDED.of(before).role, FOLDED.of(next).role) {
        (Role::Separator, Role::Mark) => !before.is_whitespace(),
        (_, Role::Mark) => true,
        (Role::Letter | Role::Mark, Role::Letter) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_play_their_parts() {
        let expected = [
            (Role::Separator, " -_'’ʼ。、・“％\u{fffd}😀€\0\u{e000}"),
            (Role::Letter, "az09éßжд٣ªⅸאبک²𝔞AZÉЖΣİＡ𐐀"),
            (
                Role::Mark,
                "\u{301}\u{94d}\u{64b}\u{fe0f}\u{200b}\u{200d}\u{ad}\u{feff}ﾞ",
            ),
            (
                Role::Single,
                "中国々〇\u{20000}ひらがなカタカナーﾊ\u{1b001}ไทยที่๑ລາວខ្មែរမြန်가각ㄱ",
            ),
        ];
        for (role, characters) in expected {
            for character in characters
                .chars()
                .filter(|c| !is_combining_mark(*c) || role == Role::Mark)
            {
                assert_eq!(FOLDED.of(character).role, role, "{character:?}");
            }
        }
    }
}

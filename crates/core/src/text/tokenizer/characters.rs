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
    let mut characters = folded.chars();
    let first = characters.next();
    let composes = is_nfc_quick(first.into_iter()) != IsNormalized::Yes;
    let class = first.map_or(0, canonical_combining_class);
    let fold = match (first, characters.next()) {
        (None, _) => Fold::Joining,
        _ if composes => Fold::Joining,
        (Some(first), None) if first == character && is_combining_mark(first) => Fold::Mark(class),
        _ if class > 0 => Fold::Joining,
        (Some(_), Some(_)) => Fold::Several,
        (Some(first), None) if first == character => Fold::Same,
        (Some(first), None) => Fold::Changed(first),
    };
    Folded {
        fold,
        role: first.map_or(Role::Mark, role),
    }
});

/// The folded form of a character by itself; what is ignored is empty.
pub(super) fn folded(character: char) -> String {
    if APOSTROPHES.contains(&character) {
        return "'".into();
    }
    let is_ignored = |c: &char| {
        IGNORED
            .iter()
            .any(|(first, last)| (first..=last).contains(&c))
    };
    let once: String = [character]
        .into_iter()
        .nfd()
        .default_case_fold()
        .nfkd()
        .collect();
    let twice = once.chars().default_case_fold().filter(|c| !is_ignored(c));
    let folded: String = twice.nfkc().collect();
    match folded.as_str() {
        "\u{2bc}n" => "'n".into(),
        _ => folded,
    }
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

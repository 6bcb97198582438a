//! The role of characters in words.

use std::sync::OnceLock;

use unicode_normalization::char::is_combining_mark;

/// The role of a character in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Not part of a word.
    Separator,
    /// A letter or digit that folding does not change.
    Letter,
    /// A letter that folding changes.
    Capital,
    /// Continues a word but does not start one.
    Mark,
    /// A Han character.
    Han,
    /// Hiragana or Katakana.
    Kana,
    /// A character of another script without spaces between words.
    Spaceless,
}

impl Role {
    /// The number of roles.
    pub(super) const COUNT: usize = Role::Spaceless as usize + 1;
}

/// Blocks of scripts without spaces between words: Thai and Lao, Burmese, Khmer, Tai Le and New Tai
/// Lue, Tai Tham, Tai Viet, Ahom. Source: the line breaking class SA of Unicode Standard Annex #14,
/// by blocks.
const SPACELESS: [(u32, u32); 8] = [
    (0x0e00, 0x0eff),
    (0x1000, 0x109f),
    (0x1780, 0x17ff),
    (0x1950, 0x19df),
    (0x1a20, 0x1aaf),
    (0xa9e0, 0xa9ff),
    (0xaa60, 0xaadf),
    (0x11700, 0x1174f),
];

/// Hiragana, Katakana, their extensions and halfwidth forms.
const KANA: [(u32, u32); 4] = [
    (0x3041, 0x30ff),
    (0x31f0, 0x31ff),
    (0xff66, 0xff9f),
    (0x1aff0, 0x1b16f),
];

/// Unified and compatibility ideographs, the iteration mark, the zero and Hangzhou numerals.
const HAN: [(u32, u32); 7] = [
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3400, 0x4dbf),
    (0x4e00, 0x9fff),
    (0xf900, 0xfaff),
    (0x20000, 0x2fa1f),
    (0x30000, 0x323af),
];

/// The roles of all characters; the first 2^16 are in a table of 64 KB.
#[derive(Clone, Copy)]
pub(super) struct Roles(&'static [Role]);

impl Roles {
    /// The roles; the first call in the process computes the table.
    pub(super) fn shared() -> Roles {
        static TABLE: OnceLock<Vec<Role>> = OnceLock::new();
        let role = |code| char::from_u32(code).map_or(Role::Separator, role);
        Roles(TABLE.get_or_init(|| (0..0x1_0000).map(role).collect()))
    }

    /// The role of `character`.
    #[inline]
    pub(super) fn of(self, character: char) -> Role {
        let known = self.0.get(character as usize);
        known.copied().unwrap_or_else(|| role(character))
    }
}

/// The definition of the role of a character.
pub(super) fn role(character: char) -> Role {
    let among = |blocks: &[(u32, u32)]| {
        let code = u32::from(character);
        blocks
            .iter()
            .any(|&(first, last)| (first..=last).contains(&code))
    };
    let mark = is_combining_mark(character);
    match character {
        _ if !mark && !character.is_alphanumeric() => Role::Separator,
        _ if among(&HAN) => Role::Han,
        _ if among(&KANA) => Role::Kana,
        _ if among(&SPACELESS) => Role::Spaceless,
        _ if mark => Role::Mark,
        _ if character.to_lowercase().eq([character]) => Role::Letter,
        _ => Role::Capital,
    }
}

/// Whether no word ends between two characters: both are letters or digits, not in a script without
/// spaces, or the second one is a mark on the first.
pub(in crate::text) fn joins(before: char, next: char) -> bool {
    let roles = Roles::shared();
    let is_letter = |role| matches!(role, Role::Letter | Role::Capital | Role::Mark);
    match (roles.of(before), roles.of(next)) {
        (Role::Separator, Role::Mark) => !before.is_whitespace(),
        (_, Role::Mark) => true,
        // Vowels and tones of these scripts are combining marks, too.
        (Role::Separator, _) => false,
        (_, Role::Kana | Role::Spaceless) => is_combining_mark(next),
        (before, next) => is_letter(before) && is_letter(next),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_definition() {
        let roles = Roles::shared();
        for character in '\0'..=char::MAX {
            assert_eq!(roles.of(character), role(character), "{character:?}");
        }
    }

    #[test]
    fn characters_play_their_parts() {
        let expected = [
            (
                Role::Separator,
                " -_'’。、・“\u{200b}\u{200d}\u{ad}\u{feff}\u{fffd}😀€\0\u{e000}",
            ),
            (Role::Letter, "az09éßжд٣ªⅸ가각אبक²𝔞"),
            (Role::Capital, "AZÉЖΣİＡ𐐀"),
            (Role::Mark, "\u{301}\u{94d}\u{64b}\u{fe0f}"),
            (Role::Han, "中国々〇\u{20000}"),
            (Role::Kana, "ひらがなカタカナーﾊ\u{1b001}"),
            (Role::Spaceless, "ไทยที่๑ລາວខ្មែរမြန်"),
        ];
        for (role, characters) in expected {
            for character in characters.chars() {
                assert_eq!(super::role(character), role, "{character:?}");
            }
        }
    }
}

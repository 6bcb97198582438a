//! Word break properties of characters.

use std::sync::LazyLock;

use unicode_segmentation::UnicodeSegmentation;

use super::characters::{FOLDED, Fold};
use super::per_character::PerCharacter;

/// The word break properties of Unicode Standard Annex #29, reduced to the distinctions that words
/// need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordBreak {
    /// ALetter that counts as a letter of a word.
    Letter,
    /// Numeric that counts as a digit of a word.
    Numeric,
    /// ExtendNumLet: like a letter, but not a word on its own.
    Connector,
    /// Katakana.
    Katakana,
    /// Hebrew_Letter.
    Hebrew,
    /// Extend or Format: belongs to the preceding character.
    Extend,
    /// ZWJ: belongs to the preceding character, and may join the next one.
    Joiner,
    /// MidLetter: joins letters.
    MidLetter,
    /// MidNum: joins digits.
    MidNumber,
    /// MidNumLet and Single_Quote: joins letters or digits.
    MidAny,
    /// Double_Quote: joins Hebrew letters.
    Quote,
    /// A word by itself, such as each Han character.
    Single,
    /// Not a word; separate from the preceding character and from the next one unless that is a
    /// mark.
    Separator,
    /// WSegSpace: joins other spaces.
    Space,
    /// Line ends and regional indicators: join their own kind.
    Opener,
    /// Anything else.
    Rare,
}

impl WordBreak {
    /// Whether a character of this class does not belong to every preceding character, as marks and
    /// zero-width joiners do; false for [`WordBreak::Rare`], which may be either.
    #[inline]
    pub(super) fn is_apart(self) -> bool {
        !matches!(
            self,
            WordBreak::Extend | WordBreak::Joiner | WordBreak::Rare
        )
    }
}

/// The word break properties of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BreakProperties {
    pub(super) class: WordBreak,
    /// Whether folding changes the character.
    pub(super) folds: bool,
    /// Whether a segment with the character is a word.
    pub(super) counts: bool,
}

/// The properties of all characters.
pub(super) static BREAKS: PerCharacter<BreakProperties> = PerCharacter::new(breaks);

/// The boundaries around an example of each class.
static EXAMPLES: LazyLock<Vec<(WordBreak, u64)>> = LazyLock::new(|| {
    let examples = [
        (WordBreak::Letter, "a"),
        (WordBreak::Numeric, "1"),
        (WordBreak::Connector, "_"),
        (WordBreak::Katakana, "カ"),
        (WordBreak::Hebrew, "א"),
        (WordBreak::Extend, "\u{300}"),
        (WordBreak::Joiner, "\u{200d}"),
        (WordBreak::MidLetter, ":"),
        (WordBreak::MidNumber, ","),
        (WordBreak::MidAny, ".'"),
        (WordBreak::Quote, "\""),
        (WordBreak::Separator, "%"),
        (WordBreak::Space, " "),
        (WordBreak::Opener, "\r\n\u{b}🇦"),
    ];
    let each = |(class, examples): (WordBreak, &'static str)| {
        examples
            .chars()
            .map(move |example| (class, boundaries(example)))
    };
    examples.into_iter().flat_map(each).collect()
});

/// Determines the class of a character as that of the example with the same boundaries, since the
/// library does not expose the properties themselves.
fn breaks(character: char) -> BreakProperties {
    let word = character.to_string();
    let counts = word.unicode_words().next().is_some();
    let boundaries = boundaries(character);
    let found = EXAMPLES.iter().find(|(_, example)| *example == boundaries);
    let class = match found.map_or(WordBreak::Rare, |(class, _)| *class) {
        WordBreak::Letter | WordBreak::Numeric if !counts => WordBreak::Rare,
        WordBreak::Separator if counts => WordBreak::Single,
        class => class,
    };
    BreakProperties {
        class,
        folds: FOLDED.of(character).fold != Fold::Same,
        counts,
    }
}

/// The word boundaries of a text in which `character` is adjacent to every class that it could
/// join, as a bit mask.
fn boundaries(character: char) -> u64 {
    let mut text = String::with_capacity(128);
    for part in [
        "a:", "\na", "a\n1", "1\n1,", "\nカ", "\nא", "א\n%", "\n ", "\n🇦", "\n",
    ] {
        text.push_str(part);
        text.push(character);
    }
    text.push_str("\u{300}\n");
    text.push(character);
    text.push_str("©\n");
    text.push(character);
    text.push('\'');
    let words = text.split_word_bounds().map(|word| word.chars().count());
    words.fold(0, |boundaries, length| boundaries << length | 1)
}

//! What a character does to the borders of words.

use std::sync::LazyLock;

use unicode_segmentation::UnicodeSegmentation;

use super::per_character::PerCharacter;

/// The word break properties of Unicode Standard Annex #29, in so far as words depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// ALetter that makes a word.
    Letter,
    /// Numeric that makes a word.
    Numeric,
    /// ExtendNumLet: as a letter, but makes no word.
    Connector,
    /// Katakana.
    Katakana,
    /// Hebrew_Letter.
    Hebrew,
    /// Extend or Format: belongs to what stands before it.
    Extend,
    /// ZWJ: belongs to what stands before it, and may bind what follows.
    Joiner,
    /// MidLetter: joins letters.
    MidLetter,
    /// MidNum: joins digits.
    MidNumber,
    /// MidNumLet and Single_Quote: joins either.
    MidAny,
    /// Double_Quote: joins Hebrew letters.
    Quote,
    /// A word by itself, as each Han character.
    Single,
    /// No word; apart from what stands before it and from all but marks behind it.
    Separator,
    /// WSegSpace: joins its own kind.
    Space,
    /// Line ends and halves of flags: join their own kind.
    Opener,
    /// Anything else.
    Rare,
}

impl Class {
    /// Whether such a character never belongs to what stands before it unless both are letters,
    /// digits or what joins them.
    #[inline]
    pub(super) fn is_apart(self) -> bool {
        !matches!(self, Class::Extend | Class::Joiner | Class::Rare)
    }
}

/// A class, and whether folding changes the character and whether a word with it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Breaks {
    pub(super) class: Class,
    pub(super) folds: bool,
    pub(super) counts: bool,
}

/// The breaks of all characters.
pub(super) static BREAKS: PerCharacter<Breaks> = PerCharacter::new(breaks);

/// Where a character that stands for its class is cut off.
static EXAMPLES: LazyLock<Vec<(Class, u64)>> = LazyLock::new(|| {
    let examples = [
        (Class::Letter, "a"),
        (Class::Numeric, "1"),
        (Class::Connector, "_"),
        (Class::Katakana, "カ"),
        (Class::Hebrew, "א"),
        (Class::Extend, "\u{300}"),
        (Class::Joiner, "\u{200d}"),
        (Class::MidLetter, ":"),
        (Class::MidNumber, ","),
        (Class::MidAny, ".'"),
        (Class::Quote, "\""),
        (Class::Separator, "%"),
        (Class::Space, " "),
        (Class::Opener, "\r\n\u{b}🇦"),
    ];
    let each = |(class, examples): (Class, &'static str)| {
        examples.chars().map(move |example| (class, cuts(example)))
    };
    examples.into_iter().flat_map(each).collect()
});

/// The class of a character is that of the example which is cut off in the same places: the
/// properties themselves are private to the library that cuts.
fn breaks(character: char) -> Breaks {
    let word = character.to_string();
    let counts = word.unicode_words().next().is_some();
    let cuts = cuts(character);
    let found = EXAMPLES.iter().find(|(_, example)| *example == cuts);
    let class = match found.map_or(Class::Rare, |(class, _)| *class) {
        Class::Letter | Class::Numeric if !counts => Class::Rare,
        Class::Separator if counts => Class::Single,
        class => class,
    };
    Breaks {
        class,
        folds: !character.to_lowercase().eq([character]),
        counts,
    }
}

/// Where words end, in characters, in a text in which `character` meets all it could join: one bit
/// for each place.
fn cuts(character: char) -> u64 {
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
    words.fold(0, |cuts, length| cuts << length | 1)
}

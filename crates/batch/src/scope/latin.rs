//! The language of a text in Latin script.
//!
//! The answers are those of the library `whatlang` 0.18, by its profiles and alphabets: for each
//! language its most frequent trigrams of letters, the first one most frequent, and its letters. The
//! library looks up each trigram of each language in the text. Here, each trigram of the text is looked
//! up once. The data are those of the library (by Serhii Potapov, under the licence LICENSE-MIT).

use std::sync::LazyLock;

use ahash::AHashMap;

/// For each language, a line with its code, its letters and its trigrams, separated by tabs.
const LANGUAGES: &str = include_str!("latin_languages.tsv");
/// The number of trigrams of a language.
const TRIGRAMS: i32 = 300;
/// The most trigrams of a text that are compared: the most frequent ones.
const TEXT_TRIGRAMS: usize = 600;
/// The confidence above which an answer is reliable.
const RELIABLE: f64 = 0.9;

static PROFILES: LazyLock<Profiles> = LazyLock::new(Profiles::read);

/// A number for each language; there are fewer than 64.
type OfLanguages = [i32; 64];

/// What is known of all languages, which are numbered from 0.
#[derive(Default)]
struct Profiles {
    codes: Vec<&'static str>,
    /// For each letter, the languages that have it, as bits.
    letters: AHashMap<char, u64>,
    /// For each trigram, the languages that have it, and its positions in their profiles.
    trigrams: AHashMap<u64, Vec<(u8, u16)>>,
}

impl Profiles {
    fn read() -> Profiles {
        let mut profiles = Profiles::default();
        for (language, line) in (0..64u8).zip(LANGUAGES.lines()) {
            let mut fields = line.split('\t');
            let mut field = || fields.next().unwrap_or_default();
            profiles.codes.push(field());
            for letter in field().chars() {
                *profiles.letters.entry(letter).or_default() |= 1 << language;
            }
            let letters: Vec<char> = field().chars().collect();
            for (place, trigram) in (0u16..).zip(letters.chunks(3)) {
                let places = profiles.trigrams.entry(packed(trigram)).or_default();
                places.push((language, place));
            }
        }
        profiles
    }
}

/// A trigram as a number. Numbers have the order of the trigrams.
fn packed(trigram: &[char]) -> u64 {
    let join = |packed, letter: &char| packed << 21 | u64::from(*letter);
    trigram.iter().fold(0, join)
}

/// Whether it separates words: all of ASCII but letters and the last character.
fn is_separator(letter: char) -> bool {
    letter.is_ascii() && !letter.is_ascii_alphabetic() && letter != '\u{7f}'
}

/// The code of the language of a text in Latin script, if it is reliable.
pub fn detected(text: &str) -> Option<&'static str> {
    let profiles = &*PROFILES;
    let text = text.to_lowercase();
    let (letters, own) = of_alphabets(profiles, &text);
    let (trigrams, like) = of_trigrams(profiles, &text);
    let weight = (2.0 / 3.0 - letters as f64 / 300.0).clamp(1.0 / 3.0, 2.0 / 3.0);
    let most = f64::from(trigrams * TRIGRAMS);
    let (mut best, mut first, mut second) = (None, 0.0, 0.0);
    for (code, (own, like)) in profiles.codes.iter().zip(own.into_iter().zip(like)) {
        let alphabet = f64::from(own) / letters as f64;
        let score = alphabet * weight + f64::from(like) / most * (1.0 - weight);
        if score > first {
            (best, first, second) = (Some(*code), score, first);
        } else if score > second {
            second = score;
        }
    }
    let confidence = match second > 0.0 {
        true => {
            let enough = 3.0 / f64::from(trigrams) + 0.015;
            ((first - second) / second / enough).min(1.0)
        }
        false => first,
    };
    best.filter(|_| confidence > RELIABLE)
}

/// The number of letters; for each language, how many more of them it has than not, or 0.
fn of_alphabets(profiles: &Profiles, text: &str) -> (usize, OfLanguages) {
    let (mut letters, mut own) = (0, [0; 64]);
    let mut add = |letter: char, count: i32| {
        let mut languages = profiles.letters.get(&letter).copied().unwrap_or(0);
        while languages != 0 {
            own[languages.trailing_zeros() as usize] += 2 * count;
            languages &= languages - 1;
        }
    };
    let mut ascii = [0; 128];
    for letter in text.chars().filter(|&letter| !is_separator(letter)) {
        letters += 1;
        match ascii.get_mut(letter as usize) {
            Some(count) => *count += 1,
            None => add(letter, 1),
        }
    }
    for (letter, count) in ('\0'..).zip(ascii) {
        if count > 0 {
            add(letter, count);
        }
    }
    (letters, own.map(|own| (own - letters as i32).max(0)))
}

/// The number of trigrams that are compared; for each language, how near their positions are to those
/// in its profile.
fn of_trigrams(profiles: &Profiles, text: &str) -> (i32, OfLanguages) {
    let spaced = text.chars().map(|letter| match is_separator(letter) {
        true => ' ',
        false => letter,
    });
    let (mut all, mut before) = (Vec::with_capacity(text.len()), [' ', ' ']);
    for (letter, place) in spaced.chain([' ']).zip(0..) {
        let trigram = [before[0], before[1], letter];
        if place > 0 && !(before[1] == ' ' && (before[0] == ' ' || letter == ' ')) {
            all.push(packed(&trigram));
        }
        before = [before[1], letter];
    }
    all.sort_unstable();
    let counted = all.chunk_by(|one, other| one == other);
    let counted = counted.map(|equal| (equal.len(), equal[0]));
    let mut frequent: Vec<(usize, u64)> = counted.collect();
    if frequent.len() > TEXT_TRIGRAMS {
        frequent.select_nth_unstable_by(TEXT_TRIGRAMS, |one, other| other.cmp(one));
        frequent.truncate(TEXT_TRIGRAMS);
    }
    frequent.sort_unstable_by(|one, other| other.cmp(one));
    let mut like = [0; 64];
    for ((_, trigram), place) in frequent.iter().zip(0..) {
        for &(language, own) in profiles.trigrams.get(trigram).into_iter().flatten() {
            like[usize::from(language)] += TRIGRAMS - i32::abs_diff(place, own.into()) as i32;
        }
    }
    let count = frequent.len() as i32;
    // Trigrams beyond those of a profile count for every language.
    let more = (count - TRIGRAMS).max(0) * TRIGRAMS;
    (count, like.map(|like| like.max(0) + more))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition.
    fn of_library(text: &str) -> Option<&'static str> {
        let found = whatlang::detect(text)?;
        found.is_reliable().then(|| found.lang().code())
    }

    /// Texts of the frequent trigrams of two languages, some of them in upper case, and with characters
    /// of other scripts.
    fn texts() -> impl Strategy<Value = String> {
        let languages: Vec<Vec<char>> = LANGUAGES
            .lines()
            .map(|line| line.split('\t').nth(2).unwrap().chars().collect())
            .collect();
        let count = languages.len();
        let other = prop::sample::select(
            "İıßſǅK.,;09\n\u{7f}中я\u{301}ﬁＡǆ"
                .chars()
                .collect::<Vec<_>>(),
        );
        let piece = (0..1000u32, 0..300usize, 0..300usize, other);
        let pieces = prop_oneof![
            prop::collection::vec(piece.clone(), 1..20),
            prop::collection::vec(piece, 20..1500),
        ];
        (0..count, 0..count, 0..500u32, pieces).prop_map(move |(one, two, share, pieces)| {
            let mut text = String::new();
            for (kind, first, second, other) in pieces {
                let language = if kind < share { one } else { two };
                let place = 3 * first.min(second);
                let trigram: String = languages[language][place..place + 3].iter().collect();
                match kind % 31 {
                    0 => text.push(other),
                    1 => text += &trigram.to_uppercase(),
                    _ => text += &trigram,
                }
            }
            text
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

        #[test]
        fn answers_are_those_of_the_library(text in texts()) {
            if whatlang::detect_script(&text) == Some(whatlang::Script::Latin) {
                prop_assert_eq!(detected(&text), of_library(&text), "{:?}", text);
            }
        }
    }

    #[test]
    fn profiles_are_complete() {
        assert_eq!(PROFILES.codes.len(), whatlang::Script::Latin.langs().len());
        let places: usize = PROFILES.trigrams.values().map(Vec::len).sum();
        assert_eq!(places, PROFILES.codes.len() * TRIGRAMS as usize);
    }

    #[test]
    fn texts_without_words_have_no_language() {
        for text in ["", " ", "12", "\u{7f}", "a", "\u{301}", "\0", "K"] {
            assert_eq!(detected(text), None, "{text:?}");
        }
    }
}

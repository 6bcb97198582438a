//! Every tokenizer against its definition, on random and on hostile bytes.

use std::sync::LazyLock;

use caseless::Caseless;
use proptest::prelude::*;
use regex_syntax::hir::{self, HirKind};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::characters::{FOLDED, Fold};
use super::code::{DEDENT, INDENT, QUOTE};
use super::script::{Role, role};
use super::{Choice, Tokenizer, WordHashes};
use crate::kernel::Level;

fn words(choice: Choice, level: Level, text: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    Tokenizer::new(choice, level).for_each_word(text, &mut |word| found.push(word.to_vec()));
    found
}

fn strings(choice: Choice, text: &str) -> Vec<String> {
    let words = words(choice, Level::best(), text.as_bytes());
    words
        .into_iter()
        .map(|word| String::from_utf8(word).unwrap())
        .collect()
}

/// The definitions, for whole texts.
pub(in crate::text) mod naive {
    use super::*;

    /// NFKC_Casefold, character by character, with one apostrophe for all.
    pub fn fold(text: &str) -> String {
        static IGNORED: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
            let ignored = regex_syntax::parse(r"\p{Default_Ignorable_Code_Point}").unwrap();
            let HirKind::Class(hir::Class::Unicode(ignored)) = ignored.kind() else {
                panic!("no class");
            };
            ignored
                .iter()
                .map(|range| (range.start(), range.end()))
                .collect()
        });
        let is_ignored = |c: &char| IGNORED.iter().any(|(from, to)| (from..=to).contains(&c));
        let fold_one = |c: char| -> String {
            let folded: String = [c].into_iter().nfd().default_case_fold().nfkc().collect();
            let folded = folded.nfd().default_case_fold().nfkc();
            let kept: String = folded.filter(|c| !is_ignored(c)).collect();
            kept.replace(['ʻ', 'ʼ', '՚', '‘', '’', '‛'], "'")
        };
        let folded: String = text.chars().map(fold_one).collect();
        folded.nfc().collect()
    }

    /// The text without hyphens at line ends within words.
    pub fn join(text: &str) -> String {
        let is_letter = |c: char| {
            let folded = fold(&c.to_string());
            c.is_alphabetic()
                && !is_combining_mark(c)
                && folded
                    .chars()
                    .next()
                    .is_some_and(|c| role(c) == Role::Letter)
        };
        let is_mark = |c: char| fold(&c.to_string()).chars().all(|c| role(c) == Role::Mark);
        let mut joined = String::new();
        let mut rest = text;
        while let Some(character) = rest.chars().next() {
            let behind = &rest[character.len_utf8()..];
            let line = behind.strip_prefix("\r\n").or(behind.strip_prefix('\n'));
            let next = line.map(|line| line.trim_start_matches([' ', '\t']));
            rest = behind;
            let base = joined.trim_end_matches(is_mark);
            match next.filter(|next| next.starts_with(is_letter) && base.ends_with(is_letter)) {
                Some(next) if "-\u{2010}\u{ad}".contains(character) => rest = next,
                _ => joined.push(character),
            }
        }
        joined
    }

    /// Words of `Unicode`.
    pub fn unicode(text: &str) -> Vec<String> {
        let joined = join(text);
        let words = joined.unicode_words().map(fold);
        words.filter(|word| !word.is_empty()).collect()
    }

    /// Words of `Auto` in a folded text.
    pub fn auto(folded: &str) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut open = None;
        for character in folded.chars() {
            let role = role(character);
            match (open, role) {
                (_, Role::Separator) => open = None,
                (None, Role::Mark) => {}
                (Some(_), Role::Mark) | (Some(Role::Letter), Role::Letter) => {
                    found.last_mut().unwrap().push(character);
                }
                _ => {
                    found.push(character.into());
                    open = Some(role);
                }
            }
        }
        found
    }
}

/// The definition of words.
fn definition(choice: Choice, text: &[u8]) -> Vec<Vec<u8>> {
    if choice == Choice::Ascii {
        let runs = text.split(|byte| !byte.is_ascii_alphabetic());
        let words = runs.filter(|run| !run.is_empty());
        return words.map(<[u8]>::to_ascii_lowercase).collect();
    }
    let mut found = Vec::new();
    for valid in text.utf8_chunks().map(|chunk| chunk.valid()) {
        match choice {
            Choice::Unicode => found.extend(naive::unicode(valid)),
            Choice::Chars => {
                let folded = naive::fold(&naive::join(valid));
                let characters = folded.chars().filter(|c| !c.is_whitespace());
                found.extend(characters.map(String::from));
            }
            _ => found.extend(naive::auto(&naive::fold(&naive::join(valid)))),
        }
    }
    found.into_iter().map(String::into_bytes).collect()
}

/// Checks all levels and both kinds of output.
fn check(choice: Choice, text: &[u8], expected: &[Vec<u8>]) {
    for level in Level::available() {
        assert_eq!(words(choice, level, text), expected, "{choice} {level}");
        let mut tokenizer = Tokenizer::new(choice, level);
        let mut hashes = WordHashes::default();
        // An earlier document must not affect the result.
        tokenizer.hash_words("left 中 BEHIND é".as_bytes(), true, &mut hashes);
        for wide in [true, false] {
            tokenizer.hash_words(text, wide, &mut hashes);
            let short = expected.iter().map(|word| xxh3_64(word));
            assert!(hashes.short.iter().copied().eq(short), "{choice} {level}");
            let long = expected.iter().filter(|_| wide).map(|word| xxh3_128(word));
            assert!(hashes.long.iter().copied().eq(long), "{choice} {level}");
        }
    }
}

const DEFINED: [Choice; 4] = [Choice::Auto, Choice::Ascii, Choice::Unicode, Choice::Chars];

fn check_all(text: &[u8]) {
    for choice in DEFINED {
        check(choice, text, &definition(choice, text));
    }
}

/// Pieces of many scripts, of broken UTF-8, and of separators.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        "[a-zA-Z0-9]{1,20}".prop_map(String::into_bytes),
        "[ -/\n’“”—]{1,3}".prop_map(String::into_bytes),
        "[éÉßİΣσ\u{301}\u{94d}Жж９Ａ٣²ﬁ㈱½ŉʼ\u{345}\u{323}]{1,6}".prop_map(String::into_bytes),
        "[ひらカﾊﾞไทที่ำက中\u{fe00}각ᄀ\u{1161}\u{11a8}ကာ]{1,4}".prop_map(String::into_bytes),
        "[a\u{ad}\u{200b}\u{200d}\u{2060}\u{feff}é\u{301}]{1,5}".prop_map(String::into_bytes),
        "[-\u{2010}\u{ad}]\r?\n[ \t]{0,2}".prop_map(String::into_bytes),
        "\\PC{1,8}".prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 1..4),
        prop::collection::vec(0x80..=0xffu8, 1..4),
        Just(b"filling with letters that are plainly latin ".to_vec()),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn words_are_the_definition(text in pieces()) {
        check_all(&text);
    }

    #[test]
    fn random_bytes(text in prop::collection::vec(any::<u8>(), 0..9000)) {
        check_all(&text);
    }

    /// Promise (Correct answers): Text after a document changes no word of it but the last
    #[test]
    fn text_behind_changes_no_word_but_the_last(text in pieces(), behind in pieces()) {
        for choice in [Choice::Auto, Choice::Ascii, Choice::Unicode, Choice::Chars] {
            let mut before = words(choice, Level::best(), &text);
            let whole = [&text[..], &behind].concat();
            // A mark, a hyphen or a letter may continue the last word, by the rules of Unicode join
            // it with the one before, and marks behind a character are sorted.
            let is_mark = |word: &[u8]| str::from_utf8(word).unwrap().chars().all(is_combining_mark);
            let marks = before.iter().rev().take_while(|word| is_mark(word)).count();
            let border = match choice {
                Choice::Unicode => 2,
                Choice::Chars => 1 + marks,
                _ => 1,
            };
            before.truncate(before.len().saturating_sub(border));
            let found = words(choice, Level::best(), &whole);
            prop_assert!(found.starts_with(&before), "{choice}");
        }
    }

    #[test]
    fn ascii_keeps_its_words_beside_other_scripts(
        stretches in prop::collection::vec(("[ -~]{0,30}", "[’“”—… ]|[ ,](é|Жук|中国|がな|ไทย)[ .]"), 0..30)
    ) {
        let mixed: String = stretches.iter().map(|(ascii, other)| format!("{ascii}{other}")).collect();
        let alone: Vec<String> =
            stretches.iter().flat_map(|(ascii, _)| strings(Choice::Auto, ascii)).collect();
        let mut found = strings(Choice::Auto, &mixed);
        found.retain(|word| word.is_ascii());
        prop_assert_eq!(found, alone);
    }
}

#[test]
fn auto_on_ascii_is_runs_of_letters_and_digits() {
    let text: Vec<u8> = (0..128u8)
        .chain(b"Don't abc123DEF 3.14 x_y".iter().copied())
        .collect();
    let runs = text.split(|byte| !byte.is_ascii_alphanumeric());
    let expected: Vec<Vec<u8>> = runs
        .filter(|run| !run.is_empty())
        .map(<[u8]>::to_ascii_lowercase)
        .collect();
    check(Choice::Auto, &text, &expected);
}

#[test]
fn words_by_example() {
    let auto = |text| strings(Choice::Auto, text);
    assert_eq!(
        auto("“Don’t” say NAÏVE—ÉCOLE"),
        ["don", "t", "say", "naïve", "école"]
    );
    assert_eq!(
        auto("iPhone手机 in 東京タワー"),
        ["iphone", "手", "机", "in", "東", "京", "タ", "ワ", "ー"]
    );
    assert_eq!(auto("e\u{301}te\u{301} हिन्दी"), ["été", "हिन्दी"]);
    // Marks of several classes are in one order.
    for (one, other) in [
        ("א\u{5bc}\u{5b8}", "א\u{5b8}\u{5bc}"),
        ("ก\u{e48}\u{e38}", "ก\u{e38}\u{e48}"),
    ] {
        assert_eq!(auto(one), auto(other));
    }
    assert_eq!(auto("\u{301}a 字 ไทย"), ["a", "字", "ไ", "ท", "ย"]);
    assert_eq!(auto("한국 어"), ["한", "국", "어"]);
    assert_eq!(
        auto("exam-\n  ple well-known 1990-\nx"),
        ["example", "well", "known", "1990", "x"]
    );
    assert_eq!(
        auto("co\u{ad}\u{200b}op ﬁne ①½"),
        ["coop", "fine", "11", "2"]
    );
    assert_eq!(
        auto("l’été l'été lʼété"),
        ["l", "été", "l", "été", "l", "été"]
    );
    let unicode = |text| strings(Choice::Unicode, text);
    assert_eq!(unicode("Don’t 3.14 中国"), ["don't", "3.14", "中", "国"]);
    assert_eq!(
        strings(Choice::Chars, "A b\t中\u{3000}!"),
        ["a", "b", "中", "!"]
    );
    assert_eq!(
        strings(Choice::Ascii, "abc123def don't"),
        ["abc", "def", "don", "t"]
    );
}

#[test]
fn giant_words() {
    for length in [4095usize, 4096, 4097, 8192, 8193, 100_000] {
        for unit in ["A", "é", "Éa", "क\u{94d}"] {
            let giant = unit.repeat(length.div_ceil(unit.len()));
            for (before, behind) in [("", ""), ("x ", " y"), ("“", "”"), ("字", "字")] {
                let text = format!("かなかな {before}{giant}{behind}");
                check_all(text.as_bytes());
            }
        }
    }
}

#[test]
fn windows_are_seamless() {
    for padding in 4070..4110 {
        for tail in ["Word", "9", "é", "中", "’t x", "\u{301}", " "] {
            let text = [
                b"x ".repeat(padding / 2),
                vec![b'y'; padding % 2],
                tail.into(),
            ]
            .concat();
            check_all(&text);
            check_all(&[&text, &b" more 1"[..]].concat());
        }
    }
}

#[test]
fn broken_utf8_separates() {
    for broken in [
        &b"\xff"[..],
        b"\x80",
        b"\xc3",
        b"\xe4\xb8",
        b"\xf0\x9f\x98",
        b"\xed\xa0\x80",
        b"\xc0\xaf",
    ] {
        let text = [
            b"ab",
            broken,
            b"CD ",
            broken,
            b" \xc3\xa9",
            broken,
            b"\xc3\x89",
        ]
        .concat();
        let words = ["ab", "cd", "é", "é"].map(|word| word.as_bytes().to_vec());
        check(Choice::Auto, &text, &words);
        check_all(&text);
    }
}

/// Each word is in the folded text at its place.
fn check_ranges(choice: Choice, text: &[u8]) {
    let mut tokenizer = Tokenizer::new(choice, Level::best());
    let mut ranges = Vec::new();
    tokenizer.word_ranges(text, &mut ranges);
    let words = words(choice, Level::best(), text);
    assert_eq!(ranges.len(), words.len(), "{choice} {text:?}");
    let mut before = (0, 0);
    for (range, word) in ranges.iter().zip(&words) {
        let (start, end) = (range.start as usize, range.end as usize);
        assert!(
            start >= before.0 && end >= before.1 && start < end,
            "{choice} {text:?}"
        );
        before = (start, end);
        if matches!(choice, Choice::Code | Choice::CodeAndComments) {
            let is_made = [INDENT, DEDENT, QUOTE].contains(&&word[..]);
            assert!(is_made || text[start..end] == word[..], "{text:?} {word:?}");
            continue;
        }
        let own = std::str::from_utf8(&text[start..end]).unwrap();
        let word = std::str::from_utf8(word).unwrap();
        let folded = match choice {
            Choice::Ascii => own.to_ascii_lowercase(),
            // A hyphen at a line end belongs to the character before it.
            _ => naive::fold(&naive::join(
                own.trim_end_matches(['-', '\u{2010}', '\r', '\n', ' ', '\t']),
            )),
        };
        assert!(
            folded.contains(word) || own == "-",
            "{choice} {own:?} {word:?}"
        );
        // Only what is folded to several words has a longer text.
        let several = choice == Choice::Chars
            || own
                .chars()
                .any(|c| matches!(FOLDED.of(c).fold, Fold::Several | Fold::Joining));
        assert!(
            folded == word || several || own == "-",
            "{choice} {own:?} {word:?}"
        );
    }
}

proptest! {
    /// Promise (Repeated stretches of text): Every word has its place in the text
    #[test]
    fn words_are_the_text_at_their_places(
        text in "([a-zA-Z]{1,9}|[é中国人民日ひらไท\u{301}\u{fe0f}1'.½㈱]{1,6}|[A-Za-z0-9]{17,30}| |\n|-\n){0,30}",
        bytes in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        for choice in Choice::ALL {
            check_ranges(choice, text.as_bytes());
            check_ranges(choice, &bytes);
        }
    }

    /// Promise (Repeated stretches of text): Every word has its place in …
    #[test]
    fn places_are_found_in_long_texts(pieces in prop::collection::vec("[a-z]{1,8}|[中国人民ひ]{1,5}|é", 1..40)) {
        let text = pieces.join(" ").repeat(60);
        for choice in Choice::ALL {
            check_ranges(choice, text.as_bytes());
        }
    }
}

//! Every tokenizer against its definition, on random and on hostile bytes.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

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

fn lower(text: &str) -> Vec<u8> {
    text.chars()
        .flat_map(char::to_lowercase)
        .collect::<String>()
        .into_bytes()
}

/// The definition, character by character; Han goes to pairs.
fn definition(choice: Choice, text: &[u8]) -> Vec<Vec<u8>> {
    if choice == Choice::Ascii {
        let runs = text.split(|byte| !byte.is_ascii_alphabetic());
        let words = runs.filter(|run| !run.is_empty());
        return words.map(<[u8]>::to_ascii_lowercase).collect();
    }
    let mut found = Vec::new();
    for valid in text.utf8_chunks().map(|chunk| chunk.valid()) {
        match choice {
            Choice::Unicode => found.extend(valid.unicode_words().map(lower)),
            Choice::Chars => {
                let characters = valid.split_whitespace().flat_map(str::chars);
                found.extend(characters.map(|character| lower(&character.to_string())));
            }
            _ => found.extend(auto(valid)),
        }
    }
    found
}

/// Words of `Auto` in valid UTF-8 that is not mostly Chinese.
fn auto(text: &str) -> Vec<Vec<u8>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Kind {
        Word,
        Spaceless,
    }
    let mut stretches: Vec<(Kind, String)> = Vec::new();
    let mut open = None;
    for character in text.chars() {
        let kind = match role(character) {
            Role::Separator => None,
            Role::Letter | Role::Capital => Some(Kind::Word),
            Role::Han | Role::Kana | Role::Spaceless => Some(Kind::Spaceless),
            Role::Mark if open == Some(Kind::Word) => open,
            Role::Mark => continue,
        };
        match kind {
            Some(kind) if open == Some(kind) => stretches.last_mut().unwrap().1.push(character),
            Some(kind) => stretches.push((kind, character.into())),
            None => {}
        }
        open = kind;
    }
    let mut found = Vec::new();
    for (kind, stretch) in stretches {
        let characters: Vec<char> = stretch.chars().collect();
        if kind == Kind::Word || characters.len() == 1 {
            found.push(lower(&stretch));
        } else {
            let pairs = characters.windows(2);
            found.extend(pairs.map(|pair| lower(&pair.iter().collect::<String>())));
        }
    }
    found
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

/// Pieces of many scripts, of broken UTF-8, and of separators; Han stays rare.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        "[a-zA-Z0-9]{1,20}".prop_map(String::into_bytes),
        "[ -/\n’“”—]{1,3}".prop_map(String::into_bytes),
        "[éÉßİΣσ\u{301}\u{94d}Жж９Ａ٣²]{1,6}".prop_map(String::into_bytes),
        "[ひらカﾊไทยที่က中\u{fe00}]{1,4}".prop_map(String::into_bytes),
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
        // Enough kana and Latin letters that no document counts as Chinese.
        let text = [&"かな latin letters ".repeat(40).into_bytes(), &text[..]].concat();
        check_all(&text);
    }

    #[test]
    fn random_bytes(text in prop::collection::vec(any::<u8>(), 0..9000)) {
        let text = [&"かな ".repeat(20).into_bytes(), &text[..]].concat();
        check_all(&text);
    }

    #[test]
    fn ascii_keeps_its_words_beside_other_scripts(
        stretches in prop::collection::vec(("[ -~\n]{0,30}", "[’“”—… ]|[ ,](é|Жук|中国|がな|ไทย)[ .]"), 0..30)
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
        ["iphone", "手机", "in", "東京", "京タ", "タワ", "ワー"]
    );
    assert_eq!(
        auto("e\u{301}te\u{301} हिन्दी"),
        ["e\u{301}te\u{301}", "हिन्दी"]
    );
    assert_eq!(auto("\u{301}a 字 ไทย"), ["a", "字", "ไท", "ทย"]);
    let unicode = |text| strings(Choice::Unicode, text);
    assert_eq!(unicode("Don't 3.14 中国"), ["don't", "3.14", "中", "国"]);
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
fn chinese_by_the_dictionary() {
    let text = "我来到北京清华大学，使用Rust语言。";
    let expected: &[&str] = if cfg!(feature = "zh") {
        &["我", "来到", "北京", "清华大学", "使用", "rust", "语言"]
    } else {
        &[
            "我来", "来到", "到北", "北京", "京清", "清华", "华大", "大学", "使用", "rust", "语言",
        ]
    };
    assert_eq!(strings(Choice::Chinese, text), expected);
    assert_eq!(strings(Choice::Auto, text), expected);
    // The whole document decides, not the neighbouring characters.
    let english = "plain English words and nothing else ".repeat(5);
    let mixed = format!("{english}{text}");
    assert!(strings(Choice::Auto, &mixed).contains(&"华大".to_string()));
    let words: Vec<Vec<u8>> = expected
        .iter()
        .map(|word| word.as_bytes().to_vec())
        .collect();
    check(Choice::Chinese, text.as_bytes(), &words);
}

#[test]
fn chinese_loses_no_character() {
    for count in [0, 1, 1023, 1024, 1025, 5000] {
        let text = "中华人民共和国"
            .chars()
            .cycle()
            .take(count)
            .collect::<String>();
        let words = strings(Choice::Chinese, &text);
        if cfg!(feature = "zh") {
            assert_eq!(words.concat(), text);
        }
        assert_eq!(words.is_empty(), count == 0);
    }
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

/// Each word is the folded text at its place, without marks in scripts without spaces.
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
        let own = std::str::from_utf8(&text[start..end]).unwrap();
        let marks = unicode_normalization::char::is_combining_mark;
        let bare = |text: &str| -> Vec<u8> {
            let kept: String = text.chars().filter(|c| !marks(*c)).collect();
            lower(&kept)
        };
        let word = std::str::from_utf8(word).unwrap();
        assert!(
            lower(own) == word.as_bytes() || bare(own) == bare(word),
            "{choice} {own:?} {word:?}"
        );
    }
}

proptest! {
    /// Promise (Repeated stretches of text): Every word has its place in the text
    #[test]
    fn words_are_the_text_at_their_places(
        text in "([a-zA-Z]{1,9}|[é中国人民日ひらไท\u{301}\u{fe0f}1'.]{1,6}|[A-Za-z0-9]{17,30}| |\n){0,30}",
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

//! TextProfileSignature against its definition and another program.

use super::*;
use crate::sketch::Method;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn method() -> Equality<TextProfile> {
    Equality(TextProfile {
        longer_than: 2,
        rate: 10_000,
        parameters: Vec::new(),
    })
}

fn signature(text: &[u8]) -> Option<Vec<u8>> {
    let document = TokenizedDocument {
        text,
        ..TokenizedDocument::default()
    };
    let mut out = Vec::new();
    let found = method().sketch(document, &mut SketchScratch::default(), &mut out);
    found.then_some(out)
}

fn digits(text: &str) -> String {
    let signature = signature(text.as_bytes()).unwrap();
    signature.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Values of a Python program of about twenty lines that follows the description: general
/// categories of `unicodedata`, 32-bit floats for the quantum, `hashlib.md5`.
#[test]
fn values_of_another_program() {
    let squares: Vec<String> = (0..20_000u64)
        .map(|i| format!("word{}", i * i % 97))
        .collect();
    let letters = "Ünïcode Ünïcode İstanbul istanbul ΣΑΣ σας 中文字 中文字 ２０２４ ２０２４ \
                   a\u{301}bcd abcd Ⅻab Ⓐbcd 𝐀bcd x😀yyy yyy";
    for (text, expected) in [
        (
            "The quick brown fox jumps over the lazy dog.",
            "592325199d7e02121eaf3304d10cc681",
        ),
        (
            "The cat sat on the mat; the cat ran, and THE dog sat. A cat!",
            "0c8dacc1253db3cea534f7393bf3474d",
        ),
        (&squares.join(" "), "ac9a94f8c06c3066f15a838931f4c759"),
        (letters, "17f300ebfa8c3dbc4d0fd66f6c964e0e"),
    ] {
        assert_eq!(digits(text), expected, "{text:.40}");
    }
}

#[test]
fn the_quantum_is_that_of_floats() {
    let profile = method().0;
    for largest in (1..200_000).chain((1 << 24) - 5000..1 << 24) {
        let rounded = (largest as f32 * 0.01f32 + 0.5).floor() as u64;
        let expected = match rounded {
            0 | 1 if largest > 1 => 2,
            0 => 1,
            rounded => rounded,
        };
        assert_eq!(profile.quantum(largest), expected, "{largest}");
    }
}

/// Every token, straight from the definition.
fn definition(text: &[u8]) -> Option<Vec<u8>> {
    let text: String = String::from_utf8_lossy(text).into_owned();
    let folded = text.chars().map(lower).collect::<String>();
    let tokens = folded.split(|character| !is_letter_or_digit(character));
    let mut counts = BTreeMap::new();
    for token in tokens.filter(|token| token.chars().count() > 2) {
        *counts.entry(token).or_insert(0u64) += 1;
    }
    let largest = *counts.values().max()?;
    let quantum = ((largest + 50) / 100).max(if largest > 1 { 2 } else { 1 });
    let mut lines: Vec<(u64, &str)> = counts
        .iter()
        .map(|(token, count)| (count / quantum * quantum, *token))
        .filter(|(count, _)| *count >= quantum)
        .collect();
    lines.sort_by_key(|&(count, token)| (Reverse(count), token));
    let lines = lines
        .iter()
        .map(|(count, token)| format!("{token} {count}"));
    let lines: Vec<String> = lines.collect();
    let mut out = Vec::new();
    Algorithm::Md5.append([lines.join("\n").as_bytes()].into_iter(), &mut out);
    Some(out)
}

proptest! {
    #[test]
    fn signatures_are_the_definition(
        text in prop_oneof![
            "[a-cA-CİΣ ]{0,400}".prop_map(String::into_bytes),
            "\\PC{0,90}".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..200),
        ],
    ) {
        prop_assert_eq!(signature(&text), definition(&text));
    }
}

#[test]
fn categories_by_example() {
    for character in "aZ0éßΣ中ªʰǅ٣９ー".chars() {
        assert!(is_letter_or_digit(character), "{character}");
    }
    for character in " _-²½Ⅻⓐ〇\u{301}\u{93e}€𝐀😀\u{fffd}".chars() {
        assert!(!is_letter_or_digit(character), "{character}");
    }
    assert_eq!(['İ', 'Σ', 'ß', 'A'].map(lower), ['i', 'σ', 'ß', 'a']);
}

#[test]
fn rare_words_do_not_count() {
    let words = "alpha beta gamma ".repeat(2);
    let expected = digits("alpha beta gamma alpha beta gamma");
    assert_eq!(digits(&words), expected);
    assert_eq!(digits(&format!("{words} GAMMA?")), expected);
    assert_ne!(digits(&format!("{words} gamma gamma")), expected);
    assert_eq!(digits(&format!("seldom {words} other")), expected);
    assert_eq!(signature("an is \u{301}".as_bytes()), None);
}

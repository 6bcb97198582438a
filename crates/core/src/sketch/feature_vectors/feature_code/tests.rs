//! Codes against their definition.

use std::collections::BTreeSet;

use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::*;
use crate::sketch::testing::{self, method};

fn sketch(method: &dyn Method, text: &[u8]) -> Vec<u8> {
    testing::sketch(method, testing::of_text(text)).unwrap_or_default()
}

/// The codes as strings, by definition: each side of each stop separately.
fn codes(text: &[u8], length: usize) -> BTreeSet<String> {
    let text: Vec<char> = text
        .utf8_chunks()
        .flat_map(|chunk| chunk.valid().chars())
        .collect();
    let words = |side: &[char]| -> Vec<String> {
        let side: String = side.iter().collect();
        let stripped = side.split_whitespace();
        let stripped = stripped.map(|word| {
            word.chars()
                .filter(|c| c.is_alphanumeric())
                .collect::<String>()
        });
        stripped.filter(|word| !word.is_empty()).collect()
    };
    let letters = |side: &[char]| -> Vec<char> { words(side).concat().chars().collect() };
    let mut codes = BTreeSet::new();
    for (place, stop) in text.iter().enumerate() {
        let (before, behind) = (&text[..place], &text[place + 1..]);
        if words(before).is_empty() && words(behind).is_empty() {
            continue;
        }
        if *stop == '。' {
            let (before, behind) = (letters(before), letters(behind));
            let start = before.len().saturating_sub(length);
            let code = before[start..]
                .iter()
                .chain(&['。'])
                .chain(behind.iter().take(length));
            codes.insert(code.collect());
        } else if *stop == '.' && behind.first().is_none_or(|next| next.is_whitespace()) {
            let (before, behind) = (words(before), words(behind));
            let before = &before[before.len().saturating_sub(length)..];
            let behind = &behind[..behind.len().min(length)];
            codes.insert(format!("{}. {}", before.join(" "), behind.join(" ")));
        }
    }
    codes
}

fn texts() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        4 => "[ab中国。，. \u{3000}]{0,12}".prop_map(String::into_bytes),
        2 => "([a-c]{1,3}[ .,。]{1,2}){0,8}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(part, 0..5).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn sketches_and_scores_are_the_definition(
        a in texts(), b in texts(), length in 1..7usize, least in 1..=9u64, edited in any::<bool>(),
    ) {
        let b = if edited { [&a[..], &b].concat() } else { b };
        let method = method(&format!("feature-code:length={length},similarity=0.{least}"));
        let codes = [&a, &b].map(|text| codes(text, length));
        let sketches = [&a, &b].map(|text| sketch(&*method, text));
        for (codes, sketch) in codes.iter().zip(&sketches) {
            let expected: BTreeSet<u64> = codes.iter().map(|code| xxh3_64(code.as_bytes())).collect();
            prop_assert_eq!(&testing::keys(&*method, sketch), &expected);
            prop_assert_eq!(sketch.len(), 8 * expected.len());
        }
        let shared = codes[0].intersection(&codes[1]).count() as u64;
        let smaller = codes[0].len().min(codes[1].len()) as u64;
        let score = method.score(&sketches[0], &sketches[1]);
        prop_assert_eq!(score, Score::Fraction(shared, smaller));
        prop_assert_eq!(score, method.score(&sketches[1], &sketches[0]));
        // Accepted pairs share a code, and every code is a key.
        prop_assert_eq!(method.accepts(&score), shared > 0 && shared * 10 >= least * smaller);
    }
}

#[test]
fn codes_of_texts() {
    let spelled = |text: &str| codes(text.as_bytes(), 5).into_iter().collect::<Vec<_>>();
    assert_eq!(
        spelled("今天 天气，很好啊。我们去\n公园吧！好。"),
        ["去公园吧好。", "天气很好啊。我们去公园"]
    );
    assert_eq!(
        spelled("We ate 3.5 apples, all. Then (we) slept."),
        [
            "We ate 35 apples all. Then we slept",
            "apples all Then we slept. "
        ]
    );
    let hashes = |text: &str| sketch(&*method("feature-code"), text.as_bytes()).len() / 8;
    assert_eq!(hashes("今天 天气，很好啊。我们去\n公园吧！好。"), 2);
    assert_eq!(
        [
            hashes(""),
            hashes("。. 。"),
            hashes("No stop"),
            hashes("3.5")
        ],
        [0; 4]
    );
}

/// Many stops around a giant word take time linear in the length of the text.
#[test]
fn giant_words() {
    let giant = "x".repeat(1 << 20);
    let text = format!("{giant} {} {giant}", "。. ".repeat(100_000));
    assert_eq!(
        sketch(&*method("feature-code"), text.as_bytes()).len(),
        2 * 8
    );
}

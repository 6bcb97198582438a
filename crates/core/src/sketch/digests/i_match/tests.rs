//! I-Match against its definition.

use super::*;
use crate::sketch::registry::Spec;
use crate::sketch::testing;
use crate::text::{Spelling, WordSet};
use proptest::prelude::*;
use std::collections::BTreeSet;
use xxhash_rust::xxh3::xxh3_64;

/// Word number n is in 2^(n % 10) of 1024 documents; some words are not counted.
fn frequencies() -> Frequencies {
    let counted = (0..80u32).filter(|number| number % 7 > 0);
    let counts = counted.map(|number| (xxh3_64(word(number).as_bytes()), 1 << (number % 10)));
    Frequencies::new(1024, counts)
}

fn word(number: u32) -> String {
    format!("w{number}")
}

fn build(text: &str, frequencies: Option<&Frequencies>) -> Result<Box<dyn Method>> {
    let stop_words = WordSet::default();
    let known = frequencies.cloned().into_iter().collect::<Vec<_>>();
    let context = &testing::context(&stop_words);
    Spec::parse(text).unwrap().build(context, &known)
}

fn sketch(method: &dyn Method, words: &[u32]) -> Option<Vec<u8>> {
    let words: Vec<String> = words.iter().map(|number| word(*number)).collect();
    let short: Vec<u64> = words.iter().map(|word| xxh3_64(word.as_bytes())).collect();
    let spelling: Spelling = words.iter().map(|word| word.as_bytes()).collect();
    let document = TokenizedDocument {
        short: &short,
        spelled: spelling.all(),
        ..TokenizedDocument::default()
    };
    testing::sketch(method, document)
}

/// The signatures by their definition, with a window from 0.1 to 0.9 in floats.
fn definition(words: &[u32], parts: SubLexicons) -> Vec<u8> {
    let frequencies = frequencies();
    let unique: BTreeSet<String> = words.iter().map(|number| word(*number)).collect();
    let kept = |word: &&String| {
        let df = frequencies.get(xxh3_64(word.as_bytes()));
        let idf = df.map(|df| (1024.0 / df as f64).ln() / 1024f64.ln());
        idf.is_some_and(|idf| (0.0999..=0.9001).contains(&idf))
    };
    let signature = |part: Option<u32>| {
        let in_part =
            |word: &&String| part.is_none_or(|part| parts.has(part, xxh3_64(word.as_bytes())));
        let terms: Vec<&String> = unique.iter().filter(kept).filter(in_part).collect();
        let mut out = Vec::new();
        if terms.len() >= 5 && terms.len() * 10 >= unique.len() {
            let text: String = terms.iter().map(|term| format!("{term}\0")).collect();
            Algorithm::Sha1.append([text.as_bytes()].into_iter(), &mut out);
        }
        out.resize(20, 0);
        out
    };
    let parts = (0..parts.count()).map(Some);
    [None]
        .into_iter()
        .chain(parts)
        .flat_map(signature)
        .collect()
}

proptest! {
    #[test]
    fn signatures_are_the_definition(words in prop::collection::vec(0u32..80, 0..120)) {
        let frequencies = frequencies();
        for (name, parts) in [("i-match", 0), ("i-match-random", 10)] {
            let method = build(name, Some(&frequencies)).unwrap();
            let expected = definition(&words, SubLexicons::new(parts, (333_333, 1_000_000)));
            let found = sketch(&*method, &words).unwrap_or(vec![0; expected.len()]);
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn near_documents_share_a_key(
        words in prop::collection::vec(0u32..80, 5..120),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0u32..90), 0..4),
    ) {
        let method = build("i-match-random", Some(&frequencies())).unwrap();
        let mut edited = words.clone();
        for (place, word) in edits {
            let place = place.index(edited.len());
            edited[place] = word;
        }
        if let [Some(a), Some(b)] = [&words, &edited].map(|words| sketch(&*method, words)) {
            let keys = |sketch: &[u8]| testing::keys(&*method, sketch);
            let shared = keys(&a).intersection(&keys(&b)).count() as u64;
            let score = method.score(&a, &b);
            prop_assert_eq!(score, Score::Fraction(shared, 11));
            prop_assert_eq!(method.accepts(&score), shared > 0);
        }
    }
}

#[test]
fn the_window_is_closed_and_counted_in_integers() {
    let counts = (0..=10u32).map(|power| (u64::from(power), 1u64 << power));
    let frequencies = Frequencies::new(1024, counts);
    let kept = |low, high| {
        let lexicon = lexicon(&frequencies, low, high);
        (0..=10u64)
            .filter(|&word| lexicon.contains(&word))
            .collect::<Vec<_>>()
    };
    assert_eq!(kept(100_000, 900_000), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(kept(100_001, 899_999), [2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(kept(1, 1_000_000), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert!(lexicon(&Frequencies::new(1, [(1, 1)]), 1, 1_000_000).is_empty());
    assert!(lexicon(&Frequencies::new(0, [(1, 1)]), 1, 1_000_000).is_empty());
}

#[test]
fn documents_of_too_few_terms_are_flagged() {
    let frequencies = frequencies();
    let method = build("i-match", Some(&frequencies)).unwrap();
    assert_eq!(sketch(&*method, &[1, 2, 3, 4, 4, 4]), None);
    assert!(sketch(&*method, &[1, 2, 3, 4, 5]).is_some());
    // Words that are not counted make the proportion of the terms small.
    let many: Vec<u32> = (1..=5).chain(100..145).collect();
    assert!(sketch(&*method, &many).is_some());
    let more: Vec<u32> = (1..=5).chain(100..146).collect();
    assert_eq!(sketch(&*method, &more), None);
}

#[test]
fn a_word_that_a_part_lacks_does_no_harm() {
    let frequencies = frequencies();
    let words: Vec<u32> = (1..60).collect();
    let near = |name: &str| {
        let method = build(name, Some(&frequencies)).unwrap();
        let original = sketch(&*method, &words).unwrap();
        let changed = words.iter().filter(|&&dropped| {
            let others: Vec<u32> = words
                .iter()
                .copied()
                .filter(|word| *word != dropped)
                .collect();
            let sketch = sketch(&*method, &others).unwrap();
            !method.accepts(&method.score(&original, &sketch))
        });
        changed.count()
    };
    assert!(near("i-match") > 30);
    assert!(near("i-match-random") < 3);
}

#[test]
fn nothing_counted_is_no_lexicon() {
    for name in ["i-match", "i-match-random"] {
        let method = build(name, None).unwrap();
        assert_eq!(sketch(&*method, &(0..80).collect::<Vec<u32>>()), None);
    }
}

#[test]
fn an_empty_window_is_refused() {
    let error = build("i-match-random:low=0.5,high=0.4", None)
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::Parameter);
    assert!(error.to_string().contains("low 500000 above high 400000"));
}

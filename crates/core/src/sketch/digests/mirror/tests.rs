//! The five methods against their definitions.
//!
//! Promise (Methods and their evaluation): Each method follows its definition (a naive definition
//! beside each)

use std::collections::BTreeMap;

use md5::{Digest, Md5};
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::*;
use crate::sketch::registry::Spec;
use crate::sketch::testing;
use crate::sketch::{Score, SketchScratch, TokenizedDocument};
use crate::text::{Spelling, WordSet};
use crate::vocabulary::Frequencies;

const NAMES: [&str; 5] = ["mirror-1", "mirror-2", "mirror-3", "mirror-4", "mirror-5"];

fn stop_words() -> WordSet {
    WordSet::new([xxh3_64(b"the"), xxh3_64(b"of")])
}

/// Of 100 documents, word `w1` is in one, `w2` in two, and so on; other words are in none.
fn frequencies() -> Frequencies {
    let words = (1..20).map(|number| (xxh3_64(format!("w{number}").as_bytes()), number));
    Frequencies::new(100, words)
}

fn method(spec: &str) -> Box<dyn Method> {
    let stop_words = stop_words();
    let context = testing::context(&stop_words);
    let spec = Spec::parse(spec).unwrap();
    spec.build(&context, &[frequencies()]).unwrap()
}

/// The sketch of a text with words separated by spaces, if it has words.
fn sketch(method: &dyn Method, text: &str) -> Option<Vec<u8>> {
    let spelling: Spelling = text.split_whitespace().map(str::as_bytes).collect();
    let short: Vec<u64> = spelling.all().iter().map(xxh3_64).collect();
    let view = TokenizedDocument {
        text: text.as_bytes(),
        short: &short,
        spelled: spelling.all(),
        ..TokenizedDocument::default()
    };
    testing::sketch(method, view)
}

/// Keywords and weights by their definition, heaviest first.
fn definition(text: &str, keywords: usize, weigh: &dyn Fn(&str, u64) -> f64) -> Vec<(String, f64)> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word).or_default() += 1;
    }
    let counted = counts
        .into_iter()
        .filter(|(word, _)| !["the", "of"].contains(word));
    let weighed = counted.map(|(word, count)| (word.to_owned(), weigh(word, count)));
    let mut list: Vec<(String, f64)> = weighed.collect();
    list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    list.truncate(keywords);
    list
}

fn md5_of_words(list: &[(String, f64)]) -> Vec<u8> {
    let words: Vec<&str> = list.iter().map(|(word, _)| word.as_str()).collect();
    Md5::digest(words.join("\0").as_bytes()).to_vec()
}

fn accepts(method: &dyn Method, a: &str, b: &str) -> bool {
    let (Some(a), Some(b)) = (sketch(method, a), sketch(method, b)) else {
        return false;
    };
    let score = method.score(&a, &b);
    assert_eq!(score, method.score(&b, &a));
    let keys = |sketch: &[u8]| {
        let mut keys = Vec::new();
        method.keys(sketch, &mut |key| keys.push(key));
        keys
    };
    let accepted = method.accepts(&score);
    assert!(!accepted || keys(&a) == keys(&b));
    assert!(method.accepts(&method.score(&a, &a)));
    accepted
}

/// Texts of few words, so that many have the same keywords.
fn texts() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        (1..6u8).prop_map(|number| format!("w{number}")),
        Just("the".to_owned())
    ];
    prop::collection::vec(word, 0..24).prop_map(|words| words.join(" "))
}

/// A text, and one with a few more words.
fn pairs() -> impl Strategy<Value = (String, String)> {
    prop_oneof![
        (texts(), texts()),
        (texts(), "( w[1-6]){0,3}").prop_map(|(text, more)| (text.clone(), text + &more)),
        // The counts of three words.
        ([1..9usize, 1..9, 1..9], [1..9usize, 1..9, 1..9]).prop_map(|(a, b)| {
            let text = |counts: [usize; 3]| {
                let words = counts.iter().enumerate();
                let words = words.map(|(word, &count)| format!("w{word} ").repeat(count));
                words.collect::<String>()
            };
            (text(a), text(b))
        }),
    ]
}

proptest! {
    #[test]
    fn strictness((a, b) in pairs(), keywords in 1..8, idf in any::<bool>(), epsilon in 1..30) {
        let weights = if idf { "tf-idf" } else { "tf" };
        let [two, three, four, five] = ["2", "3", "4", "5"].map(|number| {
            let epsilon = match number {
                "3" | "4" => format!(",epsilon=0.{epsilon:02}"),
                _ => String::new(),
            };
            let spec = format!("mirror-{number}:keywords={keywords},weights={weights}{epsilon}");
            accepts(&*method(&spec), &a, &b)
        });
        prop_assert!(!three || (two && four));
        prop_assert!(!(two || four) || five);
    }

    #[test]
    fn sketches_and_scores_are_the_definition((a, b) in pairs(), keywords in 1..8usize) {
        let lists = [&a, &b].map(|text| definition(text, keywords, &|_, count| count as f64));
        let by_name = lists.clone().map(|mut list| { list.sort_by(|a, b| a.0.cmp(&b.0)); list });
        for (name, lists) in [
            ("mirror-2", &lists), ("mirror-3", &lists), ("mirror-4", &by_name), ("mirror-5", &by_name),
        ] {
            let method = method(&format!("{name}:keywords={keywords}"));
            let sketches = [&a, &b].map(|text| sketch(&*method, text));
            for (sketch, list) in sketches.iter().zip(lists) {
                prop_assert_eq!(sketch.is_some(), !list.is_empty());
                if let Some(sketch) = sketch {
                    prop_assert_eq!(&sketch[..16], md5_of_words(list));
                }
            }
            let [Some(x), Some(y)] = sketches else { continue };
            let equal = md5_of_words(&lists[0]) == md5_of_words(&lists[1]);
            let [x_weights, y_weights] = &by_name;
            let squares = |list: &[(String, f64)]| list.iter().map(|(_, w)| w * w).sum::<f64>();
            let apart: f64 = x_weights.iter().zip(y_weights).map(|(x, y)| (x.1 - y.1).powi(2)).sum();
            let sim = apart / (squares(x_weights) + squares(y_weights));
            let expected = match name {
                _ if !equal => 0.0,
                "mirror-3" | "mirror-4" => 1.0 - sim,
                _ => 1.0,
            };
            let Score::Fraction(part, of) = method.score(&x, &y) else { panic!("no share") };
            prop_assert!((part as f64 / of as f64 - expected).abs() < 1e-9, "{name}: {part}/{of}, {expected}");
            if name == "mirror-4" && (sim - 0.1).abs() > 1e-9 {
                prop_assert_eq!(accepts(&*method, &a, &b), equal && sim < 0.1);
            }
        }
    }

    #[test]
    fn inverse_document_frequencies_weigh(a in texts(), keywords in 1..6usize) {
        let idf = |word: &str, count: u64| {
            let documents: f64 = word[1..].parse().unwrap();
            let exact = (1.0 + 100f64.log2()) * 65536.0;
            let own = (1.0 + documents.log2()) * 65536.0;
            count as f64 * (exact.floor() - own.floor())
        };
        let list = definition(&a, keywords, &idf);
        let sketch = sketch(&*method(&format!("mirror-2:weights=tf-idf,keywords={keywords}")), &a);
        prop_assert_eq!(sketch, (!list.is_empty()).then(|| md5_of_words(&list)));
    }

    #[test]
    fn hostile_text(text in prop::collection::vec(any::<u8>(), 0..200), bytes in 1..100usize) {
        let valid: String = text.utf8_chunks().map(|chunk| chunk.valid()).collect();
        let collapsed = valid.split_whitespace().collect::<Vec<_>>().join(" ");
        let end = (0..=bytes.min(collapsed.len())).rev().find(|&end| collapsed.is_char_boundary(end));
        let expected = &collapsed[..end.unwrap()];
        let mut found = "old".to_owned();
        page_abstract::page_abstract(&text, bytes, &mut found);
        prop_assert_eq!(&found, expected);
        let mut out = Vec::new();
        let view = TokenizedDocument { text: &text, ..TokenizedDocument::default() };
        let method = method(&format!("mirror-1:bytes={bytes}"));
        let any = method.sketch(view, &mut SketchScratch::default(), &mut out);
        prop_assert_eq!(any, !expected.is_empty());
        prop_assert!(!any || out == Md5::digest(expected).as_slice());
    }

    #[test]
    fn openings_of_all_kinds(text in "[a中é \\u{3000}\n]{0,80}", bytes in 1..60usize) {
        let collapsed = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let end = (0..=bytes.min(collapsed.len())).rev().find(|&end| collapsed.is_char_boundary(end));
        let mut found = String::new();
        page_abstract::page_abstract(text.as_bytes(), bytes, &mut found);
        prop_assert_eq!(&found, &collapsed[..end.unwrap()]);
    }
}

#[test]
fn the_abstract_decides_mirror_1() {
    let method = method("mirror-1");
    let long = "字".repeat(170);
    assert!(accepts(&*method, "a  b\n", " a b"));
    assert!(!accepts(&*method, "a b", "ab"));
    // 170 characters and the space make 511 bytes: no other character of two fits.
    assert!(accepts(
        &*method,
        &format!("{long} é"),
        &format!("{long} 中 more")
    ));
    assert!(!accepts(
        &*method,
        &format!("{long} a"),
        &format!("{long} b")
    ));
    assert_eq!(sketch(&*method, " \n\u{3000}"), None);
}

#[test]
fn weights_that_are_nothing_or_huge() {
    // Every document has the words: their weight is zero.
    let stop_words = stop_words();
    let nothing = Frequencies::new(1, [(xxh3_64(b"x"), 1)]);
    let setting = testing::context(&stop_words);
    let spec = Spec::parse("mirror-3:weights=tf-idf").unwrap();
    let method = spec.build(&setting, &[nothing]).unwrap();
    assert!(accepts(&*method, "x y", "x y"));
    // Without counts, the weight of all words is zero.
    assert!(spec.build(&setting, &[]).is_ok());
    // A sketch of the largest possible numbers.
    let huge = [0xff; 16 + 80];
    assert_eq!(method.score(&huge, &huge), Score::Fraction(1, 1));
    assert!(!method.accepts(&Score::Distance(0)));
}

#[test]
fn what_is_known_of_them() {
    for name in NAMES {
        let method = method(name);
        assert_eq!(method.name(), name);
        assert_eq!(method.needs().spelled, name != "mirror-1");
    }
    assert!(
        method("mirror-4")
            .parameters()
            .contains(&("epsilon", "100000/1000000".to_owned()))
    );
}

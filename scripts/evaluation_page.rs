//! Writes the page of an evaluation of generated texts, like `simtool evaluate` for real ones:
//! copies of known strength, three scoring methods, and hostile names.
//!
//! `cargo run --example evaluation_page FILE` writes the page; `scripts/page-test` checks it in a
//! browser.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::collections::{BTreeMap, HashSet};

use simtool::evaluate::planted::{Kind, plant, random_pairs};
use simtool::evaluate::{
    Cost, EvaluationSettings, Found, FoundPair, Ids, Outcome, Pair, Proportion, Truth, evaluate,
};
use simtool::report::evaluation::{EvaluationPage, MistakeDocument, json, screen};
use simtool::sketch::Score;

/// Markup that must not be executed.
const HOSTILE: &str = "<img src=x onerror=\"document.title='taken over'\">";

const NOUNS: [&str; 24] = [
    "river", "window", "engine", "garden", "letter", "bridge", "market", "station", "winter",
    "doctor", "village", "mirror", "harbour", "teacher", "island", "kitchen", "forest", "printer",
    "library", "railway", "painter", "orchard", "lantern", "museum",
];
const VERBS: [&str; 12] = [
    "crosses",
    "repairs",
    "remembers",
    "paints",
    "follows",
    "sells",
    "measures",
    "opens",
    "watches",
    "describes",
    "keeps",
    "visits",
];

/// A text of generated sentences, different for each number.
fn text(number: usize) -> String {
    let mut state = number as u64 * 7919 + 17;
    let mut below = |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let mut text = String::new();
    for sentence in 0..14 {
        let (a, b, c) = (NOUNS[below(24)], NOUNS[below(24)], NOUNS[below(24)]);
        let verb = VERBS[below(12)];
        text += &format!("The {a} {verb} the {b} near the {c}");
        text += if sentence % 5 == 4 { ".\n" } else { ". " };
    }
    text
}

/// The sizes of the intersection and of the union of the n-grams of `width` words of two texts.
fn overlap(texts: [&[u8]; 2], width: usize) -> (u64, u64) {
    let [a, b] = texts.map(|text| {
        let text = String::from_utf8_lossy(text).to_lowercase();
        let words: Vec<&str> = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|w| !w.is_empty())
            .collect();
        words
            .windows(width)
            .map(|run| run.join(" "))
            .collect::<HashSet<String>>()
    });
    let shared = a.intersection(&b).count() as u64;
    (shared, (a.len() + b.len()) as u64 - shared)
}

fn outcome(
    (name, parameters, cost): (&str, &[(&str, &str)], [f64; 2]),
    truth: &Truth,
    score: impl Fn(Pair) -> Option<Score>,
    threshold: Score,
) -> Outcome {
    let scores: Vec<Option<Score>> = truth
        .pairs()
        .iter()
        .map(|labelled| score(labelled.pair))
        .collect();
    let accepted: Vec<bool> = scores
        .iter()
        .map(|score| score.is_some_and(|s| s <= threshold))
        .collect();
    let pairs = truth
        .pairs()
        .iter()
        .zip(&accepted)
        .filter(|(_, accepted)| **accepted);
    let found = pairs.map(|(labelled, _)| FoundPair {
        pair: labelled.pair,
        score: score(labelled.pair),
    });
    Outcome {
        name: name.to_owned(),
        parameters: parameters
            .iter()
            .map(|(n, v)| (n.to_string(), v.to_string()))
            .collect(),
        found: Some(Found::new(found.collect())),
        scores,
        accepted,
        cost: Cost {
            seconds_per_document: Some(cost[0]),
            bytes_per_document: Some(cost[1]),
        },
    }
}

fn main() {
    let mut documents: Vec<(String, Vec<u8>)> = (0..40)
        .map(|n| (format!("page-{n:03}"), text(n).into_bytes()))
        .collect();
    documents[1].0 = HOSTILE.to_owned();
    documents[1].1.splice(0..0, HOSTILE.bytes());
    documents[2].1 =
        "今天天气很好，我们去公园散步。公园里有很多花，也有很多人。孩子们在草地上跑来跑去。"
            .repeat(2)
            .into_bytes();
    let mut labelled: Vec<(Pair, String)> = Vec::new();
    for original in 0..40 {
        for kind in Kind::ALL {
            for percent in [5, 20] {
                let (id, text) = &documents[original];
                let donor = &documents[(original + 1) % 40].1;
                let Some(copy) = plant(text, donor, (kind, percent), 1, id.as_bytes()) else {
                    continue;
                };
                let label = kind.label(percent);
                let number = documents.len() as u32;
                documents.push((format!("{id} {label}"), copy.text));
                labelled.extend(Pair::new(original as u32, number).map(|pair| (pair, label)));
            }
        }
    }
    labelled.extend(
        random_pairs(40, 300, 1)
            .into_iter()
            .map(|pair| (pair, "unrelated".to_owned())),
    );
    let truth = Truth::labelled(labelled.iter().map(|(pair, label)| (*pair, &label[..]))).unwrap();

    let texts = |pair: Pair| {
        pair.documents()
            .map(|number| &documents[number as usize].1[..])
    };
    let jaccard = |width: usize| {
        move |pair: Pair| {
            let (shared, all) = overlap(texts(pair), width);
            (all > 0).then_some(Score::Fraction(shared, all))
        }
    };
    let bits = |width: usize| {
        move |pair: Pair| {
            let (shared, all) = overlap(texts(pair), width);
            Some(Score::Distance(
                (64 * (all - shared) / all.max(1) / 2) as u32,
            ))
        }
    };
    let half = Score::Fraction(1, 2);
    let mut outcomes = vec![
        outcome(
            (
                "bits of words",
                &[("bits", "64"), ("distance", "12")],
                [12.4e-6, 8.0],
            ),
            &truth,
            bits(1),
            Score::Distance(12),
        ),
        outcome(
            (
                "bits of pairs of words",
                &[("bits", "64"), ("distance", "12")],
                [19.1e-6, 8.0],
            ),
            &truth,
            bits(2),
            Score::Distance(12),
        ),
        outcome(
            ("words", &[("similarity", "0.5")], [31.0e-6, 412.0]),
            &truth,
            jaccard(1),
            half,
        ),
        outcome(
            ("2-shingles", &[("similarity", "0.5")], [44.9e-6, 650.5]),
            &truth,
            jaccard(2),
            half,
        ),
        outcome(
            ("3-shingles", &[("similarity", "0.5")], [47.2e-6, 671.0]),
            &truth,
            jaccard(3),
            half,
        ),
    ];
    outcomes[4].name = "3-shingles <script>document.title='taken over'</script>".to_owned();

    let settings = EvaluationSettings {
        wanted_precision: Some(Proportion::new(99, 100)),
        ..EvaluationSettings::default()
    };
    let evaluation = evaluate(&truth, &outcomes, settings).unwrap();
    let shown = documents.iter().zip(0..);
    let shown: BTreeMap<u32, MistakeDocument> = shown
        .map(|((name, text), number)| {
            (
                number,
                MistakeDocument {
                    name: name.clone().into_bytes(),
                    text: text.clone(),
                },
            )
        })
        .collect();
    let page = EvaluationPage {
        title: &format!("Made-up texts {HOSTILE}"),
        facts: &[
            ("documents".to_owned(), documents.len().to_string()),
            ("truth".to_owned(), "planted copies".to_owned()),
            // As long as the longest one that an evaluation has.
            (
                "hard pairs: of a copied document and the nearest of 400, with a similarity below 0.8"
                    .to_owned(),
                "5".to_owned(),
            ),
        ],
        evaluation: &evaluation,
        documents: &shown,
        longest_text: 2000,
    };
    let file = std::env::args()
        .nth(1)
        .expect("expected one argument, the file to write");
    std::fs::write(&file, page.html()).unwrap();
    let ids = Ids::of_collection(documents.iter().map(|(name, _)| name.as_bytes())).unwrap();
    std::fs::write(format!("{file}.json"), json(&evaluation, &ids)).unwrap();
    print!("{}", screen(&evaluation, 100));
}

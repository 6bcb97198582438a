//! Evaluations of the bytes of files, compared with numbers that were worked out by hand.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use proptest::prelude::*;
use simtool_core::sketch::Score;
use simtool_evaluate::planted::{Kind, PERCENTS, plant};
use simtool_evaluate::{
    Evaluation, EvaluationSettings, Found, FoundPair, Ids, Outcome, Pair, Proportion, Truth,
    evaluate,
};
use simtool_report::evaluation::{
    EvaluationPage, MistakeDocument, curves_csv, json, methods_csv, scores_csv, screen,
};

fn collection() -> Ids {
    Ids::of_collection(["a", "b", "c", "d", "e", "f"].map(str::as_bytes)).unwrap()
}

fn of_matches(truth: &Truth, found: Found) -> Evaluation {
    let outcome = Outcome::of_matches("tool", truth, found);
    evaluate(truth, &[outcome], EvaluationSettings::default()).unwrap()
}

#[test]
fn pairs_that_are_not_listed_count_only_in_a_closed_world() {
    let mut ids = collection();
    let pairs = b"a\tb\tlabel\na\tb\tminor\nc\td\tminor\na\tc\tunrelated\n";
    let truth = Truth::from_pairs(pairs, &mut ids).unwrap();
    // One hit, one miss, one false hit, and two pairs without a label.
    let found = Found::parse(b"b\ta\t1\nc\ta\t2\ne\tf\t3\nb\te\t3\n", &mut ids).unwrap();

    let open = of_matches(&truth, found.clone());
    let counts = open.methods[0].counts;
    assert_eq!(
        (
            counts.hits,
            counts.misses,
            counts.false_hits,
            counts.rejections
        ),
        (1, 1, 1, 0)
    );
    assert_eq!(counts.f1(), Proportion::new(2, 4));

    let closed = of_matches(&truth.closed_world(ids.len()), found);
    let method = &closed.methods[0];
    // 15 pairs of six documents, three of them listed.
    assert_eq!(
        method.classes,
        [
            Proportion::new(1, 2),
            Proportion::new(1, 1),
            Proportion::new(2, 12)
        ]
    );
    assert_eq!(method.counts.precision(), Proportion::new(1, 4));
    assert_eq!(method.counts.rejections, 10);
    assert_eq!(closed.classes[2].name, "unlisted");
    let curve: Vec<_> = method
        .sweep
        .points()
        .iter()
        .map(|p| (p.hits, p.false_hits))
        .collect();
    assert_eq!(curve, [(1, 0), (1, 1), (1, 3)]);
    // True clusters ab, cd, e, f; found ones abcef and d.
    let clusters = method.clusters.unwrap();
    assert!((clusters.b_cubed_precision - (4.0 / 5.0 + 3.0 / 5.0 + 1.0) / 6.0).abs() < 1e-12);
    assert!((clusters.b_cubed_recall - (2.0 + 0.5 + 0.5 + 2.0) / 6.0).abs() < 1e-12);
    // 15 pairs: 2 in the truth, 10 found, 1 in both; (1 - 20/15) / (6 - 20/15).
    assert!(
        (clusters.adjusted_rand - (-1.0 / 14.0)).abs() < 1e-12,
        "{clusters:?}"
    );
}

#[test]
fn the_clusters_of_dedup_are_a_truth_for_its_pairs() {
    let mut ids = collection();
    let clusters = b"{\"cluster\":0,\"kept\":\"a\",\"size\":3,\"members\":[\"a\",\"b\",\"c\"]}\n\
                     {\"cluster\":3,\"kept\":\"d\",\"size\":2,\"members\":[\"d\",\"e\"]}\n";
    let truth = Truth::from_clusters(clusters, &mut ids).unwrap();
    let duplicates = b"{\"id\":\"b\",\"kept\":\"a\",\"distance\":1}\n\
                       {\"id\":\"c\",\"kept\":\"a\",\"distance\":3}\n\
                       {\"id\":\"e\",\"kept\":\"d\",\"distance\":2}\n\
                       {\"id\":\"f\",\"kept\":\"d\",\"distance\":2}\n";
    let stars = Found::parse(duplicates, &mut ids).unwrap();
    // The pair of b and c is in no line; f is in no cluster, so nothing is known of it.
    let counts = of_matches(&truth, stars.clone()).methods[0].counts;
    assert_eq!(
        (
            counts.hits,
            counts.misses,
            counts.false_hits,
            counts.rejections
        ),
        (3, 1, 0, 6)
    );
    let all = of_matches(&truth, stars.transitive().unwrap());
    assert_eq!(all.methods[0].counts.recall(), Proportion::new(4, 4));
    assert_eq!(all.methods[0].clusters.unwrap().adjusted_rand, 1.0);
    // A tool may report a pair between two clusters.
    let more = Found::parse(b"b\ta\na\td\n", &mut ids).unwrap();
    let counts = of_matches(&truth, more).methods[0].counts;
    assert_eq!((counts.hits, counts.false_hits), (1, 1));
}

#[test]
fn outcomes_that_do_not_fit_are_refused() {
    let mut ids = collection();
    let truth = Truth::from_pairs(b"a\tb\tlabel\na\tb\tx\nc\td\ty\n", &mut ids).unwrap();
    let outcome = |scores: &[Score], accepted: usize| Outcome {
        name: "m".to_owned(),
        scores: scores.iter().copied().map(Some).collect(),
        accepted: vec![true; accepted],
        ..Outcome::default()
    };
    let distance = Score::Distance(1);
    for (outcome, expected) in [
        (
            outcome(&[distance], 2),
            "m: found 1 scores, expected one for each of 2 pairs",
        ),
        (outcome(&[distance, distance], 3), "m: found 3 verdicts"),
        (
            outcome(&[distance, Score::Fraction(1, 2)], 2),
            "m: found distances and fractions",
        ),
    ] {
        let error = evaluate(&truth, &[outcome], EvaluationSettings::default()).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}

/// The Jaccard similarity of the sets of words: a method that finds moves and misses substitutions.
fn likeness(a: &[u8], b: &[u8]) -> Score {
    let words = |text: &[u8]| {
        let mut words: Vec<Vec<u8>> = text
            .split(|byte| !byte.is_ascii_alphanumeric())
            .map(<[u8]>::to_vec)
            .collect();
        words.sort();
        words.dedup();
        words
    };
    let (a, b) = (words(a), words(b));
    let shared = a
        .iter()
        .filter(|word| b.binary_search(word).is_ok())
        .count();
    Score::Fraction(shared as u64, (a.len() + b.len() - shared) as u64)
}

fn planted() -> (Ids, Truth, Vec<Vec<u8>>) {
    let text = |number: usize| -> Vec<u8> {
        let words = (0..200).map(|place| {
            format!(
                "w{}x{number}{}",
                place * 7 % 200,
                if place % 9 == 8 { "." } else { "" }
            )
        });
        words.collect::<Vec<_>>().join(" ").into_bytes()
    };
    let mut texts: Vec<Vec<u8>> = (0..20).map(text).collect();
    let mut rows = "a\tb\tlabel\n".to_owned();
    for original in 0..20 {
        for kind in Kind::ALL {
            for percent in PERCENTS {
                let id = format!("{original}");
                let donor = texts[(original + 1) % 20].clone();
                let copy =
                    plant(&texts[original], &donor, (kind, percent), 1, id.as_bytes()).unwrap();
                rows += &format!("{original}\t{}\t{}\n", texts.len(), kind.label(percent));
                texts.push(copy.text);
            }
        }
        rows += &format!("{original}\t{}\tunrelated\n", (original + 1) % 20);
    }
    let names: Vec<String> = (0..texts.len()).map(|number| number.to_string()).collect();
    let mut ids = Ids::of_collection(names.iter().map(String::as_bytes)).unwrap();
    let truth = Truth::from_pairs(rows.as_bytes(), &mut ids).unwrap();
    (ids, truth, texts)
}

fn outcomes(truth: &Truth, texts: &[Vec<u8>]) -> Vec<Outcome> {
    let score = |labelled: &simtool_evaluate::LabelledPair| {
        let [a, b] = labelled
            .pair
            .documents()
            .map(|number| &texts[number as usize][..]);
        likeness(a, b)
    };
    let scores: Vec<Score> = truth.pairs().iter().map(score).collect();
    let with = |percent: u64| Outcome {
        name: format!("words, {percent} %"),
        accepted: scores
            .iter()
            .map(|score| *score <= Score::Fraction(percent, 100))
            .collect(),
        scores: scores.iter().copied().map(Some).collect(),
        ..Outcome::default()
    };
    vec![with(80), with(95)]
}

/// Promise (Methods and their evaluation): Counts, curves, intervals, clusters and agreement follow
/// their definitions, each against a naive one or published examples
#[test]
fn planted_copies_are_found_by_kind_and_strength() {
    let (_, truth, texts) = planted();
    let evaluation = evaluate(
        &truth,
        &outcomes(&truth, &texts),
        EvaluationSettings::default(),
    )
    .unwrap();
    let found = |method: usize, label: &str| {
        let class = evaluation
            .classes
            .iter()
            .position(|class| class.name == label)
            .unwrap();
        evaluation.methods[method].classes[class]
    };
    for (label, loose, strict) in [
        // A replaced word of 200 is one fewer shared and one more of all.
        ("substitute-01", 20, 20),
        ("substitute-05", 20, 0),
        ("substitute-10", 20, 0),
        ("substitute-20", 0, 0),
        // The words are the same wherever they stand.
        ("move-30", 20, 20),
        ("truncate-05", 20, 20),
        ("truncate-10", 20, 0),
        ("truncate-20", 20, 0),
        ("truncate-30", 0, 0),
        ("insert-10", 20, 0),
        ("insert-30", 0, 0),
        ("boilerplate-01", 20, 20),
        ("unrelated", 0, 0),
    ] {
        assert_eq!(found(0, label), Proportion::new(loose, 20), "{label}");
        assert_eq!(found(1, label), Proportion::new(strict, 20), "{label}");
    }
    let compared = evaluation.comparison(0, 1).unwrap();
    assert_eq!((compared.only_second, compared.second_right), (0, 0));
    assert_eq!(compared.first_right, compared.only_first);
    let mirrored = evaluation.comparison(1, 0).unwrap();
    assert_eq!(
        (mirrored.only_second, mirrored.second_right),
        (compared.only_first, compared.first_right)
    );
    assert_eq!(
        evaluation.methods[0].best.unwrap().f1(),
        Proportion::new(1200, 1200)
    );
}

#[test]
fn all_reports_are_the_same_each_time() {
    let reports = || {
        let (ids, truth, texts) = planted();
        let outcomes = outcomes(&truth, &texts);
        let evaluation = evaluate(&truth, &outcomes, EvaluationSettings::default()).unwrap();
        let shown = texts.iter().zip(0..).map(|(text, number)| {
            (
                number,
                MistakeDocument {
                    name: ids.name(number).to_vec(),
                    text: text.clone(),
                },
            )
        });
        let documents: BTreeMap<u32, MistakeDocument> = shown.collect();
        let page = EvaluationPage {
            title: "planted",
            facts: &[],
            evaluation: &evaluation,
            documents: &documents,
            longest_text: 1000,
        };
        [
            page.html(),
            json(&evaluation, &ids),
            methods_csv(&evaluation),
            curves_csv(&evaluation),
            scores_csv(&truth, &outcomes, &ids),
            screen(&evaluation, 100).into_bytes(),
        ]
    };
    assert_eq!(reports(), reports());
}

/// The label of a pair, and the verdict of a method on it.
#[derive(Clone, Debug)]
struct Case {
    /// Near, far, or not listed.
    label: Option<bool>,
    /// The reported distance, if it is reported.
    distance: Option<u32>,
}

fn cases() -> impl Strategy<Value = Vec<(Pair, Case)>> {
    let pairs = (0..7_u32).flat_map(|a| (a + 1..7).filter_map(move |b| Pair::new(a, b)));
    let pairs: Vec<Pair> = pairs.collect();
    let case = (prop::option::of(any::<bool>()), prop::option::of(0..4_u32));
    let case = case.prop_map(|(label, distance)| Case { label, distance });
    prop::collection::vec(case, pairs.len())
        .prop_map(move |cases| pairs.iter().copied().zip(cases).collect())
}

proptest! {
    #[test]
    fn counts_and_curves_are_those_of_every_pair(cases in cases(), closed in any::<bool>()) {
        let labelled = cases.iter().filter_map(|(pair, case)| {
            Some((*pair, if case.label? { "near" } else { "unrelated" }))
        });
        let mut truth = Truth::labelled(labelled).unwrap();
        if closed {
            truth = truth.closed_world(7);
        }
        let found = cases.iter().filter_map(|&(pair, ref case)| {
            let score = Some(Score::Distance(case.distance?));
            Some(FoundPair { pair, score })
        });
        let method = &of_matches(&truth, Found::new(found.collect())).methods[0];

        let known = cases.iter().filter_map(|(_, case)| match case.label {
            None if !closed => None,
            label => Some((label.unwrap_or(false), case.distance)),
        });
        let known: Vec<(bool, Option<u32>)> = known.collect();
        let count = |near: bool, most: u32| {
            let accepted = known.iter().filter(|known| known.1.is_some_and(|bits| bits <= most));
            accepted.filter(|known| known.0 == near).count() as u64
        };
        let near = known.iter().filter(|known| known.0).count() as u64;
        prop_assert_eq!(method.counts.hits, count(true, 9));
        prop_assert_eq!(method.counts.false_hits, count(false, 9));
        prop_assert_eq!(method.counts.misses, near - count(true, 9));
        let all = method.counts;
        prop_assert_eq!(all.hits + all.false_hits + all.misses + all.rejections, known.len() as u64);

        let mut distances: Vec<u32> = known.iter().filter_map(|known| known.1).collect();
        distances.sort_unstable();
        distances.dedup();
        let expected: Vec<_> = distances.iter().map(|&most| (
            Score::Distance(most), count(true, most), count(false, most), near,
        )).collect();
        let points = method.sweep.points().iter();
        let points: Vec<_> = points.map(|p| (p.threshold, p.hits, p.false_hits, p.near)).collect();
        prop_assert_eq!(points, expected);

        let wrong = |near: bool, found: bool| {
            cases.iter().filter(|(_, case)| {
                let is_near = if closed { Some(case.label.unwrap_or(false)) } else { case.label };
                is_near == Some(near) && case.distance.is_some() == found
            }).count()
        };
        prop_assert_eq!(method.mistakes.false_hits.len(), wrong(false, true).min(5));
        prop_assert_eq!(method.mistakes.misses.len(), wrong(true, false).min(5));
    }
}

#[test]
fn in_a_closed_world_a_curve_ends_where_the_reports_end() {
    let mut ids = collection();
    let pairs = b"a\tb\tlabel\nb\ta\tminor\nc\td\tminor\n";
    let truth = Truth::from_pairs(pairs, &mut ids).unwrap();
    let outcome = Outcome {
        name: "m".to_owned(),
        // The second pair has a score, but other pairs at its distance may not be reported.
        scores: vec![Some(Score::Distance(1)), Some(Score::Distance(9))],
        accepted: vec![true, false],
        found: Some(Found::parse(b"b\ta\t1\ne\tf\t3\n", &mut ids).unwrap()),
        ..Outcome::default()
    };
    let points = |truth: &Truth| -> Vec<(u64, u64)> {
        let evaluation = evaluate(
            truth,
            std::slice::from_ref(&outcome),
            EvaluationSettings::default(),
        );
        let points = evaluation.unwrap().methods[0].sweep.points().to_vec();
        points
            .iter()
            .map(|point| (point.hits, point.false_hits))
            .collect()
    };
    assert_eq!(points(&truth), [(1, 0), (2, 0)]);
    assert_eq!(points(&truth.closed_world(6)), [(1, 0), (1, 1)]);
}

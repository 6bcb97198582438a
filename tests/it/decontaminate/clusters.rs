//! Clusters are those of the definition, and an item with an answer needs it near.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::ops::Range;

use proptest::prelude::*;
use simtool::engine::Progress;
use simtool::jobs::passages::decontaminate::{DecontaminateJob, LeastWords, NgramClusterRule};

use crate::decontaminate::oracle::{Definition, Gram};
use crate::decontaminate::same_answer::many_items;
use crate::decontaminate::setup::{job, resources};
use crate::passages::{documents, lines_of, run, write};

/// A cluster that counts: item, words, different n-grams.
pub type Cluster = (usize, Range<usize>, usize);

/// The clusters of a document, by the definition: the places of each item one after another.
pub fn clusters(definition: &Definition, rule: NgramClusterRule, document: usize) -> Vec<Cluster> {
    let mut counts: HashMap<&Gram, usize> = HashMap::new();
    for gram in definition.grams.iter().flatten() {
        *counts.entry(gram).or_default() += 1;
    }
    let all = definition.grams.len() as f64;
    let weight = |gram: &Gram| ((1.0 + all / counts[gram] as f64).ln() * 65_536.0).round() as u64;
    let weight_of = |grams: &HashSet<Gram>| grams.iter().map(&weight).sum::<u64>();
    let words: Vec<Vec<u8>> = (definition.words[document].iter())
        .map(|(word, _)| word.clone())
        .collect();
    let mut found = Vec::new();
    for (item, own) in definition.grams.iter().enumerate() {
        let lengths: BTreeSet<usize> = own.iter().map(Vec::len).collect();
        let places: Vec<(usize, Gram)> = (0..words.len())
            .flat_map(|start| lengths.iter().map(move |length| start..start + length))
            .filter_map(|range| Some((range.start, words.get(range)?.to_vec())))
            .filter(|(_, gram)| own.contains(gram))
            .collect();
        let mut at = 0;
        while at < places.len() {
            let mut end = at + 1;
            while end < places.len() && places[end].0 - places[end - 1].0 <= rule.most_gap + 1 {
                end += 1;
            }
            let grams: HashSet<Gram> = places[at..end]
                .iter()
                .map(|(_, gram)| gram.clone())
                .collect();
            let last = places[at..end]
                .iter()
                .map(|(start, gram)| start + gram.len());
            if weight_of(&grams) * 1000 >= u64::from(rule.thousandths) * weight_of(own) {
                found.push((item, places[at].0..last.max().unwrap(), grams.len()));
            }
            at = end;
        }
    }
    found
}

fn check(job: &DecontaminateJob, rule: NgramClusterRule, items: &[&str], texts: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    let (reference, input) = (
        directory.path().join("items.jsonl"),
        directory.path().join("in.jsonl"),
    );
    write(&reference, &documents(items));
    write(&input, &documents(texts));
    let out = directory.path().join("out");
    let resources = resources(job, 2, directory.path());
    run(
        job,
        &[input],
        &[reference],
        &out,
        &resources,
        &Progress::new(),
    )
    .unwrap();
    let definition = Definition::new(job, items, texts);
    let mut best: Vec<(u64, u64)> = vec![(0, 0); items.len()];
    let mut lines = lines_of(&out.join("spans.jsonl")).into_iter().peekable();
    for (document, text) in texts.iter().enumerate() {
        let line = lines.next_if(|line| line["id"] == format!("d{document}"));
        let ranges = line.map_or(Vec::new(), |line| {
            line["ranges"].as_array().unwrap().clone()
        });
        let own = clusters(&definition, rule, document);
        let mut is_covered = vec![false; definition.words[document].len()];
        own.iter()
            .for_each(|(_, words, _)| is_covered[words.clone()].fill(true));
        let expected = definition.bytes_of(text, document, &is_covered);
        let bytes = |range: &serde_json::Value, name: &str| range[name].as_u64().unwrap() as usize;
        let found: Vec<Range<usize>> = ranges
            .iter()
            .map(|range| bytes(range, "start")..bytes(range, "end"))
            .collect();
        assert_eq!(
            found, expected,
            "document {document} of {texts:?} {items:?} {rule:?}"
        );
        let with: HashSet<usize> = own.iter().map(|(item, ..)| *item).collect();
        for item in with {
            let most = own
                .iter()
                .filter(|(of, ..)| *of == item)
                .map(|(.., grams)| *grams)
                .max();
            best[item].0 += 1;
            best[item].1 = best[item].1.max(most.unwrap() as u64);
        }
    }
    for line in lines_of(&out.join("items.jsonl")) {
        let item: usize = line["id"].as_str().unwrap()[1..].parse().unwrap();
        let found = [&line["documents"], &line["found"]].map(|count| count.as_u64().unwrap());
        assert_eq!(
            found,
            [best[item].0, best[item].1],
            "{line} {texts:?} {items:?} {rule:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Promise (Parts of evaluation sets): Clusters, with their gaps and shares, are those of the
    /// definition; an answer has to be near
    #[test]
    fn clusters_are_those_of_the_definition(
        least in 1..4usize, most_gap in 0..5usize, thousandths in 1..=1000u32,
        items in prop::collection::vec("[abc ]{0,12}", 1..5),
        texts in prop::collection::vec("[abcd ]{0,40}", 1..6),
    ) {
        let rule = NgramClusterRule { most_gap, thousandths, answer_within: 5 };
        let job = DecontaminateJob { least: LeastWords(least), clusters: Some(rule), ..job() };
        let spaced = |texts: &[String]| -> Vec<String> {
            texts.iter().map(|text| text.chars().map(|c| format!("{c} ")).collect()).collect()
        };
        let (items, texts) = (spaced(&items), spaced(&texts));
        let items: Vec<&str> = items.iter().map(String::as_str).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        check(&job, rule, &items, &texts);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    /// Promise (Parts of evaluation sets): Ranges, counts and clusters are those …
    #[test]
    fn clusters_of_many_items_are_those_of_the_definition(
        least in 1..4usize, most_gap in 0..5usize, thousandths in 1..=1000u32,
        (items, texts) in many_items(),
    ) {
        let rule = NgramClusterRule { most_gap, thousandths, answer_within: 5 };
        let job = DecontaminateJob { least: LeastWords(least), clusters: Some(rule), ..job() };
        let items: Vec<&str> = items.iter().map(String::as_str).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        check(&job, rule, &items, &texts);
    }
}

/// Promise (Parts of evaluation sets): Clusters, with their gaps and shares, are …
#[test]
fn an_edited_item_is_found_and_its_answer_has_to_be_near() {
    let directory = tempfile::tempdir().unwrap();
    let words = |from: usize, to: usize| {
        (from..to)
            .map(|number| format!("w{number} "))
            .collect::<String>()
    };
    let question = words(0, 40);
    let edited = format!("{} other {}", words(0, 20), words(21, 40));
    let texts = [
        format!("{edited} so the answer is BLUE."),
        format!("{edited} so the answer is red."),
        format!("{edited} {} blue", words(100, 120)),
        format!("{} blue", words(0, 20)),
    ];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let input = directory.path().join("in.jsonl");
    write(&input, &documents(&texts));
    let reference = directory.path().join("items.jsonl");
    fs::write(
        &reference,
        format!("{{\"id\": \"q\", \"text\": \"{question}\", \"answer\": \"blue\"}}\n"),
    )
    .unwrap();
    let mut job = DecontaminateJob {
        least: LeastWords(5),
        clusters: Some(NgramClusterRule {
            most_gap: 10,
            thousandths: 800,
            answer_within: 10,
        }),
        ..job()
    };
    for (has_answers, expected) in [(true, &["d0"][..]), (false, &["d0", "d1", "d2"])] {
        job.has_answers = has_answers;
        job.reference_reading.fields = match has_answers {
            true => vec!["answer".to_owned()],
            false => Vec::new(),
        };
        let out = directory.path().join(format!("out-{has_answers}"));
        let resources = resources(&job, 2, directory.path());
        let references = [reference.clone()];
        run(
            &job,
            std::slice::from_ref(&input),
            &references,
            &out,
            &resources,
            &Progress::new(),
        )
        .unwrap();
        let spans = lines_of(&out.join("spans.jsonl"));
        let ids: Vec<&str> = spans
            .iter()
            .map(|span| span["id"].as_str().unwrap())
            .collect();
        assert_eq!(ids, expected);
        assert_eq!(spans[0]["ranges"][0]["words"], 40);
    }
}

//! What lower thresholds would remove, in the summary, on the page and in the plan.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::dedup_cli::{dedup, plan, summary};
use crate::sandbox::{Sandbox, stderr};

/// The words of a document: those of a text, of which every n-th is replaced.
fn words(text: u64, every: usize) -> Vec<String> {
    let word = |place: usize| match (place + 1).is_multiple_of(every) {
        true => format!("new{text}x{every}x{place}"),
        false => format!("old{text}x{place}"),
    };
    (0..150).map(word).collect()
}

/// Texts with copies of similarities from 0.4 to 0.95.
fn documents() -> Vec<Vec<String>> {
    let copies = [usize::MAX, 100, 40, 30, 27, 24, 21, 18, 16, 14, 12, 10];
    let of = |text: u64| {
        copies
            .into_iter()
            .skip(1 + text as usize % 3)
            .step_by(1 + text as usize % 4)
    };
    (0..30)
        .flat_map(|text| {
            let copies = of(text).map(move |every| words(text, every));
            std::iter::once(words(text, usize::MAX)).chain(copies)
        })
        .collect()
}

fn lines(documents: &[Vec<String>]) -> String {
    let lines = documents.iter().enumerate();
    let lines = lines.map(|(id, words)| json!({"id": id.to_string(), "text": words.join(" ")}));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Shared and all shingles of two documents.
fn similarity(a: &[String], b: &[String]) -> f64 {
    let [a, b] = [a, b].map(|words| words.windows(5).collect::<BTreeSet<_>>());
    let shared = a.intersection(&b).count();
    shared as f64 / (a.len() + b.len() - shared) as f64
}

/// Promise (Deduplication): The summary and the page say how many more documents lower thresholds
/// would remove, at most
#[test]
fn counts_by_lower_thresholds_equal_those_of_all_pairs() {
    let sandbox = Sandbox::new();
    let documents = documents();
    sandbox.write("a.jsonl", lines(&documents));
    dedup(&sandbox, "a.jsonl", "out", &[]).success();
    let found = summary(&sandbox, "out");

    let dropped: BTreeSet<usize> = sandbox
        .read("out/duplicates.jsonl")
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["id"].as_str().unwrap().parse().unwrap()
        })
        .collect();
    let best = |document: usize| {
        let earlier = (0..document).map(|other| {
            let is_kept = !dropped.contains(&other);
            (is_kept, similarity(&documents[document], &documents[other]))
        });
        let near = earlier.filter(|(_, similarity)| *similarity >= 0.5);
        let best = near.max_by(|a, b| a.partial_cmp(b).unwrap());
        best.map_or(0.0, |(_, similarity)| similarity)
    };
    let kept = (0..documents.len()).filter(|document| !dropped.contains(document));
    let best: Vec<f64> = kept.map(best).collect();
    let expected: Vec<Value> = [0.7, 0.6, 0.5]
        .map(|threshold| {
            let documents = best.iter().filter(|best| **best >= threshold).count();
            json!({"similarity": threshold, "dropped": documents})
        })
        .into();
    assert!(
        expected[0]["dropped"].as_u64().unwrap() > 10,
        "{expected:?}"
    );
    let count = documents.len();
    assert_eq!(
        found["lower_thresholds"],
        json!({"sampled": count, "of": count, "thresholds": expected})
    );
    let page = sandbox.read("out/page.html");
    assert!(page.contains("Lower thresholds") && page.contains("Only at 0.6"));

    // Memory changes nothing.
    dedup(&sandbox, "a.jsonl", "one", &["--memory", "240M"]).success();
    assert_eq!(sandbox.read("one/page.html"), page);

    // The counts are upper bounds of what a run at the threshold removes.
    for lower in &expected {
        let threshold = lower["similarity"].to_string();
        dedup(
            &sandbox,
            "a.jsonl",
            &threshold,
            &["--similarity", &threshold],
        )
        .success();
        let at = summary(&sandbox, &threshold);
        let more = at["dropped"].as_u64().unwrap() - found["dropped"].as_u64().unwrap();
        let most = lower["dropped"].as_u64().unwrap();
        assert!(
            more <= most && more > most / 2,
            "{threshold}: {more} of {most}"
        );
        let thresholds = at["lower_thresholds"]["thresholds"].as_array().unwrap();
        assert!(
            thresholds
                .iter()
                .all(|lower| lower["similarity"].as_f64() < threshold.parse().ok())
        );
    }
}

#[test]
fn the_plan_compares_the_documents_of_its_sample() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines(&documents()));
    let dry_run = |flags: &str| {
        let assert = sandbox.run(&format!("dedup a.jsonl -o out --dry-run {flags}"));
        stderr(&assert.success())
    };
    let text = dry_run("");
    assert!(
        text.contains("similar   so many of ") && text.contains("only at 0.6"),
        "{text}"
    );
    assert!(
        text.contains("old") && text.contains("times as many"),
        "{text}"
    );
    let plan = plan(&sandbox, "a.jsonl", "");
    let thresholds = plan["lower_thresholds"]["thresholds"].as_array().unwrap();
    assert_eq!(thresholds.len(), 4, "{plan}");

    // Nothing is said where thresholds mean something else, or sketches cannot tell.
    for flags in [
        "--similarity containment:0.8",
        "--method simhash",
        "--within source",
    ] {
        let plan = dry_run(flags);
        assert!(!plan.contains("similar   "), "{plan}");
    }
}

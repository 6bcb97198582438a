//! What lower thresholds would remove, in the summary, on the page and in the plan.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::{Value, json};

use crate::dedup_cli::{dedup, plan, summary};
use crate::sandbox::{Sandbox, json_lines, stderr};

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

/// By all pairs: how many of the `counted` documents that a run keeps have an earlier one of each
/// similarity; among kept ones, if any of these has half of their shingles. The document is compared
/// with the earlier ones of `is_compared`.
fn expected(
    sandbox: &Sandbox,
    out: &str,
    documents: &[Vec<String>],
    counted: Range<usize>,
    is_compared: impl Fn(usize) -> bool,
) -> Vec<Value> {
    let dropped: BTreeSet<usize> = json_lines(&sandbox.read(&format!("{out}/duplicates.jsonl")))
        .iter()
        .map(|line| line["id"].as_str().unwrap().parse().unwrap())
        .collect();
    let best = |document: usize| {
        let earlier = (0..document).filter(|other| is_compared(*other));
        let earlier = earlier.map(|other| {
            let is_kept = !dropped.contains(&other);
            (is_kept, similarity(&documents[document], &documents[other]))
        });
        let near = earlier.filter(|(_, similarity)| *similarity >= 0.5);
        let best = near.max_by(|a, b| a.partial_cmp(b).unwrap());
        best.map_or(0.0, |(_, similarity)| similarity)
    };
    let kept = counted.filter(|document| !dropped.contains(document));
    let best: Vec<f64> = kept.map(best).collect();
    let count = |threshold: f64| {
        let documents = best.iter().filter(|best| **best >= threshold).count();
        json!({"similarity": threshold, "dropped": documents})
    };
    [0.7, 0.6, 0.5].map(count).into()
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

    let expected = expected(&sandbox, "out", &documents, 0..documents.len(), |_| true);
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
fn lower_thresholds_of_a_run_against_a_reference() {
    let sandbox = Sandbox::new();
    // Every other document is one of the reference.
    let documents = documents();
    let [references, others] = [0, 1].map(|first| documents.iter().skip(first).step_by(2));
    let count = references.len();
    let documents: Vec<Vec<String>> = references.chain(others).cloned().collect();
    let all = lines(&documents);
    let all: Vec<&str> = all.lines().collect();
    sandbox.write("reference.jsonl", all[..count].join("\n"));
    sandbox.write("a.jsonl", all[count..].join("\n"));
    let against = ["--against", "reference.jsonl", "--against-only"];
    for (out, flags) in [("both", &against[..2]), ("only", &against)] {
        dedup(&sandbox, "a.jsonl", out, flags).success();
        let is_compared = |other| out == "both" || other < count;
        let counted = count..documents.len();
        let expected = expected(&sandbox, out, &documents, counted, is_compared);
        let found = &summary(&sandbox, out)["lower_thresholds"]["thresholds"];
        assert_eq!(found, &json!(expected), "{out}");
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
        text.contains("similar   of ")
            && text.contains("have an earlier copy at 0.8")
            && text.contains("only at 0.6"),
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

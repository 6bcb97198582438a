//! Profiles, cuts, and what is written.

use std::fs;

use serde_json::Value;
use simtool::engine::Progress;
use simtool::jobs::passages::decontaminate::{DecontaminateJob, LeastWords, Widening};
use simtool::jobs::passages::{Action, PassageSettings};
use simtool::jobs::shards::WriteFormat;

use crate::decontaminate::setup::{job, resources};
use crate::passages::{documents, json_of, lines_of, run, write};

/// Runs a job on one file of items and one of texts; returns the directory with `out`.
fn run_on(job: &DecontaminateJob, items: &[&str], texts: &[&str]) -> tempfile::TempDir {
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
    directory
}

fn cut_texts(directory: &tempfile::TempDir) -> Vec<String> {
    let input = directory.path().join("in.jsonl");
    let written = directory.path().join("out/cut");
    let shard = written.join("part-00000.jsonl");
    let lines = lines_of(&match shard.exists() {
        true => shard,
        false => written.join(input.strip_prefix("/").unwrap()),
    });
    lines
        .iter()
        .map(|line| line["text"].as_str().unwrap().to_owned())
        .collect()
}

/// Promise (Parts of evaluation sets): A cut removes what the profile says
#[test]
fn a_cut_removes_the_ngrams_and_nothing_else() {
    let job = DecontaminateJob {
        common: PassageSettings {
            action: Action::Cut,
            ..job().common
        },
        ..job()
    };
    let texts = [
        "Some. One, two THREE four; and more.",
        "one two and three",
        "(one two three)",
    ];
    let directory = run_on(&job, &["one two three four"], &texts);
    let out = directory.path().join("out");
    assert_eq!(
        cut_texts(&directory),
        ["Some. ; and more.", "one two and three"]
    );
    let summary = json_of(&out.join("summary.json"));
    assert_eq!(
        (&summary["dropped"], &summary["ranges"]),
        (&1.into(), &2.into())
    );
    assert_eq!(summary["found_items"], 1);
    let reference = &summary["against"]["inputs"][0];
    let counts = ["items", "found_items", "too_short"].map(|name| reference[name].clone());
    assert_eq!(counts, [1, 1, 0].map(Value::from));
}

/// GPT-3's rule in small: n-grams of 3 words, 4 characters around, pieces of 4, at most 2 pieces, and
/// n-grams in more than 3 documents are ignored.
/// Promise (Repeated units): Shards have the documents that stay, with …
/// Promise (Parts of evaluation sets): A cut removes what the profile …
#[test]
fn pieces_and_frequent_ngrams_are_those_of_gpt3() {
    let job = DecontaminateJob {
        least: LeastWords(3),
        most_documents: Some(3),
        widening: Widening {
            around: 4,
            least_piece: 4,
        },
        most_pieces: Some(2),
        common: PassageSettings {
            action: Action::Cut,
            ..job().common
        },
        ..job()
    };
    let many = "often seen here";
    let texts = [
        "äöüß-öäüß a b c éèêë-ïîíì",
        "1234567890 a b c 1234567890 a b c 1234567890 a b c 1234567890",
        "12 a b c 12345678901 a b c 123456 often seen here",
        many,
        many,
        many,
    ];
    let directory = run_on(&job, &["a b c", many], &texts);
    let out = directory.path().join("out");
    // Of the third text, what is before the first and behind the second stretch is too short.
    let expected = ["äöüß-öë-ïîíì", "45678456 often seen here", many, many, many];
    assert_eq!(cut_texts(&directory), expected);
    let mut job = job;
    job.common.shards.format = WriteFormat::Jsonl;
    assert_eq!(cut_texts(&run_on(&job, &["a b c", many], &texts)), expected);
    let items = lines_of(&out.join("items.jsonl"));
    assert_eq!(
        (&items[0]["found"], &items[0]["documents"]),
        (&1.into(), &3.into())
    );
    assert_eq!(
        (&items[1]["found"], &items[1]["ignored"]),
        (&0.into(), &1.into())
    );
}

/// Promise (Parts of evaluation sets): Items that cannot be read, or that …
#[test]
fn short_items_are_searched_as_a_whole_or_listed() {
    let job = DecontaminateJob {
        least: LeastWords(4),
        ..job()
    };
    let directory = run_on(
        &job,
        &["one two", "lonely", "", "one two three"],
        &["so one two three"],
    );
    let out = directory.path().join("out");
    let items = lines_of(&out.join("items.jsonl"));
    let shown: Vec<(&str, bool, u64)> = items
        .iter()
        .map(|item| {
            let id = item["id"].as_str().unwrap();
            (
                id,
                item["too_short"] == true,
                item["found"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("d0", false, 1),
            ("d3", false, 1),
            ("d1", true, 0),
            ("d2", true, 0)
        ]
    );
    let summary = json_of(&out.join("summary.json"));
    assert_eq!(summary["against"]["inputs"][0]["too_short"], 2);
    let warnings = summary["warnings"].to_string();
    assert!(
        warnings.contains("2 of 4 reference items have fewer words"),
        "{warnings}"
    );
    assert!(
        fs::read_to_string(out.join("page.html"))
            .unwrap()
            .contains("fewer words")
    );
}

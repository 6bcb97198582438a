//! References that are broken, long, empty or too big.

use std::fs;
use std::path::Path;

use simtool::ErrorKind;
use simtool::engine::Progress;

use crate::decontaminate::setup::{job, resources};
use crate::passages::{documents, json_of, lines_of, run, write};

fn reference(directory: &Path, name: &str, bytes: &[u8]) -> std::path::PathBuf {
    let path = directory.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// Promise (Parts of evaluation sets): Items that cannot be read, or that are too short, are listed
/// and counted
#[test]
fn broken_items_are_listed_and_the_others_found() {
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("in.jsonl");
    write(&input, &documents(&["so one two three four", "nothing"]));
    let long = format!(
        "{{\"id\": \"long\", \"text\": \"{}\"}}",
        "x ".repeat(1 << 20)
    );
    let lines = [
        "{\"id\": \"broken\", \"text\": \"one two",
        "{\"id\": \"number\", \"text\": 7}",
        "[1, 2]",
        &long,
        "{\"id\": \"empty\", \"text\": \"\"}",
        "{\"id\": \"good\", \"text\": \"one two three\"}",
        "{\"id\": \"half\", \"text\": \"one two three \\ud83d\"}",
    ];
    let path = reference(directory.path(), "items.jsonl", lines.join("\n").as_bytes());
    let job = job();
    let out = directory.path().join("out");
    let resources = resources(&job, 2, directory.path());
    let summary = run(&job, &[input], &[path], &out, &resources, &Progress::new()).unwrap();
    assert_eq!(summary.references, (7, 4));
    let skipped = lines_of(&out.join("skipped.jsonl"));
    assert_eq!(skipped.len(), 4);
    let items = lines_of(&out.join("items.jsonl"));
    let ids: Vec<&str> = items
        .iter()
        .map(|item| item["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["good", "half", "empty"]);
    assert!(
        json_of(&out.join("summary.json"))["warnings"]
            .to_string()
            .contains("reference: 4 of 7")
    );
}

/// Promise (Parts of evaluation sets): A reference that does not fit into the memory is refused
/// with the memory that suffices
#[test]
fn a_reference_beyond_the_memory_is_refused_with_the_memory_that_suffices() {
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("in.jsonl");
    write(&input, &documents(&["text"]));
    let words: String = (0..400_000).map(|number| format!("w{number} ")).collect();
    let items: Vec<&str> = words
        .as_bytes()
        .chunks(9000)
        .filter_map(|part| std::str::from_utf8(part).ok())
        .collect();
    let path = directory.path().join("items.jsonl");
    write(&path, &documents(&items));
    let job = job();
    let out = directory.path().join("out");
    let mut resources = resources(&job, 1, directory.path());
    let inputs = [input];
    let references = [path];
    let refused = run(
        &job,
        &inputs,
        &references,
        &out,
        &resources,
        &Progress::new(),
    );
    let error = refused.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Memory, "{error}");
    let message = error.to_string();
    let needed = message
        .split("at least ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap();
    let needed: u64 = needed.parse().unwrap();
    resources.memory_bytes = (needed - 1) << 20;
    assert!(
        run(
            &job,
            &inputs,
            &references,
            &out,
            &resources,
            &Progress::new()
        )
        .is_err()
    );
    resources.memory_bytes = needed << 20;
    run(
        &job,
        &inputs,
        &references,
        &out,
        &resources,
        &Progress::new(),
    )
    .unwrap();
}

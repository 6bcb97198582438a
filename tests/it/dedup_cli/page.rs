//! The page of a run, by flags.

use std::fs;

use serde_json::Value;

use crate::dedup_cli::{dedup, lines};
use crate::sandbox::{Sandbox, stderr};

#[test]
fn a_page_is_written_unless_it_is_not_wanted() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines());
    dedup(&sandbox, "a.jsonl", "out", &[]).success();
    let page = sandbox.read("out/page.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<ins>end3</ins>"));
    let run: Value = serde_json::from_str(&sandbox.read("out/run.json")).unwrap();
    let outputs = run["outputs"].as_array().unwrap();
    assert!(outputs.iter().any(|output| output["file"] == "page.html"));

    dedup(&sandbox, "a.jsonl", "without", &["--no-page"]).success();
    assert!(!sandbox.path("without/page.html").exists());
    let duplicates = |out: &str| sandbox.read(&format!("{out}/duplicates.jsonl"));
    assert_eq!(duplicates("without"), duplicates("out"));
}

/// Promise (Methods and their evaluation): The bytes of the HTML page …
#[test]
fn the_page_is_checked_and_removed_like_every_output() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines());
    dedup(&sandbox, "a.jsonl", "out", &[]).success();
    let page = sandbox.read("out/page.html");
    // The same command finds it complete, and notices that it is missing.
    dedup(&sandbox, "a.jsonl", "out", &[]).success();
    fs::remove_file(sandbox.path("out/page.html")).unwrap();
    let message = stderr(&dedup(&sandbox, "a.jsonl", "out", &[]).code(2));
    assert!(message.contains("page.html: is missing"), "{message}");
    dedup(&sandbox, "a.jsonl", "out", &["--restart"]).success();
    assert_eq!(sandbox.read("out/page.html"), page);
    // Another job, which removes it.
    let message = stderr(&dedup(&sandbox, "a.jsonl", "out", &["--no-page"]).code(2));
    assert!(
        message.contains("settings.page was true, is false"),
        "{message}"
    );
    dedup(&sandbox, "a.jsonl", "out", &["--no-page", "--restart"]).success();
    assert!(!sandbox.path("out/page.html").exists());
    // A file of the user stays.
    sandbox.write("out/page.html", "mine");
    let message = stderr(&dedup(&sandbox, "a.jsonl", "out", &["--restart"]).code(2));
    assert!(
        message.contains("no run of simtool recorded it"),
        "{message}"
    );
    assert_eq!(sandbox.read("out/page.html"), "mine");
}

#[test]
fn settings_without_effect_are_on_the_page() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines());
    dedup(&sandbox, "a.jsonl", "out", &["--keep", "newest"]).success();
    let page = sandbox.read("out/page.html");
    let (_, warnings) = page.split_once("<section id=\"warnings\"").unwrap();
    assert!(
        warnings.contains("no document has a date that can be read"),
        "{warnings}"
    );
}

//! Scopes, several policies and the guard, on the command line.

use serde_json::{Value, json};

use crate::dedup_cli::stderr;
use crate::sandbox::Sandbox;

const COPY: &str = "a text of some words that is copied to many places where it is not needed";

/// Two dumps, each with two copies of one text and a text of its own.
fn dumps(sandbox: &Sandbox) {
    for file in ["a", "b"] {
        let line = |(number, text): (usize, &str)| {
            let id = format!("{file}{number}");
            let url = format!("http://site{number}.example/");
            format!(
                "{}\n",
                json!({"id": id, "url": url, "dump": file, "text": text})
            )
        };
        let own = format!("nothing but the file {file} has this text and its few words");
        let lines: String = [COPY, COPY, &own]
            .into_iter()
            .enumerate()
            .map(line)
            .collect();
        sandbox.write(&format!("{file}.jsonl"), lines);
    }
}

fn dropped(sandbox: &Sandbox, flags: &str) -> Vec<String> {
    let line = format!("dedup a.jsonl b.jsonl -o out --restart --quiet {flags}");
    sandbox.run(&line).success();
    let text = sandbox.read("out/duplicates.jsonl");
    let id = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["id"].as_str().unwrap().to_owned()
    };
    text.lines().map(id).collect()
}

#[test]
fn copies_are_dropped_within_their_scope() {
    let sandbox = Sandbox::new();
    dumps(&sandbox);
    assert_eq!(dropped(&sandbox, ""), ["a1", "b0", "b1"]);
    assert_eq!(dropped(&sandbox, "--within global"), ["a1", "b0", "b1"]);
    assert_eq!(dropped(&sandbox, "--within source"), ["a1", "b1"]);
    assert_eq!(dropped(&sandbox, "--within field:dump"), ["a1", "b1"]);
    assert_eq!(dropped(&sandbox, "--within site"), ["b0", "b1"]);
    assert_eq!(dropped(&sandbox, "--keep-copies 2"), ["b0", "b1"]);
    assert_eq!(
        dropped(&sandbox, "--keep-copies 2 --within source"),
        [""; 0]
    );
    let flags = "--keep field:dump,smallest:url";
    assert_eq!(dropped(&sandbox, flags), ["a0", "a1", "b1"]);
}

#[test]
fn a_large_loss_is_refused_with_its_reasons() {
    let sandbox = Sandbox::new();
    dumps(&sandbox);
    let line = "dedup a.jsonl b.jsonl -o out --write kept";
    let message = stderr(&sandbox.run(&format!("{line} --refuse-above 50%")).code(2));
    let expected = "\
simtool: nothing was written, as the input would lose more than 50% of 1 of 2 sources:
  b.jsonl: 2 of 3 documents (66.7%)
    2 as duplicates of a0: a text of some words that is copied to many places where it is not needed
";
    assert!(message.contains(expected), "{message}");
    for file in ["kept", "summary.json", "duplicates.jsonl"] {
        assert!(!sandbox.path(&format!("out/{file}")).exists(), "{file}");
    }
    let message = stderr(&sandbox.run(&format!("{line} --refuse-above 0.7")).success());
    assert!(message.contains("decisions complete"), "{message}");
    assert!(
        sandbox
            .read("out/summary.json")
            .contains("\"refuse_above\": \"70%\"")
    );
}

/// The texts of a directory are one source, and so is a file of documents.
#[test]
fn what_two_sources_have_is_kept() {
    let sandbox = Sandbox::new();
    let text = |name: &str| format!("a text of some words about {name}, which others may have too");
    let line = |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
    std::fs::create_dir(sandbox.path("texts")).unwrap();
    for (file, name) in [("one", "hills"), ("two", "hills"), ("three", "lakes")] {
        sandbox.write(&format!("texts/{file}.txt"), text(name));
    }
    sandbox.write(
        "a.jsonl",
        &(line("a", &text("lakes")) + &line("b", &text("rivers"))),
    );
    let command = "dedup texts a.jsonl -o out --write kept --min-sources 2";
    let message = stderr(
        &sandbox
            .run(&format!("{command} --refuse-above 99%"))
            .code(2),
    );
    assert!(message.contains("\n    1 without duplicates"), "{message}");
    let message = stderr(&sandbox.run(command).success());
    assert!(
        message.contains("5 documents seen = 1 kept + 4 dropped"),
        "{message}"
    );
    assert!(sandbox.path("out/kept/texts/three.txt").exists());
    assert!(!sandbox.path("out/kept/texts/one.txt").exists());
    let page = sandbox.read("out/page.html");
    for shown in [
        "the first document of a cluster from too few sources",
        "without duplicates",
        "2 would be kept if their clusters came from more sources",
        "sources of a cluster",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
}

#[test]
fn combinations_without_a_meaning_are_refused() {
    let sandbox = Sandbox::new();
    dumps(&sandbox);
    for (flags, parts) in [
        ("--within host", &["field:NAME", "source"][..]),
        (
            "--within source --against b.jsonl",
            &["source", "with another file"],
        ),
        ("--keep-copies 0", &["--keep-copies"]),
        ("--keep-copies 2 --keep none", &["keep_copies", "keep none"]),
        (
            "--keep-copies 2 --against b.jsonl",
            &["keep_copies", "not counted"],
        ),
        ("--min-sources 1", &["--min-sources"]),
        ("--min-sources 2", &["min_sources 2", "the input has 1"]),
        ("--min-sources 2 --keep none", &["min_sources", "nothing"]),
        (
            "--min-sources 2 --within source",
            &["min_sources", "one source"],
        ),
        (
            "--min-sources 2 --against b.jsonl",
            &["min_sources", "not counted"],
        ),
        (
            "--min-sources 2 --similarity containment:0.9",
            &["min_sources", "a part of a document"],
        ),
        (
            "--min-sources 2 --write annotated",
            &["min_sources", "duplicate_cluster_sources"],
        ),
        ("--keep longest,", &["expected first"]),
        ("--keep first,longest", &["nothing after first"]),
        ("--refuse-above 100%", &["no run drops more than all"]),
        ("--refuse-above half", &["such as 0.5 or 50%"]),
    ] {
        sandbox.refuse(&format!("dedup a.jsonl -o out {flags}"), parts);
        assert!(!sandbox.path("out/summary.json").exists());
    }
}

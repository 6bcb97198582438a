//! `--method url`, alone and before another method.

use serde_json::json;

use crate::dedup_cli::{ids, plan, summary};
use crate::sandbox::{Sandbox, json_lines, stderr};

fn input(sandbox: &Sandbox) {
    let words =
        |range: std::ops::Range<u32>| -> String { range.map(|word| format!("w{word} ")).collect() };
    let lines = [
        json!({"id": "old", "url": "http://a.example", "date": "2001-01-01", "text": words(0..50)}),
        json!({"id": "new", "url": "http://A.example/#x", "date": "2002-01-01", "text": words(60..99)}),
        json!({"id": "copy", "url": "http://b.example/", "date": "2003-01-01", "text": words(60..99)}),
        json!({"id": "none", "date": "2003-01-01", "text": words(60..99)}),
    ];
    sandbox.write("in.jsonl", lines.map(|line| format!("{line}\n")).concat());
}

#[test]
fn the_newest_document_of_a_url_stays() {
    let sandbox = Sandbox::new();
    input(&sandbox);
    for (method, dropped) in [
        ("url", vec!["old"]),
        ("url then minhash", vec!["old", "copy", "none"]),
        ("url then exact", vec!["old", "copy", "none"]),
    ] {
        let mut command = sandbox.command(crate::sandbox::SIMTOOL);
        command.args([
            "dedup",
            "in.jsonl",
            "-o",
            "out",
            "--restart",
            "--method",
            method,
        ]);
        let warnings = stderr(&command.assert().success());
        let found = ids(&sandbox.read("out/duplicates.jsonl"));
        assert_eq!(found, dropped, "{method}");
        let part = "--method url: 1 of 4 documents have no absolute URL with a host";
        assert!(warnings.contains(part), "{warnings}");
        let summary = summary(&sandbox, "out");
        assert_eq!(summary["settings"]["method"], method);
        assert_eq!(summary["dropped_by"]["url"], 1);
    }
    let plan = plan(&sandbox, "in.jsonl", "--method url");
    assert_eq!(plan["documents"], 4);
    let explained = sandbox.stdout("explain --pair out/duplicates.jsonl --id old");
    assert!(
        explained.contains("url, a newer document has the same URL"),
        "{explained}"
    );
    let lines = json_lines(&sandbox.read("out/duplicates.jsonl"));
    assert!(lines.iter().all(|line| line["newest"].is_null()));
}

#[test]
fn flags_about_texts_have_no_effect_on_urls_alone() {
    let sandbox = Sandbox::new();
    input(&sandbox);
    for (flags, part) in [
        (
            "--similarity 0.5",
            "--similarity has no effect with --method url: it compares no texts",
        ),
        ("--shingle 3", "--shingle has no effect"),
        ("--bits 64", "--bits has no effect with --method url"),
        ("--keep-stop-words", "--keep-stop-words has no effect"),
        ("--cluster star", "--cluster has no effect"),
        ("--tokenizer ascii", "--tokenizer has no effect"),
        ("--refused", "--refused has no effect"),
        (
            "--keep longest",
            "--keep has no effect with --method url: the newest document",
        ),
        ("--keep none", "cannot be combined"),
        ("--keep-copies 2", "cannot be combined"),
    ] {
        sandbox.refuse(
            &format!("dedup in.jsonl -o out --method url {flags}"),
            &[part],
        );
    }
}

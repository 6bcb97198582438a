//! `--similarity containment:SHARE`.

use serde_json::json;

use crate::dedup_cli::{plan, summary};
use crate::sandbox::{Sandbox, json_lines};

/// A short text, a long one that contains it, and the same one again with a later date.
fn input(sandbox: &Sandbox) {
    let words =
        |range: std::ops::Range<u32>| -> String { range.map(|word| format!("w{word} ")).collect() };
    let lines = [
        json!({"id": "part", "date": "2009-01-01", "text": words(20..40)}),
        json!({"id": "old", "date": "2001-01-01", "text": words(0..100)}),
        json!({"id": "new", "date": "2002-01-01", "text": words(0..100)}),
    ];
    sandbox.write("in.jsonl", lines.map(|line| format!("{line}\n")).concat());
}

#[test]
fn the_longer_document_stays_and_keep_decides_ties() {
    let sandbox = Sandbox::new();
    input(&sandbox);
    for (flags, order, kept) in [
        ("", "most-shingles,first", "old"),
        ("--keep newest", "most-shingles,newest", "new"),
        ("--keep most-shingles,newest", "most-shingles,newest", "new"),
    ] {
        let line = "dedup in.jsonl -o out --restart --quiet --similarity containment:0.95";
        sandbox.run(&format!("{line} {flags}")).success();
        let lines = json_lines(&sandbox.read("out/duplicates.jsonl"));
        assert_eq!(lines.len(), 2);
        let part = lines.iter().find(|line| line["id"] == "part").unwrap();
        assert_eq!(part["kept"], kept);
        assert_eq!(
            (&part["shared"], &part["shingles"]),
            (&json!(16), &json!(16))
        );
        let summary = summary(&sandbox, "out");
        let settings = &summary["settings"];
        assert_eq!(settings["keep"], order);
        assert_eq!(settings["method"], "shingles");
        assert_eq!(settings["parameters"]["measure"], "containment");
        assert_eq!(settings["verification"]["measure"], "containment");
    }
    let plan = plan(&sandbox, "in.jsonl", "--similarity containment:0.95");
    assert_eq!(plan["documents"], 3);
    // The same words without the rule: the part is kept.
    sandbox
        .run("dedup in.jsonl -o whole --quiet --method minhash --similarity 0.5")
        .success();
    assert_eq!(json_lines(&sandbox.read("whole/duplicates.jsonl")).len(), 1);
}

#[test]
fn flags_that_do_not_fit_are_refused() {
    let sandbox = Sandbox::new();
    input(&sandbox);
    let line = "dedup in.jsonl -o out --similarity containment:0.95";
    for (flags, part) in [
        (
            "--method minhash",
            "the method minhash proposes documents that are similar as a whole",
        ),
        (
            "--method exact",
            "--similarity has no effect with --method exact",
        ),
        (
            "--distance 3",
            "--distance has no effect with --method shingles",
        ),
        (
            "--cluster components",
            "all documents that contain one short text",
        ),
        ("--keep none", "because another one is a part of it"),
        (
            "--keep newest,most-shingles",
            "most-shingles is there twice",
        ),
        (
            "--method shingles:shingle=3",
            "shingles of 3 words, and 5 are verified",
        ),
        (
            "--method shingles:similarity=1",
            "only documents of which 1 are contained",
        ),
    ] {
        sandbox.refuse(&format!("{line} {flags}"), &[part]);
    }
    sandbox.refuse(
        "dedup in.jsonl -o out --similarity containment:2",
        &["0.001 to 1"],
    );
}

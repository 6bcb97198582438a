//! `simtool explain` finds the given documents and reports the same evidence as `simtool dedup`.

use assert_cmd::Command;
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn simtool(directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("simtool").unwrap();
    command.current_dir(directory).args(args);
    command
}

fn shown(directory: &Path, args: &[&str]) -> String {
    let assert = simtool(directory, args).assert().success();
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

fn refused(directory: &Path, args: &[&str]) -> String {
    let assert = simtool(directory, args).assert().code(2);
    assert!(assert.get_output().stdout.is_empty());
    String::from_utf8(assert.get_output().stderr.clone()).unwrap()
}

fn words(range: std::ops::Range<u32>) -> String {
    range.map(|number| format!("word{number} ")).collect()
}

fn line(id: &str, text: &str) -> String {
    serde_json::json!({"id": id, "text": text}).to_string() + "\n"
}

/// A text, one with a word exchanged, and another one.
fn corpus() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let original = words(0..300);
    let edited = original.replace("word150 ", "novelty ");
    let lines = [
        line("original", &original),
        line("edited", &edited),
        line("other", &words(1000..1300)),
        line("twice", "one"),
        line("twice", "two"),
    ];
    fs::write(directory.path().join("dump.jsonl"), lines.concat()).unwrap();
    fs::write(directory.path().join("original.txt"), &original).unwrap();
    fs::write(directory.path().join("edited.txt"), &edited).unwrap();
    directory
}

fn verdicts(directory: &Path, a: &str, b: &str) -> Vec<(String, bool)> {
    let args = ["explain", a, b, "--in", "dump.jsonl", "--json"];
    let value: Value = serde_json::from_str(&shown(directory, &args)).unwrap();
    let verdicts = value["verdicts"].as_array().unwrap().iter();
    verdicts
        .map(|verdict| {
            let method = verdict["method"].as_str().unwrap().to_owned();
            (method, verdict["near"].as_bool().unwrap())
        })
        .collect()
}

#[test]
fn the_same_an_edited_and_another_text() {
    let directory = corpus();
    let of = |a, b| verdicts(directory.path(), a, b);
    assert_eq!(of("original", "original").len(), 9);
    assert!(of("original", "original").iter().all(|(_, near)| *near));
    assert!(of("original", "other").iter().all(|(_, near)| !near));
    let edited = of("original", "edited");
    let equal = ["exact", "normalized"];
    for (method, near) in edited
        .iter()
        .filter(|(method, _)| !method.starts_with("simhash"))
    {
        assert_eq!(*near, !equal.contains(&method.as_str()), "{method}");
    }
}

#[test]
fn what_changed_is_marked_and_what_did_not_is_folded() {
    let directory = corpus();
    for args in [
        ["explain", "original.txt", "edited.txt"].as_slice(),
        &["explain", "original", "edited", "--in", "dump.jsonl"],
    ] {
        let shown = shown(directory.path(), args);
        assert!(
            shown.contains("[-word150-]") && shown.contains("{+novelty+}"),
            "{shown}"
        );
        assert!(shown.contains("… 134 words …"), "{shown}");
        assert!(shown.contains("291 of 301 = 0.966"), "{shown}");
        assert!(
            shown.lines().all(|line| line.chars().count() <= 100),
            "{shown}"
        );
        assert!(!shown.contains('\x1b'));
    }
    let args = [
        "explain",
        "original.txt",
        "edited.txt",
        "--full",
        "--width",
        "60",
    ];
    let shown = shown(directory.path(), &args);
    assert!(shown.contains("word299") && !shown.contains('…'));
}

#[test]
fn dedup_s_own_line_is_explained() {
    let directory = corpus();
    simtool(
        directory.path(),
        &[
            "dedup",
            "dump.jsonl",
            "-o",
            "out",
            "--method",
            "minhash",
            "--quiet",
        ],
    )
    .assert()
    .success();
    let list = fs::read_to_string(directory.path().join("out/duplicates.jsonl")).unwrap();
    let line: Value = serde_json::from_str(list.lines().next().unwrap()).unwrap();
    let id = line["id"].as_str().unwrap();
    assert_eq!(id, "edited");
    let args = ["explain", "--pair", "out/duplicates.jsonl", "--id", id];
    let text = shown(directory.path(), &args);
    assert!(
        text.contains("listed as minhash") && text.contains("{+word150+}"),
        "{text}"
    );
    let json = shown(directory.path(), &[&args[..], &["--json"]].concat());
    let value: Value = serde_json::from_str(&json).unwrap();
    for field in ["method", "estimate", "similarity", "shared", "shingles"] {
        assert_eq!(value["listed"][field], line[field], "{field}");
    }
    for field in ["file", "start", "length", "member"] {
        assert_eq!(value["a"][field], line[field], "{field}");
        assert_eq!(value["b"][field], line[format!("kept_{field}")], "{field}");
    }
    let jaccard = value["verdicts"].as_array().unwrap().iter();
    let jaccard = jaccard.filter(|verdict| verdict["method"] == "jaccard");
    assert!(
        jaccard.into_iter().all(|verdict| verdict["similarity"]
            == serde_json::json!([line["shared"], line["shingles"]]))
    );

    let refusal = refused(
        directory.path(),
        &["explain", "--pair", "out/duplicates.jsonl", "--id", "other"],
    );
    assert!(
        refusal.contains("id other: no line is about it"),
        "{refusal}"
    );
    let file = directory.path().join("dump.jsonl");
    fs::write(
        &file,
        fs::read_to_string(&file).unwrap().replace("novelty", "new"),
    )
    .unwrap();
    let refusal = refused(directory.path(), &args);
    assert!(refusal.contains("dump.jsonl: changed since"), "{refusal}");
}

#[test]
fn names_that_nothing_or_too_much_has_are_refused() {
    let directory = corpus();
    let of = |args: &[&str]| refused(directory.path(), &[&["explain"], args].concat());
    for (args, message) in [
        (
            ["nobody", "edited", "--in", "dump.jsonl"].as_slice(),
            "id nobody: not in dump.jsonl",
        ),
        (
            &["twice", "edited", "--in", "dump.jsonl"],
            "id twice: 2 documents have it (name one by its place): dump.jsonl:",
        ),
        (
            &["dump.jsonl:5", "edited.txt"],
            "dump.jsonl: 5: no document begins there; the next one begins at",
        ),
        (
            &["dump.jsonl:99999999", "edited.txt"],
            "no document begins there or after it",
        ),
        (
            &["dump.jsonl:0+0", "edited.txt"],
            "is not compressed: write the place as FILE:OFFSET",
        ),
        (
            &["dump.jsonl", "edited.txt"],
            "dump.jsonl: holds more than one document",
        ),
        (&["missing", "edited.txt"], "missing: there is no such file"),
        (
            &["s3://bucket/a.jsonl:0", "edited.txt"],
            "s3://bucket/a.jsonl:0: places on servers are not read (name documents by their ids",
        ),
        (&["edited.txt"], "name two documents"),
        (&["--pair", "edited.txt"], "--id"),
        (
            &["--pair", "edited.txt", "--id", "x"],
            "edited.txt: line 1 is not one of duplicates.jsonl",
        ),
    ] {
        let refusal = of(args);
        assert!(refusal.contains(message), "{args:?}: {refusal}");
    }
}

#[test]
fn hostile_bytes_stay_harmless() {
    let directory = tempfile::tempdir().unwrap();
    let hostile = b"a \x1b]0;owned\x07 \x1b[2J \xff\xfe \xe2\x80\xae b \x9b31m \r\x08\x00 end";
    fs::write(directory.path().join("a"), hostile).unwrap();
    fs::write(
        directory.path().join("b"),
        b"a plain text, which is at its end",
    )
    .unwrap();
    let lines = [
        line("\u{1b}[31m\n\u{202e}", "\u{1b}[2J text"),
        line("b", "text"),
    ]
    .concat();
    fs::write(directory.path().join("c.jsonl"), lines).unwrap();
    for args in [
        ["explain", "a", "b", "--format", "whole-file"].as_slice(),
        &["explain", "\u{1b}[31m\n\u{202e}", "b", "--in", "c.jsonl"],
    ] {
        let shown = shown(directory.path(), args);
        let harmless =
            |letter: char| letter == '\n' || !letter.is_control() && letter != '\u{202e}';
        assert!(shown.chars().all(harmless), "{shown:?}");
        assert!(shown.contains("\\x1b"));
    }
}

#[test]
fn huge_documents_end() {
    let directory = tempfile::tempdir().unwrap();
    let mut texts = [String::new(), String::new(), "spam eggs ".repeat(300_000)];
    for number in 0..300_000_u32 {
        let mixed = number.wrapping_mul(2_654_435_761);
        texts[0] += &format!("w{} ", mixed % 997);
        texts[1] += &format!("w{} ", mixed.rotate_left(13) % 991);
    }
    for (name, text) in ["a", "b", "c"].iter().zip(&texts) {
        fs::write(directory.path().join(name), text).unwrap();
    }
    for pair in [["a", "b"], ["a", "c"], ["c", "c"]] {
        let args = [&["explain"], &pair[..], &["--format", "whole-file"]].concat();
        let shown = shown(directory.path(), &args);
        assert!(shown.contains(" words …"));
    }
}

/// Promise (Errors and interruptions): `explain` also accepts ids after the values of `--in`, and
/// finds the files of `--pair` from other directories
#[test]
fn ids_stand_before_or_behind_the_inputs() {
    let place = corpus();
    let before = shown(
        place.path(),
        &["explain", "original", "edited", "--in", "dump.jsonl"],
    );
    for args in [
        ["explain", "--in", "dump.jsonl", "original", "edited"],
        ["explain", "original", "--in", "dump.jsonl", "edited"],
    ] {
        assert_eq!(shown(place.path(), &args), before, "{args:?}");
    }
    for (args, part) in [
        (
            ["explain", "--in", "dump.jsonl", "original"].as_slice(),
            "is a file, where an id",
        ),
        (
            &["explain", "--in", "original", "edited"],
            "name two documents: A B",
        ),
        (&["explain", "original"], "name two documents: A B"),
        (
            &[
                "explain",
                "--in",
                "dump.jsonl",
                "original.txt",
                "edited.txt",
            ],
            "original.txt: is a file",
        ),
    ] {
        let message = refused(place.path(), args);
        assert!(message.contains(part), "{args:?}: {message}");
    }
}

/// Promise (Errors and interruptions): `explain` also accepts ids after the values …
#[test]
fn a_pair_is_found_from_another_directory() {
    let place = corpus();
    let dedup = [
        "dedup",
        "dump.jsonl",
        "-o",
        "runs/out",
        "--quiet",
        "--method",
        "shingles",
    ];
    simtool(place.path(), &dedup).assert().success();
    let explain = |directory: &str, list: &str| {
        let args = ["explain", "--pair", list, "--id", "edited"];
        simtool(&place.path().join(directory), &args).assert()
    };
    let list = "runs/out/duplicates.jsonl";
    let here = explain("", list).success().get_output().stdout.clone();
    for (directory, list) in [
        ("runs", "out/duplicates.jsonl"),
        ("runs/out", "duplicates.jsonl"),
        ("runs/out", "../../runs/out/duplicates.jsonl"),
    ] {
        let shown = explain(directory, list)
            .success()
            .get_output()
            .stdout
            .clone();
        let text = |bytes: &[u8]| {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            let root = place.path().canonicalize().unwrap();
            text.replace(&format!("{}/", root.display()), "")
        };
        assert_eq!(text(&shown), text(&here), "{directory}");
    }
    let moved = place.path().join("runs/moved");
    fs::rename(place.path().join("dump.jsonl"), moved).unwrap();
    let assert = explain("runs", "out/duplicates.jsonl").code(2);
    let message = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(
        message.contains("dump.jsonl: is neither here nor in a directory above"),
        "{message}"
    );
}

//! `simtool methods`, `match`, `evaluate` and `tune` on small collections whose answer is known.

use assert_cmd::assert::Assert;
use serde_json::Value;
use simtool::sketch::registry::METHODS;
use std::fs;
use std::path::PathBuf;

use crate::sandbox::{SIMTOOL, Sandbox};

struct Place(Sandbox);

impl Place {
    /// Ten texts, edited copies of the even ones, and the truth about them.
    fn new() -> Place {
        let place = Place(Sandbox::new());
        let line = |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
        let originals: String = (0..10)
            .map(|number| line(&format!("d{number}"), &text(number, 0)))
            .collect();
        let copies: String = (0..10)
            .step_by(2)
            .map(|number| line(&format!("c{number}"), &text(number, 1)))
            .collect();
        place.write("docs.jsonl", format!("{originals}{copies}"));
        place.write("originals.jsonl", originals);
        place.write("copies.jsonl", copies);
        let near = (0..10).step_by(2).map(|n| format!("d{n}\tc{n}\tedited\n"));
        let far = (0..10)
            .step_by(2)
            .map(|n| format!("d{}\tc{n}\tunrelated\n", n + 1));
        let pairs: String = near.chain(far).collect();
        place.write("pairs.tsv", format!("a\tb\tlabel\n{pairs}"));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        self.0.write(name, text);
    }

    fn run(&self, arguments: &[&str]) -> Assert {
        self.0.command(SIMTOOL).args(arguments).assert()
    }

    fn stdout(&self, arguments: &[&str]) -> String {
        let assert = self.run(arguments).success();
        let told = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        match arguments[0] {
            "match" if !arguments.contains(&"--quiet") => assert!(
                told.contains(" samples, ") && told.lines().count() == 1,
                "{told}"
            ),
            _ => assert_eq!(told, ""),
        }
        String::from_utf8(assert.get_output().stdout.clone()).unwrap()
    }

    fn refused(&self, arguments: &[&str], part: &str) {
        let assert = self.run(arguments).code(2).stdout("");
        let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(message.contains(part), "{part:?} in {message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

/// Sentences of a text; an edit changes a word of the last.
fn text(number: usize, edit: usize) -> String {
    let word = |place: usize| format!("word{}", (number * 7919 + place * 31) % 9973);
    let sentence = |sentence: usize| -> String {
        let words: Vec<_> = (0..12).map(|place| word(sentence * 12 + place)).collect();
        format!("This is the {} of it. ", words.join(" "))
    };
    let body: String = (0..12).map(sentence).collect();
    format!("{body}The end number {number} was zz{edit}.")
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn methods_are_listed_and_explained() {
    let place = Place::new();
    let list = place.stdout(&["methods"]);
    for entry in METHODS {
        assert!(list.contains(entry.summary));
        let text = place.stdout(&["methods", entry.name]);
        assert!(text.starts_with(&format!("{}: {}", entry.name, entry.summary)));
    }
    place.refused(
        &["methods", "md6"],
        "method \"md6\": expected one of simhash",
    );
}

/// Each edited copy finds its original and nothing else, by methods that tolerate the edit.
#[test]
fn samples_find_their_articles() {
    let place = Place::new();
    let methods = [
        "simhash",
        "shingle-simhash:distance=12",
        "minhash",
        "shingles",
        "spot-signatures",
        "mirror-5",
        "super-shingles",
        "lexicon-simhash:distance=6",
        "shingles:similarity=0.5 and simhash:distance=12",
        "exact or minhash",
    ];
    for method in methods {
        let found = place.stdout(&[
            "match",
            "--articles",
            "originals.jsonl",
            "--samples",
            "copies.jsonl",
            "--method",
            method,
            "--quiet",
        ]);
        let found = lines(&found);
        let ids = |line: &Value| {
            let matches = line["matches"].as_array().unwrap().iter();
            matches
                .map(|near| near["id"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        let samples: Vec<_> = found.iter().map(|line| line["id"].clone()).collect();
        assert_eq!(samples, ["c0", "c2", "c4", "c6", "c8"], "{method}");
        for (line, number) in found.iter().zip((0..10).step_by(2)) {
            assert_eq!(ids(line), [format!("d{number}")], "{method}: {line}");
            assert_eq!(line["file"], "copies.jsonl");
        }
    }
}

#[test]
fn matches_are_the_same_for_all_resources_and_go_to_a_file() {
    let place = Place::new();
    let run = |threads: &str, output: &str| {
        place.stdout(&[
            "match",
            "--articles",
            "docs.jsonl",
            "--samples",
            "docs.jsonl",
            "--method",
            "simhash:weights=tf-idf,distance=9",
            "--threads",
            threads,
            "-o",
            output,
            "--quiet",
        ])
    };
    assert_eq!(run("1", "one"), "");
    assert_eq!(run("3", "three"), "");
    let one = fs::read_to_string(place.path("one")).unwrap();
    assert_eq!(one, fs::read_to_string(place.path("three")).unwrap());
    assert_eq!(run("2", "-"), one);
    let found = lines(&one);
    assert_eq!(found.len(), 15);
    assert_eq!(found[0]["matches"][0]["distance"], 0);
}

#[test]
fn an_evaluation_counts_what_was_found() {
    let place = Place::new();
    let arguments = [
        "evaluate",
        "docs.jsonl",
        "--pairs",
        "pairs.tsv",
        "--method",
        "shingles",
        "--method",
        "exact",
        "--draws",
        "0",
        "-o",
        "report",
        "--json",
        "--quiet",
    ];
    let told: Value = serde_json::from_str(&place.stdout(&arguments)).unwrap();
    let method = |number: usize| &told["methods"][number];
    assert_eq!(method(0)["name"], "shingles");
    assert_eq!(method(0)["hits"], 5, "{told:#}");
    assert_eq!(method(0)["false_hits"], 0);
    assert_eq!(method(1)["hits"], 0);
    assert_eq!(method(1)["misses"], 5);
    let page = fs::read_to_string(place.path("report/evaluation.html")).unwrap();
    assert!(page.contains("shingles") && page.ends_with("</html>\n"));
    for name in ["evaluation.json", "methods.csv", "curves.csv", "scores.csv"] {
        assert!(
            !fs::read(place.path("report").join(name))
                .unwrap()
                .is_empty(),
            "{name}"
        );
    }
    let screen = place.stdout(&["evaluate", "docs.jsonl", "--pairs", "pairs.tsv", "--quiet"]);
    assert!(
        screen.contains("edited") && screen.contains("simhash"),
        "{screen}"
    );
}

#[test]
fn clusters_and_other_tools_are_a_truth_and_matches() {
    let place = Place::new();
    place.write("clusters.tsv", "d0\tx\nc0\tx\nd1\ty\nd2\tz\nc2\tz\n");
    place.write("other.tsv", "d0\tc0\nd1\td2\n");
    let told = place.stdout(&[
        "evaluate",
        "docs.jsonl",
        "--clusters",
        "clusters.tsv",
        "--method",
        "minhash",
        "--matches",
        "other.tsv",
        "--draws",
        "0",
        "--json",
        "--quiet",
    ]);
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["methods"][0]["hits"], 2);
    assert_eq!(told["methods"][1]["name"], "other.tsv");
    assert_eq!(
        (
            &told["methods"][1]["hits"],
            &told["methods"][1]["false_hits"]
        ),
        (&1.into(), &1.into())
    );
}

/// Promise (Methods and their evaluation): Planted copies are the same in every run, for any number
/// of threads
#[test]
fn planted_copies_are_found_and_the_same_each_time() {
    let place = Place::new();
    let arguments = |threads| {
        [
            "evaluate",
            "originals.jsonl",
            "--planted",
            "--copied",
            "6",
            "--method",
            "shingles",
            "--method",
            "simhash",
            "--draws",
            "10",
            "-o",
            "report",
            "--threads",
            threads,
            "--quiet",
        ]
    };
    let screen = place.stdout(&arguments("1"));
    for label in [
        "substitute-01",
        "move-10",
        "insert-20",
        "truncate-30",
        "boilerplate-05",
        "characters-10",
    ] {
        assert!(screen.contains(label), "{screen}");
    }
    let scores = || fs::read(place.path("report/scores.csv")).unwrap();
    let first = scores();
    place.stdout(&arguments("3"));
    assert_eq!(scores(), first);
}

/// Without far pairs, every threshold is right.
/// Promise (Methods and their evaluation): If the truth has no pair that should not be found,
/// `evaluate` shows no precision
#[test]
fn precision_is_not_shown_where_it_cannot_be_measured() {
    let place = Place::new();
    let pairs = fs::read_to_string(place.path("pairs.tsv")).unwrap();
    let near: String = pairs
        .split_inclusive('\n')
        .filter(|line| !line.contains("unrelated"))
        .collect();
    place.write("near.tsv", near);
    let shown = place.stdout(&["evaluate", "docs.jsonl", "--pairs", "near.tsv", "--quiet"]);
    assert!(
        shown.contains("Precision and F1 cannot be measured"),
        "{shown}"
    );
}

/// Promise (Methods and their evaluation): Invalid parameters, thresholds and truths are refused in
/// one line
#[test]
fn what_cannot_be_is_refused_in_one_line() {
    let place = Place::new();
    let evaluate = |more: &[&str], part: &str| {
        let arguments = [&["evaluate", "docs.jsonl", "--quiet"][..], more].concat();
        place.refused(&arguments, part);
    };
    let pairs = ["--pairs", "pairs.tsv"];
    let with = |more: &[&'static str]| [&pairs[..], more].concat();
    evaluate(
        &with(&["--method", "shingles:shingle=0"]),
        "shingle \"0\": expected 1 to 100",
    );
    evaluate(
        &with(&["--method", "shingles:similarity=1.5"]),
        "expected above 0, at most 1",
    );
    evaluate(
        &with(&["--method", "md6"]),
        "method \"md6\": expected one of",
    );
    evaluate(
        &with(&["--sweep", "rows=1"]),
        "none of the methods has a parameter rows",
    );
    evaluate(
        &with(&["--precision", "2"]),
        "--precision 2: expected a share above 0, at most 1",
    );
    evaluate(&["--pairs", "missing.tsv"], "missing.tsv: cannot be read");
    place.write("unknown.tsv", "a\tb\tlabel\nd0\tnobody\tnear\n");
    evaluate(&["--pairs", "unknown.tsv"], "unknown.tsv: line 2");
    place.write("bad.tsv", "a b label\n");
    evaluate(&["--pairs", "bad.tsv"], "bad.tsv: line 1");
    let search = |more: &[&str], part: &str| {
        let arguments = ["match", "--articles", "docs.jsonl", "--samples"];
        place.refused(&[&arguments[..], more].concat(), part);
    };
    search(&["-"], "is a stream");
    search(&["nothing.jsonl"], "nothing.jsonl");
    search(
        &["docs.jsonl", "--method", "simhash:distance=65"],
        "expected 0 to 64",
    );
}

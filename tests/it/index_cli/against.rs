//! `simtool dedup --against INDEX`: with `--against-only`, it drops the documents for which `index
//! query` has a match.

use std::fs;

use serde_json::{Value, json};

use super::{corpus, line, words};
use crate::sandbox::{Sandbox, stderr};

/// Copies, edited copies, new documents, short and empty ones; every copy twice.
fn dump() -> String {
    let mut all = String::new();
    for number in 0..20 {
        let copy = words(number, 200);
        all += &line(&format!("a{number}"), &copy);
        all += &line(&format!("b{number}"), &(copy.clone() + "more words"));
        all += &line(&format!("c{number}"), &words(5000 + number, 200));
        all += &line(&format!("e{number}"), &words(number, 150));
    }
    all + &line("short", "w1") + &line("empty", "") + "{broken\n"
}

/// Promise (Deduplication): With `--against INDEX`, a document is dropped if the index has a match
/// for it by its own method; conflicting flags are refused
/// Promise (Methods and their evaluation): The HTML page of a deduplication has …
#[test]
fn dropped_documents_are_those_with_a_match_of_a_query() {
    let sandbox = Sandbox::new();
    sandbox.write("old.jsonl", corpus());
    sandbox.write("new.jsonl", dump());
    for (number, method) in [
        "simhash:distance=6",
        "simhash:distance=6,weights=top,top=300",
        "minhash:similarity=0.7",
        "minhash:similarity=0.7 --signatures",
        "shingles:similarity=0.6",
        "exact",
        "content-seen",
    ]
    .into_iter()
    .enumerate()
    {
        let (index, out) = (format!("seen{number}"), format!("out{number}"));
        sandbox.stdout(&format!("index build {index} old.jsonl --method {method}"));
        let query = format!("index query {index} new.jsonl --limit 1 -o asked{number}");
        sandbox.run(&query).code(3);
        let expected: Vec<Value> = sandbox
            .lines(&format!("asked{number}"))
            .iter()
            .filter(|answer| answer["matches"] != json!([]))
            .map(|answer| {
                let near = &answer["matches"][0];
                let estimate = near["estimate"].as_f64();
                let similarity = rounded(near["similarity"].as_f64());
                assert!(similarity.is_some(), "{answer}");
                json!([
                    answer["id"],
                    near["id"],
                    near["distance"],
                    rounded(estimate),
                    similarity,
                    near["shingles"]
                ])
            })
            .collect();
        assert!(expected.len() >= 20, "{method}: {}", expected.len());
        for threads in [1, 2] {
            let out = format!("{out}-{threads}");
            sandbox
                .run(&format!(
                    "dedup new.jsonl --against {index} --against-only -o {out} --write kept \
                     --pairs csv --threads {threads} --memory 512M"
                ))
                .code(3);
            let found: Vec<Value> = sandbox
                .lines(&format!("{out}/duplicates.jsonl"))
                .iter()
                .map(|line| {
                    assert_eq!(line["kept_file"], Value::Null);
                    let counts = [&line["shared"], &line["shingles"]];
                    let counts = counts[0].is_number().then_some(counts);
                    assert_eq!(line["file"], "new.jsonl");
                    let similarity = rounded(line["similarity"].as_f64());
                    // An index says nothing about the sketches of equal words.
                    let is_equal =
                        ["exact", "normalized"].contains(&line["method"].as_str().unwrap());
                    let of_sketches = [&line["distance"], &line["estimate"]];
                    let [distance, estimate] = of_sketches.map(|value| match is_equal {
                        true => Value::Null,
                        false => value.clone(),
                    });
                    json!([
                        line["id"],
                        line["kept"],
                        distance,
                        rounded(estimate.as_f64()),
                        similarity,
                        counts
                    ])
                })
                .collect();
            assert_eq!(ids(&found), ids(&expected), "{method}");
            if !method.starts_with("content") {
                assert_eq!(found, expected, "{method}");
            }

            let summary: Value = serde_json::from_slice(
                &fs::read(sandbox.path(&format!("{out}/summary.json"))).unwrap(),
            )
            .unwrap();
            let count = |name: &str| summary[name].as_u64().unwrap();
            assert_eq!((count("seen"), count("skipped")), (83, 1));
            assert_eq!(count("dropped"), expected.len() as u64);
            assert_eq!(count("kept"), 82 - expected.len() as u64);
            assert_eq!(summary["against"]["documents"], 50);
            // The unreadable line is kept, too.
            let kept = fs::read_to_string(sandbox.path(&format!("{out}/kept/new.jsonl"))).unwrap();
            assert_eq!(
                kept.lines().count() as u64,
                count("kept") + count("skipped")
            );
        }
        for name in [
            "duplicates.jsonl",
            "clusters.jsonl",
            "duplicates.csv",
            "page.html",
            "summary.json",
        ] {
            let one = fs::read(sandbox.path(&format!("{out}-1/{name}"))).unwrap();
            let two = fs::read(sandbox.path(&format!("{out}-2/{name}"))).unwrap();
            assert!(one == two, "{method}: {name}");
        }
        let page = fs::read_to_string(sandbox.path(&format!("{out}-1/page.html"))).unwrap();
        for part in [
            "an index of 50 documents",
            "the index has no texts",
            "in the index",
        ] {
            assert!(page.contains(part), "{method}: {part}");
        }
        // Similarities that the index estimates are called so.
        let dropped = sandbox.lines(&format!("{out}-1/duplicates.jsonl"));
        let of_words = ["exact", "normalized"].map(Value::from);
        let is_near = |line: &&Value| !of_words.contains(&line["method"]);
        let near = dropped.iter().filter(is_near).count();
        let is_estimated = near > 0 && method.ends_with("--signatures");
        let sentence = format!("similarity of {near} of them is estimated from the signatures");
        assert_eq!(page.contains(&sentence), is_estimated, "{method}");
        let is_shown = page.contains("<summary>estimated similarity ");
        assert_eq!(is_shown, is_estimated, "{method}");
        let is_counted = page.contains("shingles shared");
        assert_eq!(is_counted, near > 0 && !is_estimated, "{method}");
        let equal = format!(
            "{} have the same text or the same words",
            dropped.len() - near
        );
        assert!(page.contains(&equal), "{method}");
        assert!(
            !page.contains("were not compared shingle by shingle"),
            "{method}"
        );
    }
}

/// The JSON parser may round the last bit.
fn rounded(number: Option<f64>) -> Option<String> {
    number.map(|number| format!("{number:.9}"))
}

fn ids(pairs: &[Value]) -> Vec<[&Value; 2]> {
    pairs.iter().map(|pair| [&pair[0], &pair[1]]).collect()
}

#[test]
fn duplicates_of_a_known_document_are_one_cluster() {
    let sandbox = Sandbox::new();
    sandbox.write("old.jsonl", corpus());
    sandbox.write("new.jsonl", dump());
    sandbox.stdout("index build seen old.jsonl --method simhash:distance=6");
    let command = "dedup new.jsonl --against seen --against-only -o out --write annotated";
    sandbox.run(command).code(3);
    let pairs = sandbox.lines("out/duplicates.jsonl");
    let clusters = sandbox.lines("out/clusters.jsonl");
    assert!(clusters.len() >= 20);
    for cluster in &clusters {
        let members = cluster["members"].as_array().unwrap();
        assert_eq!(members[0]["id"], cluster["kept"]);
        assert_eq!(members[0]["file"], Value::Null);
        assert!(
            members[1..]
                .iter()
                .all(|member| member["file"] == "new.jsonl")
        );
        assert_eq!(cluster["size"], members.len());
        let of_cluster = pairs.iter().filter(|pair| pair["kept"] == cluster["kept"]);
        let of_cluster: Vec<&Value> = of_cluster.map(|pair| &pair["id"]).collect();
        let ids = members[1..].iter().map(|member| &member["id"]);
        assert_eq!(of_cluster, ids.collect::<Vec<_>>());
        let numbered = pairs
            .iter()
            .filter(|pair| pair["cluster"] == cluster["cluster"]);
        assert_eq!(numbered.count(), of_cluster.len());
    }
    let annotated = fs::read_to_string(sandbox.path("out/annotated/new.jsonl")).unwrap();
    assert_eq!(annotated.lines().count(), 83);
    let readable = |line| serde_json::from_str::<Value>(line).ok();
    let annotated: Vec<Value> = annotated.lines().filter_map(readable).collect();
    assert_eq!(annotated.len(), 82, "one line cannot be read");
    let annotations = annotated.iter().filter_map(|line| line.get("duplicate_of"));
    let kept: Vec<&Value> = pairs.iter().map(|pair| &pair["kept"]).collect();
    assert_eq!(annotations.collect::<Vec<_>>(), kept);
    sandbox.refuse(
        "explain --pair out/duplicates.jsonl --id a3",
        &["a3", "index, which stores no texts"],
    );
    let again = sandbox.run(command).code(3);
    let message = stderr(&again);
    assert!(message.contains("already complete"), "{message}");
    let other = command.replace("annotated", "kept");
    sandbox.refuse(
        &other,
        &["holds the output of a finished run", "settings.write"],
    );
}

/// Promise (Deduplication): With `--against INDEX`, a document is …
#[test]
fn unsuitable_indexes_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("old.jsonl", corpus());
    sandbox.write("new.jsonl", dump());
    sandbox.stdout("index build seen old.jsonl --method simhash:distance=6");
    for (flags, parts) in [
        (
            "--method minhash",
            ["was made with method simhash", "not minhash"],
        ),
        ("--distance 3", ["distance=6", "distance=3"]),
        ("--tokenizer ascii", ["tokenizer auto", "not ascii"]),
        ("--html visible", ["html main", "not visible"]),
        (
            "--against-only --shingle 3",
            ["--shingle", "stores no texts"],
        ),
        ("--keep none", ["no copy is kept", "index"]),
        ("--within site", ["within groups", "index"]),
        ("--cluster components", ["components", "index"]),
        (
            "--against-only --keep longest",
            ["kept copy is chosen", "index"],
        ),
        ("--features 2", ["features=1", "features=2"]),
        (
            "--recall 0.9",
            ["--recall has no effect with --method simhash", "--recall"],
        ),
    ] {
        let line = format!("dedup new.jsonl --against seen -o out {flags}");
        sandbox.refuse(&line, &parts);
        assert!(!sandbox.path("out/summary.json").exists());
    }
    sandbox.refuse(
        "dedup new.jsonl --against old.jsonl seen -o out",
        &["seen", "with other indexes alone"],
    );
    // An index without its database is not read as a directory of documents. The manifest is
    // restored from the database.
    let (part, aside) = (sandbox.path("seen/index.redb"), sandbox.path("aside"));
    fs::rename(&part, &aside).unwrap();
    sandbox.refuse("dedup new.jsonl --against seen -o out", &["seen"]);
    fs::rename(&aside, &part).unwrap();
    sandbox
        .run("dedup new.jsonl --against seen -o whole")
        .code(3);
    fs::remove_file(sandbox.path("seen/index.json")).unwrap();
    sandbox
        .run("dedup new.jsonl --against seen -o lost")
        .code(3);
    let duplicates = |of: &str| fs::read(sandbox.path(of).join("duplicates.jsonl")).unwrap();
    assert_eq!(duplicates("whole"), duplicates("lost"));
    // Flags with the settings of the index are accepted.
    sandbox.stdout("index build chars old.jsonl --method minhash:recall=0.9 --tokenizer chars");
    let same = "--method minhash:recall=0.9 --tokenizer chars";
    for (out, flags) in [("o1", same), ("o2", "--recall 0.9"), ("o3", "")] {
        let line = format!("dedup new.jsonl --against chars --against-only -o {out} {flags}");
        sandbox.run(&line).code(3);
        let summary = fs::read(sandbox.path(&format!("{out}/summary.json"))).unwrap();
        let summary: Value = serde_json::from_slice(&summary).unwrap();
        assert_eq!(summary["settings"]["verification"], Value::Null);
    }
}

#[test]
fn an_index_does_not_tell_what_contains_what() {
    let sandbox = Sandbox::new();
    sandbox.write("old.jsonl", corpus());
    sandbox.stdout("index build seen old.jsonl");
    let line = "dedup old.jsonl -o out --against seen --similarity containment:0.9";
    for flags in ["", "--against-only"] {
        let expected = [
            "seen: is an index",
            "whether a document contains another one",
        ];
        sandbox.refuse(&format!("{line} {flags}"), &expected);
    }
}

#[test]
fn an_index_stores_no_urls() {
    let sandbox = Sandbox::new();
    sandbox.write("old.jsonl", corpus());
    sandbox.stdout("index build seen old.jsonl");
    let line = "dedup old.jsonl -o out --against seen --method url";
    for flags in ["", "--against-only"] {
        sandbox.refuse(
            &format!("{line} {flags}"),
            &["seen: is an index, which stores no URLs"],
        );
    }
}

//! Daily dumps: only new documents are kept, each once.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{line, query, words};
use crate::sandbox::Sandbox;

/// A day's documents: new ones, a copy and an edited copy of each, edited copies of the previous
/// day's, and very short ones.
fn day(number: u64) -> String {
    let mut all = String::new();
    for document in 0..30 {
        let own = number * 100 + document;
        let earlier = own.saturating_sub(97);
        let name = |kind: &str| format!("{kind}{own}");
        all += &line(&name("new"), &words(own, 150));
        all += &line(&name("copy"), &words(own, 150));
        all += &line(&name("edited"), &(words(own, 150) + "one more"));
        all += &line(&name("old"), &(words(earlier, 150) + "an old one"));
        all += &line(&name("short"), &format!("page {}", document % 7));
    }
    all
}

fn summary(sandbox: &Sandbox, out: &str) -> Value {
    let text = std::fs::read(sandbox.path(out).join("summary.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn ids(lines: &[Value]) -> BTreeSet<String> {
    lines.iter().map(|line| line["id"].to_string()).collect()
}

/// The commands of docs/how-to/remove-what-you-have.md.
/// Promise (Deduplication): The daily recipe leaves no duplicates within a day or between days
#[test]
fn the_kept_documents_of_three_days_have_no_duplicates() {
    let sandbox = Sandbox::new();
    for number in 0..3 {
        sandbox.write(&format!("day{number}.jsonl"), day(number));
    }
    sandbox.stdout("dedup day0.jsonl -o out --write kept");
    sandbox.stdout("dedup day1.jsonl --against out/kept -o new --write kept");
    sandbox.stdout("dedup day2.jsonl --against out/kept new/kept -o newer --write kept");
    for (out, references) in [("new", 1), ("newer", 2)] {
        let found = summary(&sandbox, out);
        let against = found["dropped_against"].as_u64().unwrap();
        assert_eq!(
            found["against"]["inputs"].as_array().unwrap().len(),
            references
        );
        assert!(against >= 30, "{found}");
        // Copies and edited copies of the same day.
        assert!(
            found["dropped"].as_u64().unwrap() >= against + 60,
            "{found}"
        );
    }
    // No document of an earlier day was written again.
    sandbox.stdout("dedup out/kept new/kept newer/kept -o all");
    assert_eq!(summary(&sandbox, "all")["dropped"], 0);
    // The new documents were kept.
    assert!(sandbox.lines("new/kept/day1.jsonl").len() > 25);
    assert!(sandbox.lines("newer/kept/day2.jsonl").len() > 25);

    // The same with an index of an exact method.
    sandbox.stdout("index build seen out/kept --method shingles:similarity=0.8");
    sandbox.stdout("dedup day1.jsonl --against seen -o indexed --write kept");
    let same = |name: &str| {
        [
            sandbox.lines(&format!("new/{name}")),
            sandbox.lines(&format!("indexed/{name}")),
        ]
    };
    let [files, index] = same("kept/day1.jsonl").map(|lines| {
        lines
            .iter()
            .map(|line| line["id"].to_string())
            .collect::<Vec<_>>()
    });
    assert_eq!(files, index);
    sandbox.stdout("index add seen indexed/kept");
    sandbox.stdout("dedup day1.jsonl --against seen -o again");
    let again = summary(&sandbox, "again");
    assert_eq!(again["dropped_against"], 150, "{again}");
}

/// Promise (Deduplication): The daily recipe leaves no duplicates …
#[test]
fn dedup_against_an_index_equals_a_query_followed_by_dedup_of_the_rest() {
    let sandbox = Sandbox::new();
    sandbox.write("old.jsonl", day(0));
    sandbox.write("new.jsonl", day(1));
    for (number, method) in [
        "simhash:distance=6 --similarity 0.7",
        "minhash:similarity=0.7",
        "shingles:similarity=0.7",
        "exact",
        "content-seen:distance=3 --similarity 0.7",
    ]
    .into_iter()
    .enumerate()
    {
        let index = format!("seen{number}");
        sandbox.stdout(&format!("index build {index} old.jsonl --method {method}"));
        let asked = query(
            &sandbox,
            &format!("index query {index} new.jsonl --limit 1"),
        );
        let is_known = |line: &&Value| line["matches"] != Value::Array(Vec::new());
        let known = ids(&asked.iter().filter(is_known).cloned().collect::<Vec<_>>());
        assert!(known.len() >= 20, "{method}: {}", known.len());
        let text = day(1);
        let is_left = |line: &&str| {
            let value: Value = serde_json::from_str(line).unwrap();
            !known.contains(&value["id"].to_string())
        };
        let rest: Vec<&str> = text.lines().filter(is_left).collect();
        sandbox.write("rest.jsonl", rest.join("\n"));

        for keep in ["first", "longest"] {
            let (out, plain) = (
                format!("out-{number}-{keep}"),
                format!("plain-{number}-{keep}"),
            );
            // The method `exact` has no similarity.
            let method = method.split(' ').next().unwrap();
            let flags = match method {
                "exact" => format!("--keep {keep}"),
                _ => format!("--similarity 0.7 --keep {keep}"),
            };
            sandbox.stdout(&format!(
                "dedup new.jsonl --against {index} -o {out} {flags}"
            ));
            sandbox.stdout(&format!(
                "dedup rest.jsonl --method {method} -o {plain} {flags}"
            ));
            let found = sandbox.lines(&format!("{out}/duplicates.jsonl"));
            let (of_index, within): (Vec<Value>, Vec<Value>) = found
                .into_iter()
                .partition(|pair| known.contains(&pair["id"].to_string()));
            assert_eq!(ids(&of_index), known, "{method}");
            let expected = sandbox.lines(&format!("{plain}/duplicates.jsonl"));
            assert!(!expected.is_empty(), "{method}");
            let evidence = |pair: &Value| {
                [
                    "id",
                    "kept",
                    "method",
                    "distance",
                    "estimate",
                    "similarity",
                    "shared",
                ]
                .map(|field| pair[field].clone())
            };
            let evidence = |pairs: &[Value]| pairs.iter().map(evidence).collect::<Vec<_>>();
            assert_eq!(evidence(&within), evidence(&expected), "{method} {keep}");
            let found = summary(&sandbox, &out);
            assert_eq!(found["dropped_against"], known.len());
            assert_eq!(found["dropped"], known.len() + expected.len());
        }
    }
}

/// Every day uses the same names of inputs and outputs, and its documents have no ids. So the
/// location of a new document is already the id of another text in the index.
/// Promise (Deduplication): In the daily recipe with an index, documents without ids remain in the
/// index, even if every day has the same file names and output directory; adding the same documents
/// again changes nothing
#[test]
fn documents_without_ids_at_the_location_of_earlier_ones_are_not_lost() {
    const DAYS: u64 = 3;
    const DOCUMENTS: u64 = 20;
    let jsonl = |texts: &[String]| -> String {
        let line = |text: &String| json!({"text": text}).to_string() + "\n";
        texts.iter().map(line).collect()
    };
    let warc = |texts: &[String]| -> String {
        let record = |text: &String| {
            format!(
                "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\n\
                 Content-Length: {}\r\n\r\n{text}\r\n\r\n",
                text.len()
            )
        };
        texts.iter().map(record).collect()
    };
    let text = |texts: &[String]| texts.concat();
    type Write<'a> = &'a dyn Fn(&[String]) -> String;
    let formats: [(&str, Write<'_>, u64); 3] = [
        ("crawl.jsonl", &jsonl, DOCUMENTS),
        ("crawl.warc", &warc, DOCUMENTS),
        ("crawl.txt", &text, 1),
    ];
    for (name, write, each_day) in formats {
        let sandbox = Sandbox::new();
        // A method whose sketches differ for different texts; one text is of a single word.
        let method = "shingles:similarity=0.8";
        let day = |number: u64| {
            // Texts of equal length, so that the locations of each day are the same.
            let word = |word: &str| format!("{word:x>5} ");
            let text =
                |own| -> String { words(number * 100 + own, 40).split(' ').map(word).collect() };
            let mut texts: Vec<String> = (1..DOCUMENTS).map(text).collect();
            texts.push(format!("short{number}"));
            write(&texts)
        };
        sandbox.write(name, day(0));
        sandbox.stdout(&format!("dedup {name} -o new --write kept"));
        sandbox.stdout(&format!("index build seen new/kept --method {method}"));
        for number in 1..DAYS {
            sandbox.write(name, day(number));
            let recipe = format!("dedup {name} --against seen -o new --write kept --restart");
            sandbox.stdout(&recipe);
            assert_eq!(summary(&sandbox, "new")["kept"], each_day, "{name}");
            let counts = |line: &str| {
                let stdout = sandbox.stdout(line);
                assert!(stdout.contains(" 0 changed"), "{name}: {stdout}");
                stdout
            };
            let asked = query(&sandbox, "index query seen new/kept");
            assert!(asked.iter().all(|answer| answer["verdict"] != "changed"));
            counts("index add seen new/kept -o added.jsonl");
            let again = counts("index add seen new/kept");
            assert!(again.contains(&format!(" {each_day} unchanged")), "{again}");
        }
        let info: Value = serde_json::from_str(&sandbox.stdout("index info seen --json")).unwrap();
        assert_eq!(info["documents"], DAYS * each_day, "{name}");
        assert_eq!(info["removed"], 0, "{name}");

        // Texts of every day are found again, and the evidence names the location of each.
        for number in 0..DAYS {
            sandbox.write(name, day(number));
            sandbox.stdout(&format!("dedup {name} --against seen -o again --restart"));
            let found = sandbox.lines("again/duplicates.jsonl");
            assert_eq!(found.len() as u64, each_day, "{name}");
            for pair in &found {
                let kept = pair["kept"].as_str().unwrap();
                assert_eq!(
                    kept.strip_prefix("new/kept/"),
                    pair["id"].as_str(),
                    "{pair}"
                );
                assert_eq!(pair["method"], "exact", "{pair}");
            }
        }

        // All texts of a location are removed with its name.
        let last = sandbox.lines("added.jsonl")[0]["id"].clone();
        let first = last.as_str().unwrap();
        sandbox.stdout(&format!("index remove seen {first}"));
        let info: Value = serde_json::from_str(&sandbox.stdout("index info seen --json")).unwrap();
        assert_eq!(info["documents"], DAYS * (each_day - 1), "{name}");
        let again = sandbox.stdout("index add seen new/kept");
        let counts = format!(": 1 new, 0 duplicate, {} unchanged", each_day - 1);
        assert!(again.contains(&counts), "{again}");
    }
}

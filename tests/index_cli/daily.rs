//! Day after day: only what is new, each document once.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Place, line, words};

/// A day's documents: new ones, copies and edited copies of them, and of those of other days.
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

fn summary(place: &Place, out: &str) -> Value {
    let text = std::fs::read(place.path(out).join("summary.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn ids(lines: &[Value]) -> BTreeSet<String> {
    lines.iter().map(|line| line["id"].to_string()).collect()
}

/// The commands of docs/DEDUP.md.
#[test]
fn what_is_kept_of_three_days_has_no_duplicates() {
    let place = Place::new();
    for number in 0..3 {
        place.write(&format!("day{number}.jsonl"), day(number));
    }
    place.stdout("dedup day0.jsonl -o out --write kept");
    place.stdout("dedup day1.jsonl --against out/kept -o new --write kept");
    place.stdout("dedup day2.jsonl --against out/kept new/kept -o newer --write kept");
    for (out, references) in [("new", 1), ("newer", 2)] {
        let found = summary(&place, out);
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
    place.stdout("dedup out/kept new/kept newer/kept -o all");
    assert_eq!(summary(&place, "all")["dropped"], 0);
    // No document of an earlier day was written again.
    assert!(place.lines("new/kept/day1.jsonl").len() > 25);
    assert!(place.lines("newer/kept/day2.jsonl").len() > 25);

    // The same with an index, of a method that an index can take at its word.
    place.stdout("index build seen out/kept --method shingles:similarity=0.8");
    place.stdout("dedup day1.jsonl --against seen -o indexed --write kept");
    let same = |name: &str| {
        [
            place.lines(&format!("new/{name}")),
            place.lines(&format!("indexed/{name}")),
        ]
    };
    let [files, index] = same("kept/day1.jsonl").map(|lines| {
        // Short documents have no sketch, so the index does not know them.
        let is_long = |line: &&Value| !line["id"].as_str().unwrap().starts_with("short");
        lines
            .iter()
            .filter(is_long)
            .map(|line| line["id"].to_string())
            .collect::<Vec<_>>()
    });
    assert_eq!(files, index);
    place.stdout("index add seen indexed/kept");
    place.stdout("dedup day1.jsonl --against seen -o again");
    let again = summary(&place, "again");
    assert_eq!(again["dropped_against"], 120, "{again}");
}

#[test]
fn an_index_gives_what_a_query_and_a_deduplication_give() {
    let place = Place::new();
    place.write("old.jsonl", day(0));
    place.write("new.jsonl", day(1));
    for (number, method) in [
        "simhash:distance=6",
        "minhash:similarity=0.7",
        "shingles:similarity=0.7",
        "exact",
        "content-seen:distance=3",
    ]
    .into_iter()
    .enumerate()
    {
        let index = format!("seen{number}");
        place.stdout(&format!("index build {index} old.jsonl --method {method}"));
        let asked = place.query(&format!("index query {index} new.jsonl --limit 1"));
        let known = |line: &&Value| {
            let is_short = line["id"].as_str().unwrap().starts_with("short");
            // Too short for a method to be trusted, unless it compares texts of any length.
            let takes_any = method == "exact" || method.starts_with("content-seen");
            (takes_any || !is_short) && line["matches"] != Value::Array(Vec::new())
        };
        let known = ids(&asked.iter().filter(known).cloned().collect::<Vec<_>>());
        assert!(known.len() >= 20, "{method}: {}", known.len());
        let text = day(1);
        let is_left = |line: &&str| {
            let value: Value = serde_json::from_str(line).unwrap();
            !known.contains(&value["id"].to_string())
        };
        let rest: Vec<&str> = text.lines().filter(is_left).collect();
        place.write("rest.jsonl", rest.join("\n"));

        for keep in ["first", "longest"] {
            let (out, plain) = (
                format!("out-{number}-{keep}"),
                format!("plain-{number}-{keep}"),
            );
            // Texts that are compared by equality have no similarity.
            let flags = match method {
                "exact" => format!("--keep {keep}"),
                _ => format!("--similarity 0.7 --keep {keep}"),
            };
            place.stdout(&format!(
                "dedup new.jsonl --against {index} -o {out} {flags}"
            ));
            place.stdout(&format!(
                "dedup rest.jsonl --method {method} -o {plain} {flags}"
            ));
            let found = place.lines(&format!("{out}/duplicates.jsonl"));
            let (of_index, within): (Vec<Value>, Vec<Value>) = found
                .into_iter()
                .partition(|pair| known.contains(&pair["id"].to_string()));
            assert_eq!(ids(&of_index), known, "{method}");
            let expected = place.lines(&format!("{plain}/duplicates.jsonl"));
            assert!(!expected.is_empty(), "{method}");
            let told = |pair: &Value| {
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
            let told = |pairs: &[Value]| pairs.iter().map(told).collect::<Vec<_>>();
            assert_eq!(told(&within), told(&expected), "{method} {keep}");
            let found = summary(&place, &out);
            assert_eq!(found["dropped_against"], known.len());
            assert_eq!(found["dropped"], known.len() + expected.len());
        }
    }
}

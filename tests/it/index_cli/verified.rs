//! Matches of an index are verified: no different texts match, and similar ones still do.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{query, words};
use crate::sandbox::{Sandbox, json_lines};

/// Short notices of a few templates: most of their words are the same, so their fingerprints are
/// near, and few of their runs of five words are.
fn notices(seed: u64, count: u64) -> Vec<(String, String)> {
    let notice = |number: u64| {
        let own = words(seed + number, 12);
        let own: Vec<&str> = own.split_whitespace().collect();
        let text = match number % 3 {
            0 => format!(
                "{} corp said {} its quarterly dividend of {} cts per share will be paid on {} to \
                 holders of record on {} and the board said {} the outlook for {} is good",
                own[0], own[1], own[2], own[3], own[4], own[5], own[6]
            ),
            1 => format!(
                "{} said it sold {} shares of {} for {} dlrs",
                own[0], own[1], own[2], own[3]
            ),
            _ => format!(
                "net {} vs {} revenue {} vs {} shares {} vs {} note {} results include a gain of {} \
                 dlrs from the sale of {} in the year",
                own[0], own[1], own[2], own[3], own[4], own[5], own[6], own[7], own[8]
            ),
        };
        (format!("{seed}-{number}"), text)
    };
    (0..count).map(notice).collect()
}

/// Copies of long texts with some words replaced: similar to their originals to various degrees.
fn revisions(originals: &[(String, String)]) -> Vec<(String, String)> {
    let revise = |(number, (id, text)): (usize, &(String, String))| {
        let every = [40, 120, 400, 15][number % 4];
        let words = text.split_whitespace().enumerate();
        let words = words.map(|(place, word)| match place % every {
            7 => "changed",
            _ => word,
        });
        let text: Vec<&str> = words.collect();
        (format!("revision of {id}"), text.join(" "))
    };
    originals.iter().enumerate().map(revise).collect()
}

fn lines(texts: &[(String, String)]) -> String {
    let line = |(id, text): &(String, String)| json!({"id": id, "text": text}).to_string() + "\n";
    texts.iter().map(line).collect()
}

fn shingles(text: &str) -> BTreeSet<Vec<&str>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.len() {
        0..5 => BTreeSet::from([words]),
        _ => words.windows(5).map(<[&str]>::to_vec).collect(),
    }
}

fn jaccard(a: &str, b: &str) -> f64 {
    let (a, b) = (shingles(a), shingles(b));
    let shared = a.intersection(&b).count();
    shared as f64 / (a.len() + b.len() - shared) as f64
}

/// Four times the standard error of an estimated similarity from `least` on; that of a float if it is
/// exact.
fn error(least: f64, is_estimated: bool) -> f64 {
    match is_estimated {
        true if least < 0.8 => 0.14,
        true => 0.07,
        false => 1e-9,
    }
}

/// A matched document with the similarity that the index reports.
type Found = BTreeMap<String, BTreeMap<String, f64>>;

fn found(answers: &[Value]) -> Found {
    let matches = |answer: &Value| {
        let near = answer["matches"].as_array().unwrap().iter();
        near.map(|near| {
            let similarity = near["similarity"].as_f64().unwrap();
            (near["id"].as_str().unwrap().to_owned(), similarity)
        })
        .collect()
    };
    let of = |answer: &Value| (answer["id"].as_str().unwrap().to_owned(), matches(answer));
    answers.iter().map(of).collect()
}

/// Promise (The index): Matches of an index are verified: of texts of templates and of revisions,
/// all matches have exactly the similarity that is reported, or within its error if it is estimated;
/// queries, additions and `dedup --against` agree
#[test]
fn only_similar_texts_match_and_all_commands_agree() {
    let sandbox = Sandbox::new();
    let long: Vec<(String, String)> = (0..120)
        .map(|number| {
            (
                format!("long {number}"),
                words(5000 + number, 150 + 7 * number),
            )
        })
        .collect();
    let old = [notices(0, 600), long.clone()].concat();
    let new = [notices(10_000, 600), revisions(&long)].concat();
    let texts: BTreeMap<&str, &str> = old.iter().map(|(id, text)| (&id[..], &text[..])).collect();
    sandbox.write("old.jsonl", lines(&old));
    sandbox.write("new.jsonl", lines(&new));
    for (name, flags, least) in [
        ("usual", "", 0.8),
        ("lower", "--similarity 0.5", 0.5),
        ("wide", "--method simhash:bits=128,distance=24", 0.8),
        ("narrow", "--method simhash:bits=32,distance=6", 0.8),
        ("minhash", "--method minhash", 0.8),
        ("minhash-lower", "--method minhash:similarity=0.5", 0.5),
        ("minhash-signatures", "--method minhash --signatures", 0.8),
        ("lower-signatures", "--similarity 0.5 --signatures", 0.5),
    ] {
        let error = error(least, name.ends_with("signatures"));
        sandbox.stdout(&format!("index build {name} old.jsonl {flags}"));
        let answers = query(
            &sandbox,
            &format!("index query {name} new.jsonl --limit 1000"),
        );
        let all = found(&answers);
        let known = query(&sandbox, &format!("index query {name} old.jsonl --limit 1"));
        let is_kept = |answer: &&Value| answer["kept"] == true;
        let kept: BTreeSet<&str> = known
            .iter()
            .filter(is_kept)
            .map(|answer| answer["id"].as_str().unwrap())
            .collect();
        let (mut wrong, mut right, mut similar) = (0, 0, 0);
        for (id, text) in &new {
            for (near, similarity) in &all[id] {
                let exact = jaccard(text, texts[&near[..]]);
                assert!(
                    (exact - similarity).abs() < error,
                    "{name} {id} {near}: {exact}"
                );
                assert!(*similarity >= least, "{name} {id} {near}: {similarity}");
                assert!(kept.contains(&near[..]), "{name} {id} {near}");
                wrong += usize::from(exact < least - error);
            }
            let original = id.strip_prefix("revision of ");
            let Some(original) = original.filter(|original| kept.contains(original)) else {
                continue;
            };
            if jaccard(text, texts[original]) >= least + error {
                right += u32::from(all[id].contains_key(original));
                similar += 1;
            }
        }
        assert_eq!(wrong, 0, "{name}");
        // The method itself misses some, most of all a fingerprint of short texts.
        assert!(right >= 45, "{name}: {right} of {similar}");
        if name.starts_with("minhash") {
            assert!(right * 10 >= similar * 9, "{name}: {right} of {similar}");
        }

        // The same decisions against the index, and by additions.
        let out = format!("out-{name}");
        sandbox.stderr(&format!(
            "dedup new.jsonl --against {name} --against-only -o {out}"
        ));
        let dropped = json_lines(&sandbox.read(&format!("{out}/duplicates.jsonl")));
        let matched: BTreeSet<&str> = all
            .iter()
            .filter(|(_, matches)| !matches.is_empty())
            .map(|(id, _)| &id[..])
            .collect();
        let gone: BTreeSet<&str> = dropped
            .iter()
            .map(|line| line["id"].as_str().unwrap())
            .collect();
        assert_eq!(gone, matched, "{name}");
        for line in &dropped {
            let (id, kept) = (line["id"].as_str().unwrap(), line["kept"].as_str().unwrap());
            assert_eq!(
                line["similarity"].as_f64(),
                all[id].get(kept).copied(),
                "{line}"
            );
        }
        sandbox.stdout(&format!(
            "index add {name} new.jsonl -o added.jsonl --limit 1000"
        ));
        for answer in json_lines(&sandbox.read("added.jsonl")) {
            let id = answer["id"].as_str().unwrap();
            // Besides the old documents, an added one may match another new one.
            let known: BTreeSet<String> = found(std::slice::from_ref(&answer))[id]
                .keys()
                .filter(|near| texts.contains_key(&near[..]))
                .cloned()
                .collect();
            let expected: BTreeSet<String> = all[id].keys().cloned().collect();
            assert_eq!(known, expected, "{name} {id}");
        }
    }
}

/// Promise (The index): Matches of an index are verified: …
#[test]
fn short_texts_match_if_they_have_the_same_words() {
    let sandbox = Sandbox::new();
    let old = [
        ("a", "page not found"),
        ("b", "sold"),
        ("c", "the end of the year"),
    ];
    let new = [
        ("same", "Page not found!"),
        ("other order", "found not page"),
        ("one more", "page not found here"),
        ("one word", "Sold."),
        ("other word", "bought"),
    ];
    let own = |texts: &[(&str, &str)]| -> Vec<(String, String)> {
        let texts = texts.iter();
        texts
            .map(|(id, text)| (id.to_string(), text.to_string()))
            .collect()
    };
    sandbox.write("old.jsonl", lines(&own(&old)));
    sandbox.write("new.jsonl", lines(&own(&new)));
    sandbox.stdout("index build seen old.jsonl");
    let answers = query(&sandbox, "index query seen new.jsonl");
    let verdicts: Vec<&Value> = answers.iter().map(|answer| &answer["verdict"]).collect();
    assert_eq!(verdicts, ["duplicate", "new", "new", "duplicate", "new"]);
    sandbox.stderr("dedup new.jsonl --against seen -o out");
    let dropped = json_lines(&sandbox.read("out/duplicates.jsonl"));
    let dropped: Vec<&Value> = dropped.iter().map(|line| &line["id"]).collect();
    assert_eq!(dropped, ["same", "one word"]);
}

#[test]
fn the_similarity_of_an_index_can_be_raised_for_a_command() {
    let sandbox = Sandbox::new();
    let old = words(1, 300);
    let new = revisions(&[("a".to_owned(), old.clone())]);
    assert!((0.7..0.8).contains(&jaccard(&old, &new[0].1)));
    sandbox.write("old.jsonl", lines(&[("a".to_owned(), old)]));
    sandbox.write("new.jsonl", lines(&new));
    sandbox.stdout("index build seen old.jsonl --method minhash --similarity 0.6");
    let verdict = |line: &str| query(&sandbox, line)[0]["verdict"].clone();
    assert_eq!(verdict("index query seen new.jsonl"), "duplicate");
    assert_eq!(
        verdict("index query seen new.jsonl --similarity 0.9"),
        "new"
    );
    let against = "dedup new.jsonl --against seen -o out --restart";
    for (flags, dropped) in [
        ("", 1),
        ("--similarity 0.6", 1),
        ("--against-only", 1),
        ("--against-only --similarity 0.9", 0),
    ] {
        sandbox.stderr(&format!("{against} {flags}"));
        let summary: Value = serde_json::from_str(&sandbox.read("out/summary.json")).unwrap();
        assert_eq!(summary["dropped"], dropped, "{flags}");
    }
    // What was decided about documents of the index was decided by its own similarity.
    for line in [
        &format!("{against} --similarity 0.9"),
        "index add seen new.jsonl --similarity 0.9",
    ] {
        sandbox.refuse(line, &["seen: was made with another similarity"]);
    }
    sandbox.refuse(
        "index build exact old.jsonl --method exact --similarity 0.9",
        &["--similarity has no effect with --method exact"],
    );
    sandbox.refuse(
        "index build sets old.jsonl --method shingles --similarity 0.9",
        &["--method shingles:similarity=SHARE"],
    );
}

/// A service starts again with the flags with which it made its index.
#[test]
fn the_flags_that_made_an_index_open_it() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines(&[("a".to_owned(), words(1, 300))]));
    let all = ["", "--similarity 0.7", "--tokenizer chars"];
    for (number, flags) in all.into_iter().enumerate() {
        let made = format!("--method minhash {flags}");
        sandbox.stdout(&format!("index build seen{number} a.jsonl {made}"));
        for again in [made.as_str(), flags, ""] {
            let line = format!("index query seen{number} a.jsonl {again}");
            assert_eq!(query(&sandbox, &line)[0]["verdict"], "unchanged", "{line}");
        }
        sandbox.stderr(&format!("index add seen{number} a.jsonl {made}"));
    }
    // The tokenizer is that of the index, and the similarity is that of a command.
    let chars = "index query seen2 a.jsonl --method minhash";
    assert_eq!(query(&sandbox, chars)[0]["verdict"], "unchanged");
    let raised = "index query seen0 a.jsonl --method minhash --similarity 0.9";
    assert_eq!(query(&sandbox, raised)[0]["verdict"], "unchanged");
    sandbox.refuse(
        "index query seen0 a.jsonl --method simhash",
        &["was made with method minhash", "not simhash"],
    );
}

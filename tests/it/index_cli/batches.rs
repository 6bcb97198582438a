//! Batches that are added one after another get the decisions of one `simtool dedup` of all.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::line;
use crate::sandbox::{Sandbox, json_lines};

/// A generator of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ mixed >> 27) % most
    }
}

/// Texts in families: copies, other cases, edits of edits that drift apart, texts of few or no words.
fn collection(random: &mut Random, count: u64) -> Vec<String> {
    let mut texts: Vec<Vec<String>> = Vec::new();
    let mut lines = Vec::new();
    for number in 0..count {
        let word = |random: &mut Random| format!("w{}", random.below(5000));
        let mut words: Vec<String> = match texts.len() {
            0..8 => (0..30 + random.below(60)).map(|_| word(random)).collect(),
            some => texts[random.below(some as u64) as usize].clone(),
        };
        let mut text = match random.below(12) {
            0 => ["", "...", "the and of", "a b", "?!", "one two three four"]
                [random.below(6) as usize]
                .into(),
            1 | 2 => words.join(" "),
            3 => words.join(" ").to_uppercase(),
            4 => words.join(", "),
            edits => {
                for _ in 0..edits - 4 {
                    let place = random.below(words.len() as u64) as usize;
                    words[place] = word(random);
                }
                words.join(" ")
            }
        };
        if number % 41 == 40 {
            text = (0..40).map(|_| word(random) + " ").collect();
        }
        texts.push(words);
        lines.push(line(&format!("d{number}"), &text));
    }
    lines
}

/// Kept document, whether equal or near, and the two counts, of each dropped document.
type Decisions = BTreeMap<String, Value>;

fn decided(pairs: &str) -> Decisions {
    let pair = |pair: &Value| {
        let kind = match pair["method"].as_str().unwrap() {
            equal @ ("exact" | "normalized") => equal,
            _ => "near",
        };
        let counts = match kind {
            "near" => json!([pair["shared"], pair["shingles"]]),
            _ => Value::Null,
        };
        let id = pair["id"].as_str().unwrap().to_owned();
        (id, json!([pair["kept"], kind, counts]))
    };
    json_lines(pairs).iter().map(pair).collect()
}

fn answered(answers: &[Value]) -> Decisions {
    let dropped = answers.iter().filter(|answer| answer["kept"] == false);
    let decision = |answer: &Value| {
        let found = &answer["matches"][0];
        let near = found.get("distance").or(found.get("estimate")).is_some();
        let (kind, counts) = match near {
            true => ("near", found["shingles"].clone()),
            false => ("equal", Value::Null),
        };
        let id = answer["id"].as_str().unwrap().to_owned();
        (id, json!([found["id"], kind, counts]))
    };
    dropped.map(decision).collect()
}

/// The same without the difference between equal texts and equal words.
fn without_kinds(decisions: &Decisions) -> Decisions {
    let plain = |decision: &Value| match decision[1].as_str() {
        Some("near") => decision.clone(),
        _ => json!([decision[0], "equal", null]),
    };
    decisions
        .iter()
        .map(|(id, decision)| (id.clone(), plain(decision)))
        .collect()
}

const METHODS: [&str; 7] = [
    "",
    "--method minhash --similarity 0.6",
    "--method simhash",
    "--method simhash:bits=128",
    "--method shingles",
    "--method normalized",
    "--method exact",
];

/// Promise (The index): Batches that are added one after another are kept and dropped as by one
/// `dedup` of all, for the same documents and with the same counts of shingles; so are those of
/// `dedup --against INDEX`, which is asked before each addition
#[test]
fn batches_are_decided_about_as_by_one_run() {
    for (seed, method) in (0..).zip(METHODS) {
        let mut random = Random(seed);
        let sandbox = Sandbox::new();
        let lines = collection(&mut random, 300);
        sandbox.write("all.jsonl", lines.concat());
        sandbox.stdout(&format!("dedup all.jsonl -o one {method} --write ids"));
        let expected = decided(&sandbox.read("one/duplicates.jsonl"));
        assert!(expected.len() > 60, "{method}: {}", expected.len());

        let (mut known, mut asked) = (Decisions::new(), Decisions::new());
        let mut rest = &lines[..];
        for number in 0.. {
            if rest.is_empty() {
                break;
            }
            let count = (1 + random.below(120)).min(rest.len() as u64) as usize;
            let (batch, later) = rest.split_at(count);
            rest = later;
            sandbox.write("batch.jsonl", batch.concat());
            if number == 0 {
                sandbox.stdout(&format!("index build seen batch.jsonl {method} --dump 0"));
                // What was built is asked for again, under the same ids.
                sandbox.stdout("index query seen batch.jsonl --limit 1 -o answers");
                asked.extend(without_kinds(&decided_alone(&sandbox, method)));
            } else {
                sandbox.stdout(&format!(
                    "dedup batch.jsonl --against seen -o batch{number} {method} --write ids"
                ));
                let pairs = sandbox.read(&format!("batch{number}/duplicates.jsonl"));
                asked.extend(without_kinds(&decided(&pairs)));
                sandbox.stdout(&format!(
                    "index add seen batch.jsonl --dump {number} --limit 1 -o answers"
                ));
            }
            known.extend(answered(&sandbox.lines("answers")));
        }
        assert_eq!(known, without_kinds(&expected), "{method}");
        assert_eq!(asked, without_kinds(&expected), "{method}");
        sandbox.stdout("index check seen");
    }
}

/// What `dedup` decides about the first batch.
fn decided_alone(sandbox: &Sandbox, method: &str) -> Decisions {
    sandbox.stdout(&format!("dedup batch.jsonl -o first {method} --write ids"));
    decided(&sandbox.read("first/duplicates.jsonl"))
}

/// Promise (The index): A dump that is removed leaves the index as if it had never been added
#[test]
fn a_removed_dump_was_never_there() {
    let mut random = Random(77);
    let sandbox = Sandbox::new();
    let lines = collection(&mut random, 240);
    let batches: Vec<String> = lines.chunks(60).map(|batch| batch.concat()).collect();
    for (number, batch) in batches.iter().enumerate() {
        sandbox.write(&format!("{number}.jsonl"), batch);
    }
    let add = |index: &str, numbers: &[u64]| {
        for (place, number) in numbers.iter().enumerate() {
            let command = if place == 0 { "build" } else { "add" };
            sandbox.stdout(&format!(
                "index {command} {index} {number}.jsonl --dump {number}"
            ));
        }
    };
    let answers = |index: &str| {
        let asked = format!("index query {index} 0.jsonl 1.jsonl 2.jsonl 3.jsonl --limit 3");
        json_lines(&sandbox.stdout(&asked))
    };
    for removed in 0..4 {
        let (with, without) = (format!("with{removed}"), format!("without{removed}"));
        add(&with, &[0, 1, 2, 3]);
        let others: Vec<u64> = (0..4).filter(|number| *number != removed).collect();
        add(&without, &others);
        let told = sandbox.stdout(&format!("index remove {with} --dump {removed}"));
        assert!(told.starts_with("60 removed; "), "{told}");
        assert_eq!(answers(&with), answers(&without), "{removed}");
        sandbox.stdout(&format!("index check {with}"));
        sandbox.refuse(
            &format!("index remove {with} --dump {removed}"),
            &["has no dump"],
        );
    }
}

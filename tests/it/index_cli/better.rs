//! Which earlier copy a better one replaces, by the keep order of the index.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, json_lines};

/// What decides, the smallest first: the score, then the length; the earlier of two equal ones.
type Key = (Reverse<u64>, Reverse<usize>, usize);

/// Texts in families of copies and edits, with scores and dates.
fn documents() -> Vec<Value> {
    let text = |number: usize| {
        let family = number * 7 % 5;
        let mut words: Vec<String> = (0..40).map(|word| format!("w{}x{word}", family)).collect();
        match number % 4 {
            0 => {}
            1 => words[number % 40] = "other".into(),
            2 => words.push("end".into()),
            _ => words[3] = words[3].to_uppercase(),
        }
        words.join(" ")
    };
    let document = |number: usize| {
        json!({
            "id": format!("d{number}"),
            "text": text(number),
            "score": number * 13 % 7,
            "url": format!("http://{}.example/", "a".repeat(number * 11 % 9 + 1)),
        })
    };
    (0..60).map(document).collect()
}

fn key(documents: &[Value], id: &Value) -> Key {
    let id = id.as_str().unwrap();
    let place = documents.iter().position(|document| document["id"] == id);
    let document = &documents[place.unwrap()];
    let length = document["text"].as_str().unwrap().len();
    let score = document["score"].as_u64().unwrap();
    (Reverse(score), Reverse(length), place.unwrap())
}

/// The best of each cluster of exported rows.
fn best_of_clusters(documents: &[Value], rows: &[Value]) -> BTreeMap<u64, Value> {
    let mut best: BTreeMap<u64, Value> = BTreeMap::new();
    for row in rows {
        let known = best
            .entry(row["cluster"].as_u64().unwrap())
            .or_insert_with(|| row["id"].clone());
        if key(documents, &row["id"]) < key(documents, known) {
            *known = row["id"].clone();
        }
    }
    best
}

fn lines(documents: &[Value]) -> String {
    documents.iter().map(|line| format!("{line}\n")).collect()
}

/// Promise (The index): A later copy that is better by the keep order of the index names the one that
/// it replaces, in any batches
#[test]
fn better_copies_name_what_they_replace() {
    let documents = documents();
    for borders in [vec![0, 60], vec![0, 1, 2, 30, 60], vec![0, 17, 18, 59, 60]] {
        let sandbox = Sandbox::new();
        let mut answers = Vec::new();
        for (number, batch) in borders.windows(2).enumerate() {
            sandbox.write("batch.jsonl", lines(&documents[batch[0]..batch[1]]));
            let order = match number {
                0 => "--keep field:score,longest",
                _ => "",
            };
            if number == 0 {
                sandbox.write("none.jsonl", "");
                sandbox.stdout(&format!("index build seen none.jsonl {order}"));
            }
            // A question has the answer of the addition.
            let asked = sandbox.stdout("index query seen batch.jsonl --limit 1");
            let command = format!("index add seen batch.jsonl -o - --limit 1 --dump {number}");
            let added = json_lines(&sandbox.stdout(&command));
            if batch[1] == batch[0] + 1 {
                assert_eq!(
                    json_lines(&asked)[0].get("replaces"),
                    added[0].get("replaces")
                );
            }
            answers.extend(added);
        }
        let mut best: BTreeMap<String, Value> = BTreeMap::new();
        let mut replaced = 0;
        for answer in &answers {
            let id = &answer["id"];
            if answer["kept"] == true {
                assert_eq!(answer.get("replaces"), None);
                best.insert(id.as_str().unwrap().into(), id.clone());
                continue;
            }
            let kept = answer["matches"][0]["id"].as_str().unwrap();
            let known = best.get_mut(kept).unwrap();
            let expected = (key(&documents, id) < key(&documents, known)).then(|| known.clone());
            assert_eq!(answer.get("replaces"), expected.as_ref(), "{answer}");
            if expected.is_some() {
                *known = id.clone();
                replaced += 1;
            }
        }
        assert!(replaced > 5, "{replaced}");
        let check = || {
            let rows = json_lines(&sandbox.stdout("index export seen"));
            let best = best_of_clusters(&documents, &rows);
            for row in &rows {
                let is_best = best[&row["cluster"].as_u64().unwrap()] == row["id"];
                assert_eq!(row["best"], is_best, "{row}");
            }
        };
        check();
        sandbox.stdout("index compact seen");
        check();
        sandbox.stdout("index remove seen --dump 0");
        check();
        let info = sandbox.stdout("index info seen");
        assert!(
            info.contains("the best copy by field:score,longest"),
            "{info}"
        );
        sandbox.refuse(
            "index add seen batch.jsonl --keep longest",
            &["was made with --keep field:score,longest, not longest"],
        );
    }
}

#[test]
fn the_kept_document_takes_the_place_of_a_removed_best_one() {
    let sandbox = Sandbox::new();
    let text = (0..40).map(|word| format!("w{word} ")).collect::<String>();
    let line = |id: &str, end: &str| format!("{}\n", json!({"id": id, "text": text.clone() + end}));
    let lines = [line("a", ""), line("b", "and the end"), line("c", "")].concat();
    sandbox.write("in.jsonl", lines);
    sandbox.stdout("index build seen in.jsonl --keep longest");
    let best = || -> Vec<Value> {
        let rows = json_lines(&sandbox.stdout("index export seen"));
        let best = rows.into_iter().filter(|row| row["best"] == true);
        best.map(|row| row["id"].clone()).collect()
    };
    assert_eq!(best(), ["b"]);
    sandbox.stdout("index remove seen b");
    assert_eq!(best(), ["a"]);
    sandbox.write("next.jsonl", [line("d", ""), line("e", "end")].concat());
    let added = json_lines(&sandbox.stdout("index add seen next.jsonl -o -"));
    assert_eq!(added[0].get("replaces"), None);
    assert_eq!(added[1]["replaces"], "a");
    assert_eq!(best(), ["e"]);
}

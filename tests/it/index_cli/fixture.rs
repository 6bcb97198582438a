//! Stored indexes: their settings are read, and the same texts have the same sketches.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};

use super::query;
use crate::sandbox::{Sandbox, json_lines};

/// The indexes and the flags that made them: the default method, fingerprints, narrow ones, and corpus
/// statistics.
const INDEXES: [(&str, &str); 4] = [
    ("minhash", ""),
    ("usual", "--method simhash"),
    ("content-seen", "--method content-seen"),
    ("counted", "--method simhash:weights=tf-idf,lexicon=100"),
];
/// Documents that were built; the others were added.
const BUILT: usize = 12;

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/index-cli")
}

/// All files below a directory.
fn files(directory: PathBuf) -> Vec<PathBuf> {
    let (mut pending, mut files) = (vec![directory], Vec::new());
    while let Some(path) = pending.pop() {
        match path.is_dir() {
            true => pending.extend(
                fs::read_dir(path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            ),
            false => files.push(path),
        }
    }
    files
}

/// Unpacks an index into a directory of its name.
fn unpack(sandbox: &Sandbox, name: &str) {
    for path in files(home().join(name)) {
        let mut bytes = Vec::new();
        let file = fs::File::open(&path).unwrap();
        GzDecoder::new(file).read_to_end(&mut bytes).unwrap();
        let inside = path.strip_prefix(home()).unwrap().with_extension("");
        let unpacked = sandbox.path(inside.to_str().unwrap());
        fs::create_dir_all(unpacked.parent().unwrap()).unwrap();
        fs::write(unpacked, bytes).unwrap();
    }
    // Version control keeps no empty file `lock`.
    fs::write(sandbox.path(name).join("lock"), b"").unwrap();
}

/// The documents as JSON Lines, the same texts under other ids, and the parsed documents.
fn documents() -> (String, String, Vec<Value>) {
    let text = fs::read_to_string(home().join("documents.jsonl")).unwrap();
    let all = json_lines(&text);
    let renamed = all.iter().map(|document| {
        let name = format!("again {}", document["id"].as_str().unwrap());
        json!({"id": name, "text": document["text"]}).to_string() + "\n"
    });
    (text, renamed.collect(), all)
}

fn known(sandbox: &Sandbox, index: &str, all: &[Value]) -> Vec<Value> {
    let one = |document: &Value| {
        let id = document["id"].as_str().unwrap();
        let known = sandbox.stdout(&format!("index info {index} --id {id}"));
        serde_json::from_str(&known).unwrap()
    };
    all.iter().map(one).collect()
}

/// Promise (The index): An index of the format that … (its settings are, too, and the same texts
/// have the same sketches)
#[test]
fn stored_indexes_know_the_same_texts() {
    let sandbox = Sandbox::new();
    let (text, renamed, all) = documents();
    sandbox.write("documents.jsonl", text);
    sandbox.write("renamed.jsonl", renamed);
    for (name, flags) in INDEXES {
        unpack(&sandbox, name);
        let check = sandbox.stdout(&format!("index check {name}"));
        assert_eq!(check, format!("{} documents, no damage found\n", all.len()));
        let line = format!("index query {name} documents.jsonl");
        let answers = query(&sandbox, &line);
        assert_eq!(answers.len(), all.len());
        for answer in &answers {
            assert_eq!(answer["verdict"], "unchanged", "{name}: {answer}");
        }
        let kept = |number: usize| match answers[number]["matches"][0]["id"].as_str() {
            Some(kept) => all.iter().find(|document| document["id"] == kept).unwrap(),
            None => &all[number],
        };
        // Texts without words match nothing.
        let again = query(&sandbox, &format!("index query {name} renamed.jsonl"));
        let expected = known(&sandbox, name, &all);
        for (number, (answer, known)) in again.iter().zip(&expected).enumerate() {
            let has_words = known["fingerprint"] != "" || answer["too_short"] == true;
            if !has_words {
                assert_eq!(answer["verdict"], "empty", "{name}: {answer}");
                continue;
            }
            assert_eq!(answer["verdict"], "duplicate", "{name}: {answer}");
            let (found, of) = (&answer["matches"][0], kept(number));
            assert_eq!(found["id"], of["id"], "{name}: {answer}");
            assert_eq!(found["similarity"] == 1.0, of["id"] == all[number]["id"]);
            assert_eq!(found.get("payload"), of.get("url"));
        }
        let kept = fs::read_to_string(home().join(format!("{name}.jsonl"))).unwrap();
        assert_eq!(expected, json_lines(&kept), "{name}");

        // The index can be changed; a new one has the same sketches if it has no corpus statistics.
        let added = sandbox.stdout(&format!("index add {name} renamed.jsonl"));
        assert!(added.starts_with("15 documents: 0 new,"), "{added}");
        sandbox.stdout(&format!("index compact {name}"));
        sandbox.stdout(&format!(
            "index build new-{name} documents.jsonl --payload url {flags}"
        ));
        if name != "counted" {
            assert_eq!(known(&sandbox, &format!("new-{name}"), &all), expected);
        }
    }
}

/// Makes `testdata/index-cli`, except `documents.jsonl`.
#[test]
#[ignore = "writes testdata"]
fn make() {
    let sandbox = Sandbox::new();
    let (text, _, all) = documents();
    let lines: Vec<&str> = text.lines().collect();
    sandbox.write("built.jsonl", lines[..BUILT].join("\n"));
    sandbox.write("added.jsonl", lines[BUILT..].join("\n"));
    for (name, flags) in INDEXES {
        sandbox.stdout(&format!(
            "index build {name} built.jsonl --payload url {flags}"
        ));
        // A segment, and recent documents.
        sandbox.stdout(&format!("index compact {name}"));
        sandbox.stdout(&format!("index add {name} added.jsonl --payload url"));
        let known = known(&sandbox, name, &all).into_iter();
        let known: String = known.map(|document| document.to_string() + "\n").collect();
        fs::write(home().join(format!("{name}.jsonl")), known).unwrap();
        let is_packed = |path: &PathBuf| !path.ends_with("lock");
        for path in files(sandbox.path(name)).into_iter().filter(is_packed) {
            let inside = path.strip_prefix(sandbox.path("")).unwrap();
            let packed = home().join(format!("{}.gz", inside.to_str().unwrap()));
            fs::create_dir_all(packed.parent().unwrap()).unwrap();
            let mut file = GzEncoder::new(Vec::new(), Compression::best());
            file.write_all(&fs::read(&path).unwrap()).unwrap();
            fs::write(packed, file.finish().unwrap()).unwrap();
        }
    }
}

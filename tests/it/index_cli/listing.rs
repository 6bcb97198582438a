//! The lines that `index` commands print about single documents: added, skipped or looked up.

use std::fs;

use serde_json::{Value, json};

use super::{corpus, line, query, words};
use crate::sandbox::{SIMTOOL, Sandbox, assert_message, json_lines};

/// A document with a date.
fn dated(id: &str, text: &str, url: &str, date: &str) -> String {
    json!({"id": id, "text": text, "url": url, "date": date}).to_string() + "\n"
}

/// Promise (The index): An addition reports, for each document, the verdict of a query, whether it
/// was added, and its distance from its earlier version
#[test]
fn additions_are_listed_line_by_line() {
    let sandbox = Sandbox::new();
    sandbox.write("old.jsonl", corpus());
    sandbox.stdout("index build seen old.jsonl --method simhash:distance=6 --payload url");
    sandbox.stdout("index copy seen asked");
    let new = [
        line("d1", &words(1, 200)),
        line("d2", &words(999, 200)),
        line("n1", &(words(3, 200) + "more")),
        line("n2", &words(1000, 200)),
        line("n3", &(words(1000, 200) + "more")),
        line("n4", ""),
        line("d5", ""),
    ]
    .concat();
    sandbox.write("new.jsonl", &new);
    let added = sandbox.stdout("index add seen new.jsonl --payload url -o added.jsonl");
    let counts = "7 documents: 1 new, 2 duplicate, 1 unchanged, 2 changed, 1 empty; 0 skipped\n";
    assert_eq!(added, counts);

    let mut lines = sandbox.lines("added.jsonl");
    let field =
        |name: &str| -> Vec<Value> { lines.iter().map(|line| line[name].clone()).collect() };
    let verdicts = [
        "unchanged",
        "changed",
        "duplicate",
        "new",
        "duplicate",
        "empty",
        "changed",
    ];
    assert_eq!(field("verdict"), verdicts);
    assert_eq!(
        field("added"),
        [false, true, true, true, true, true, true].map(Value::from)
    );
    // The distance from the earlier version, unless one of the two is empty.
    assert!(lines[1]["distance"].as_u64().unwrap() > 6);
    assert_eq!(lines[6].get("distance"), None);
    let near = &lines[2]["matches"][0];
    assert_eq!(
        (&near["id"], &near["payload"]),
        (&json!("d3"), &json!("http://d3/"))
    );
    let kept = [true, true, false, true, false, true, true].map(Value::from);
    assert_eq!(field("kept"), kept);
    // The document added two lines earlier.
    assert_eq!(lines[4]["matches"][0]["id"], "n2");
    assert_eq!(lines[4]["matches"][0]["payload"], "http://n2/");

    // Otherwise the lines are the answers of a query.
    for line in &mut lines {
        line.as_object_mut().unwrap().remove("added");
    }
    let mut asked = query(&sandbox, "index query asked new.jsonl");
    assert_eq!(asked[4]["verdict"], "new");
    asked[4] = lines[4].clone();
    assert_eq!(lines, asked);

    // If standard output has lines, the counts are on standard error.
    let assert = sandbox
        .run("index add seen new.jsonl -o - --limit 1")
        .success();
    let output = assert.get_output();
    let again = json_lines(std::str::from_utf8(&output.stdout).unwrap());
    assert_eq!(again.len(), 7);
    for line in &again {
        assert_eq!(
            (&line["verdict"], &line["added"]),
            (&json!("unchanged"), &json!(false))
        );
        assert!(line["matches"].as_array().unwrap().len() <= 1);
    }
    let counts = "7 documents: 0 new, 0 duplicate, 7 unchanged, 0 changed, 0 empty; 0 skipped\n";
    assert_eq!(output.stderr, counts.as_bytes());
    sandbox.refuse(
        "index add seen new.jsonl -o here --skipped-report here",
        &["here", "the same place"],
    );
    // `--skipped` is a flag of `dedup` with another meaning; `--skipped-report` is suggested.
    sandbox.refuse(
        "index add seen new.jsonl --skipped here",
        &["--skipped-report"],
    );
}

/// Promise (The index): Skipped documents of an index are counted and listed as in deduplication,
/// including documents that no index accepts
#[test]
fn skipped_documents_are_listed() {
    let sandbox = Sandbox::new();
    let good = line("good", &words(1, 99));
    let large = line("large", &words(2, 900));
    sandbox.write(
        "in.jsonl",
        format!("{good}{{broken\n{{\"id\":\"i\"}}\n{large}"),
    );
    let flags = "--max-document 2K --skipped-report out.jsonl";
    let size = large.len();
    let at = |start: usize, length: usize| json!(["in.jsonl", start, length, null]);
    let starts = [good.len(), good.len() + 8, good.len() + 8 + 11];
    let expected = [
        (json!("in.jsonl:"), at(starts[0], 8), "bad_json"),
        (json!("i"), at(starts[1], 11), "no_text"),
        (json!("in.jsonl:"), at(starts[2], size), "too_large"),
    ];
    for command in ["build seen", "add seen", "query seen"] {
        let _ = fs::remove_file(sandbox.path("out.jsonl"));
        sandbox
            .run(&format!("index {command} in.jsonl {flags}"))
            .code(3);
        let lines = sandbox.lines("out.jsonl");
        assert_eq!(lines.len(), 3, "{command}");
        for (line, (id, at, reason)) in lines.iter().zip(&expected) {
            let id = id.as_str().unwrap();
            assert!(line["id"].as_str().unwrap().starts_with(id), "{line}");
            let found = json!([line["file"], line["start"], line["length"], line["member"]]);
            assert_eq!((&found, &line["reason"]), (at, &json!(reason)));
            assert!(!line["detail"].as_str().unwrap().is_empty());
        }
    }
    // `dedup` lists the same documents in the same way.
    sandbox
        .run("dedup in.jsonl -o dedup --max-document 2K")
        .code(3);
    assert_eq!(
        sandbox.lines("dedup/skipped.jsonl"),
        sandbox.lines("out.jsonl")
    );

    sandbox.write("good.jsonl", &good);
    sandbox.stdout("index add seen good.jsonl --skipped-report none.jsonl");
    assert_eq!(sandbox.lines("none.jsonl"), Vec::<Value>::new());
}

/// Promise (The index): Skipped documents of an index are …
#[test]
fn a_document_that_no_index_accepts_is_skipped_and_named() {
    let sandbox = Sandbox::new();
    let name = "x".repeat(65_536);
    let all = [
        line("a", &words(1, 50)),
        line(&name, &words(2, 50)),
        line("b", &words(3, 50)),
    ];
    sandbox.write("in.jsonl", all.concat());
    sandbox.write("a.jsonl", &all[0]);
    for (command, verdicts) in [
        (
            "build built in.jsonl --method shingles",
            "2 documents: 2 new, 0 duplicate, 0 unchanged",
        ),
        (
            "add added in.jsonl",
            "2 documents: 1 new, 0 duplicate, 1 unchanged",
        ),
    ] {
        if command.starts_with("add") {
            sandbox.stdout("index build added a.jsonl --method shingles");
        }
        let assert = sandbox
            .run(&format!("index {command} --skipped-report skipped.jsonl"))
            .code(3);
        let stdout = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
        assert!(stdout.starts_with(verdicts), "{stdout}");
        assert!(stdout.ends_with("1 skipped\n"), "{stdout}");
        let lines = sandbox.lines("skipped.jsonl");
        assert_eq!(lines.len(), 1);
        assert_eq!(
            (&lines[0]["id"], &lines[0]["reason"]),
            (&json!(name), &json!("too_large"))
        );
        let detail = lines[0]["detail"].as_str().unwrap();
        assert!(detail.starts_with("an id of 65536 bytes"), "{detail}");
    }
    // The id of a query may be of any size.
    let answers = query(&sandbox, "index query built in.jsonl");
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[1]["verdict"], "new");
}

/// Promise (The index): The payload of a document is returned with it
#[test]
fn payloads_are_returned() {
    let sandbox = Sandbox::new();
    let all = [
        dated("a", &words(1, 50), "http://a/", "2026-01-02"),
        dated("b", &words(2, 50), "", "2026-01-03"),
        dated("c", &words(3, 50), "", ""),
    ];
    sandbox.write("old.jsonl", all.concat());
    let new: String = (1..4)
        .map(|number| line(&format!("n{number}"), &words(number, 50)))
        .collect();
    sandbox.write("new.jsonl", new);
    sandbox.write("empty.jsonl", "");
    let both = [
        json!("{\"url\":\"http://a/\",\"date\":\"2026-01-02\"}"),
        json!("{\"date\":\"2026-01-03\"}"),
        Value::Null,
    ];
    let urls = [json!("http://a/"), Value::Null, Value::Null];
    let dates = [json!("2026-01-02"), json!("2026-01-03"), Value::Null];
    for (flag, expected) in [
        ("url,date", both),
        ("url", urls),
        ("date", dates),
        ("none", [Value::Null, Value::Null, Value::Null]),
    ] {
        for command in ["build", "add"] {
            let index = format!("{command}-{flag}");
            if command == "add" {
                sandbox.stdout(&format!("index build {index} empty.jsonl"));
            }
            sandbox.stdout(&format!(
                "index {command} {index} old.jsonl --payload {flag}"
            ));
            let answers = query(&sandbox, &format!("index query {index} new.jsonl"));
            let found: Vec<Value> = answers
                .iter()
                .map(|answer| answer["matches"][0]["payload"].clone())
                .collect();
            assert_eq!(found, expected, "{index}");
            let known = sandbox.stdout(&format!("index info {index} --id a"));
            let known: Value = serde_json::from_str(&known).unwrap();
            let payload = known["payload"].as_str().unwrap();
            assert_eq!(payload, expected[0].as_str().unwrap_or_default());
        }
    }
}

/// Promise (The index): The payload of a document is …
#[test]
fn payloads_are_those_of_the_matched_document_of_an_id() {
    let sandbox = Sandbox::new();
    let all = [
        dated("a", &words(1, 50), "http://first/", ""),
        dated("a", &words(2, 50), "http://second/", ""),
    ];
    sandbox.write("old.jsonl", all.concat());
    sandbox.stdout("index build seen old.jsonl --payload url");
    let new = line("n1", &words(1, 50)) + &line("n2", &words(2, 50));
    sandbox.write("new.jsonl", new);
    let answers = query(&sandbox, "index query seen new.jsonl");
    let found = answers
        .iter()
        .map(|answer| &answer["matches"][0]["payload"]);
    assert_eq!(
        found.collect::<Vec<_>>(),
        ["http://first/", "http://second/"]
    );
    let known = sandbox.stdout("index info seen --id a");
    let known: Value = serde_json::from_str(&known).unwrap();
    assert_eq!(known["payload"], "http://second/", "the newest");
}

/// Promise (The index): The payload of a document is …
#[test]
fn a_document_is_looked_up() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "old.txt",
        b"caf\xe9\nthe cat sat on the mat.\x0cempty\n\x0c".as_slice(),
    );
    sandbox.stdout("index build seen old.txt --format form-feed --method content-seen");
    let known = |id: &str| -> Value {
        serde_json::from_str(&sandbox.stdout(&format!("index info seen --id {id}"))).unwrap()
    };
    assert_eq!(
        known("empty"),
        json!({"id": "empty", "fingerprint": "", "payload": ""})
    );
    sandbox.refuse(
        "index info seen --id nobody",
        &["no document \"nobody\"", "seen"],
    );
    // An id that is not UTF-8.
    use std::os::unix::ffi::OsStrExt;
    let mut command = sandbox.command(SIMTOOL);
    command.args(["index", "info", "seen", "--id"]);
    command.arg(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    let output = command.assert().success().get_output().stdout.clone();
    let expected = json!({"id": "caf\u{fffd}", "id_base64": "Y2Fm6Q==",
        "fingerprint": "db87a2f4", "payload": ""});
    assert_eq!(serde_json::from_slice::<Value>(&output).unwrap(), expected);
}

/// Promise (Complete outputs): A run that fails, even while …
#[test]
fn a_query_that_cannot_spool_its_answers_prints_none_of_them() {
    let sandbox = Sandbox::new();
    // Kept documents that are all near what is asked: the others are no copies of each other.
    let same = words(1, 50);
    let documents: String = (0..100)
        .map(|number| {
            line(
                &format!("d{number}"),
                &(same.clone() + &words(2 + number, 14)),
            )
        })
        .collect();
    sandbox.write("in.jsonl", documents);
    sandbox.stdout("index build seen in.jsonl --similarity 0.8");
    sandbox.write(
        "asked.jsonl",
        (0..100)
            .map(|number| line(&format!("asked{number}"), &same))
            .collect::<String>(),
    );
    let query = "index query seen asked.jsonl --limit 100 --similarity 0.7";
    assert!(sandbox.stdout(query).len() > 200_000);
    let mut command = sandbox.command("sh");
    // Limits files, and so the temporary file of the answers, to 16 KiB (8 KiB in shells with
    // units of 512 bytes).
    command.args(["-c", "ulimit -f 16; exec \"$@\"", "sh", SIMTOOL]);
    let assert = command
        .args(query.split_whitespace())
        .assert()
        .code(2)
        .stdout("");
    assert_message(&assert, &["File too large"]);
}

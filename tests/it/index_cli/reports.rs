//! The reports of the index commands on standard error.

use serde_json::{Value, json};

use super::{corpus, line, words};
use crate::sandbox::{Sandbox, json_lines, stderr};

/// Standard output and the objects on standard error.
fn logged(sandbox: &Sandbox, command: &str, code: i32) -> (String, Vec<Value>) {
    let assert = sandbox
        .run(&format!("index {command} --log json"))
        .code(code);
    let stdout = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    (stdout, json_lines(&stderr(&assert)))
}

const COMMANDS: [&str; 10] = [
    "build seen old.jsonl empty",
    "add seen new.jsonl empty",
    "query seen new.jsonl -o lines",
    "query seen new.jsonl --summary -o lines",
    "remove seen d1 unknown",
    "compact seen",
    "check seen",
    "copy seen copy",
    "export seen -o rows.jsonl",
    "rescue seen rescued",
];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("old.jsonl", corpus());
    sandbox.write(
        "new.jsonl",
        line("d1", &words(1, 200)) + &line("n1", &words(70, 200)),
    );
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    sandbox
}

/// Promise (The index): With `--log json`, all messages, errors and results of the index commands
/// are objects; with `--quiet` there are errors only
#[test]
fn results_and_messages_are_objects_for_programs() {
    let sandbox = sandbox();
    let results = [
        json!({"documents": 50, "new": 50, "duplicate": 0, "unchanged": 0, "changed": 0, "empty": 0,
               "skipped": 0}),
        json!({"documents": 2, "new": 1, "duplicate": 0, "unchanged": 1, "changed": 0, "empty": 0,
               "skipped": 0}),
        json!({"documents": 2, "matched": 0, "unchanged": 2, "changed": 0, "empty": 0,
               "skipped": 0}),
        json!({"documents": 2, "matched": 0, "unchanged": 2, "changed": 0, "empty": 0,
               "skipped": 0}),
        json!({"removed": 1, "not_found": 1}),
        json!({"documents": 50}),
        json!({"documents": 50}),
        json!({"documents": 50}),
        json!({"documents": 50}),
        json!({"saved": 50, "lost": 0}),
    ];
    for (command, mut expected) in COMMANDS.into_iter().zip(results) {
        let (stdout, mut objects) = logged(&sandbox, command, 0);
        assert_eq!(stdout, "", "{command}");
        expected["event"] = json!("result");
        assert_eq!(objects.pop(), Some(expected), "{command}");
        let events: Vec<&str> = objects
            .iter()
            .map(|object| object["event"].as_str().unwrap())
            .collect();
        assert!(
            events
                .iter()
                .all(|event| ["message", "stage"].contains(event)),
            "{command}: {events:?}"
        );
        if command.ends_with(" empty") {
            let message = objects.iter().find(|object| object["event"] == "message");
            let text = message.unwrap()["message"].as_str().unwrap();
            assert!(text.contains("empty (a directory without files)"), "{text}");
        }
    }
    let (_, objects) = logged(&sandbox, "build seen old.jsonl", 2);
    assert_eq!(objects.len(), 1);
    assert_eq!(objects[0]["event"], "error");
    assert!(objects[0]["message"].as_str().unwrap().starts_with("seen"));
}

/// Promise (The index): With `--log json`, all messages, errors …
#[test]
fn a_quiet_command_prints_errors_only() {
    let sandbox = sandbox();
    for command in COMMANDS
        .into_iter()
        .filter(|command| !command.contains("--summary"))
    {
        let assert = sandbox.run(&format!("index {command} --quiet")).code(0);
        let output = assert.get_output();
        assert_eq!(
            (&output.stdout[..], &output.stderr[..]),
            (&b""[..], &b""[..]),
            "{command}"
        );
    }
    sandbox.refuse("index check nothing --quiet", &["simtool: nothing"]);
    sandbox.refuse(
        "index check seen --quiet --log json",
        &["cannot be used with"],
    );
}

#[test]
fn an_empty_directory_among_several_inputs_is_reported() {
    let sandbox = sandbox();
    for command in [
        "index build seen old.jsonl empty",
        "index query seen new.jsonl empty -o lines",
        "dedup old.jsonl empty -o out",
        "match --articles old.jsonl empty --samples new.jsonl -o lines",
    ] {
        let stderr = sandbox.stderr(command);
        assert!(
            stderr.contains("not read: empty (a directory without files)"),
            "{stderr}"
        );
    }
}

//! Standard error of commands: progress while they run, and the result line.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::sandbox::{SIMTOOL, Sandbox, json_lines};

/// Ten documents, of which two have the same text.
fn documents() -> Sandbox {
    let sandbox = Sandbox::new();
    let text = |number: usize| {
        let words: Vec<_> = (0..40)
            .map(|word| format!("w{}", number * 100 + word))
            .collect();
        words.join(" ")
    };
    let line = |number: usize| {
        format!(
            "{{\"id\":\"d{number}\",\"text\":\"{}\"}}\n",
            text(number % 9)
        )
    };
    sandbox.write("docs.jsonl", (0..10).map(line).collect::<String>());
    sandbox
}

const RESULT: &str = "10 documents seen = 9 kept + 1 dropped + 0 skipped; 1 cluster,";

/// Promise (Deduplication): A long run reports its progress …
#[test]
fn a_result_is_written_to_a_pipe_unless_quiet() {
    let sandbox = documents();
    // A summary also lists the largest clusters, here one, under a heading.
    for (number, (flags, lines)) in [("", 1), ("--log none", 1), ("--summary", 3)]
        .iter()
        .enumerate()
    {
        let stderr = sandbox.stderr(&format!("dedup docs.jsonl -o out{number} {flags}"));
        assert_eq!(stderr.lines().count(), *lines, "{flags}: {stderr}");
        assert!(stderr.starts_with(RESULT), "{flags}: {stderr}");
    }
    assert_eq!(sandbox.stderr("dedup docs.jsonl -o quiet --quiet"), "");
    let matched = sandbox.stderr("match --articles docs.jsonl --samples docs.jsonl");
    assert!(
        matched.starts_with("10 samples, 10 with a match"),
        "{matched}"
    );
    let flags = "--articles docs.jsonl --samples docs.jsonl --quiet";
    assert_eq!(sandbox.stderr(&format!("match {flags}")), "");
}

/// Promise (Deduplication): A long run reports its progress …
#[test]
fn a_text_log_has_the_plan_each_stage_and_the_result() {
    let sandbox = documents();
    let stderr = sandbox.stderr("dedup docs.jsonl -o out --log text");
    let lines: Vec<&str> = stderr.lines().collect();
    assert!(lines[0].starts_with("method "), "{stderr}");
    assert!(stderr.contains("about 10 documents"), "{stderr}");
    assert!(
        lines.last().is_some_and(|line| line.starts_with(RESULT)),
        "{stderr}"
    );
    let stages: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("simtool: stage "))
        .filter_map(|line| line.split_once(" took ").map(|(stage, _)| stage))
        .collect();
    let expected = [
        "1 of 7 sketch",
        "2 of 7 gather",
        "3 of 7 group",
        "4 of 7 mark",
        "5 of 7 verify",
        "6 of 7 cluster",
        "7 of 7 report",
    ];
    assert_eq!(stages, expected);
}

/// Promise (Deduplication): A long run reports its progress …
#[test]
fn a_json_log_has_an_object_on_each_line() {
    let sandbox = documents();
    let stderr = sandbox
        .stderr("dedup docs.jsonl -o out --log json --timings --write kept --method minhash");
    let objects = json_lines(&stderr);
    let events: Vec<&str> = objects
        .iter()
        .map(|object| object["event"].as_str().unwrap())
        .collect();
    let stages = events.iter().filter(|event| **event == "stage").count();
    assert_eq!((events[0], events[events.len() - 1]), ("plan", "result"));
    assert_eq!(stages, 8, "{stderr}");
    let plan = &objects[0];
    assert_eq!(plan["documents"], 10);
    let planned: Vec<&Value> = plan["stages"].as_array().unwrap().iter().collect();
    // The first stage, the listing of inputs, has no event of its own.
    assert_eq!(planned[0]["stage"], "list");
    let planned = planned[1..].iter().map(|stage| &stage["stage"]);
    let ended = objects.iter().filter(|object| object["event"] == "stage");
    assert!(planned.eq(ended.map(|object| &object["stage"])), "{stderr}");
    let result = &objects[objects.len() - 1];
    assert_eq!([&result["seen"], &result["kept"]], [10, 9]);
    let timings = &objects[objects.len() - 2];
    assert_eq!(timings["event"], "timings", "{stderr}");
    assert_eq!(timings["stages"].as_array().map(Vec::len), Some(8));
    assert!(timings["total"].is_f64() && timings["files"].is_f64());
}

/// The list of inputs ends only after the first line of the log was read.
/// Promise (Deduplication): While inputs are listed, a terminal and a log show how many files were
/// found and examined
#[test]
fn a_log_has_a_line_while_inputs_are_listed() {
    let sandbox = documents();
    for (form, part) in [
        ("text", "simtool: listing inputs: "),
        ("json", "\"event\":\"listing\","),
    ] {
        let mut run = Command::new(SIMTOOL)
            .args(["dedup", "--files-from", "-", "-o", form, "--log", form])
            .current_dir(sandbox.path(""))
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(run.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        assert!(line.contains(part), "{line}");
        let mut list = run.stdin.take().unwrap();
        list.write_all(b"docs.jsonl\n").unwrap();
        drop(list);
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).unwrap();
        assert!(run.wait().unwrap().success(), "{rest}");
    }
}

#[test]
fn the_main_job_has_a_log() {
    let sandbox = Sandbox::example();
    let stderr = sandbox.stderr("100 16 --log text");
    assert!(
        stderr.contains("simtool: stage 2 of 5 count took "),
        "{stderr}"
    );
    assert!(
        stderr.lines().last().unwrap().contains("pages seen"),
        "{stderr}"
    );
    assert_eq!(sandbox.stderr("100 16 --log none"), "");
}

//! --summary, --timings and --scaling.

use crate::sandbox::{FIRST_BLOCK, RESULT, Sandbox, last_event};

fn stderr(sandbox: &Sandbox, line: &str) -> String {
    let assert = sandbox.run(line).success().stdout(FIRST_BLOCK);
    crate::sandbox::stderr(&assert)
}

#[test]
fn summary_for_people_is_one_line() {
    let sandbox = Sandbox::example();
    let expected = "simtool: 160 pages seen (150 articles, 10 samples), 0 skipped; \
                    10 samples matched, 28 matches; ";
    for flag in ["--summary", "--summary=text"] {
        let summary = stderr(&sandbox, &format!("100 16 {flag}"));
        assert!(summary.starts_with(expected), "{summary}");
        assert_eq!(summary.lines().count(), 1);
        for unit in [" s, ", " MB/s, ", "peak memory ", " MB\n"] {
            assert!(summary.contains(unit), "{summary}");
        }
    }
    assert_eq!(RESULT.matches("article-").count(), 28);
}

#[test]
fn summary_for_programs_parses_and_adds_up() {
    let sandbox = Sandbox::example();
    sandbox.write("sample.txt", "\x0cone\nwhatever\n\x0ctwo");
    let assert = sandbox
        .run("100 16 --summary=json --distance 0 --threads 1")
        .success();
    let summary = last_event(&assert);
    let number = |field: &str| summary[field].as_u64().unwrap();
    assert_eq!(number("articles"), 150);
    assert_eq!(number("samples"), 2);
    assert_eq!(
        number("seen"),
        number("articles") + number("samples") + number("skipped")
    );
    let matched = number("matched_samples") + number("unmatched_samples");
    assert_eq!(matched, number("samples"));
    let result = sandbox.read("result.txt");
    assert_eq!(number("output_bytes"), result.len() as u64);
    assert_eq!(number("matches"), result.matches("article-").count() as u64);
    assert_eq!((number("features"), number("threads")), (100, 1));
    assert!(number("peak_memory_bytes") > 0 && summary["seconds"].as_f64().unwrap() > 0.0);
}

#[test]
fn timings_list_the_stages() {
    let table = stderr(&Sandbox::example(), "100 16 --timings");
    let names: Vec<&str> = table
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    let stages = [
        "sample",
        "count",
        "rank",
        "fingerprint",
        "search",
        "files",
        "total",
        "peak",
    ];
    assert_eq!(names[0], "stage");
    assert_eq!(names[1..], stages);
}

/// Promise (Reproducible answers): The result has the same bytes … (`simtool --scaling` compares
/// while it measures)
#[test]
fn scaling_compares_thread_counts_and_writes_no_result() {
    let sandbox = Sandbox::example();
    for flag in ["--scaling", "--scaling=3"] {
        let assert = sandbox.run(&format!("100 16 --threads 3 {flag}")).success();
        let table = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
        for threads in [1, 2, 3] {
            for stage in ["count", "search", "total"] {
                let row = format!("{threads:>7}  {stage} ");
                assert!(table.contains(&row), "{row} in {table}");
            }
        }
        assert!(table.contains("all results are equal"), "{table}");
    }
    assert_eq!(sandbox.names().len(), 4);
}

#[test]
fn scaling_of_other_commands_leaves_no_output() {
    let sandbox = Sandbox::new();
    let line = |number: u32| format!("{{\"text\":\"the words of text {}\\nmenu\"}}\n", number / 2);
    let lines: String = (0..200).map(line).collect();
    sandbox.write("in.jsonl", lines);
    let commands = [
        (
            "dedup in.jsonl -o out --write kept",
            &["sketch", "files"][..],
        ),
        ("lines in.jsonl -o out --unit line", &["count", "files"]),
        (
            "match --articles in.jsonl --samples in.jsonl -o out",
            &["sketch", "gather", "sketch 2"],
        ),
        ("evaluate in.jsonl --planted --method shingles", &["sketch"]),
        #[cfg(feature = "index")]
        ("index build out in.jsonl", &["sketch"]),
    ];
    for (command, stages) in commands {
        let assert = sandbox
            .run(&format!("{command} --scaling --threads 2"))
            .success();
        let table = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
        for threads in [1, 2] {
            for stage in stages.iter().chain(&["total"]) {
                let row = format!("{threads:>7}  {stage} ");
                assert!(table.contains(&row), "{row} in {table}");
            }
        }
        assert!(table.contains("all results are equal"), "{table}");
    }
    assert_eq!(sandbox.names().len(), 1);
    sandbox
        .run("dedup in.jsonl -o out --scaling --dry-run")
        .failure();
}

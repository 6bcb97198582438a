//! The command: exit codes, messages, formats, kills.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::passages::plan::plan;
use crate::passages::resume::{KilledRun, assert_resumes_after_kills};
use crate::passages::{documents, lines_of, write};

fn command(directory: &Path, flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
    command
        .arg("decontaminate")
        .args(flags)
        .current_dir(directory);
    command
}

fn output(directory: &Path, flags: &[&str]) -> Output {
    command(directory, flags).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn input(items: &[&str], texts: &[&str]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    write(&directory.path().join("items.jsonl"), &documents(items));
    write(&directory.path().join("in.jsonl"), &documents(texts));
    directory
}

#[test]
fn the_result_is_one_line_and_a_repeated_command_ends_at_once() {
    let directory = input(&["One two three four."], &["Some ONE, two three.", "five"]);
    let flags = [
        "in.jsonl",
        "--reference",
        "items.jsonl",
        "-o",
        "out",
        "--min",
        "3w",
        "--min-item",
        "2w",
    ];
    let first = output(directory.path(), &flags);
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    let expected = "2 documents seen = 2 kept + 0 dropped + 0 skipped; 1 range marked, with parts of 1 \
                    reference item";
    assert!(stderr(&first).contains(expected), "{}", stderr(&first));
    assert!(stderr(&output(directory.path(), &flags)).contains("already complete"));
    let spans = lines_of(&directory.path().join("out/spans.jsonl"));
    let range = &spans[0]["ranges"][0];
    assert_eq!((&range["start"], &range["end"]), (&5.into(), &20.into()));
    assert_eq!((&range["words"], &range["ngrams"]), (&3.into(), &1.into()));
    let reference = &range["reference"];
    assert_eq!(reference["file"], "items.jsonl");
    assert_eq!(
        (
            &reference["id"],
            &reference["text_start"],
            &reference["text_end"]
        ),
        (&"d0".into(), &0.into(), &13.into())
    );
    let other = output(
        directory.path(),
        &["in.jsonl", "--reference", "items.jsonl", "-o", "out"],
    );
    assert_eq!(other.status.code(), Some(2));
    assert!(stderr(&other).contains("--restart"), "{}", stderr(&other));
}

#[test]
fn a_reference_without_the_field_names_its_own_flag() {
    let directory = input(&["a b c"], &[]);
    let items = directory.path().join("exam.jsonl");
    std::fs::write(items, "{\"id\":\"q\",\"question\":\"a b c\"}\n").unwrap();
    let flags = ["in.jsonl", "--reference", "exam.jsonl", "-o", "out"];
    let refused = output(directory.path(), &flags);
    assert_eq!(refused.status.code(), Some(2));
    for part in [
        "--reference-field \"text\"",
        "try --reference-field question",
    ] {
        assert!(stderr(&refused).contains(part), "{}", stderr(&refused));
    }
}

/// Promise (Parts of evaluation sets): A flag without effect is refused; …
#[test]
fn a_dry_run_writes_nothing() {
    let directory = input(&["a b c"], &["a b c"]);
    let flags = [
        "in.jsonl",
        "-o",
        "out",
        "--reference",
        "items.jsonl",
        "--dry-run",
        "--profile",
        "gpt3",
        "--action",
        "cut",
    ];
    let plan = output(directory.path(), &flags);
    assert_eq!(plan.status.code(), Some(0), "{}", stderr(&plan));
    for part in [
        "n-grams of 13w",
        "more than 10 documents",
        "200 characters around",
        "again in cut/",
    ] {
        assert!(stderr(&plan).contains(part), "{part}: {}", stderr(&plan));
    }
    assert!(!directory.path().join("out").exists());
}

/// Promise (Parts of evaluation sets): With the memory that the plan says its index needs, a
/// reference is searched
#[test]
fn a_plan_says_how_much_memory_the_reference_needs() {
    let word = |number: u64| format!("{:x} ", (number as u32).wrapping_mul(0x9e37_79b9));
    for count in [8, 3000] {
        let items: Vec<String> = (0..count)
            .map(|item| (0..100).map(|number| word(item * 100 + number)).collect())
            .collect();
        let items: Vec<&str> = items.iter().map(String::as_str).collect();
        let directory = input(&items, &[items[7], "some other text"]);
        let flags = [
            "in.jsonl",
            "-o",
            "out",
            "--reference",
            "items.jsonl",
            "--threads",
            "1",
        ];
        let plan = plan(command(directory.path(), &flags));
        let planned = |name: &str| plan["index"][name].as_u64().unwrap();
        let about = |found: u64, all: u64| found.abs_diff(all) <= all / 30;
        assert!(about(planned("items"), count), "{plan}");
        assert!(about(planned("words"), count * 100), "{plan}");
        // The estimate of a large reference may be wrong by a little.
        let more = u64::from(count > 8);
        let memory = format!("{}M", planned("needed_memory").div_ceil(1 << 20) + more);
        let enough = output(
            directory.path(),
            &[&flags[..], &["--memory", &memory]].concat(),
        );
        assert_eq!(enough.status.code(), Some(0), "{}", stderr(&enough));
    }
}

#[test]
fn lists_of_strings_in_the_reference_are_read() {
    let directory = input(&[], &["so it says alpha beta gamma delta here"]);
    let item = r#"{"question": "Which one?", "choices": ["alpha beta", "gamma delta"]}"#;
    fs::write(directory.path().join("items.jsonl"), format!("{item}\n")).unwrap();
    let flags = ["in.jsonl", "-o", "out", "--reference", "items.jsonl"];
    for fields in [&["choices"][..], &["question", "choices"]] {
        let fields = fields.iter().flat_map(|field| ["--reference-field", field]);
        let mut flags = [&flags[..], &["--min", "4w", "--restart"]].concat();
        flags.extend(fields);
        let run = output(directory.path(), &flags);
        assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
        let spans = lines_of(&directory.path().join("out/spans.jsonl"));
        let range = &spans[0]["ranges"][0];
        assert_eq!((&range["start"], &range["end"]), (&11.into(), &33.into()));
    }
}

/// Promise (Parts of evaluation sets): A flag without effect is refused; `--dry-run` writes nothing
#[test]
fn flags_without_effect_are_refused() {
    let directory = input(&["a"], &["a"]);
    let all = ["in.jsonl", "-o", "out", "--reference", "items.jsonl"];
    for (flags, expected) in [
        (
            &["--min-words", "3"][..],
            "--min-words has an effect only with --action cut",
        ),
        (
            &["--max-pieces", "3"],
            "--max-pieces has an effect only with --action cut",
        ),
        (
            &["--min", "5w", "--min-item", "6w"],
            "--min-item 6w has no effect",
        ),
        (
            &["--max-gap", "3"],
            "--max-gap has an effect only on clusters",
        ),
        (
            &["--answer-field", "a"],
            "--answer-field has an effect only on clusters",
        ),
        (
            &["--profile", "olmo", "--answer-within", "9w"],
            "--answer-within has an effect only with --answer-field",
        ),
        (&["--min", "50b"], "such as 13w"),
        (&["--min-item", "0w"], "such as 13w"),
        (&["--max-documents", "0"], "or none"),
        (&["--profile", "other"], "possible values"),
        (
            &["--reference-field", "question"],
            "--reference-field \"question\"",
        ),
        (&["--memory", "1M"], "--memory 1M"),
    ] {
        let refused = output(directory.path(), &[&all, flags].concat());
        assert_eq!(refused.status.code(), Some(2), "{flags:?}");
        assert!(
            stderr(&refused).contains(expected),
            "{flags:?}: {}",
            stderr(&refused)
        );
        assert!(!directory.path().join("out").exists());
    }
    let missing = output(directory.path(), &["in.jsonl", "-o", "out"]);
    assert!(
        stderr(&missing).contains("--reference"),
        "{}",
        stderr(&missing)
    );
    fs::create_dir(directory.path().join("empty")).unwrap();
    let empty = output(
        directory.path(),
        &["in.jsonl", "-o", "out", "--reference", "empty"],
    );
    assert_eq!(empty.status.code(), Some(2));
    assert!(
        stderr(&empty).contains("reference: no file"),
        "{}",
        stderr(&empty)
    );
}

#[test]
fn fields_and_formats_of_references_are_read() {
    let directory = input(
        &[],
        &[
            "so one two three it is",
            "red green blue too",
            "five six seven",
        ],
    );
    let lines = "{\"name\": 1, \"question\": \"One two\", \"answer\": {\"text\": \"three\"}}\n\
                 {\"name\": 2, \"question\": \"zzz\"}\n";
    fs::write(directory.path().join("fields.jsonl"), lines).unwrap();
    fs::write(
        directory.path().join("pages.txt"),
        "first\nred green blue\n\x0csecond\nnothing here now\n",
    )
    .unwrap();
    let flags = [
        "in.jsonl",
        "-o",
        "out",
        "--min",
        "3w",
        "--min-item",
        "3w",
        "--reference-field",
        "question",
        "--reference-field",
        "answer.text",
        "--reference-id-field",
        "name",
        "--reference",
        "fields.jsonl",
        "pages.txt",
    ];
    let run = output(directory.path(), &flags);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let spans = lines_of(&directory.path().join("out/spans.jsonl"));
    let found: Vec<(&str, &str)> = spans
        .iter()
        .map(|span| {
            let reference = &span["ranges"][0]["reference"];
            (
                reference["file"].as_str().unwrap(),
                reference["id"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(found, [("fields.jsonl", "1"), ("pages.txt", "first")]);
    // The item is of both fields, with a line break between them.
    assert_eq!(spans[0]["ranges"][0]["reference"]["text_end"], 13);
    assert!(
        stderr(&run).contains("--min-item 3w: 1 of 4 reference items"),
        "{}",
        stderr(&run)
    );
}

/// Promise (Parts of evaluation sets): A range is explained beside its item, read as the run did
#[test]
fn a_hit_is_explained_beside_its_item() {
    let directory = input(&[], &["x one two three y one two three", "z"]);
    let lines = "{\"id\": 1, \"question\": \"One two\", \"answer\": \"three four\"}\n";
    fs::write(directory.path().join("fields.jsonl"), lines).unwrap();
    let flags = [
        "in.jsonl",
        "-o",
        "out",
        "--min",
        "3w",
        "--min-item",
        "3w",
        "--reference-field",
        "question",
        "--reference-field",
        "answer",
        "--reference",
        "fields.jsonl",
    ];
    let run = output(directory.path(), &flags);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let explain = |flags: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
        command
            .args(["explain", "--hit", "out/spans.jsonl"])
            .args(flags);
        command.current_dir(directory.path()).output().unwrap()
    };
    let shown = explain(&["--id", "d0", "--range", "2"]);
    assert_eq!(shown.status.code(), Some(0), "{}", stderr(&shown));
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(
        text.contains("{+four+}") && text.contains("fields.jsonl"),
        "{text}"
    );
    // N-grams are compared without regard to case.
    assert!(!text.contains("[-one") && !text.contains("{+One"), "{text}");
    for (flags, expected) in [
        (&["--id", "d0", "--range", "3"][..], "it has 2 ranges"),
        (&["--id", "d1"], "no line is about it"),
        (&[], "--id"),
    ] {
        let refused = explain(flags);
        assert_eq!(refused.status.code(), Some(2), "{flags:?}");
        assert!(
            stderr(&refused).contains(expected),
            "{flags:?}: {}",
            stderr(&refused)
        );
    }
    fs::write(
        directory.path().join("fields.jsonl"),
        "{\"other\": \"a\"}\n",
    )
    .unwrap();
    let changed = explain(&["--id", "d0"]);
    let message = stderr(&changed);
    assert!(
        message.contains("--reference-field \"question\""),
        "{message}"
    );
}

/// Kills the program again and again, a little later each time.
/// Promise (Parts of evaluation sets): Interrupted, failed and killed runs resume …
#[test]
fn a_killed_run_resumes_to_the_same_bytes() {
    let word =
        |number: usize, place: usize| format!("w{} ", (number * 31 + place * 7) % (place + 99));
    let text = |number: usize| {
        (0..900)
            .map(|place| word(number, place))
            .collect::<String>()
    };
    let all: Vec<String> = (0..1500).map(text).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let items: Vec<&str> = all.iter().step_by(20).map(|text| &text[500..900]).collect();
    let directory = tempfile::tempdir().unwrap();
    write(&directory.path().join("in.jsonl.gz"), &documents(&all));
    write(
        &directory.path().join("items.jsonl.zst"),
        &documents(&items),
    );
    let flags = [
        "in.jsonl.gz",
        "--reference",
        "items.jsonl.zst",
        "--min",
        "6w",
        "--min-item",
        "6w",
        "--action",
        "cut",
        "--max-documents",
        "90",
        "--around",
        "9",
        "--quiet",
        "-o",
    ];
    assert_resumes_after_kills(directory.path(), |out| {
        command(directory.path(), &[&flags[..], &[out]].concat())
    });
}

/// Of what a killed run has read and saved, only documents with parts of items are read again.
/// Promise (Parts of evaluation sets): A run that is killed in its first reading does not read
/// again what it has read and saved
#[test]
fn a_run_killed_in_its_first_reading_goes_on_there() {
    let item = "one two three four five six seven eight nine";
    let text = |number: usize| match number % 100 {
        7 => format!("before {number} {item} after {number}"),
        _ => format!("document {number} has none of these words in a row"),
    };
    let all: Vec<String> = (0..300_000).map(text).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    for limit in [&[][..], &["--max-documents", "100000"]] {
        let directory = input(&[item], &all);
        let flags = [
            "in.jsonl",
            "--reference",
            "items.jsonl",
            "--min",
            "5w",
            "--threads",
            "1",
        ];
        // An entry for the references, and one for a segment of the input.
        let run = KilledRun::new(directory.path(), ("segment-index", 240), |out| {
            command(
                directory.path(),
                &[&flags[..], limit, &["-o", out]].concat(),
            )
        });
        // A text that is not read again, except for the counts of n-grams.
        let before = run.replace("document 0 has none", "document 0 had none");
        let (code, messages) = run.resume();
        assert_eq!(
            code,
            Some(if limit.is_empty() { 0 } else { 2 }),
            "{messages}"
        );
        assert!(messages.contains("first reading begun, "), "{messages}");
        run.write(&before);
        if !limit.is_empty() {
            assert!(messages.contains("changed"), "{messages}");
            let (code, messages) = run.resume();
            assert_eq!(code, Some(0), "{messages}");
        }
        run.assert_equals_a_whole_run();
    }
}

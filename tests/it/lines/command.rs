//! The command: exit codes, messages, kills.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::lines::setup::{Text, contents, documents, json_of, write};
use crate::passages::plan::plan;
use crate::passages::readings::assert_readings_are_as_planned;
use crate::passages::resume::{KilledRun, assert_resumes_after_kills};

fn command(directory: &Path, flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
    command.arg("lines").args(flags).current_dir(directory);
    command
}

fn output(directory: &Path, flags: &[&str]) -> Output {
    command(directory, flags).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn input(texts: &[&str]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    write(&directory.path().join("in.jsonl"), &documents(texts));
    directory
}

#[test]
fn the_result_is_one_line_and_a_repeated_command_ends_at_once() {
    let directory = input(&["a\nb", "a\nc"]);
    let first = output(directory.path(), &["in.jsonl", "-o", "out"]);
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    assert!(
        stderr(&first)
            .contains("2 documents seen = 2 kept + 0 dropped + 0 skipped; 1 of 4 lines marked")
    );
    let again = output(directory.path(), &["in.jsonl", "-o", "out"]);
    assert!(
        stderr(&again).contains("already complete"),
        "{}",
        stderr(&again)
    );
    let page = fs::read_to_string(directory.path().join("out/page.html")).unwrap();
    assert!(page.contains("<del>a</del>"));
    let other = output(directory.path(), &["in.jsonl", "-o", "out", "--above", "2"]);
    assert_eq!(other.status.code(), Some(2));
    assert!(stderr(&other).contains("--restart"), "{}", stderr(&other));
    let restarted = output(
        directory.path(),
        &[
            "in.jsonl",
            "-o",
            "out",
            "--above",
            "2",
            "--restart",
            "--no-page",
        ],
    );
    assert_eq!(restarted.status.code(), Some(0), "{}", stderr(&restarted));
    assert!(!directory.path().join("out/page.html").exists());
}

#[test]
fn skipped_documents_have_an_exit_code_of_their_own() {
    let directory = input(&["a"]);
    fs::write(
        directory.path().join("bad.jsonl"),
        "{\"text\":\"a\"}\nbad\n",
    )
    .unwrap();
    let flags = ["in.jsonl", "bad.jsonl", "-o", "out"];
    assert_eq!(output(directory.path(), &flags).status.code(), Some(3));
    let more = [&flags[..], &["--max-skipped", "1"]].concat();
    assert_eq!(output(directory.path(), &more).status.code(), Some(0));
}

/// Promise (Repeated units): A flag without effect is refused; …
#[test]
fn a_dry_run_writes_nothing() {
    let directory = input(&["a\nb", "a\nc"]);
    let flags = [
        "in.jsonl",
        "-o",
        "out",
        "--dry-run",
        "--action",
        "cut",
        "--above",
        "6",
    ];
    let plan = output(directory.path(), &flags);
    assert_eq!(plan.status.code(), Some(0));
    let text = stderr(&plan);
    for part in ["what occurs more than 6 times", "again in cut/", "1 file"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let flags = [&flags[..], &["--write-format", "jsonl.zst"]].concat();
    let text = stderr(&output(directory.path(), &flags));
    let shards = "the documents in cut/, as shards in the format jsonl.zst";
    assert!(text.contains(shards), "{text}");
    assert!(!directory.path().join("out").exists());
}

/// Promise (Repeated units): Documents are read as often as the plan says, and with the memory that
/// it proposes, once
#[test]
fn a_plan_says_how_often_the_input_is_read() {
    let line = |number: u32| format!("{:08x}\n", number.wrapping_mul(0x9e37_79b9));
    let texts: Vec<String> = (0..600u32)
        .map(|text| (0..1000).map(|number| line(text * 1000 + number)).collect())
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let directory = input(&texts);
    assert_readings_are_as_planned(directory.path(), 290, |out, memory| {
        let memory = format!("{memory}M");
        let flags = ["in.jsonl", "-o", out, "--threads", "1", "--memory", &memory];
        command(
            directory.path(),
            &[&flags[..], &["--max-document", "64K"]].concat(),
        )
    });
}

/// Shards may be several times as long as compressed inputs.
/// Promise (Repeated units): Documents are read as often as … (the bytes of shards are about those
/// that it says)
#[test]
fn a_plan_says_how_long_shards_are() {
    let text = |number: u32| {
        let word = |word: u32| format!("{:07x}", (number * 100 + word).wrapping_mul(0x9e37_79b9));
        (0..100).map(word).collect::<Vec<_>>().join(" ")
    };
    let texts: Vec<String> = (0..900).map(|number| text(number % 850)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let directory = tempfile::tempdir().unwrap();
    write(&directory.path().join("in.jsonl.gz"), &documents(&texts));
    let mut formats = vec!["jsonl", "jsonl.zst"];
    formats.extend(cfg!(feature = "parquet").then_some("parquet"));
    for format in formats {
        let flags = ["in.jsonl.gz", "--no-page", "-o", format];
        let flags = [&flags[..], &["--action", "cut", "--write-format", format]].concat();
        let plan = plan(command(directory.path(), &flags));
        let run = output(directory.path(), &flags);
        assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
        let files = contents(&directory.path().join(format));
        let taken: usize = files.values().map(Vec::len).sum();
        let ratio = plan["output_bytes"].as_f64().unwrap() / taken as f64;
        assert!((0.8..1.3).contains(&ratio), "{format}: {ratio} of {taken}");
    }
}

/// Promise (Repeated units): A flag without effect is refused; `--dry-run` writes nothing
#[test]
fn flags_without_effect_are_refused() {
    let directory = input(&["a"]);
    fs::write(directory.path().join("list"), "{\"text\":\"a\"}\n").unwrap();
    for (flags, expected) in [
        (
            &["--min-words", "3"][..],
            "--min-words has an effect only with --action cut",
        ),
        (
            &["--min-sentences", "3", "--action", "mask"],
            "--min-sentences has an effect",
        ),
        (
            &["--skipped", "drop"],
            "--skipped has an effect only where documents are written",
        ),
        (
            &["--write-format", "jsonl"],
            "--write-format has an effect only where documents are written",
        ),
        (
            &["--shard-size", "1M", "--action", "cut"],
            "--shard-size has an effect only on shards",
        ),
        (
            &[
                "--skipped",
                "drop",
                "--action",
                "cut",
                "--write-format",
                "jsonl",
            ],
            "--skipped has an effect only with --write-format input",
        ),
        (
            &["--date-field", "day"],
            "--date-field has an effect only on the dates in shards of Parquet",
        ),
        (
            &["--remove-listed", "list", "--above", "2"],
            "cannot be used with",
        ),
        (&["--above", "0"], "--above 0"),
        (
            &["--unit", "word"],
            "expected line, paragraph or sentences:N",
        ),
        (
            &["--action", "drop-document:2"],
            "expected mark, cut, mask or drop-document",
        ),
        (&["--tokenizer", "ascii"], "--min-words"),
        (
            &["--within", "site", "--against", "in.jsonl"],
            "cannot be combined with a list of units or with groups",
        ),
        (&["--memory", "1M"], "--memory 1M"),
    ] {
        let all = [&["in.jsonl", "-o", "out"], flags].concat();
        let refused = output(directory.path(), &all);
        assert_eq!(refused.status.code(), Some(2), "{flags:?}");
        assert!(
            stderr(&refused).contains(expected),
            "{flags:?}: {}",
            stderr(&refused)
        );
        assert!(!directory.path().join("out").exists());
    }
}

#[test]
fn units_of_another_corpus_are_removed() {
    let directory = input(&["old\nnew", "other"]);
    write(&directory.path().join("before.jsonl"), &documents(&["old"]));
    let flags = [
        "in.jsonl",
        "-o",
        "out",
        "--against",
        "before.jsonl",
        "--action",
        "cut",
    ];
    let run = output(directory.path(), &flags);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let text = fs::read_to_string(directory.path().join("out/cut/in.jsonl")).unwrap();
    assert!(text.contains("\"text\":\"new\"") && text.contains("other") && !text.contains("old"));
    let spans = fs::read_to_string(directory.path().join("out/spans.jsonl")).unwrap();
    assert!(spans.contains("\"why\":\"against\""));
    let summary = json_of(&directory.path().join("out/summary.json"));
    assert_eq!(
        (&summary["seen"], &summary["against"]["documents"]),
        (&2.into(), &1.into())
    );
}

#[test]
fn standard_input_is_read() {
    let directory = input(&["a\nb", "a\nc"]);
    let file = fs::File::open(directory.path().join("in.jsonl")).unwrap();
    let run = command(directory.path(), &["-", "-o", "out", "--action", "mask"])
        .stdin(file)
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let text = fs::read_to_string(directory.path().join("out/masked/stdin")).unwrap();
    assert!(text.contains("\"text\":\" \\nc\""), "{text}");
}

/// Kills the program again and again, a little later each time.
/// Promise (Repeated units): Interrupted, failed and killed runs resume …
#[test]
fn a_killed_run_resumes_to_the_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let text = |number: usize| {
        let line = |line: usize| format!("line {}\n", (number * 31 + line * 7) % (line + 99));
        let text: String = (0..200).map(line).collect();
        Text {
            id: format!("d{number}"),
            url: String::new(),
            text,
        }
    };
    let all: Vec<Text> = (0..3000).map(text).collect();
    write(&directory.path().join("in.jsonl.gz"), &all);
    let flags = [
        "in.jsonl.gz",
        "--action",
        "cut",
        "--min-words",
        "9",
        "--quiet",
        "-o",
    ];
    assert_resumes_after_kills(directory.path(), |out| {
        command(directory.path(), &[&flags[..], &[out]].concat())
    });
}

/// What a killed run has read and saved is not read again by its first reading.
/// Promise (Repeated units): A run that is killed in its first reading does not read again what it
/// has read and saved
#[test]
fn a_run_killed_in_its_first_reading_goes_on_there() {
    let directory = tempfile::tempdir().unwrap();
    let text = |number: usize| Text {
        id: format!("d{number}"),
        url: String::new(),
        text: format!("line {} again\nof document {number}\n", number % 1000),
    };
    let all: Vec<Text> = (0..300_000).map(text).collect();
    write(&directory.path().join("in.jsonl"), &all);
    let flags = ["in.jsonl", "--threads", "1", "--above", "9"];
    let run = KilledRun::new(directory.path(), ("seen-twice", 1), |out| {
        command(directory.path(), &[&flags[..], &["-o", out]].concat())
    });
    run.assert_goes_on_in_two_readings("of document 0", "of Document 0");
}

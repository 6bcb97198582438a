//! The command: exit codes, messages, kills.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::passages::readings::assert_readings_are_as_planned;
use crate::passages::resume::{KilledRun, assert_resumes_after_kills};
use crate::passages::{Text, documents, json_of, lines_of, write};

fn command(directory: &Path, flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
    command.arg("spans").args(flags).current_dir(directory);
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
    let directory = input(&["One two three four.", "Some one, TWO three five."]);
    let flags = ["in.jsonl", "-o", "out", "--min", "3w"];
    let first = output(directory.path(), &flags);
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    let expected =
        "2 documents seen = 2 kept + 0 dropped + 0 skipped; 1 range marked, which repeat";
    assert!(stderr(&first).contains(expected), "{}", stderr(&first));
    let again = output(directory.path(), &flags);
    assert!(stderr(&again).contains("already complete"));
    let page = fs::read_to_string(directory.path().join("out/page.html")).unwrap();
    assert!(page.contains("Repeated passages") && page.contains("<del>"));
    let spans = lines_of(&directory.path().join("out/spans.jsonl"));
    let range = &spans[0]["ranges"][0];
    assert_eq!((&range["start"], &range["end"]), (&5.into(), &19.into()));
    assert_eq!((&range["words"], &range["copies"]), (&3.into(), &2.into()));
    let kept = &range["kept_at"];
    assert_eq!(
        (&kept["id"], &kept["text_start"], &kept["text_end"]),
        (&"d0".into(), &0.into(), &13.into())
    );
    // The place of a document has the same fields everywhere; no field is there twice.
    assert_eq!(kept["start"], 0);
    let line = fs::read_to_string(directory.path().join("out/spans.jsonl")).unwrap();
    let kept = line.split("\"kept_at\":{").nth(1).unwrap();
    let kept = kept.split('}').next().unwrap();
    for name in ["start", "length", "text_start", "text_end"] {
        assert_eq!(kept.matches(&format!("\"{name}\":")).count(), 1, "{kept}");
    }
    let listed = lines_of(&directory.path().join("out/repeated.jsonl"));
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["text"], "One two three");
    assert_eq!(
        (&listed[0]["removed"], &listed[0]["documents"]),
        (&1.into(), &2.into())
    );
    assert_eq!(listed[0]["sites"], 2);
    let other = output(directory.path(), &["in.jsonl", "-o", "out", "--min", "2w"]);
    assert_eq!(other.status.code(), Some(2));
    assert!(stderr(&other).contains("--restart"), "{}", stderr(&other));
}

#[test]
fn a_dry_run_writes_nothing() {
    let directory = input(&["a b c"]);
    let flags = [
        "in.jsonl",
        "-o",
        "out",
        "--dry-run",
        "--action",
        "cut",
        "--min",
        "500b",
    ];
    let plan = output(directory.path(), &flags);
    assert_eq!(plan.status.code(), Some(0));
    let text = stderr(&plan);
    for part in [
        "at least 500b that occur earlier",
        "again in cut/",
        "1 file",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!directory.path().join("out").exists());
}

/// Promise (Repeated stretches of text): Documents are read as often as the plan says, and with the
/// memory that it proposes, once less
#[test]
fn a_plan_says_how_often_the_input_is_read() {
    let word = |number: u32| format!("{:x} ", number.wrapping_mul(0x9e37_79b9));
    let texts: Vec<String> = (0..900u32)
        .map(|text| (0..1000).map(|number| word(text * 1000 + number)).collect())
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let directory = input(&texts);
    assert_readings_are_as_planned(directory.path(), 290, |out, memory| {
        let memory = format!("{memory}M");
        let flags = ["in.jsonl", "-o", out, "--threads", "1", "--memory", &memory];
        let more = ["--max-document", "64K", "--min", "3w"];
        command(directory.path(), &[&flags[..], &more].concat())
    });
}

#[test]
fn flags_without_effect_are_refused() {
    let directory = input(&["a"]);
    for (flags, expected) in [
        (
            &["--min-words", "3"][..],
            "--min-words has an effect only with --action cut",
        ),
        (
            &["--skipped", "drop"],
            "--skipped has an effect only where documents are written",
        ),
        (
            &["--date-field", "day"],
            "--date-field has an effect only on",
        ),
        (&["--min", "50"], "such as 50w"),
        (&["--min", "0w"], "such as 50w"),
        (&["--snap", "page"], "possible values"),
        (
            &["--action", "drop-document:2"],
            "expected mark, cut, mask or drop-document",
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
fn what_another_corpus_has_is_removed() {
    let directory = input(&["new words before old words come", "other"]);
    write(
        &directory.path().join("before.jsonl"),
        &documents(&["the old words come"]),
    );
    let flags = [
        "in.jsonl",
        "-o",
        "out",
        "--against",
        "before.jsonl",
        "--action",
        "cut",
        "--min",
        "3w",
    ];
    let run = output(directory.path(), &flags);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let text = lines_of(&directory.path().join("out/cut/in.jsonl"));
    assert_eq!(text[0]["text"], "new words before ");
    assert_eq!(text[1]["text"], "other");
    let spans = fs::read_to_string(directory.path().join("out/spans.jsonl")).unwrap();
    assert!(spans.contains("\"why\":\"against\"") && spans.contains("before.jsonl"));
    let summary = json_of(&directory.path().join("out/summary.json"));
    assert_eq!(
        (&summary["seen"], &summary["against"]["documents"]),
        (&2.into(), &1.into())
    );
}

#[test]
fn standard_input_is_read() {
    let directory = input(&["a b c", "a b c d"]);
    let file = fs::File::open(directory.path().join("in.jsonl")).unwrap();
    let flags = ["-", "-o", "out", "--action", "mask", "--min", "3w"];
    let run = command(directory.path(), &flags)
        .stdin(file)
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let text = fs::read_to_string(directory.path().join("out/masked/stdin")).unwrap();
    assert!(text.contains("\"text\":\"      d\""), "{text}");
}

/// Kills the program again and again, a little later each time.
#[test]
fn a_range_is_explained_beside_the_text_that_stays() {
    let directory = input(&["One two three four.", "Some one, TWO three five."]);
    let flags = ["in.jsonl", "-o", "out", "--min", "3w"];
    let run = output(directory.path(), &flags);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let mut explain = Command::new(env!("CARGO_BIN_EXE_simtool"));
    explain.args(["explain", "--hit", "out/spans.jsonl", "--id", "d1"]);
    let shown = explain.current_dir(directory.path()).output().unwrap();
    assert_eq!(shown.status.code(), Some(0), "{}", stderr(&shown));
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    // The ranges alone, without what is around them; they differ in case and in a comma.
    for part in [
        "14 bytes, 3 words",
        "13 bytes, 3 words",
        "normalized words          equal",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("five") && !text.contains("four"), "{text}");
}

/// Promise (Repeated stretches of text): Interrupted, failed and killed runs resume …
#[test]
fn a_killed_run_resumes_to_the_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let text = |number: usize| {
        let word = |place: usize| format!("w{} ", (number * 31 + place * 7) % (place + 99));
        let text: String = (0..900).map(word).collect();
        Text {
            id: format!("d{number}"),
            url: String::new(),
            text,
        }
    };
    let all: Vec<Text> = (0..1500).map(text).collect();
    write(&directory.path().join("in.jsonl.gz"), &all);
    let flags = [
        "in.jsonl.gz",
        "--min",
        "6w",
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
/// Promise (Repeated stretches of text): A run that is killed in its first reading does not read
/// again what it has read and saved
#[test]
fn a_run_killed_in_its_first_reading_goes_on_there() {
    let directory = tempfile::tempdir().unwrap();
    let text = |number: usize| Text {
        id: format!("d{number}"),
        url: String::new(),
        text: format!(
            "{number} is the number of one of {} documents",
            number % 1000 * 7
        ),
    };
    let all: Vec<Text> = (0..300_000).map(text).collect();
    write(&directory.path().join("in.jsonl"), &all);
    let flags = ["in.jsonl", "--threads", "1", "--min", "6w"];
    let run = KilledRun::new(directory.path(), ("seen-twice", 1), |out| {
        command(directory.path(), &[&flags[..], &["-o", out]].concat())
    });
    run.assert_goes_on_in_two_readings("0 is the number", "0 as the number");
}

//! `simtool dedup` by inputs of all kinds: streams, tables, files without ids.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod plan;
#[cfg(feature = "parquet")]
mod tables;

use assert_cmd::Command;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A directory with inputs and outputs.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs `simtool dedup` here, with `-o OUT`.
    fn dedup(&self, input: &str, out: &str, flags: &[&str]) -> assert_cmd::assert::Assert {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
        command
            .current_dir(&self.0)
            .args(["dedup", input, "-o", out, "--quiet"]);
        command
            .args(["--threads", "2", "--method", "minhash"])
            .args(flags);
        command.write_stdin(lines()).assert()
    }

    /// What a dry run says.
    fn plan(&self, input: &str, flags: &[&str]) -> serde_json::Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
        command.current_dir(&self.0).args([
            "dedup",
            input,
            "-o",
            "planned",
            "--dry-run",
            "--log",
            "json",
        ]);
        let assert = command.args(flags).assert().success().stdout("");
        serde_json::from_slice(&assert.get_output().stderr).unwrap()
    }
}

/// The texts of documents, every fourth of which repeats the one before but for its end.
fn texts() -> Vec<String> {
    let text = |number: usize| {
        let own = number - usize::from(number % 4 == 3);
        let words: Vec<_> = (0..60)
            .map(|word| format!("w{}", own * 1000 + word))
            .collect();
        format!("{} end{number}", words.join(" "))
    };
    (0..40).map(text).collect()
}

/// A JSON object a line; the last one has no line feed.
fn lines() -> String {
    let line = |(number, text)| format!("{{\"id\":\"d{number}\",\"text\":\"{text}\"}}");
    let lines: Vec<_> = texts().iter().enumerate().map(line).collect();
    lines.join("\n")
}

fn ids(jsonl: &str) -> Vec<String> {
    let id = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        value["id"].as_str().unwrap().to_owned()
    };
    jsonl.lines().map(id).collect()
}

#[test]
fn standard_input_gives_what_the_file_gives() {
    let place = Place::new();
    place.write("a.jsonl", lines());
    place.dedup("a.jsonl", "file", &[]).success();
    place.dedup("-", "piped", &[]).success();
    assert!(ids(&place.read("file/duplicates.jsonl")).contains(&"d3".to_owned()));
    for name in ["duplicates.jsonl", "clusters.jsonl", "skipped.jsonl"] {
        let (file, piped) = (format!("file/{name}"), format!("piped/{name}"));
        let named = place.read(&file).replace("\"a.jsonl\"", "\"-\"");
        assert_eq!(place.read(&piped), named, "{name}");
    }
    assert!(!place.path("piped/.simtool").exists());
}

#[test]
fn standard_input_is_written_without_duplicates() {
    let place = Place::new();
    place.dedup("-", "out", &["--write", "kept"]).success();
    let kept = ids(&place.read("out/kept/stdin"));
    let expected = (0..40)
        .filter(|number| number % 4 != 3)
        .map(|number| format!("d{number}"));
    assert_eq!(kept, expected.collect::<Vec<_>>());
}

#[test]
fn a_mark_that_has_no_place_in_standard_input_leaves_nothing_behind() {
    let place = Place::new();
    let flags = ["--write", "annotated", "--format", "form-feed"];
    place.dedup("-", "out", &flags).code(2);
    place.dedup("-", "out", &[]).success();
}

#[test]
fn whole_files_go_by_their_paths() {
    let place = Place::new();
    fs::create_dir(place.path("in")).unwrap();
    let texts = texts();
    place.write("in/a.txt", &texts[2]);
    place.write("in/b.txt", &texts[3]);
    place.dedup("in", "out", &[]).success();
    let duplicates = place.read("out/duplicates.jsonl");
    assert_eq!(ids(&duplicates), ["in/b.txt"]);
    assert!(duplicates.contains("\"in/a.txt\""), "{duplicates}");
}

/// A file that a run did not make stays, whatever its name; an output directory within an input is
/// not read.
#[test]
fn files_of_the_user_in_the_output_directory_stay() {
    let place = Place::new();
    fs::create_dir_all(place.path("in/out/kept/in")).unwrap();
    place.write("in/a.jsonl", lines());
    let said = |assert: &assert_cmd::assert::Assert| {
        String::from_utf8(assert.get_output().stderr.clone()).unwrap()
    };
    let foreign = "no run of simtool recorded it as its own";
    for name in ["clusters.jsonl", "timings.json", "kept/in/a.jsonl"] {
        let name = format!("in/out/{name}");
        place.write(&name, "mine");
        let message = said(&place.dedup("in", "in/out", &["--write", "kept"]).code(2));
        assert!(
            message.contains(&name) && message.contains(foreign),
            "{message}"
        );
        assert_eq!(place.read(&name), "mine");
        fs::remove_file(place.path(&name)).unwrap();
    }
    place
        .dedup("in", "in/out", &["--write", "kept"])
        .success()
        .stderr("");
    let summary = place.read("in/out/summary.json");
    assert!(summary.contains("\"seen\": 40,"), "{summary}");
    // The same again is complete, and the outputs are no input.
    let marker = fs::metadata(place.path("in/out/summary.json")).unwrap();
    place
        .dedup("in", "in/out", &["--write", "kept"])
        .success()
        .stderr("");
    let later = fs::metadata(place.path("in/out/summary.json")).unwrap();
    assert_eq!(marker.modified().unwrap(), later.modified().unwrap());

    place.write("in/out/refused.jsonl", "mine");
    let restart = ["--write", "kept", "--refused", "--restart"];
    let message = said(&place.dedup("in", "in/out", &restart).code(2));
    assert!(message.contains(foreign), "{message}");
    assert_eq!(place.read("in/out/refused.jsonl"), "mine");
    assert_eq!(place.read("in/out/summary.json"), summary, "nothing went");

    let message = said(&place.dedup("in", "in", &[]).code(2));
    assert!(
        message.contains("is an input and the output directory"),
        "{message}"
    );
    assert!(!place.path("in/summary.json").exists());
}

#[test]
fn a_finished_run_given_again_is_complete() {
    let place = Place::new();
    let again = |input: &str, flags: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
        command
            .current_dir(&place.0)
            .args([
                "dedup",
                input,
                "-o",
                "out",
                "--threads",
                "2",
                "--method",
                "minhash",
            ])
            .args(flags)
            .write_stdin(lines());
        command.assert()
    };
    let said = |assert: &assert_cmd::assert::Assert| {
        String::from_utf8(assert.get_output().stderr.clone()).unwrap()
    };
    place.write("a.jsonl", format!("{}\nnot json\n", lines()));
    fs::create_dir(place.path("out")).unwrap();
    place.write("out/.env.sample", "mine");
    again("a.jsonl", &[]).code(3);
    let summary = place.read("out/summary.json");
    let message = said(&again("a.jsonl", &[]).code(3));
    assert!(message.contains("already complete"), "{message}");
    assert!(message.contains("41 documents seen = "), "{message}");
    assert_eq!(said(&again("a.jsonl", &["--quiet"]).code(3)), "");
    assert_eq!(
        said(&again("a.jsonl", &["--summary=json"]).code(3)),
        summary
    );

    let other = ["--similarity", "0.7", "--write", "kept"];
    let message = said(&again("a.jsonl", &other).code(2));
    assert!(
        message.contains("settings.write was \"none\", is \"kept\""),
        "{message}"
    );
    assert!(message.contains("--restart"), "{message}");
    assert_eq!(place.read("out/summary.json"), summary);
    again("a.jsonl", &[&other[..], &["--restart"]].concat()).code(3);
    assert!(place.path("out/kept/a.jsonl").exists());
    again("a.jsonl", &["--restart"]).code(3);
    assert_eq!(place.read("out/summary.json"), summary);
    assert!(!place.path("out/kept").exists());
    assert_eq!(place.read("out/.env.sample"), "mine");

    // What a stream held cannot be compared.
    again("-", &["--restart"]).success();
    let message = said(&again("-", &[]).code(2));
    assert!(message.contains("what a stream held"), "{message}");
}

#[test]
fn a_finished_run_given_again_repeats_its_warnings() {
    let place = Place::new();
    fs::create_dir_all(place.path("in/.cache")).unwrap();
    place.write("in/a.jsonl", format!("{}\nnot json\n", lines()));
    place.write("in/README.md", "about this data");
    place.write("in/.hidden", "x");
    place.write("in/.cache/b.jsonl", lines());
    fs::hard_link(place.path("in/a.jsonl"), place.path("in/b.jsonl")).unwrap();
    let said = |flags: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
        let line = "dedup in -o out --threads 2 --keep field:score".split(' ');
        let assert = command
            .current_dir(&place.0)
            .args(line)
            .args(flags)
            .assert();
        String::from_utf8(assert.code(3).get_output().stderr.clone()).unwrap()
    };
    let (first, again) = (said(&[]), said(&[]));
    assert_eq!(said(&["--quiet"]), "");
    let warning = "warning: --keep field:score: no document has this field";
    let left_out = [
        "not read: 2 files or directories, such as in/.cache (hidden)",
        "not read: in/README.md (not a data file, but next to or above data files (read with --include))",
        "not read: in/b.jsonl (the same file as in/a.jsonl)",
    ];
    for message in [&first, &again] {
        assert!(message.contains(warning), "{message}");
        for line in left_out {
            assert!(message.contains(line), "{message}");
        }
        let last = message.lines().last().unwrap();
        assert!(last.contains("+ 1 skipped"), "{message}");
    }
    assert!(again.contains("already complete"), "{again}");

    let summary: serde_json::Value = serde_json::from_str(&place.read("out/summary.json")).unwrap();
    assert_eq!(summary["seen"], 41);
    let expected = serde_json::json!({"companion": 1, "hidden": 2, "same_file": 1});
    assert_eq!(summary["left_out"]["reasons"], expected);
    assert_eq!(summary["left_out"]["files"], 4);
    let first = &summary["left_out"]["first"][0];
    assert_eq!(
        (&first["file"], &first["reason"]),
        (&"in/b.jsonl".into(), &"same_file".into())
    );
}

#[test]
fn some_skipped_documents_may_be_allowed() {
    let place = Place::new();
    place.write("a.jsonl", lines() + "\n{broken\n{broken too\n");
    let ends = |out: &str, flags: &[&str], code: i32| {
        place.dedup("a.jsonl", out, flags).code(code);
        assert!(place.path(out).join("summary.json").exists());
    };
    ends("usual", &[], 3);
    ends("one", &["--max-skipped", "1"], 3);
    ends("two", &["--max-skipped", "2"], 0);
    // Two of 42.
    ends("few", &["--max-skipped", "4.7%"], 3);
    ends("more", &["--max-skipped", "4.8%"], 0);
    place
        .dedup("a.jsonl", "no", &["--max-skipped", "x"])
        .code(2);
    assert!(!place.path("no").exists());
}

/// Documents to compare with that cannot be read find nothing: that is counted, told and listed.
#[test]
fn unread_documents_of_against_are_counted_apart() {
    let place = Place::new();
    place.write("new.jsonl", lines());
    let all: Vec<String> = lines().lines().map(str::to_owned).collect();
    let known = |unread: usize| -> String {
        let line = |(number, line): (usize, &String)| match number < unread {
            true => line.replace("\"text\"", "\"body\"") + "\n",
            false => format!("{line}\n"),
        };
        all.iter().enumerate().map(line).collect()
    };
    place.write("known.jsonl", known(30) + "{broken\n");
    let run = |out: &str, flags: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
        command
            .current_dir(&place.0)
            .args(["dedup", "new.jsonl", "--method", "exact", "-o", out])
            .args(["--against", "known.jsonl"])
            .args(flags);
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), said)
    };
    // A run, and the same command when it is complete.
    for _ in 0..2 {
        let (code, said) = run("out", &[]);
        assert_eq!(code, 3, "{said}");
        assert!(
            said.contains("; 31 of 41 documents of --against skipped"),
            "{said}"
        );
        assert!(
            said.contains("warning: --against: 31 of 41 documents could not be read (30 have"),
            "{said}"
        );
    }
    let (code, said) = run("out", &["--log", "json"]);
    assert_eq!(code, 3);
    let mut events = said
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let result = events.find(|event| event["event"] == "result").unwrap();
    assert_eq!(
        (&result["skipped"], &result["skipped_against"]),
        (&0.into(), &31.into())
    );

    let summary: serde_json::Value = serde_json::from_str(&place.read("out/summary.json")).unwrap();
    assert_eq!(
        (&summary["seen"], &summary["skipped"]),
        (&40.into(), &0.into())
    );
    assert_eq!(summary["against"]["documents"], 10);
    assert_eq!(summary["against"]["skipped"], 31);
    assert_eq!(summary["warnings"][0]["setting"], "against");
    assert_eq!(summary["warnings"][0]["documents"], 31);
    let skipped = place.read("out/skipped.jsonl");
    assert_eq!(skipped.lines().count(), 31);
    assert!(skipped.lines().all(|line| line.contains("known.jsonl")));

    assert_eq!(run("some", &["--max-skipped", "30"]).0, 3);
    assert_eq!(run("all", &["--max-skipped", "31"]).0, 0);
    // Of the documents of --against alone, not of those of the input too.
    assert_eq!(run("share", &["--max-skipped", "50%"]).0, 3);
    assert_eq!(run("most", &["--max-skipped", "76%"]).0, 0);
}

#[test]
fn what_has_no_effect_is_said() {
    let place = Place::new();
    place.write("a.jsonl", lines());
    let said = |line: &str, code: i32| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
        let words = line.split_whitespace();
        let assert = command
            .current_dir(&place.0)
            .arg("dedup")
            .args(words)
            .assert()
            .code(code);
        String::from_utf8(assert.get_output().stderr.clone()).unwrap()
    };
    for (flags, expected) in [
        (
            "--id-field nosuch",
            "warning: --id-field \"nosuch\": no document has it",
        ),
        (
            "--url-field nosuch",
            "warning: --url-field \"nosuch\": no document has it",
        ),
        (
            "--date-field nosuch",
            "warning: --date-field \"nosuch\": no document has it",
        ),
        (
            "--keep newest",
            "warning: --keep newest: no document has a date",
        ),
        (
            "--keep field:nosuch",
            "warning: --keep field:nosuch: no document has this field",
        ),
        (
            "--keep smallest:nosuch",
            "warning: --keep smallest:nosuch: no document has this field",
        ),
        (
            "--keep-per site",
            "warning: --keep-per site: no document has a URL",
        ),
    ] {
        let _ = fs::remove_dir_all(place.path("out"));
        let message = said(&format!("a.jsonl -o out {flags}"), 0);
        assert!(message.contains(expected), "{flags}: {message}");
        assert!(place.read("out/summary.json").contains("no document has"));
    }
    let message = said("a.jsonl -o level --write kept --compression-level 9", 0);
    let expected = "warning: --compression-level: no input is compressed";
    assert!(message.contains(expected), "{message}");
    fs::create_dir(place.path("empty")).unwrap();
    let message = said("empty -o nothing", 0);
    assert!(
        message.contains("warning: the inputs hold no documents"),
        "{message}"
    );
    for (flags, expected) in [
        (
            "--text-field body",
            "--text-field \"body\": no document has it; the first one has id, text (try \
             --text-field text)",
        ),
        (
            "--method exact --similarity 0.5",
            "--similarity has no effect with --method exact",
        ),
        (
            "--method normalized --shingle 3",
            "--shingle has no effect with --method normalized",
        ),
        (
            "--method minhash --bits 64",
            "--bits has no effect with --method minhash",
        ),
    ] {
        let message = said(&format!("a.jsonl -o refused {flags}"), 2);
        assert!(message.contains(expected), "{flags}: {message}");
        assert!(!place.path("refused").exists(), "{flags}");
    }
}

/// Documents with long ids and the same text, some 100 MB of ids.
fn long_ids(id_bytes: usize) -> impl Iterator<Item = String> {
    let rest = "x".repeat(id_bytes);
    let count = 100_000_000 / id_bytes;
    (0..count).map(move |number| {
        format!(
            "{{\"id\":\"{number}{rest}\",\"text\":\"one two three four five six seven eight\"}}\n"
        )
    })
}

#[test]
fn memory_is_bounded_whatever_ids_are_long() {
    for id_bytes in [100_000, 8_000_000] {
        let place = Place::new();
        let mut file = fs::File::create(place.path("a.jsonl")).unwrap();
        for line in long_ids(id_bytes) {
            std::io::Write::write_all(&mut file, line.as_bytes()).unwrap();
        }
        let line = "dedup a.jsonl -o out --quiet --threads 1 --memory 320M --pairs csv,parquet \
                    --write ids";
        let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
        let words = line.split_whitespace();
        command.current_dir(&place.0).args(words).assert().success();
        let timings: serde_json::Value =
            serde_json::from_str(&place.read("out/timings.json")).unwrap();
        let peak = timings["peak_resident_bytes"].as_u64().unwrap();
        assert!(peak < 320 << 20, "ids of {id_bytes} bytes: {peak}");
        let pairs = fs::metadata(place.path("out/duplicates.jsonl"))
            .unwrap()
            .len();
        assert!(pairs > 170_000_000, "{pairs}");
    }
}

/// The same pairs in three forms, read back as rows of text.
#[test]
fn lists_of_pairs_have_one_schema() {
    let place = Place::new();
    place.write("a.jsonl", lines());
    place.dedup("a.jsonl", "out", &["--pairs", "csv"]).success();
    assert!(!place.path("out/refused.jsonl").exists());
    let csv = place.read("out/duplicates.csv");
    let mut rows = csv
        .lines()
        .map(|line| line.trim_end().split(',').collect::<Vec<_>>());
    let names = rows.next().unwrap();
    let jsonl = place.read("out/duplicates.jsonl");
    let mut count = 0;
    for (row, line) in rows.zip(jsonl.lines()) {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value.as_object().unwrap().len(), names.len());
        for (name, cell) in names.iter().zip(row) {
            let expected = match &value[*name] {
                serde_json::Value::Null => String::new(),
                serde_json::Value::String(text) => format!("\"{text}\""),
                serde_json::Value::Number(number) if number.is_f64() => {
                    let written: f64 = cell.parse().unwrap();
                    assert!((number.as_f64().unwrap() - written).abs() < 1e-12);
                    continue;
                }
                number => number.to_string(),
            };
            assert_eq!(cell, expected, "{name}");
        }
        let share = value["shared"].as_f64().unwrap() / value["shingles"].as_f64().unwrap();
        // The parser may be off by the last bit.
        assert!((value["similarity"].as_f64().unwrap() - share).abs() < 1e-12);
        count += 1;
    }
    assert_eq!(count, 10);
    assert_eq!(jsonl.lines().count(), count);
    place.dedup("a.jsonl", "listed", &["--refused"]).success();
    assert!(place.path("listed/refused.jsonl").exists());
}

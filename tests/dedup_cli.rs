//! `simtool dedup` by inputs of all kinds: streams, tables, files without ids.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use assert_cmd::Command;
use std::fs;
use std::path::{Path, PathBuf};
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

/// Two kinds of documents, long ones first: what stands at the start of a file says nothing of its
/// end.
#[test]
fn the_plan_rests_on_places_all_over_the_input() {
    let place = Place::new();
    let line = |number: usize, words: usize| {
        let text: Vec<_> = (0..words)
            .map(|word| format!("w{}", number * 31 + word))
            .collect();
        format!("{{\"id\":\"d{number}\",\"text\":\"{}\"}}\n", text.join(" "))
    };
    let long: String = (0..300).map(|number| line(number, 2000)).collect();
    let short: String = (300..20_000).map(|number| line(number, 25)).collect();
    place.write("a.jsonl", &long);
    place.write("mixed.jsonl", long + &short);
    for (input, documents) in [("a.jsonl", 300.0), ("mixed.jsonl", 20_000.0)] {
        let plan = place.plan(input, &[]);
        let planned = plan["documents"].as_f64().unwrap();
        let ratio = planned / documents;
        assert!(
            (0.67..1.5).contains(&ratio),
            "{planned} of {documents} in {input}"
        );
        assert!(!place.path("planned").exists());
    }
}

/// Records that are longer than documents may be are passed over, but written again.
#[test]
fn the_plan_counts_the_bytes_of_records_that_are_too_large() {
    let place = Place::new();
    let line = |number: usize, bytes: usize| {
        format!(
            "{{\"id\":\"d{number}\",\"text\":\"{}\"}}\n",
            "w ".repeat(bytes / 2)
        )
    };
    let large: String = (0..3).map(|number| line(number, 3 << 20)).collect();
    let small: String = (3..103).map(|number| line(number, 100)).collect();
    let bytes = (large.len() + small.len()) as f64;
    place.write("a.jsonl", large + &small);
    let planned = |skipped: &str| {
        let flags = ["--write", "kept", "--skipped", skipped];
        let plan = place.plan("a.jsonl", &[&flags[..], &["--max-document", "1M"]].concat());
        let number = |name: &str| plan[name].as_f64().unwrap();
        (number("documents"), number("output_bytes"))
    };
    let (documents, output_bytes) = planned("keep");
    assert!((100.0..107.0).contains(&documents), "{documents}");
    let ratio = output_bytes / bytes;
    assert!((0.95..1.1).contains(&ratio), "{output_bytes} of {bytes}");
    let (_, output_bytes) = planned("drop");
    assert!(output_bytes < 0.1 * bytes, "{output_bytes} of {bytes}");
}

/// Small files beside large ones, each of them one document: their number is known, whatever the
/// sample holds, and a small sample says nothing of accidental hits.
#[test]
fn the_plan_counts_files_that_are_one_document_each() {
    let place = Place::new();
    fs::create_dir_all(place.path("pages/texts")).unwrap();
    let words = |from: usize, count: usize| -> String {
        let word = |number: usize| format!("w{} ", number * 7919 % 100_003);
        (from..from + count).map(word).collect()
    };
    for number in 0..120 {
        let count = if number % 40 == 0 { 20_000 } else { 30 };
        let text = words(number * 50, count);
        place.write(&format!("pages/texts/{number}.txt"), &text);
        place.write(
            &format!("pages/{number}.html"),
            format!("<html><body><p>{text}</p></body></html>"),
        );
    }
    let plan = place.plan("pages", &[]);
    assert_eq!(plan["documents"], 240);

    let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
    command
        .current_dir(&place.0)
        .args(["dedup", "pages", "-o", "planned", "--dry-run"]);
    let assert = command.assert().success();
    let told = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(told.contains("about 240 documents"), "{told}");
    assert!(!told.contains("accident"), "{told}");
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
    let warning = "warning: keep field:score: no document has this field";
    let left_out = [
        "not read: 2 files or directories, such as in/.cache (hidden)",
        "not read: in/README.md (no data file, and beside or above such (read with --include))",
        "not read: in/b.jsonl (the same file as in/a.jsonl)",
    ];
    for message in [&first, &again] {
        assert!(message.contains(warning), "{message}");
        for line in left_out {
            assert!(message.contains(line), "{message}");
        }
    }
    assert!(again.contains("already complete"), "{again}");
    assert!(again.contains("+ 1 skipped"), "{again}");

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
            said.contains("warning: against: 31 of 41 documents could not be read (30 have"),
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
            "warning: id_field \"nosuch\": no document has it",
        ),
        (
            "--keep newest",
            "warning: keep newest: no document has a date",
        ),
        (
            "--keep field:nosuch",
            "warning: keep field:nosuch: no document has this field",
        ),
        (
            "--keep smallest:nosuch",
            "warning: keep smallest:nosuch: no document has this field",
        ),
        (
            "--keep-per site",
            "warning: keep_per_site: no document has a URL",
        ),
    ] {
        let _ = fs::remove_dir_all(place.path("out"));
        let message = said(&format!("a.jsonl -o out {flags}"), 0);
        assert!(message.contains(expected), "{flags}: {message}");
        assert!(place.read("out/summary.json").contains("no document has"));
    }
    fs::create_dir(place.path("empty")).unwrap();
    let message = said("empty -o nothing", 0);
    assert!(
        message.contains("warning: the inputs hold no documents"),
        "{message}"
    );
    for (flags, expected) in [
        (
            "--text-field body",
            "no document has the field \"body\" for the text; the first one has id, text",
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

#[cfg(feature = "parquet")]
mod tables {
    use super::*;
    use arrow::array::{Array, ArrayRef, AsArray, Int64Array, StringArray};
    use arrow::record_batch::RecordBatch;
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use parquet::file::properties::WriterProperties;
    use std::sync::Arc;

    fn write(path: &Path) {
        write_groups(path, None);
    }

    fn write_groups(path: &Path, most_rows: Option<usize>) {
        let texts = texts();
        let ids: StringArray = (0..40).map(|number| Some(format!("d{number}"))).collect();
        let texts: StringArray = texts.iter().map(Some).collect();
        let batch = RecordBatch::try_from_iter([
            ("id", Arc::new(ids) as ArrayRef),
            ("number", Arc::new(Int64Array::from_iter_values(0..40))),
            ("text", Arc::new(texts)),
        ])
        .unwrap();
        let file = fs::File::create(path).unwrap();
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(most_rows)
            .build();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }

    fn read(path: &Path) -> RecordBatch {
        let file = fs::File::open(path).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(file)
            .unwrap()
            .build()
            .unwrap();
        let batches: Vec<_> = reader.map(Result::unwrap).collect();
        arrow::compute::concat_batches(&batches[0].schema(), &batches).unwrap()
    }

    #[test]
    fn a_table_gives_what_the_same_lines_give() {
        let place = Place::new();
        place.write("a.jsonl", lines());
        write(&place.path("a.parquet"));
        place.dedup("a.jsonl", "lines", &[]).success();
        place
            .dedup("a.parquet", "rows", &["--write", "kept"])
            .success();
        let duplicates = |out: &str| ids(&place.read(&format!("{out}/duplicates.jsonl")));
        assert_eq!(duplicates("rows"), duplicates("lines"));

        let kept = read(&place.path("rows/kept/a.parquet"));
        let numbers: Vec<i64> = kept["number"]
            .as_primitive::<arrow::datatypes::Int64Type>()
            .values()
            .to_vec();
        assert_eq!(
            numbers,
            (0..40).filter(|number| number % 4 != 3).collect::<Vec<_>>()
        );
        assert_eq!(kept.num_columns(), 3);
    }

    /// Damages the texts of a row group, of which nothing can be read then.
    fn damage_row_group(path: &Path, group: usize) {
        let mut bytes = fs::read(path).unwrap();
        let file = fs::File::open(path).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let (start, length) = reader.metadata().row_group(group).column(2).byte_range();
        bytes[start as usize..(start + length) as usize].fill(0xff);
        fs::write(path, bytes).unwrap();
    }

    #[test]
    fn rows_of_a_damaged_row_group_count_one_by_one() {
        let place = Place::new();
        let path = place.path("a.parquet");
        write_groups(&path, Some(10));
        damage_row_group(&path, 1);
        place.dedup("a.parquet", "out", &[]).code(3);
        let summary: serde_json::Value =
            serde_json::from_str(&place.read("out/summary.json")).unwrap();
        let counts = ["seen", "kept", "dropped", "skipped"].map(|name| summary[name].clone());
        assert_eq!(counts, [40, 23, 7, 10].map(serde_json::Value::from));
        let skipped = place.read("out/skipped.jsonl");
        let skipped: serde_json::Value = serde_json::from_str(&skipped).unwrap();
        assert_eq!(
            (&skipped["start"], &skipped["length"]),
            (&10.into(), &10.into())
        );
    }

    /// The two readings of a table have batches of different lengths, so the second one can come
    /// to rows that the first one lost.
    #[test]
    fn rows_that_damage_took_are_not_written() {
        const ROWS: usize = 12_000;
        let place = Place::new();
        let path = place.path("a.parquet");
        // The group of the first 10 000 rows is read in two batches.
        let text = |row: usize| match row {
            3 | 11_500 => "the same words".to_owned(),
            row => format!("words of row{row} and none else"),
        };
        let texts = (0..ROWS).map(|row| (![5, 11_000].contains(&row)).then(|| text(row)));
        let texts: StringArray = texts.collect();
        let ids: StringArray = (0..ROWS).map(|row| Some(format!("d{row}"))).collect();
        let columns = [
            ("id", Arc::new(ids) as ArrayRef),
            ("text", Arc::new(texts) as ArrayRef),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(10_000))
            .set_dictionary_enabled(false)
            .build();
        let file = fs::File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        // The length of a text becomes one that no text has.
        let mut bytes = fs::read(&path).unwrap();
        let damaged = text(9_900);
        let at = memchr::memmem::find(&bytes, damaged.as_bytes()).unwrap();
        bytes[at - 4..at].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f]);
        fs::write(&path, bytes).unwrap();

        let mut found = Vec::new();
        for (mode, skipped) in [("kept", "keep"), ("kept", "drop"), ("annotated", "drop")] {
            let out = format!("{mode}-{skipped}");
            let flags = ["--write", mode, "--skipped", skipped];
            place.dedup("a.parquet", &out, &flags).code(3);
            let summary = place.read(&format!("{out}/summary.json"));
            let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
            let count = |name: &str| summary[name].as_u64().unwrap() as usize;
            assert_eq!((count("seen"), count("dropped")), (ROWS, 1));
            let lost: Vec<std::ops::Range<usize>> = place
                .read(&format!("{out}/skipped.jsonl"))
                .lines()
                .map(|line| {
                    let line: serde_json::Value = serde_json::from_str(line).unwrap();
                    let number = |name: &str| line[name].as_u64().unwrap() as usize;
                    number("start")..number("start") + number("length")
                })
                .collect();
            assert_eq!(
                lost.iter().map(ExactSizeIterator::len).sum::<usize>(),
                count("skipped")
            );
            let [first, taken, last] = &lost[..] else {
                panic!("{lost:?}");
            };
            assert_eq!((first, last), (&(5..6), &(11_000..11_001)));
            assert!(taken.start > 1024 && taken.start < 9_900 && taken.end == 10_000);
            let written = read(&place.path(&format!("{out}/{mode}/a.parquet")));
            let ids = written["id"].as_string::<i32>();
            let ids: Vec<String> = ids.iter().map(|id| id.unwrap().to_owned()).collect();
            let stays = |row: &usize| match row {
                5 | 11_000 => skipped == "keep",
                11_500 => mode == "annotated",
                row => !taken.contains(row),
            };
            let expected: Vec<_> = (0..ROWS)
                .filter(stays)
                .map(|row| format!("d{row}"))
                .collect();
            assert_eq!(ids, expected, "{mode} {skipped}");
            found.push((ids.len(), count("kept")));
        }
        // Rows without a text stay, or are left out.
        let kept = found[0].1;
        assert_eq!(found, [(kept + 2, kept), (kept, kept), (kept + 1, kept)]);
    }

    #[test]
    fn the_plan_counts_the_rows_of_a_table() {
        let place = Place::new();
        write(&place.path("a.parquet"));
        let plan = place.plan("a.parquet", &["--write", "kept"]);
        assert_eq!(plan["documents"], 40);
        let text: usize = texts().iter().map(String::len).sum();
        let ratio = plan["text_bytes"].as_f64().unwrap() / text as f64;
        assert!((0.8..1.25).contains(&ratio), "{plan}");
        let bytes = fs::metadata(place.path("a.parquet")).unwrap().len();
        assert!(plan["output_bytes"].as_u64().unwrap() < 4 * bytes + 40_000);
    }

    #[test]
    fn a_table_is_annotated() {
        let place = Place::new();
        write(&place.path("a.parquet"));
        place
            .dedup("a.parquet", "out", &["--write", "annotated"])
            .success();
        let marked = read(&place.path("out/annotated/a.parquet"));
        assert_eq!(marked.num_rows(), 40);
        let marks = marked["duplicate_of"].as_string::<i32>();
        for number in 0..40 {
            let mark = marks.is_valid(number).then(|| marks.value(number));
            let expected = (number % 4 == 3).then(|| format!("d{}", number - 1));
            assert_eq!(mark, expected.as_deref());
        }
    }
}

/// A Parquet file whose stored schema has an integer of 33 bits instead of 32 at one of the places
/// where a 32 stands.
#[cfg(feature = "parquet")]
fn tables_with_odd_integers() -> Vec<Vec<u8>> {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int32Array, RecordBatch, StringArray};
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use parquet::arrow::ArrowWriter;

    let columns: [(&str, ArrayRef); 3] = [
        ("id", Arc::new(StringArray::from(vec!["t1", "t2"]))),
        ("text", Arc::new(StringArray::from(texts()[..2].to_vec()))),
        ("number", Arc::new(Int32Array::from(vec![1, 2]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();

    let name = b"ARROW:schema";
    let begin = bytes
        .windows(name.len())
        .position(|part| part == name)
        .unwrap()
        + name.len();
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let begin = begin
        + bytes[begin..]
            .windows(40)
            .position(|part| part.iter().all(|&byte| is_digit(byte)))
            .unwrap();
    let length = bytes[begin..]
        .iter()
        .take_while(|&&byte| is_digit(byte))
        .count();
    let schema = STANDARD.decode(&bytes[begin..begin + length]).unwrap();
    let places = (0..schema.len()).filter(|&place| schema[place] == 32);
    let damaged = places.map(|place| {
        let mut schema = schema.clone();
        schema[place] = 33;
        let mut bytes = bytes.clone();
        bytes[begin..begin + length].copy_from_slice(STANDARD.encode(schema).as_bytes());
        bytes
    });
    damaged.collect()
}

#[test]
#[cfg(feature = "parquet")]
fn a_panic_of_the_decoder_is_no_internal_error() {
    let place = Place::new();
    place.write("a.jsonl", lines());
    for table in tables_with_odd_integers() {
        place.write("t.parquet", table);
        let _ = fs::remove_dir_all(place.path("out"));
        let assert = place.dedup("a.jsonl", "out", &["t.parquet", "--write", "kept"]);
        let message = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
        assert!(!message.contains("internal error"), "{message}");
    }
}

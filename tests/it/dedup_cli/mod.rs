//! `simtool dedup`, the program: streams, tables, whole files, finished runs, warnings, reports.

mod containment;
mod lower;
mod page;
mod plan;
mod scopes;
#[cfg(feature = "parquet")]
mod tables;
mod urls;

use std::fs;

use crate::sandbox::{SIMTOOL, Sandbox, json_lines, last_event, stderr};
use assert_cmd::assert::Assert;
use serde_json::Value;

/// Runs `simtool dedup INPUT -o OUT` with `flags`; standard input holds [`lines`].
fn dedup(sandbox: &Sandbox, input: &str, out: &str, flags: &[&str]) -> Assert {
    let mut command = sandbox.command(SIMTOOL);
    command.args(["dedup", input, "-o", out, "--quiet"]);
    command.args(["--threads", "2", "--method", "minhash"]);
    command.args(flags).write_stdin(lines()).assert()
}

/// The plan of a dry run.
fn plan(sandbox: &Sandbox, input: &str, flags: &str) -> Value {
    let line = format!("dedup {input} -o planned --dry-run --log json {flags}");
    let assert = sandbox.run(&line).success().stdout("");
    last_event(&assert)
}

fn summary(sandbox: &Sandbox, out: &str) -> Value {
    serde_json::from_str(&sandbox.read(&format!("{out}/summary.json"))).unwrap()
}

/// The texts of documents; every fourth is the one before it with another last word.
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

/// The documents as JSON Lines, without a line feed at the end.
fn lines() -> String {
    let line = |(number, text)| format!("{{\"id\":\"d{number}\",\"text\":\"{text}\"}}");
    let lines: Vec<_> = texts().iter().enumerate().map(line).collect();
    lines.join("\n")
}

fn ids(jsonl: &str) -> Vec<String> {
    let id = |value: &Value| value["id"].as_str().unwrap().to_owned();
    json_lines(jsonl).iter().map(id).collect()
}

#[test]
fn standard_input_gives_what_the_file_gives() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines());
    dedup(&sandbox, "a.jsonl", "file", &[]).success();
    dedup(&sandbox, "-", "piped", &[]).success();
    assert!(ids(&sandbox.read("file/duplicates.jsonl")).contains(&"d3".to_owned()));
    for name in ["duplicates.jsonl", "clusters.jsonl", "skipped.jsonl"] {
        let (file, piped) = (format!("file/{name}"), format!("piped/{name}"));
        let named = sandbox.read(&file).replace("\"a.jsonl\"", "\"-\"");
        assert_eq!(sandbox.read(&piped), named, "{name}");
    }
    assert!(!sandbox.path("piped/.simtool").exists());
}

/// Promise (Deduplication): Inputs that are source code by their names are compared as such on
/// request, and a warning says so
#[test]
fn source_code_is_noticed_by_its_names() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("code")).unwrap();
    let body = "total = sum(values) / len(values)\nfor value in values:\n    print(value";
    sandbox.write("code/plus.py", format!("{body} + total)\n"));
    sandbox.write("code/minus.py", format!("{body} - total)\n"));
    sandbox.write("code/README.txt", "About this code.\n");
    let run = |flags: &str| stderr(&sandbox.run(&format!("dedup code {flags}")).success());
    for flags in ["-o words", "-o words --dry-run --restart"] {
        let text = run(flags);
        assert!(
            text.contains("2 of 3 files are source code by their names"),
            "{text}"
        );
        assert!(text.contains("--tokenizer code-and-comments"), "{text}");
    }
    assert_eq!(summary(&sandbox, "words")["dropped"], 1);
    assert_eq!(
        summary(&sandbox, "words")["warnings"][0]["setting"],
        "tokenizer"
    );
    for flags in ["-o code-words --tokenizer code", "-o exact --method exact"] {
        assert!(!run(flags).contains("source code"), "{flags}");
    }
    assert_eq!(summary(&sandbox, "code-words")["dropped"], 0);
    // A few scripts beside many pages are no collection of source code.
    for number in 0..40 {
        sandbox.write(
            &format!("code/page{number}.txt"),
            format!("Page {number}.\n"),
        );
    }
    assert!(!run("-o pages").contains("source code"));
}

#[test]
fn a_file_is_refused_as_the_output_directory() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines());
    sandbox.write("file", "kept");
    for out in ["file", "file/below"] {
        let message = stderr(&dedup(&sandbox, "a.jsonl", out, &[]).code(2));
        let expected = "simtool: file: is a file, and -o names a directory for several files \
                        (choose another name for -o)\n";
        assert_eq!(message, expected, "{out}");
    }
    assert_eq!(sandbox.read("file"), "kept");
}

#[test]
fn runs_on_different_inputs_without_documents_are_different() {
    let sandbox = Sandbox::new();
    for directory in ["one", "other"] {
        fs::create_dir(sandbox.path(directory)).unwrap();
        sandbox.write(&format!("{directory}/left-out"), "text");
    }
    let flags = ["--exclude", "left-out"];
    for _ in 0..2 {
        dedup(&sandbox, "one", "out", &flags).success();
    }
    let message = stderr(&dedup(&sandbox, "other", "out", &flags).code(2));
    let expected = "arguments[0] was \"one\", is \"other\"";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn advice_about_standard_input_names_no_file() {
    let sandbox = Sandbox::new();
    let advice = |input: &str, pattern: &str| {
        let mut command = sandbox.command(SIMTOOL);
        command.args(["dedup", "-", "-o", "out", pattern, "x*"]);
        stderr(&command.write_stdin(input).assert())
    };
    for pattern in ["--exclude", "--include"] {
        let message = advice(&lines(), pattern);
        let expected = format!("warning: {pattern} x*: has no effect on standard input\n");
        assert!(message.contains(&expected), "{message}");
        fs::remove_dir_all(sandbox.path("out")).unwrap();
    }
    fs::create_dir(sandbox.path("texts")).unwrap();
    sandbox.write("texts/a.txt", "a");
    let message = stderr(&sandbox.run("dedup texts -o none --include x*"));
    assert!(
        message.contains("--include x*: matches no file"),
        "{message}"
    );
    assert!(!message.contains("standard input"), "{message}");
    let message = advice("{\n\"text\": 1}\n", "--exclude");
    let expected = "-: is JSON that is not one object per line (convert it with jq -c .): have it \
                    read as one text by --format whole-file\n";
    assert!(message.ends_with(expected), "{message}");
}

#[test]
fn standard_input_is_written_without_duplicates() {
    let sandbox = Sandbox::new();
    dedup(&sandbox, "-", "out", &["--write", "kept"]).success();
    let kept = ids(&sandbox.read("out/kept/stdin"));
    let expected = (0..40)
        .filter(|number| number % 4 != 3)
        .map(|number| format!("d{number}"));
    assert_eq!(kept, expected.collect::<Vec<_>>());
}

#[test]
fn a_stream_that_cannot_be_annotated_leaves_no_output() {
    let sandbox = Sandbox::new();
    let flags = ["--write", "annotated", "--format", "form-feed"];
    dedup(&sandbox, "-", "out", &flags).code(2);
    dedup(&sandbox, "-", "out", &[]).success();
}

#[test]
fn whole_files_have_their_paths_as_ids() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("in")).unwrap();
    let texts = texts();
    sandbox.write("in/a.txt", &texts[2]);
    sandbox.write("in/b.txt", &texts[3]);
    dedup(&sandbox, "in", "out", &[]).success();
    let duplicates = sandbox.read("out/duplicates.jsonl");
    assert_eq!(ids(&duplicates), ["in/b.txt"]);
    assert!(duplicates.contains("\"in/a.txt\""), "{duplicates}");
}

/// A file that no run made is kept, whatever its name. An output directory within an input is not
/// read.
/// Promise (Deduplication): A file in the output directory that no run made is never replaced: a
/// new run, and `--restart` over a finished one, end before anything is written. An output
/// directory within an input is not read; one that is an input is refused
#[test]
fn files_of_the_user_in_the_output_directory_are_kept() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("in/out/kept/in")).unwrap();
    sandbox.write("in/a.jsonl", lines());
    let foreign = "no run of simtool recorded it as its own";
    for name in ["clusters.jsonl", "timings.json", "kept/in/a.jsonl"] {
        let name = format!("in/out/{name}");
        sandbox.write(&name, "mine");
        let message = stderr(&dedup(&sandbox, "in", "in/out", &["--write", "kept"]).code(2));
        assert!(
            message.contains(&name) && message.contains(foreign),
            "{message}"
        );
        assert_eq!(sandbox.read(&name), "mine");
        fs::remove_file(sandbox.path(&name)).unwrap();
    }
    dedup(&sandbox, "in", "in/out", &["--write", "kept"])
        .success()
        .stderr("");
    let summary = sandbox.read("in/out/summary.json");
    assert!(summary.contains("\"seen\": 40,"), "{summary}");
    // The same again is complete, and the outputs are no input.
    let marker = fs::metadata(sandbox.path("in/out/summary.json")).unwrap();
    dedup(&sandbox, "in", "in/out", &["--write", "kept"])
        .success()
        .stderr("");
    let later = fs::metadata(sandbox.path("in/out/summary.json")).unwrap();
    assert_eq!(marker.modified().unwrap(), later.modified().unwrap());

    sandbox.write("in/out/refused.jsonl", "mine");
    let restart = ["--write", "kept", "--refused", "--restart"];
    let message = stderr(&dedup(&sandbox, "in", "in/out", &restart).code(2));
    assert!(message.contains(foreign), "{message}");
    assert_eq!(sandbox.read("in/out/refused.jsonl"), "mine");
    assert_eq!(sandbox.read("in/out/summary.json"), summary, "nothing went");

    let message = stderr(&dedup(&sandbox, "in", "in", &[]).code(2));
    assert!(
        message.contains("is an input and the output directory"),
        "{message}"
    );
    assert!(!sandbox.path("in/summary.json").exists());
}

/// Promise (Deduplication): A repeated command whose run is …
#[test]
fn a_finished_run_given_again_is_complete() {
    let sandbox = Sandbox::new();
    let again = |input: &str, flags: &[&str]| {
        let mut command = sandbox.command(SIMTOOL);
        command.args(["dedup", input, "-o", "out", "--threads", "2"]);
        command.args(["--method", "minhash"]).args(flags);
        command.write_stdin(lines()).assert()
    };
    sandbox.write("a.jsonl", format!("{}\nnot json\n", lines()));
    fs::create_dir(sandbox.path("out")).unwrap();
    sandbox.write("out/.env.sample", "mine");
    again("a.jsonl", &[]).code(3);
    let summary = sandbox.read("out/summary.json");
    let message = stderr(&again("a.jsonl", &[]).code(3));
    assert!(message.contains("already complete"), "{message}");
    assert!(message.contains("41 documents seen = "), "{message}");
    assert_eq!(stderr(&again("a.jsonl", &["--quiet"]).code(3)), "");
    assert_eq!(
        stderr(&again("a.jsonl", &["--summary=json"]).code(3)),
        summary
    );

    let other = ["--similarity", "0.7", "--write", "kept"];
    let message = stderr(&again("a.jsonl", &other).code(2));
    assert!(
        message.contains("settings.write was \"none\", is \"kept\""),
        "{message}"
    );
    assert!(message.contains("--restart"), "{message}");
    assert_eq!(sandbox.read("out/summary.json"), summary);
    again("a.jsonl", &[&other[..], &["--restart"]].concat()).code(3);
    assert!(sandbox.path("out/kept/a.jsonl").exists());
    again("a.jsonl", &["--restart"]).code(3);
    assert_eq!(sandbox.read("out/summary.json"), summary);
    assert!(!sandbox.path("out/kept").exists());
    assert_eq!(sandbox.read("out/.env.sample"), "mine");

    // The content of an earlier stream cannot be compared.
    again("-", &["--restart"]).success();
    let message = stderr(&again("-", &[]).code(2));
    assert!(message.contains("what a stream held"), "{message}");
}

/// Promise (Deduplication): A repeated command whose run is …
/// Promise (Deduplication): In a directory with data files, only …
#[test]
fn a_finished_run_given_again_repeats_its_warnings() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("in/.cache")).unwrap();
    sandbox.write("in/a.jsonl", format!("{}\nnot json\n", lines()));
    sandbox.write("in/README.md", "about this data");
    sandbox.write("in/.hidden", "x");
    sandbox.write("in/.cache/b.jsonl", lines());
    fs::hard_link(sandbox.path("in/a.jsonl"), sandbox.path("in/b.jsonl")).unwrap();
    let run = |flags: &str| {
        let line = format!("dedup in -o out --threads 2 --keep field:score {flags}");
        stderr(&sandbox.run(&line).code(3))
    };
    let (first, again) = (run(""), run(""));
    assert_eq!(run("--quiet"), "");
    let warning = "warning: --keep field:score: no document has this field";
    let left_out = [
        "not read: 2 files or directories, such as in/.cache (hidden)",
        "not read: in/README.md (not a data file, but next to or above data files such as in/a.jsonl (read with --include))",
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

    let summary = summary(&sandbox, "out");
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
fn pipes_and_empty_files_in_a_directory_are_told() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("in")).unwrap();
    sandbox.write("in/a.jsonl", lines());
    sandbox.write("in/empty.jsonl", "");
    let made = sandbox.command("mkfifo").arg("in/pipe.jsonl").ok();
    assert!(made.is_ok(), "{made:?}");
    let message = stderr(&sandbox.run("dedup in -o out").code(0));
    let pipe = "in/pipe.jsonl (a named pipe, socket or device (name it itself to read it))";
    let empty = "in/empty.jsonl (empty, next to or above data files such as in/a.jsonl";
    for line in [pipe, empty] {
        assert!(message.contains(&format!("not read: {line}")), "{message}");
    }
    assert_eq!(summary(&sandbox, "out")["left_out"]["files"], 2);
    let message = stderr(&sandbox.run("dedup in --exclude *.jsonl -o none").code(0));
    assert!(!message.contains("pipe"), "{message}");
}

/// Promise (Deduplication): A named pipe with the name of an output or of a work file is an error
/// at once; nothing waits for it
#[test]
fn a_pipe_named_like_a_file_of_a_run_is_refused_at_once() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines());
    for name in ["run.json", ".simtool/job.json", ".simtool/outputs"] {
        fs::create_dir_all(sandbox.path("out/.simtool")).unwrap();
        let made = sandbox.command("mkfifo").arg(format!("out/{name}")).ok();
        assert!(made.is_ok(), "{made:?}");
        let message = stderr(&sandbox.run("dedup a.jsonl -o out --restart").code(2));
        assert!(message.contains(&format!("out/{name}")), "{message}");
        fs::remove_dir_all(sandbox.path("out")).unwrap();
    }
}

/// Promise (Deduplication): `--restart` removes the files that the earlier …
#[test]
fn a_file_of_the_user_with_the_name_of_the_lock_is_kept() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines());
    fs::create_dir_all(sandbox.path("out/.simtool")).unwrap();
    sandbox.write("out/.simtool/lock", "mine");
    for _ in 0..2 {
        sandbox.run("dedup a.jsonl -o out --restart").code(0);
        assert_eq!(sandbox.read("out/.simtool/lock"), "mine");
    }
}

/// Promise (Deduplication): A repeated command whose run is finished, also if killed in its last
/// moments, ends at once and repeats its warnings; another job is refused, and so is an output
/// whose length, or whose time of modification and bytes, changed since
#[test]
fn an_output_changed_without_a_change_of_length_is_noticed() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines());
    sandbox.run("dedup a.jsonl -o out").code(0);
    let pairs = sandbox.read("out/duplicates.jsonl");
    // The same contents with a later time are still those of the run.
    sandbox.write("out/duplicates.jsonl", &pairs);
    let message = stderr(&sandbox.run("dedup a.jsonl -o out").code(0));
    assert!(message.contains("already complete"), "{message}");
    sandbox.write("out/duplicates.jsonl", pairs.replacen(':', ";", 1));
    let message = stderr(&sandbox.run("dedup a.jsonl -o out").code(2));
    assert!(
        message.contains("out/duplicates.jsonl: was changed since"),
        "{message}"
    );
}

/// Promise (Deduplication): `--restart` removes the files that the earlier …
#[test]
fn a_restart_keeps_timings_that_no_run_wrote() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines());
    let restart = "dedup a.jsonl -o out --restart";
    sandbox.run(restart).code(0);
    sandbox.run(restart).code(0);
    for mine in ["mine", "{\"seconds\": 1}"] {
        sandbox.write("out/timings.json", mine);
        let message = stderr(&sandbox.run(restart).code(2));
        assert!(message.contains("out/timings.json"), "{message}");
        assert_eq!(sandbox.read("out/timings.json"), mine);
        assert!(sandbox.read("out/summary.json").contains("\"seen\""));
    }
}

#[test]
fn earlier_outputs_among_the_inputs_are_told() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines());
    let first = stderr(&sandbox.run("dedup . -o out --write kept").code(0));
    assert!(!first.contains("has the output"), "{first}");
    let warning = "out: has the output of a run of simtool dedup, and is read as input \
                   (--exclude out/ leaves it out)";
    let again = stderr(&sandbox.run("dedup . -o second").code(3));
    assert!(again.contains(warning), "{again}");
    let without = stderr(
        &sandbox
            .run("dedup . -o third --exclude out/ --exclude second/")
            .code(0),
    );
    assert!(!without.contains("has the output"), "{without}");
    sandbox.run("lines a.jsonl -o units").code(0);
    let units = stderr(&sandbox.run("dedup units a.jsonl -o fifth"));
    let warning = "units: has the output of a run of simtool lines, and is read as input";
    assert!(units.contains(warning), "{units}");
    // A pattern also finds them.
    let pattern = stderr(&sandbox.run("dedup **/*.jsonl -o sixth"));
    assert!(
        pattern.contains("out: has the output of a run"),
        "{pattern}"
    );
    let pattern = stderr(&sandbox.run("dedup out/kept/*.jsonl -o seventh").code(0));
    assert!(!pattern.contains("has the output"), "{pattern}");
    // Documents that were kept are usual inputs.
    let kept = stderr(&sandbox.run("dedup out/kept -o fourth").code(0));
    assert!(!kept.contains("has the output"), "{kept}");
}

#[test]
fn max_skipped_allows_skipped_documents() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines() + "\n{broken\n{broken too\n");
    let ends = |out: &str, flags: &[&str], code: i32| {
        dedup(&sandbox, "a.jsonl", out, flags).code(code);
        assert!(sandbox.path(out).join("summary.json").exists());
    };
    ends("usual", &[], 3);
    ends("one", &["--max-skipped", "1"], 3);
    ends("two", &["--max-skipped", "2"], 0);
    // Two of 42.
    ends("few", &["--max-skipped", "4.7%"], 3);
    ends("more", &["--max-skipped", "4.8%"], 0);
    dedup(&sandbox, "a.jsonl", "no", &["--max-skipped", "x"]).code(2);
    assert!(!sandbox.path("no").exists());
}

/// Only documents of the reference drop others, also if there are none.
#[test]
fn a_reference_without_documents_drops_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("new.jsonl", lines() + "\n" + &lines());
    sandbox.write("empty.jsonl", "");
    let flags = ["--against", "empty.jsonl", "--against-only"];
    dedup(&sandbox, "new.jsonl", "out", &flags).code(0);
    assert_eq!(summary(&sandbox, "out")["dropped"], 0);
}

/// Unreadable documents of `--against` are counted, warned about and listed.
/// Promise (Deduplication): No document is lost: seen = kept + dropped + skipped. Each list has as
/// many lines as the summary states, except that Parquet rows lost together share a line.
/// Unreadable documents of `--against` are counted separately
#[test]
fn unreadable_documents_of_against_are_counted_separately() {
    let sandbox = Sandbox::new();
    sandbox.write("new.jsonl", lines());
    let all: Vec<String> = lines().lines().map(str::to_owned).collect();
    let known = |unread: usize| -> String {
        let line = |(number, line): (usize, &String)| match number < unread {
            true => line.replace("\"text\"", "\"body\"") + "\n",
            false => format!("{line}\n"),
        };
        all.iter().enumerate().map(line).collect()
    };
    sandbox.write("known.jsonl", known(30) + "{broken\n");
    let run = |out: &str, flags: &str, code: i32| {
        let line = format!("dedup new.jsonl --method exact -o {out} --against known.jsonl {flags}");
        stderr(&sandbox.run(&line).code(code))
    };
    // A run, and the same command when it is complete.
    for _ in 0..2 {
        let stderr = run("out", "", 3);
        assert!(
            stderr.contains("; 31 of 41 documents of --against skipped"),
            "{stderr}"
        );
        assert!(
            stderr.contains("warning: --against: 31 of 41 documents could not be read (30 have"),
            "{stderr}"
        );
    }
    let events = json_lines(&run("out", "--log json", 3));
    let result = events.iter().find(|event| event["event"] == "result");
    let result = result.unwrap();
    assert_eq!(
        (&result["skipped"], &result["skipped_against"]),
        (&0.into(), &31.into())
    );

    let summary = summary(&sandbox, "out");
    assert_eq!(
        (&summary["seen"], &summary["skipped"]),
        (&40.into(), &0.into())
    );
    assert_eq!(summary["against"]["documents"], 10);
    assert_eq!(summary["against"]["skipped"], 31);
    assert_eq!(summary["warnings"][0]["setting"], "against");
    assert_eq!(summary["warnings"][0]["documents"], 31);
    let skipped = sandbox.read("out/skipped.jsonl");
    assert_eq!(skipped.lines().count(), 31);
    assert!(skipped.lines().all(|line| line.contains("known.jsonl")));

    run("some", "--max-skipped 30", 3);
    run("all", "--max-skipped 31", 0);
    // Of the documents of --against alone, not of those of the input too.
    run("share", "--max-skipped 50%", 3);
    run("most", "--max-skipped 76%", 0);
}

/// Promise (Deduplication): A setting without effect is a warning; …
#[test]
fn flags_without_effect_are_warned_about_or_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines());
    let run = |line: &str, code: i32| stderr(&sandbox.run(&format!("dedup {line}")).code(code));
    for line in "--id-field nosuch => warning: --id-field \"nosuch\": no document has it
        --url-field nosuch => warning: --url-field \"nosuch\": no document has it
        --date-field nosuch => warning: --date-field \"nosuch\": no document has it
        --keep newest => warning: --keep newest: no document has a date
        --keep field:nosuch => warning: --keep field:nosuch: no document has this field
        --keep smallest:nosuch => warning: --keep smallest:nosuch: no document has this field
        --within site => warning: --within site: 40 of 40 documents have no URL with a host; they form a group of their own"
        .lines()
    {
        let (flags, expected) = line.trim().split_once(" => ").unwrap();
        let _ = fs::remove_dir_all(sandbox.path("out"));
        let message = run(&format!("a.jsonl -o out {flags}"), 0);
        assert!(message.contains(expected), "{flags}: {message}");
        assert!(
            !sandbox
                .read("out/summary.json")
                .contains("\"warnings\": []")
        );
    }
    let message = run("a.jsonl -o level --write kept --compression-level 9", 0);
    let expected = "warning: --compression-level: no input is compressed";
    assert!(message.contains(expected), "{message}");
    fs::create_dir(sandbox.path("empty")).unwrap();
    let message = run("empty -o nothing", 0);
    assert!(
        message.contains("warning: the inputs hold no documents"),
        "{message}"
    );
    sandbox.refuse_each(
        "dedup a.jsonl -o refused",
        "--text-field body => --text-field \"body\": no document has it; the first one has id, text (try --text-field text)
        --method exact --similarity 0.5 => --similarity has no effect with --method exact
        --method normalized --shingle 3 => --shingle has no effect with --method normalized
        --method minhash --bits 64 => --bits has no effect with --method minhash",
    );
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

/// Promise (Deduplication): Reports are written in bounded memory, for ids of any length
#[test]
fn memory_is_bounded_for_ids_of_any_length() {
    for id_bytes in [100_000, 8_000_000] {
        let sandbox = Sandbox::new();
        let mut file = fs::File::create(sandbox.path("a.jsonl")).unwrap();
        for line in long_ids(id_bytes) {
            std::io::Write::write_all(&mut file, line.as_bytes()).unwrap();
        }
        let line = "dedup a.jsonl -o out --quiet --threads 1 --memory 320M --pairs csv,parquet \
                    --write ids";
        sandbox.run(line).success();
        let timings: Value = serde_json::from_str(&sandbox.read("out/timings.json")).unwrap();
        let peak = timings["peak_resident_bytes"].as_u64().unwrap();
        assert!(peak < 320 << 20, "ids of {id_bytes} bytes: {peak}");
        let pairs = fs::metadata(sandbox.path("out/duplicates.jsonl"))
            .unwrap()
            .len();
        assert!(pairs > 170_000_000, "{pairs}");
    }
}

/// The same pairs in three forms, read back as rows of text.
/// Promise (Deduplication): The list of pairs has the same columns and values in JSON Lines, CSV
/// and Parquet
#[test]
fn lists_of_pairs_have_one_schema() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines());
    dedup(&sandbox, "a.jsonl", "out", &["--pairs", "csv"]).success();
    assert!(!sandbox.path("out/refused.jsonl").exists());
    let csv = sandbox.read("out/duplicates.csv");
    let mut rows = csv
        .lines()
        .map(|line| line.trim_end().split(',').collect::<Vec<_>>());
    let names = rows.next().unwrap();
    let jsonl = sandbox.read("out/duplicates.jsonl");
    let mut count = 0;
    for (row, line) in rows.zip(jsonl.lines()) {
        let value: Value = serde_json::from_str(line).unwrap();
        assert_eq!(value.as_object().unwrap().len(), names.len());
        for (name, cell) in names.iter().zip(row) {
            let expected = match &value[*name] {
                Value::Null => String::new(),
                Value::String(text) => format!("\"{text}\""),
                Value::Number(number) if number.is_f64() => {
                    let written: f64 = cell.parse().unwrap();
                    assert!((number.as_f64().unwrap() - written).abs() < 1e-12);
                    continue;
                }
                number => number.to_string(),
            };
            assert_eq!(cell, expected, "{name}");
        }
        let share = value["shared"].as_f64().unwrap() / value["shingles"].as_f64().unwrap();
        // The JSON parser may round the last bit.
        assert!((value["similarity"].as_f64().unwrap() - share).abs() < 1e-12);
        count += 1;
    }
    assert_eq!(count, 10);
    assert_eq!(jsonl.lines().count(), count);
    dedup(&sandbox, "a.jsonl", "listed", &["--refused"]).success();
    assert!(sandbox.path("listed/refused.jsonl").exists());
}

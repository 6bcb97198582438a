//! The commands of the three searches: results, refused flags, plans, streams.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::passages::plan::plan;
use crate::passages::readings::assert_readings_are_as_planned;
use crate::passages::{contents, documents, json_of, write};
use crate::sandbox::{SIMTOOL, Sandbox};

/// A directory with documents of these texts in `in.jsonl`, and reference items in `items.jsonl`.
pub fn sandbox(items: &[&str], texts: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    write(&sandbox.path("items.jsonl"), &documents(items));
    write(&sandbox.path("in.jsonl"), &documents(texts));
    sandbox
}

#[test]
fn the_result_is_one_line_and_a_repeated_command_ends_at_once() {
    let repeating = ["One two three four.", "Some one, TWO three five."];
    for (command, other, texts, result) in [
        (
            "lines in.jsonl -o out --unit line",
            "--above 2",
            ["a\nb", "a\nc"],
            "1 of 4 lines marked",
        ),
        (
            "spans in.jsonl -o out --min 3w",
            "--snap sentence",
            repeating,
            "1 range marked, which repeat",
        ),
        (
            "decontaminate in.jsonl --reference items.jsonl -o out --min 3w --min-item 2w",
            "--around 9",
            repeating,
            "2 ranges marked, with parts of 1 reference item",
        ),
    ] {
        let sandbox = sandbox(&["One two three."], &texts);
        let first = sandbox.stderr(command);
        let counts = "2 documents seen = 2 kept + 0 dropped + 0 skipped; ";
        assert!(first.contains(&format!("{counts}{result}")), "{first}");
        let again = sandbox.stderr(command);
        assert!(again.contains("already complete"), "{again}");
        let page = sandbox.read("out/page.html");
        assert!(page.contains("<del>"), "{command}");
        let other = format!("{command} {other}");
        sandbox.refuse(&other, &["--restart"]);
        sandbox.stderr(&format!("{other} --restart --no-page"));
        assert!(!sandbox.path("out/page.html").exists(), "{command}");
    }
}

/// An input of which nothing is removed is copied, although its member is longer than a chunk.
#[test]
fn an_unchanged_compressed_input_is_copied() {
    let sandbox = Sandbox::new();
    let line = |number: u32| format!("{{\"text\":\"{number} of its own, {number}\"}}\n");
    let lines: String = (0..20_000).map(line).collect();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(lines.as_bytes()).unwrap();
    let input = encoder.finish().unwrap();
    fs::write(sandbox.path("in.jsonl.gz"), &input).unwrap();
    for action in ["drop-document:0.9 --skipped drop", "cut"] {
        sandbox.stderr(&format!(
            "lines in.jsonl.gz -o out --restart --action {action}"
        ));
        let directory = if action == "cut" { "cut" } else { "kept" };
        let output = sandbox.path(&format!("out/{directory}/in.jsonl.gz"));
        assert!(fs::read(output).unwrap() == input, "{action}");
    }
}

#[test]
fn skipped_documents_have_an_exit_code_of_their_own() {
    for command in ["lines", "spans", "decontaminate"] {
        let sandbox = sandbox(&["a"], &["a"]);
        sandbox.write("bad.jsonl", "{\"text\":\"a\"}\nbad\n");
        let reference = match command {
            "decontaminate" => "--reference items.jsonl",
            _ => "",
        };
        let line = format!("{command} in.jsonl bad.jsonl -o out {reference}");
        sandbox.run(&line).code(3);
        sandbox.run(&format!("{line} --max-skipped 1")).code(0);
    }
}

/// Promise (Repeated units): A flag without effect is refused; `--dry-run` …
/// Promise (Parts of evaluation sets): A flag without effect is refused; `--dry-run` …
#[test]
fn a_dry_run_writes_nothing() {
    for (command, parts) in [
        (
            "lines in.jsonl --above 6",
            &["what occurs more than 6 times", "again in cut/", "1 file"][..],
        ),
        (
            "lines in.jsonl --write-format jsonl.zst",
            &["the documents in cut/, as shards in the format jsonl.zst"],
        ),
        (
            "spans in.jsonl --min 500b",
            &[
                "at least 500b that occur earlier",
                "again in cut/",
                "1 file",
            ],
        ),
        (
            "decontaminate in.jsonl --reference items.jsonl --profile gpt3",
            &[
                "n-grams of 13w",
                "more than 10 documents",
                "200 characters around",
                "again in cut/",
            ],
        ),
    ] {
        let sandbox = sandbox(&["a b c"], &["a\nb", "a\nc"]);
        let plan = sandbox.stderr(&format!("{command} -o out --dry-run --action cut"));
        for part in parts {
            assert!(plan.contains(part), "{part}: {plan}");
        }
        assert!(!sandbox.path("out").exists());
    }
}

/// Promise (Repeated units): A flag without effect is refused; `--dry-run` writes nothing
/// Promise (Parts of evaluation sets): A flag without effect is refused; `--dry-run` writes nothing
#[test]
fn flags_without_effect_are_refused() {
    let sandbox = sandbox(&["a"], &["a"]);
    sandbox.write("list", "{\"text\":\"a\"}\n");
    fs::create_dir(sandbox.path("empty")).unwrap();
    let each = "
        --min-words 3 => --min-words has an effect only with --action cut
        --min-sentences 3 --action mask => --min-sentences has an effect
        --skipped drop => --skipped has an effect only where documents are written
        --write-format jsonl => --write-format has an effect only where documents are written
        --compression-level 3 => --compression-level has an effect only where documents are written
        --empty-files => --empty-files has an effect only where documents are written
        --shard-size 1M --action cut => --shard-size has an effect only on shards
        --skipped drop --action cut --write-format jsonl => only with --write-format input
        --date-field day => --date-field has an effect only on the dates in shards of Parquet
        --action drop-document:2 => expected mark, cut, mask or drop-document
        --memory 1M => --memory 1M";
    for command in [
        "lines in.jsonl -o out",
        "spans in.jsonl -o out",
        "decontaminate in.jsonl -o out --reference items.jsonl",
    ] {
        sandbox.refuse_each(command, each);
    }
    sandbox.refuse_each(
        "lines in.jsonl -o out",
        "--remove-listed list --above 2 => cannot be used with
        --above 0 => --above 0
        --unit word => expected line, run:N with N from 1 to 1000, paragraph, or sentences:N
        --unit line --tokenizer ascii => --tokenizer has an effect only on words that are counted
        --in-documents 1 => --in-documents
        --in-documents 3 --above 2 => cannot be used with
        --remove-listed list --in-documents 2 => cannot be used with
        --within 4-documents => no unit is in 5 of 4 documents
        --within site --against in.jsonl => cannot be combined with a list of units or with groups",
    );
    sandbox.refuse_each(
        "spans in.jsonl -o out",
        "--min 50 => such as 50w
        --min 0w => such as 50w
        --snap page => possible values",
    );
    sandbox.refuse_each(
        "decontaminate in.jsonl -o out --reference items.jsonl",
        "--max-pieces 3 => --max-pieces has an effect only with --action cut
        --min 5w --min-item 6w => --min-item 6w has no effect
        --max-gap 3 => --max-gap has an effect only on clusters
        --answer-field a => --answer-field has an effect only on clusters
        --profile olmo --answer-within 9w => --answer-within has an effect only with --answer-field
        --min 50b => such as 13w
        --min-item 0w => such as 13w
        --max-documents 0 => or none
        --profile other => possible values
        --reference-field question => --reference-field \"question\"",
    );
    sandbox.refuse_each(
        "decontaminate in.jsonl -o out",
        "--min 3w => --reference
        --reference empty => reference: no file",
    );
}

/// Promise (Repeated units): By default, a line is removed if it belongs to a run of lines with at
/// least 30 words that occurs in at least 5 documents; one copy is kept, and so are trivial lines
#[test]
fn boilerplate_is_removed_by_default() {
    let menu = "Home\n--\nNews\nSport\n\nWeather\nAbout us\nContact";
    let text = |number: u32| format!("{menu}\nText {number}\nelse:\n)\n{number}");
    let cut = |count, flags: &str| {
        let texts: Vec<String> = (0..count).map(text).collect();
        let sandbox = sandbox(&[], &texts.iter().map(String::as_str).collect::<Vec<_>>());
        sandbox.stderr(&format!("lines in.jsonl -o out --action cut {flags}"));
        let written = sandbox.lines("out/cut/in.jsonl").into_iter();
        let written = written.map(|line| line["text"].as_str().unwrap().to_owned());
        written.collect::<Vec<String>>()
    };
    let rest = |number: u32| format!("Text {number}\nelse:\n)\n{number}");
    let expected = |first| [first, rest(1), rest(2), rest(3), rest(4)];
    assert_eq!(cut(5, ""), expected(text(0)));
    assert_eq!(cut(5, "--keep none"), expected(rest(0)));
    assert_eq!(cut(4, ""), [0, 1, 2, 3].map(text));
    assert_eq!(cut(4, "--in-documents 4")[3], rest(3));
    assert_eq!(cut(4, "--above 3")[3], rest(3));
    assert_eq!(cut(5, "--tokenizer ascii"), expected(text(0)));
    assert_eq!(cut(5, "--unit run:31"), [0, 1, 2, 3, 4].map(text));
    let changed = cut(5, "--unit line");
    assert_eq!(changed[4], "\nText 4\n4");
}

/// With fewer documents than a unit needs, nothing can be removed: the run says so.
#[test]
fn too_few_documents_for_boilerplate_are_told() {
    for (flags, is_told) in [
        ("", true),
        ("--in-documents 3", false),
        ("--unit line", false),
    ] {
        let sandbox = sandbox(&[], &["a line of text", "another line", "one more"]);
        sandbox.stderr(&format!("lines in.jsonl -o out {flags}"));
        let summary = sandbox.read("out/summary.json");
        let found = summary.contains("in_documents 5: only 3 documents were read");
        assert_eq!(found, is_told, "{flags}: {summary}");
    }
}

#[test]
fn what_another_corpus_has_is_removed() {
    for (command, old, texts, first, origin) in [
        (
            "lines --unit line",
            "old",
            ["old\nnew", "other"],
            "new",
            "against",
        ),
        (
            "spans --min 3w",
            "the old words come",
            ["new words before old words come", "other"],
            "new words before ",
            "before.jsonl",
        ),
    ] {
        let sandbox = sandbox(&[], &texts);
        write(&sandbox.path("before.jsonl"), &documents(&[old]));
        sandbox.stderr(&format!(
            "{command} in.jsonl -o out --against before.jsonl --action cut"
        ));
        let written = sandbox.lines("out/cut/in.jsonl");
        let texts = written.iter().map(|line| line["text"].clone());
        assert_eq!(texts.collect::<Vec<Value>>(), [first, "other"]);
        let spans = sandbox.read("out/spans.jsonl");
        assert!(spans.contains("\"why\":\"against\"") && spans.contains(origin));
        let summary = json_of(&sandbox.path("out/summary.json"));
        let counts = json!([summary["seen"], summary["against"]["documents"]]);
        assert_eq!(counts, json!([2, 1]));
    }
}

#[test]
fn standard_input_is_read() {
    for (command, texts, second) in [
        ("lines --unit line", ["a\nb", "a\nc"], " \nc"),
        ("spans --min 3w", ["a b c", "a b c d"], "      d"),
        (
            "decontaminate --reference items.jsonl --min 3w",
            ["a b", "a b c d"],
            "      d",
        ),
    ] {
        let sandbox = sandbox(&["a b c"], &texts);
        let line = format!("{command} - -o out --action mask");
        let input = sandbox.read("in.jsonl");
        let mut run = sandbox.command(SIMTOOL);
        let run = run.args(line.split(' ')).write_stdin(input).assert();
        run.try_success().unwrap();
        let written = sandbox.lines("out/masked/stdin");
        assert_eq!(written[1]["text"], second, "{command}");
    }
}

/// Promise (Repeated units): Documents are read as often as the plan says, and with the memory that
/// it proposes, once
/// Promise (Repeated stretches of text): Documents are read as often as the plan says, and with the
/// memory that it proposes, once less
#[test]
fn a_plan_says_how_often_the_input_is_read() {
    for (command, count, end) in [
        ("lines --unit line", 600, '\n'),
        ("lines", 600, '\n'),
        ("spans --min 3w", 900, ' '),
    ] {
        let word = |number: u32| format!("{:08x}{end}", number.wrapping_mul(0x9e37_79b9));
        let text = |text: u32| (0..1000).map(|number| word(text * 1000 + number)).collect();
        let texts: Vec<String> = (0..count).map(text).collect();
        let sandbox = sandbox(&[], &texts.iter().map(String::as_str).collect::<Vec<_>>());
        assert_readings_are_as_planned(&sandbox.path(""), 292, |out, memory| {
            let line = format!(
                "{command} in.jsonl -o {out} --threads 1 --memory {memory}M --max-document 64K"
            );
            sandbox.std_command(&line)
        });
    }
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
    let sandbox = Sandbox::new();
    write(&sandbox.path("in.jsonl.gz"), &documents(&texts));
    let mut formats = vec!["jsonl", "jsonl.zst"];
    formats.extend(cfg!(feature = "parquet").then_some("parquet"));
    for format in formats {
        let flags = "in.jsonl.gz --no-page --action cut";
        let line = format!("lines --unit line {flags} -o {format} --write-format {format}");
        let plan = plan(sandbox.std_command(&line));
        sandbox.stderr(&line);
        let files = contents(&sandbox.path(format));
        let taken: usize = files.values().map(Vec::len).sum();
        let ratio = plan["output_bytes"].as_f64().unwrap() / taken as f64;
        assert!((0.8..1.3).contains(&ratio), "{format}: {ratio} of {taken}");
    }
}

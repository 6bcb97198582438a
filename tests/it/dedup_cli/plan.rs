//! The plan of a dry run, compared with the inputs.

use std::fs;
use std::io::Write;
use std::ops::Range;

use flate2::write::GzEncoder;

use crate::dedup_cli::plan;
use crate::sandbox::{Sandbox, stderr};

/// Two kinds of documents, long ones first: the start of a file does not represent its end.
/// Promise (Deduplication): The plan of a run samples places all over the input, counts the rows of
/// tables and the files that are one document each, and names a file system that has too little
/// space
#[test]
fn the_plan_samples_all_of_the_input() {
    let sandbox = Sandbox::new();
    let line = |number: usize, words: usize| {
        let text: Vec<_> = (0..words)
            .map(|word| format!("w{}", number * 31 + word))
            .collect();
        format!("{{\"id\":\"d{number}\",\"text\":\"{}\"}}\n", text.join(" "))
    };
    let long: String = (0..300).map(|number| line(number, 2000)).collect();
    let short: String = (300..20_000).map(|number| line(number, 25)).collect();
    sandbox.write("a.jsonl", &long);
    sandbox.write("mixed.jsonl", long + &short);
    for (input, documents) in [("a.jsonl", 300.0), ("mixed.jsonl", 20_000.0)] {
        let plan = plan(&sandbox, input, "");
        let planned = plan["documents"].as_f64().unwrap();
        let ratio = planned / documents;
        assert!(
            (0.67..1.5).contains(&ratio),
            "{planned} of {documents} in {input}"
        );
        assert!(!sandbox.path("planned").exists());
    }
}

/// Small compressed files beside a plain one: few of all bytes, and many of the documents.
#[test]
fn the_plan_samples_each_compression() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("mixed")).unwrap();
    let lines = |numbers: Range<usize>, words: usize| -> String {
        let line = |number: usize| {
            let word = |word: usize| format!("w{}", (number * 31 + word) * 7919 % 100_003);
            let text: Vec<_> = (0..words).map(word).collect();
            format!("{{\"id\":\"d{number}\",\"text\":\"{}\"}}\n", text.join(" "))
        };
        numbers.map(line).collect()
    };
    sandbox.write("mixed/a.jsonl", lines(0..1000, 1000));
    for number in 0..5 {
        let lines = lines(number * 200..(number + 1) * 200, 20);
        let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(lines.as_bytes()).unwrap();
        sandbox.write(&format!("mixed/{number}.jsonl.gz"), gzip.finish().unwrap());
        let zstd = zstd::encode_all(lines.as_bytes(), 3).unwrap();
        sandbox.write(&format!("mixed/{number}.jsonl.zst"), zstd);
    }
    let planned = plan(&sandbox, "mixed", "")["documents"].as_u64().unwrap();
    assert!((2700..3300).contains(&planned), "{planned} of 3000");
}

/// Records longer than --max-document are skipped, but copied to the output.
#[test]
fn the_plan_counts_the_bytes_of_records_that_are_too_large() {
    let sandbox = Sandbox::new();
    let line = |number: usize, bytes: usize| {
        format!(
            "{{\"id\":\"d{number}\",\"text\":\"{}\"}}\n",
            "w ".repeat(bytes / 2)
        )
    };
    let large: String = (0..3).map(|number| line(number, 3 << 20)).collect();
    let small: String = (3..103).map(|number| line(number, 100)).collect();
    let bytes = (large.len() + small.len()) as f64;
    sandbox.write("a.jsonl", large + &small);
    let planned = |skipped: &str| {
        let flags = format!("--write kept --skipped {skipped} --max-document 1M");
        let plan = plan(&sandbox, "a.jsonl", &flags);
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

/// A disk has blocks of 4096 bytes, which no two files share.
/// Promise (Deduplication): The plan of a run samples …
#[test]
fn the_plan_counts_the_space_of_small_files() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("small")).unwrap();
    for number in 0..100 {
        sandbox.write(&format!("small/{number}.txt"), format!("the text {number}"));
    }
    let space = |flags: &str| {
        let plan = plan(&sandbox, "small", flags);
        plan["output_bytes"].as_u64().unwrap()
    };
    let written = space("--write kept") - space("");
    // The files, and their descriptions.
    assert!((409_600..440_000).contains(&written), "{written}");
    // Shards are few files.
    let shards = space("--write kept --write-format jsonl") - space("");
    assert!(shards < 40_000, "{shards}");
}

/// Small files beside large ones, each of them one document: their number is known, whatever the
/// sample holds.
/// Promise (Deduplication): The plan of a run samples …
#[test]
fn the_plan_counts_files_that_are_one_document_each() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("pages/texts")).unwrap();
    let words = |from: usize, count: usize| -> String {
        let word = |number: usize| format!("w{} ", number * 7919 % 100_003);
        (from..from + count).map(word).collect()
    };
    for number in 0..120 {
        let count = if number % 40 == 0 { 20_000 } else { 30 };
        let text = words(number * 50, count);
        sandbox.write(&format!("pages/texts/{number}.txt"), &text);
        sandbox.write(
            &format!("pages/{number}.html"),
            format!("<html><body><p>{text}</p></body></html>"),
        );
    }
    let plan = plan(&sandbox, "pages", "");
    assert_eq!(plan["documents"], 240);

    let stderr = sandbox.stderr("dedup pages -o planned --dry-run");
    assert!(stderr.contains("about 240 documents"), "{stderr}");
}

/// No text is in two files, so all documents are dropped.
#[test]
fn the_plan_has_space_for_what_few_sources_have() {
    let sandbox = Sandbox::new();
    let words = |number: usize| -> String {
        let word = |word: usize| format!("w{} ", (number * 31 + word) * 7919 % 100_003);
        (0..40).map(word).collect()
    };
    let lines = |numbers: Range<usize>| -> String {
        let line = |number| format!("{{\"id\":\"d{number}\",\"text\":\"{}\"}}\n", words(number));
        numbers.map(line).collect()
    };
    sandbox.write("a.jsonl", lines(0..1000));
    sandbox.write("b.jsonl", lines(1000..2000));
    let inputs = "a.jsonl b.jsonl";
    for write in ["removed", "kept,removed", "ids"] {
        let flags = format!("--min-sources 2 --write {write} --no-page");
        let planned = plan(&sandbox, inputs, &flags);
        let planned = planned["output_bytes"].as_u64().unwrap();
        let run = sandbox.run(&format!("dedup {inputs} -o {write} {flags}"));
        assert!(stderr(&run.success()).contains("= 0 kept + 2000 dropped"));
        let files = ["duplicates.jsonl", "removed/a.jsonl", "removed/b.jsonl"];
        let bytes = |file: &&str| fs::metadata(sandbox.path(&format!("{write}/{file}"))).ok();
        let written: u64 = files.iter().filter_map(bytes).map(|file| file.len()).sum();
        assert!(
            written < planned && planned < 4 * written,
            "{planned} for {written} with {write}"
        );
    }
    let text = |flags: &str| sandbox.stderr(&format!("dedup {inputs} -o out --dry-run {flags}"));
    let note = "the plan does not estimate how many documents --min-sources drops";
    assert!(text("--min-sources 2").contains(note));
    assert!(!text("").contains(note));
}

/// Promise (Deduplication): A plan proposes other settings for text that looks like OCR
#[test]
fn the_plan_proposes_a_setting_for_scanned_text() {
    let sandbox = Sandbox::new();
    let letters = |number: usize| ["abc", "def", "ghi", "jkl"][number % 4].repeat(1 + number / 4);
    let lines = |odd: &str| -> String {
        let line = |number: usize| {
            let words: Vec<_> = (0..60)
                .map(|word| format!("word{}", letters(word % 9)))
                .collect();
            let words = words.join(" ");
            format!("{{\"text\":\"{words} wr{odd}{}\"}}\n", letters(number))
        };
        (0..80).map(line).collect()
    };
    sandbox.write("scan.jsonl", lines("1"));
    sandbox.write("clean.jsonl", lines("o"));
    let text = |line: &str| crate::sandbox::stderr(&sandbox.run(line).success());
    let proposed = text("dedup scan.jsonl -o out --dry-run");
    assert!(
        proposed.contains("errors of OCR") && proposed.contains("--tokenizer chars --shingle 6"),
        "{proposed}"
    );
    assert!(!text("dedup clean.jsonl -o out --dry-run").contains("OCR"));
    let chosen =
        "dedup scan.jsonl -o out --dry-run --tokenizer chars --shingle 6 --similarity 0.33";
    assert!(!text(chosen).contains("OCR"));
    assert!(
        plan(&sandbox, "scan.jsonl", "")["odd_words"]
            .as_f64()
            .unwrap()
            > 0.005
    );
}

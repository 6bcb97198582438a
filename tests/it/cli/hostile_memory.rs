//! `--memory` of every command holds for inputs of very many, very short records, of records that
//! cannot be read, and of very long ones: the system refuses private memory beyond the bound and an
//! allowance for code, stacks and the allocator.

use std::io::Write;

use crate::sandbox::{SIMTOOL, Sandbox};

/// Private memory that is mapped without being used: stacks, and what an allocator keeps.
const BESIDES_MIB: u64 = 48;

/// Lines that are no documents, documents of one letter, pages of one letter, files of one letter,
/// and documents with ids and texts of megabytes.
const INPUTS: [&str; 5] = [
    "bad.jsonl",
    "short.jsonl",
    "pages.txt --format form-feed",
    "files",
    "long.jsonl",
];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::example();
    let document = "{\"id\":\"a\",\"text\":\"one two three four five six seven eight nine ten\"}\n";
    sandbox.write("one.jsonl", document);
    sandbox.write("bad.jsonl", document.to_owned() + &"{\n".repeat(270_000));
    sandbox.write("short.jsonl", "{\"text\":\"a\"}\n".repeat(40_000));
    sandbox.write("pages.txt", "a\nb\x0c".repeat(135_000));
    let long = |letter: char| {
        let id = letter.to_string().repeat(900_000);
        format!("{{\"id\":\"{id}\",\"text\":\"{letter} two three four five six seven\"}}\n")
    };
    let word = "w ".repeat(450_000);
    let texts = format!(
        "{{\"text\":\"{word}\"}}\n{{\"text\":\"{}\"}}\n",
        "w".repeat(5_000_000)
    );
    sandbox.write(
        "long.jsonl",
        ('a'..='j').map(long).collect::<String>() + &texts,
    );
    std::fs::create_dir(sandbox.path("files")).unwrap();
    for number in 0..2000 {
        sandbox.write(&format!("files/{number}.txt"), "a");
    }
    sandbox
}

/// How `line` ends within the bound `mib` with two threads: its exit code and its message.
fn run(sandbox: &Sandbox, line: &str, mib: u64) -> (Option<i32>, String) {
    let _ = std::fs::remove_dir_all(sandbox.path("out"));
    run_limited(sandbox, &format!("{line} --threads 2 --memory {mib}M"), mib)
}

/// How `line` ends if the system refuses more private memory than `mib` and the allowance.
fn run_limited(sandbox: &Sandbox, line: &str, mib: u64) -> (Option<i32>, String) {
    let limit = (mib + BESIDES_MIB) << 10;
    let mut command = sandbox.command("sh");
    command.args(["-c", &format!("ulimit -d {limit} && exec {SIMTOOL} {line}")]);
    let assert = command.assert();
    let output = assert.get_output();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), message)
}

/// Fails unless `line` succeeds within the bound. Records that cannot be read end it with code 3.
fn check(sandbox: &Sandbox, line: &str, mib: u64) {
    let (code, message) = run(sandbox, line, mib);
    assert!(matches!(code, Some(0 | 3)), "{line}: {code:?} {message}");
}

/// Fails unless `line` succeeds, or ends with an error that says that memory is missing.
fn check_or_refuse(sandbox: &Sandbox, line: &str, mib: u64) {
    let (code, message) = run(sandbox, line, mib);
    let is_refused = code == Some(2) && message.contains("--memory");
    assert!(
        is_refused || matches!(code, Some(0 | 3)),
        "{line}: {code:?} {message}"
    );
}

/// Promise (Bounded memory): The least memory of each command suffices for lines that are no
/// documents, very short documents, ids of a megabyte and lines of several: the tests make the
/// system refuse more private memory. A chunk has at most 8192 records, and its lists have no more
/// entries
#[test]
fn deduplication_is_bounded() {
    let sandbox = sandbox();
    for input in INPUTS {
        check(
            &sandbox,
            &format!("dedup {input} -o out --max-document 1M --quiet"),
            224,
        );
    }
    sandbox.write("bad.jsonl.gz", gzip(&sandbox.read("bad.jsonl")));
    check(
        &sandbox,
        "dedup bad.jsonl.gz -o out --max-document 1M --quiet",
        224,
    );
}

/// The names and descriptions of many inputs are a part of the bound.
/// Promise (Bounded memory): The names and descriptions of more than 4096 input files of `dedup`,
/// `lines`, `spans` and `decontaminate` are a part of `--memory`
#[test]
fn inputs_take_a_part_of_the_bound() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("in")).unwrap();
    for number in 0..6000 {
        sandbox.write(&format!("in/{number}.txt"), "a");
    }
    for (command, least) in [("dedup", 224), ("lines", 328)] {
        let line = format!("{command} in -o out --quiet --max-document 1M");
        let (code, message) = run(&sandbox, &line, least);
        assert_eq!(code, Some(2), "{command}: {message}");
        assert!(message.contains("6000 inputs"), "{message}");
        // 2500 bytes for each of 1904 inputs are 4.5 MiB.
        check(&sandbox, &line, least + 5);
    }
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Promise (Bounded memory): The least memory of each command …
#[test]
fn searches_for_passages_are_bounded() {
    let sandbox = sandbox();
    for input in INPUTS {
        for (command, mib) in [
            ("lines --quiet -o out", 328),
            ("lines --unit line --quiet -o out", 308),
            ("spans --quiet -o out", 308),
            ("decontaminate --quiet --reference one.jsonl -o out", 308),
        ] {
            check(
                &sandbox,
                &format!("{command} --max-document 1M {input}"),
                mib,
            );
        }
    }
}

/// Documents of two million short lines, each of which occurs twice: far more units, anchors and removed
/// ranges than the least memory holds.
fn short_lines() -> String {
    let mut state = 1_u64;
    let lines = (0..1_000_000).fold(String::new(), |lines, _| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        lines + &format!("{:x} {:x}\n", state >> 52, state >> 44 & 0xff)
    });
    let twice = lines.repeat(2);
    let texts = twice.as_bytes().chunks(700);
    let documents = texts.map(|text| {
        let text = String::from_utf8_lossy(text).replace('\n', "\\n");
        format!("{{\"text\":\"{text}\"}}\n")
    });
    documents.collect()
}

/// Promise (Bounded memory): `lines` and `spans` work with the least memory if units, anchors and
/// removed ranges are several times what it holds, and `decontaminate` with a large reference keeps
/// to the memory that it asks for: the test makes the system refuse more private memory
#[test]
fn passages_beyond_the_memory_are_bounded() {
    let sandbox = Sandbox::new();
    sandbox.write("large.jsonl", short_lines());
    let flags = "large.jsonl -o out --quiet --action cut --max-document 64K";
    for command in ["lines", "spans --min 3w"] {
        // More than half of the bound is for longer documents. With more memory, both take more than
        // 180 MiB, and fail or are aborted.
        for (memory, succeeds) in [("292M", true), ("4G", false)] {
            let line = format!("{command} {flags} --threads 2 --memory {memory} --restart");
            let (code, message) = run_limited(&sandbox, &line, 100);
            assert_eq!(code == Some(0), succeeds, "{line}: {code:?} {message}");
        }
    }
    std::fs::remove_dir_all(sandbox.path("out")).unwrap();
    let line = format!("decontaminate {flags} --reference large.jsonl");
    let (code, message) = run(&sandbox, &line, 308);
    assert_eq!(code, Some(2), "{message}");
    let asked = message.split_once("needs at least ").unwrap().1;
    let mib = asked.split_once(" MiB").unwrap().0.parse().unwrap();
    check(&sandbox, &line, mib);
}

/// Promise (Bounded memory): The least memory of each command …
#[test]
fn comparisons_are_bounded() {
    let sandbox = sandbox();
    for input in INPUTS {
        let (file, flags) = input.split_once(' ').unwrap_or((input, ""));
        for line in [
            format!("match --articles {file} --samples one.jsonl {flags}"),
            format!("match --articles one.jsonl --samples {file} {flags}"),
        ] {
            check_or_refuse(&sandbox, &format!("{line} --max-document 1M"), 224);
        }
    }
    for command in ["evaluate", "tune"] {
        for input in ["bad.jsonl", "short.jsonl", "long.jsonl"] {
            let aligned = if command == "tune" {
                "--aligned 0.1"
            } else {
                ""
            };
            let line = format!("{command} {input} --planted --max-document 1M {aligned}");
            check_or_refuse(&sandbox, &line, 224);
        }
    }
    let pages = "a\nb\x0c".repeat(135_000);
    sandbox.write("article.txt", &pages);
    sandbox.write("sample.txt", "s\nb");
    check(&sandbox, "10 16 --output out.txt", 64);
}

/// A command without a bound takes some times the bytes of its two documents, whatever else is there.
/// Promise (Bounded memory): The least memory of each command …
#[test]
fn an_explanation_is_bounded() {
    let sandbox = sandbox();
    let long = sandbox.read("long.jsonl");
    let starts: Vec<usize> = [0]
        .into_iter()
        .chain(long.match_indices('\n').map(|(end, _)| end + 1))
        .collect();
    let [.., last, _end] = starts[..] else {
        unreachable!()
    };
    for (a, b) in [(starts[0], starts[1]), (starts[10], last)] {
        let line = format!("explain long.jsonl:{a} long.jsonl:{b}");
        let (code, message) = run_limited(&sandbox, &line, 192);
        assert_eq!(code, Some(0), "{line}: {message}");
    }
}

/// Promise (Bounded memory): The least memory of each command …
#[cfg(feature = "index")]
#[test]
fn an_index_is_bounded() {
    let sandbox = sandbox();
    sandbox.run("index build seen one.jsonl --quiet").success();
    for input in INPUTS {
        for command in ["index build out", "index query seen"] {
            check(
                &sandbox,
                &format!("{command} {input} --max-document 1M --quiet"),
                224,
            );
        }
    }
}

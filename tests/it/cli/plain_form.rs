//! `simtool N M` in a directory with the four files.

use std::time::{Duration, Instant};

use crate::sandbox::{FIRST_BLOCK, OLD, RESULT, Sandbox};

/// Promise (Correct answers): The program writes `result.txt` and prints its first block
#[test]
fn writes_the_result_and_prints_exactly_its_first_block() {
    let sandbox = Sandbox::example();
    let begin = Instant::now();
    let run = sandbox.run("100 16").success().stdout(FIRST_BLOCK);
    // After ten seconds, a run writes its progress.
    if begin.elapsed() < Duration::from_secs(10) {
        run.stderr("");
    }
    assert_eq!(sandbox.read("result.txt"), RESULT);
    assert!(RESULT.starts_with(FIRST_BLOCK));
    assert_eq!(sandbox.names().len(), 5);
}

#[test]
fn replaces_an_earlier_result() {
    let sandbox = Sandbox::example();
    sandbox.write("result.txt", OLD);
    sandbox.run("100 16").success();
    assert_eq!(sandbox.read("result.txt"), RESULT);
}

/// Promise (Reproducible answers): The result has the same bytes for every number of threads,
/// amount of memory and instruction set
#[test]
fn result_is_the_same_for_all_resources() {
    let sandbox = Sandbox::example();
    for threads in 1..=4 {
        for level in simtool::kernel::Level::available() {
            for memory in ["110M", "4G"] {
                let mut command = sandbox.command(crate::sandbox::SIMTOOL);
                let threads = threads.to_string();
                command.args(["100", "16", "--threads", &threads, "--memory", memory]);
                command.args(["--log", "none"]);
                command.env("SIMTOOL_SIMD", level.to_string());
                command.assert().success().stdout(FIRST_BLOCK).stderr("");
                assert_eq!(
                    sandbox.read("result.txt"),
                    RESULT,
                    "{threads} {level} {memory}"
                );
            }
        }
    }
}

#[test]
fn smallest_and_largest_numbers_work() {
    let sandbox = Sandbox::example();
    sandbox.write(
        "hashvalue.txt",
        format!("{}\n", "01".repeat(64)).repeat(10_000),
    );
    for numbers in ["1 1", "1 128", "10000 1", "10000 128"] {
        let output = sandbox
            .run(&format!("{numbers} --log none"))
            .success()
            .stderr("")
            .get_output()
            .clone();
        assert!(output.stdout.starts_with(b"sample-000000\n"), "{numbers}");
    }
}

/// Promise (Failing inputs): Inputs may hold any bytes: control …
#[test]
fn no_articles_or_no_samples_is_a_valid_input() {
    let sandbox = Sandbox::example();
    sandbox.write("article.txt", "");
    let ids: String = (0..10)
        .map(|number| format!("sample-{number:06}\n"))
        .collect();
    sandbox
        .run("100 16 --log none")
        .success()
        .stdout("sample-000000\n")
        .stderr("");
    assert_eq!(sandbox.read("result.txt"), ids);

    let sandbox = Sandbox::example();
    sandbox.write("sample.txt", "\x0c\n\x0c");
    sandbox
        .run("100 16 --log none")
        .success()
        .stdout("")
        .stderr("");
    assert_eq!(sandbox.read("result.txt"), "");
}

#[test]
fn distance_is_any_up_to_the_number_of_bits() {
    let sandbox = Sandbox::example();
    sandbox.run("100 16 --distance 0").success();
    assert_eq!(sandbox.read("result.txt").matches("\n0:").count(), 6);
    assert_eq!(sandbox.read("result.txt").matches("\n1:").count(), 0);
    // Every page is within the distance.
    sandbox.run("100 16 --distance 16").success();
    assert_eq!(
        sandbox.read("result.txt").matches("article-").count(),
        10 * 150
    );
    sandbox.refuse(
        "100 16 --distance 17",
        &["--distance 17", "at most M, which is 16"],
    );
}

#[test]
fn a_text_with_hardly_any_ascii_letters_is_warned_of_and_searched_as_it_is() {
    let sandbox = Sandbox::example();
    let articles = sandbox.read("article.txt");
    let wide: Vec<u8> = articles.encode_utf16().flat_map(u16::to_le_bytes).collect();
    sandbox.write("wide.txt", wide);
    sandbox.write("russian.txt", "a\nПоиск почти одинаковых текстов\x0c");
    let line = "100 16 --articles article.txt wide.txt russian.txt --output all.txt";
    let stderr = sandbox.stderr(line);
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{stderr}");
    assert!(lines[0].starts_with("simtool: warning: wide.txt: looks like UTF-16LE"));
    assert!(lines[0].contains("iconv -f UTF-16LE -t UTF-8"), "{stderr}");
    assert!(lines[1].starts_with("simtool: warning: russian.txt: begins with characters"));
    sandbox.run(&format!("{line} --quiet")).success().stderr("");
}

#[test]
fn json_lines_are_warned_of_and_searched_as_text() {
    let sandbox = Sandbox::example();
    sandbox.write("articles.jsonl", "{\"id\":\"a\",\"text\":\"one\"}\n");
    sandbox.write("pages.txt", "{\"is an id\nof a page\x0cb\nof another");
    let stderr = sandbox.stderr("100 16 --articles articles.jsonl pages.txt --output all.txt");
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!(lines.len(), 1, "{stderr}");
    assert!(lines[0].starts_with("simtool: warning: articles.jsonl: looks like JSON Lines"));
}

//! What `dedup --restart` does not remove.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use crate::sandbox::{SIMTOOL, Sandbox, assert_message, stderr};
use simtool_testing::wait::wait_until;

/// A line of JSON with some words.
fn line(id: &str, words: &str) -> String {
    format!("{{\"id\": \"{id}\", \"text\": \"{words}\"}}\n")
}

/// Two days of a crawl, of which the first is in `out/kept`.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["crawl", "tomorrow", "names"] {
        fs::create_dir(sandbox.path(name)).unwrap();
    }
    sandbox.write(
        "crawl/a.jsonl",
        line("a", "one two three four five six seven"),
    );
    sandbox.write(
        "tomorrow/b.jsonl",
        line("b", "some other words of another day"),
    );
    sandbox.run("dedup crawl -o out --write kept").success();
    sandbox
}

/// Promise (Deduplication): `--restart` removes no file that the same command reads: as an input,
/// with `--against`, `--files-from` or `--stop-words`, under any name
#[test]
fn a_restart_removes_no_file_that_the_command_reads() {
    let sandbox = sandbox();
    let kept = sandbox.read("out/kept/crawl/a.jsonl");
    let summary = sandbox.read("out/summary.json");
    sandbox.write("list", "out/kept/crawl/a.jsonl\n");
    sandbox.write("directory-list", "tomorrow\nout\n");
    symlink("../out/kept", sandbox.path("names/soft")).unwrap();
    symlink("out", sandbox.path("same")).unwrap();
    fs::hard_link(
        sandbox.path("out/kept/crawl/a.jsonl"),
        sandbox.path("hard.jsonl"),
    )
    .unwrap();
    for inputs in [
        "out/kept/crawl/a.jsonl",
        "out/kept",
        "tomorrow out/kept",
        "out/kept/**/*.jsonl",
        "names",
        "hard.jsonl",
        "out/clusters.jsonl tomorrow",
        "tomorrow --against out/kept",
        "tomorrow --against names/soft",
        "tomorrow --files-from list",
        "--files-from out/clusters.jsonl",
        "tomorrow --method simhash --stop-words out/kept/crawl/a.jsonl",
        // The directory of the output itself, of which nothing would be read.
        "out",
        "same tomorrow",
        "tomorrow out/.",
        "tomorrow --against out",
        "--files-from directory-list",
    ] {
        for write in ["", "--write kept"] {
            let command = format!("dedup {inputs} -o out --restart {write}");
            let stderr = stderr(&sandbox.run(&command).code(2));
            assert!(stderr.contains("another "), "{command}: {stderr}");
            assert_eq!(sandbox.read("out/kept/crawl/a.jsonl"), kept, "{command}");
            assert_eq!(sandbox.read("out/summary.json"), summary, "{command}");
        }
    }
    // Files that are not read are replaced.
    sandbox
        .run("dedup tomorrow -o out --write kept --restart")
        .success();
    assert!(!sandbox.path("out/kept/crawl").exists());
    assert!(sandbox.path("out/kept/tomorrow/b.jsonl").exists());
}

/// Promise (Deduplication): `--restart` removes no file that the same …
#[test]
fn each_day_is_compared_with_all_that_was_kept_before() {
    let sandbox = sandbox();
    sandbox
        .run("dedup tomorrow --against out/kept -o new --write kept")
        .success();
    let first = sandbox.read("new/kept/tomorrow/b.jsonl");
    sandbox.write(
        "tomorrow/b.jsonl",
        line("c", "a third day has words of its own"),
    );
    let again = "dedup tomorrow --against out/kept new/kept -o new --write kept --restart";
    let refused = sandbox.run(again).code(2);
    assert_message(&refused, &["new/kept/tomorrow/b.jsonl: is", "another"]);
    assert_eq!(sandbox.read("new/kept/tomorrow/b.jsonl"), first);
    sandbox
        .run("dedup tomorrow --against out/kept new/kept -o new-2 --write kept")
        .success();
    assert_eq!(sandbox.read("new/kept/tomorrow/b.jsonl"), first);
    assert_eq!(
        sandbox.read("new-2/kept/tomorrow/b.jsonl"),
        sandbox.read("tomorrow/b.jsonl")
    );
}

/// Promise (Deduplication): `--restart` removes no file that the same …
#[test]
fn an_unfinished_run_is_not_removed_where_it_is_read() {
    let sandbox = Sandbox::new();
    let mut run = sandbox.start(&["dedup", "-", "-o", "part"], Stdio::piped());
    let mut stdin = run.stdin.take().unwrap();
    let all = line("s", "the words of a stream").repeat(20_000);
    stdin.write_all(all.as_bytes()).unwrap();
    let copy = sandbox.path("part/.simtool/stream-0");
    let copied = || fs::metadata(&copy).is_ok_and(|found| found.len() > 0);
    wait_until("the copy of a stream", copied);
    run.kill().unwrap();
    run.wait().unwrap();
    let refused = sandbox
        .run("dedup part/.simtool/stream-0 -o part --restart")
        .code(2);
    assert_message(&refused, &["stream-0: is read by this command"]);
    assert!(copy.exists());
}

/// Promise (Deduplication): A stream of an unsupported format (binary, a JSON array) is refused by
/// its first bytes, before it is copied. If it is the first stream, it is refused before
/// `--restart` removes anything
#[test]
fn a_stream_that_is_not_read_costs_no_earlier_output() {
    let sandbox = sandbox();
    let summary = sandbox.read("out/summary.json");
    let binary: Vec<u8> = (0..3000_u32)
        .map(|number| (number * 7919 % 251) as u8)
        .collect();
    let array = format!("[\n{}]\n", line("a", "words"));
    for stream in [&binary[..], array.as_bytes(), b"BZh91AY"] {
        let mut command = sandbox.command(SIMTOOL);
        command.args(["dedup", "-", "-o", "out", "--restart"]);
        let refused = command.write_stdin(stream).assert().code(2);
        assert_message(&refused, &["-: is "]);
        assert_eq!(sandbox.read("out/summary.json"), summary);
        let names = fs::read_dir(sandbox.path("out")).unwrap().count();
        let mut command = sandbox.command(SIMTOOL);
        command.args(["dedup", "-", "-o", "new"]);
        command.write_stdin(stream).assert().code(2);
        assert_eq!(names, fs::read_dir(sandbox.path("out")).unwrap().count());
        assert!(!sandbox.path("new/.simtool").exists());
    }
    let mut command = sandbox.command(SIMTOOL);
    command.args(["dedup", "-", "-o", "out", "--restart", "--summary=json"]);
    let all = line("a", "words of a stream").repeat(30_000);
    let read = command.write_stdin(all).assert().success();
    let stderr = stderr(&read);
    assert!(stderr.contains("\"seen\": 30000,"), "{stderr}");
}

/// Promise (Deduplication): A stream of an unsupported format …
#[test]
fn an_endless_stream_of_zeros_is_refused_by_its_first_bytes() {
    let sandbox = Sandbox::new();
    let refused = sandbox.run("dedup /dev/zero -o out").code(2);
    assert_message(&refused, &["/dev/zero: is "]);
}

/// Promise (Deduplication): `--dry-run` refuses an output directory that the run would refuse
#[test]
fn a_preview_refuses_what_the_run_would_refuse() {
    let sandbox = sandbox();
    fs::create_dir(sandbox.path("mine")).unwrap();
    sandbox.write("mine/clusters.jsonl", "mine");
    for line in [
        "dedup tomorrow -o out",
        "dedup tomorrow -o mine",
        "dedup out/kept -o out --restart",
    ] {
        let run = stderr(&sandbox.run(line).code(2));
        let preview = stderr(&sandbox.run(&format!("{line} --dry-run")).code(2));
        assert_eq!(run, preview, "{line}");
    }
    sandbox.run("dedup tomorrow -o nowhere --dry-run").success();
    assert!(!sandbox.path("nowhere").exists());
    let mut command = sandbox.command(SIMTOOL);
    command.args(["dedup", "-", "-o", "nowhere", "--dry-run", "--log", "json"]);
    let stderr = stderr(&command.write_stdin("").assert().success());
    let plan: serde_json::Value = serde_json::from_str(stderr.lines().last().unwrap()).unwrap();
    for name in ["bytes", "documents", "seconds"] {
        assert!(plan[name].is_null(), "{plan}");
    }
}

//! Pipes: standard input as an input, standard output and devices as the output.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};

use crate::sandbox::{FIRST_BLOCK, OLD, RESULT, SIMTOOL, Sandbox, example, stderr};
use simtool_testing::wait::wait_until;

/// Promise (Failing inputs): Pipes, standard input and files without a size (in /proc) are accepted
/// as inputs and leave no file behind
#[test]
fn each_input_can_come_from_standard_input() {
    for (flag, name) in [
        ("--articles", "article.txt"),
        ("--samples", "sample.txt"),
        ("--stopwords", "stopwords.txt"),
        ("--hashes", "hashvalue.txt"),
    ] {
        let sandbox = Sandbox::example();
        std::fs::remove_file(sandbox.path(name)).unwrap();
        let mut command = sandbox.command(SIMTOOL);
        command
            .args(["100", "16", flag, "-", "--log", "none"])
            .write_stdin(example(name));
        command.assert().success().stdout(FIRST_BLOCK).stderr("");
        assert_eq!(sandbox.read("result.txt"), RESULT, "{flag}");
        assert_eq!(sandbox.names().len(), 4);
    }
}

/// Promise (Failing inputs): Pipes, standard input and files without …
#[test]
fn files_without_a_size_are_streams() {
    // The kernel generates this file on reading; its size is 0.
    const MADE_UP: &str = "/proc/version";
    let text = std::fs::read_to_string(MADE_UP).unwrap();
    let id = text.lines().next().unwrap().trim();
    let sandbox = Sandbox::example();
    let run = sandbox.run(&format!("100 16 --samples {MADE_UP} --log none"));
    run.success().stderr("");
    assert!(sandbox.read("result.txt").starts_with(&format!("{id}\n")));
    let summary = sandbox.stderr(&format!(
        "dedup {MADE_UP} -o out --format form-feed --summary=json"
    ));
    assert!(summary.contains("\"seen\": 1,"), "{summary}");
    // An empty file is not a stream, but an input without pages.
    sandbox.write("empty", "");
    sandbox
        .run("100 16 --samples empty --log none")
        .success()
        .stderr("");
    assert_eq!(sandbox.read("result.txt"), "");
}

#[test]
fn standard_input_is_read_once() {
    let sandbox = Sandbox::example();
    let message = "standard input (-) can be read once, not 2 times";
    sandbox.refuse("100 16 --articles - --samples -", &[message]);
    sandbox.refuse("100 16 --articles - -", &[message]);
}

#[test]
fn hash_table_from_standard_input_is_named_in_errors() {
    let sandbox = Sandbox::example();
    let mut command = sandbox.command(SIMTOOL);
    command
        .args(["100", "16", "--hashes", "-"])
        .write_stdin("01\n");
    let assert = command.assert().code(2);
    crate::sandbox::assert_message(&assert, &["standard input: line 1: expected 16 digits"]);
}

#[test]
fn result_on_standard_output_has_no_block_after_it() {
    let sandbox = Sandbox::example();
    sandbox
        .run("100 16 --output - --log none")
        .success()
        .stdout(RESULT)
        .stderr("");
    assert_eq!(sandbox.names().len(), 4);
}

/// Promise (Complete outputs): A run that fails, even while it writes, prints nothing on standard
/// output
#[test]
fn failed_run_puts_nothing_on_standard_output() {
    Sandbox::example().refuse("1001 16 --output -", &["hashvalue.txt"]);
}

/// Runs `simtool` with a limit on the size of the files that it writes.
fn run_with_small_files(sandbox: &Sandbox, line: &str) -> assert_cmd::assert::Assert {
    let mut command = sandbox.command("sh");
    command.args(["-c", "ulimit -f 16; exec \"$@\"", "sh", SIMTOOL]);
    command.args(line.split_whitespace()).assert()
}

/// Promise (Complete outputs): A run that fails, even while …
#[test]
fn run_that_fails_while_it_writes_puts_nothing_on_standard_output() {
    let sandbox = Sandbox::example();
    // Blocks and lines of hundreds of kilobytes, of which 16 (8 in some shells) are allowed.
    let samples: String = (0..20_000)
        .map(|number| format!("sample {number}\n\x0c"))
        .collect();
    sandbox.write("sample.txt", samples);
    let text = "the same words stand in each of these documents again and again";
    let documents: String = (0..100)
        .map(|number| format!("{{\"id\":\"d{number}\",\"text\":\"{text}\"}}\n"))
        .collect();
    sandbox.write("documents.jsonl", documents);
    let matches = "match --articles documents.jsonl --samples documents.jsonl";
    for line in ["100 16 --output -", matches] {
        let assert = run_with_small_files(&sandbox, line).code(2).stdout("");
        crate::sandbox::assert_message(&assert, &["File too large"]);
        let whole = sandbox.run(line).success();
        assert!(whole.get_output().stdout.len() > 200_000, "{line}");
    }
}

#[test]
fn devices_get_the_result_and_the_screen_its_block() {
    let sandbox = Sandbox::example();
    sandbox
        .run("100 16 --output /dev/null --log none")
        .success()
        .stdout(FIRST_BLOCK)
        .stderr("");
    let both = format!("{RESULT}{FIRST_BLOCK}");
    sandbox
        .run("100 16 --output /dev/stdout --log none")
        .success()
        .stdout(both)
        .stderr("");
}

#[test]
fn fifo_gets_the_result() {
    let sandbox = Sandbox::example();
    let fifo = sandbox.path("fifo");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let run = sandbox.start(&["100", "16", "--output", "fifo"], Stdio::null());
    let mut result = String::new();
    File::open(&fifo)
        .unwrap()
        .read_to_string(&mut result)
        .unwrap();
    let output = run.wait_with_output().unwrap();
    assert_eq!((result.as_str(), output.status.code()), (RESULT, Some(0)));
    assert_eq!(output.stdout, FIRST_BLOCK.as_bytes());
}

/// Promise (Errors and interruptions): A reader that closes its pipe is not an error
#[test]
fn reader_who_left_is_no_error() {
    let sandbox = Sandbox::example();
    let mut run = sandbox.start(&["100", "16", "--articles", "-"], Stdio::piped());
    // The reader closes the pipe before there is anything to read.
    drop(run.stdout.take());
    let mut stdin = run.stdin.take().unwrap();
    stdin.write_all(&example("article.txt")).unwrap();
    drop(stdin);
    let output = run.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), vec![]));
    assert_eq!(sandbox.read("result.txt"), RESULT);
}

#[test]
fn reader_of_help_or_result_who_left_is_no_error() {
    for line in [
        "100 16 --output -",
        "help",
        "--help",
        "man",
        "completions bash",
    ] {
        let sandbox = Sandbox::example();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let run = std::process::Command::new(SIMTOOL)
            .args(line.split(' '))
            .current_dir(sandbox.path(""))
            .stdout(writer)
            .output()
            .unwrap();
        assert_eq!((run.status.code(), run.stderr), (Some(0), vec![]), "{line}");
    }
}

#[test]
fn screen_that_cannot_be_written_is_reported_after_the_result_is_in_place() {
    let sandbox = Sandbox::example();
    sandbox.write("result.txt", OLD);
    let run = std::process::Command::new(SIMTOOL)
        .args(["100", "16"])
        .current_dir(sandbox.path(""))
        .stdout(File::options().write(true).open("/dev/full").unwrap())
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(
        run.stderr
            .starts_with(b"simtool: standard output: cannot be written")
    );
    assert_eq!(sandbox.read("result.txt"), RESULT);
}

/// Whether `run` has the file at `path` open.
fn has_open(run: &Child, path: &Path) -> bool {
    let path = path.canonicalize().unwrap();
    let files = std::fs::read_dir(format!("/proc/{}/fd", run.id()));
    let mut files = files.into_iter().flatten().flatten();
    files.any(|file| std::fs::read_link(file.path()).is_ok_and(|target| target == path))
}

/// The number of bytes in a pipe.
fn unread_bytes(pipe: &ChildStdin) -> libc::c_int {
    let mut bytes = 0;
    // SAFETY: `bytes` is a C int, to which the request FIONREAD writes.
    let done = unsafe { libc::ioctl(pipe.as_raw_fd(), libc::FIONREAD, &mut bytes) };
    assert_eq!(done, 0);
    bytes
}

/// Promise (Deduplication): A wait for a FIFO or for standard input ends at the first signal
#[test]
fn a_wait_for_a_stream_ends_at_the_first_signal() {
    let sandbox = Sandbox::new();
    let made = std::process::Command::new("mkfifo")
        .arg(sandbox.path("fifo"))
        .status();
    assert!(made.unwrap().success());
    sandbox.write("a.jsonl", "{\"text\": \"some words\"}\n");
    sandbox.run("dedup a.jsonl -o old").success();
    for args in [
        &["dedup", "fifo", "-o", "out"][..],
        &["dedup", "-", "-o", "out"],
        &["dedup", "-", "-o", "old", "--restart"],
        #[cfg(feature = "index")]
        &["index", "build", "index", "fifo"],
        #[cfg(feature = "index")]
        &["index", "build", "index", "-"],
    ] {
        for name in ["INT", "TERM"] {
            let mut run = sandbox.start(args, Stdio::piped());
            // Open until the run has ended.
            let mut stdin = run.stdin.take().unwrap();
            crate::cli::faults::wait_for_handlers(&run);
            if args.contains(&"fifo") {
                wait_until("the stream to be opened", || {
                    has_open(&run, &sandbox.path("fifo"))
                });
            } else {
                // Not a whole line, so that the run waits for more when it has read this.
                stdin.write_all(b"{\"text\"").unwrap();
                wait_until("the stream to be read", || unread_bytes(&stdin) == 0);
            }
            crate::cli::faults::signal(&run, name);
            let output = run.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(130), "{args:?}");
            drop(stdin);
        }
    }
    assert!(sandbox.path("old/summary.json").exists());
}

/// Promise (Deduplication): A pipe behind a path, such as `/dev/stdin`, is a stream
#[test]
fn a_pipe_behind_a_path_is_a_stream() {
    let sandbox = Sandbox::new();
    let line = "{\"id\": \"a\", \"text\": \"some words of a document\"}\n";
    for name in ["/dev/stdin", "/proc/self/fd/0", "/dev/fd/0"] {
        let mut command = sandbox.command(SIMTOOL);
        command.args(["dedup", name, "-o", "out", "--restart", "--summary=json"]);
        let run = command.write_stdin(line).assert().success();
        let stderr = stderr(&run);
        assert!(stderr.contains("\"seen\": 1,"), "{name}: {stderr}");
    }
}

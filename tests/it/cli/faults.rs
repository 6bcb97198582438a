//! Signals, changed inputs and full disks during a run: the message, and the state of the directory.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::Duration;

use crate::sandbox::{OLD, SIMTOOL, Sandbox, assert_message, example};
use simtool_testing::wait::wait_until;

/// The example with an earlier result and a large file of articles.
fn with_large_input() -> Sandbox {
    let sandbox = Sandbox::example();
    sandbox.write(
        "large.txt",
        [example("article.txt"), b"\x0c".to_vec()]
            .concat()
            .repeat(200),
    );
    sandbox.write("result.txt", OLD);
    sandbox
}

/// Starts a run that takes long, ends it with `end` when it has begun, and returns its output. A run
/// that was complete before is repeated with more to read.
fn end_long_run(sandbox: &Sandbox, end: impl Fn(&Child)) -> Output {
    // One file, many times: seconds of work with little on the disk.
    let mut repeats = 400;
    loop {
        let mut args = vec!["100", "64", "--threads", "1", "--articles"];
        args.resize(args.len() + repeats, "large.txt");
        let run = sandbox.start(&args, Stdio::null());
        wait_for_unnamed_file(&run, &sandbox.path(""));
        end(&run);
        let output = run.wait_with_output().unwrap();
        if output.status.code() != Some(0) {
            return output;
        }
        repeats *= 2;
        sandbox.write("result.txt", OLD);
    }
}

/// Waits until `run` has an unnamed file open below `directory`.
fn wait_for_unnamed_file(run: &Child, directory: &Path) {
    let files = format!("/proc/{}/fd", run.id());
    let directory = directory.canonicalize().unwrap();
    wait_until("an unnamed file", || {
        let links = std::fs::read_dir(&files).into_iter().flatten();
        let mut targets = links.filter_map(|link| std::fs::read_link(link.ok()?.path()).ok());
        targets.any(|target| {
            target.starts_with(&directory) && target.to_string_lossy().ends_with("(deleted)")
        })
    });
}

/// Waits until `run` has installed its signal handlers.
pub fn wait_for_handlers(run: &Child) {
    let status = format!("/proc/{}/status", run.id());
    wait_until("signal handlers", || {
        let status = std::fs::read_to_string(&status).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        // The second bit is that of SIGINT.
        caught.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & 2 != 0)
    });
}

pub fn signal(run: &Child, name: &str) {
    let process = run.id().to_string();
    let status = std::process::Command::new("kill")
        .args(["-s", name, &process])
        .status();
    assert!(status.unwrap().success());
}

fn assert_old_result_and_nothing_else(sandbox: &Sandbox) {
    assert_eq!(sandbox.read("result.txt"), OLD);
    let names = sandbox.names();
    assert!(names.iter().all(|name| !name.starts_with('.')), "{names:?}");
}

fn resize(sandbox: &Sandbox, name: &str, bytes: u64) {
    let file = OpenOptions::new().write(true).open(sandbox.path(name));
    file.unwrap().set_len(bytes).unwrap();
}

/// Waits until `run` has mapped the file `name`.
fn wait_for_mapping(run: &Child, name: &str) {
    let maps = format!("/proc/{}/maps", run.id());
    wait_until("the mapping of an input", || {
        std::fs::read_to_string(&maps).is_ok_and(|maps| maps.contains(name))
    });
}

/// Starts a run that reads `large.txt`, changes the length of that file while the run waits for its
/// samples, and then gives it these. The result goes to `result`.
fn output_of_a_run_with_a_changed_input(sandbox: &Sandbox, bytes: u64, result: &str) -> Output {
    let args = "100 64 --articles large.txt --samples - --output";
    let args: Vec<&str> = args.split(' ').chain([result]).collect();
    let mut run = sandbox.start(&args, Stdio::piped());
    wait_for_mapping(&run, "large.txt");
    resize(sandbox, "large.txt", bytes);
    let mut samples = run.stdin.take().unwrap();
    // The run may have seen the change and ended.
    let _ = samples.write_all(&example("sample.txt"));
    drop(samples);
    run.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Promise (Errors and interruptions): Ctrl-C and SIGTERM stop a run with code 130, also where
/// another signal is ignored (`nohup`, a command in the background); no temporary file remains, and
/// the earlier result is unchanged
#[test]
fn interruption_leaves_the_old_result_and_no_temporary_file() {
    for name in ["INT", "TERM"] {
        let sandbox = with_large_input();
        let Output {
            status,
            stdout,
            stderr,
        } = end_long_run(&sandbox, |run| signal(run, name));
        assert_eq!(status.code(), Some(130), "{name}");
        assert_eq!(text(&stdout), "");
        assert_eq!(
            text(&stderr),
            "simtool: interrupted: result.txt has not changed\n"
        );
        assert_old_result_and_nothing_else(&sandbox);
    }
}

#[test]
fn a_killed_run_leaves_the_old_result_and_no_temporary_file() {
    let sandbox = with_large_input();
    let output = end_long_run(&sandbox, |run| signal(run, "KILL"));
    assert_eq!(output.status.code(), None);
    assert_old_result_and_nothing_else(&sandbox);
}

/// Promise (Errors and interruptions): Ctrl-C and SIGTERM stop a run …
#[test]
fn a_wait_for_input_can_be_interrupted() {
    let sandbox = with_large_input();
    let mut run = sandbox.start(&["100", "16", "--samples", "-"], Stdio::piped());
    // Waiting would close the input, and the run could end before the signal is handled.
    let open = run.stdin.take();
    wait_for_unnamed_file(&run, &sandbox.path(""));
    signal(&run, "INT");
    assert_eq!(run.wait().unwrap().code(), Some(130));
    drop(open);
    assert_old_result_and_nothing_else(&sandbox);
}

/// Promise (Failing inputs): An input that is truncated while it is read is an error of the run,
/// with both sizes, and does not kill the process; other inputs are not affected
#[test]
fn truncation_fails_the_run_and_leaves_the_old_result() {
    let sandbox = with_large_input();
    let Output {
        status,
        stdout,
        stderr,
    } = output_of_a_run_with_a_changed_input(&sandbox, 100_000, "result.txt");
    assert_eq!((status.code(), text(&stdout)), (Some(2), ""));
    let message = text(&stderr);
    assert!(
        message.contains("simtool: large.txt: changed while it was being read"),
        "{message}"
    );
    assert!(message.contains("found 100000 bytes"), "{message}");
    assert_old_result_and_nothing_else(&sandbox);
}

/// Promise (Failing inputs): A run whose input was truncated to nothing ends at once, before it
/// writes a wrong result
#[test]
fn truncation_to_nothing_ends_the_run_before_the_wrong_result_is_written() {
    // A file of zeros is one page with an id of the file's length, and it is near every sample: the
    // result would have 12 GB.
    const MAX_WRITTEN: u64 = 2_000_000_000;
    let sandbox = with_large_input();
    sandbox.write("large.txt", "id\nword\x0c".repeat(3_000_000));
    let args = ["100", "64", "--articles", "large.txt", "--samples", "-"];
    let mut run = sandbox.start(&args, Stdio::piped());
    wait_for_mapping(&run, "large.txt");
    resize(&sandbox, "large.txt", 0);
    let samples: String = (0..400)
        .map(|sample| format!("{sample}\nword\x0c"))
        .collect();
    let mut stdin = run.stdin.take().unwrap();
    stdin.write_all(samples.as_bytes()).unwrap();
    drop(stdin);
    while run.try_wait().unwrap().is_none() {
        let counts = std::fs::read_to_string(format!("/proc/{}/io", run.id())).unwrap_or_default();
        let written = counts.lines().find_map(|line| line.strip_prefix("wchar: "));
        if written.is_some_and(|bytes| bytes.parse::<u64>().unwrap() > MAX_WRITTEN) {
            run.kill().unwrap();
            panic!("the wrong result is still being written");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("found 0 bytes"), "{output:?}");
    assert_old_result_and_nothing_else(&sandbox);
}

/// Promise (Failing inputs): A run whose input grows or is rewritten fails. The main job reads the
/// bytes of an input that is unlinked or replaced during the run; `dedup` fails then
#[test]
fn growth_fails_the_run() {
    let sandbox = with_large_input();
    let output = output_of_a_run_with_a_changed_input(&sandbox, 30_000_000, "result.txt");
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(message.contains("found 30000000 bytes"), "{message}");
    let advice = "(run again when it is complete)";
    assert!(message.contains(advice), "{message}");
    assert_old_result_and_nothing_else(&sandbox);
}

/// The same command does not resume with the longer file; with `--restart` it begins anew.
#[test]
fn a_dedup_whose_input_grows_fails_and_has_to_be_restarted() {
    let sandbox = Sandbox::new();
    let line = |id: usize| {
        let words: String = (0..100)
            .map(|word| format!("w{} ", id * 7 + word))
            .collect();
        format!("{{\"id\":\"{id}\",\"text\":\"{words}\"}}\n")
    };
    let command = "dedup grows.jsonl -o out --threads 1";
    let args: Vec<&str> = command.split(' ').collect();
    let mut documents = 10_000;
    let (all, output) = loop {
        let all: String = (0..documents).map(line).collect();
        sandbox.write("grows.jsonl", &all);
        let mut run = sandbox.start(&args, Stdio::null());
        wait_until("the first reading", || {
            sandbox.path("out/.simtool/segments").exists() || run.try_wait().unwrap().is_some()
        });
        let mut file = OpenOptions::new()
            .append(true)
            .open(sandbox.path("grows.jsonl"));
        let added = line(documents);
        file.as_mut().unwrap().write_all(added.as_bytes()).unwrap();
        let output = run.wait_with_output().unwrap();
        if output.status.code() != Some(0) {
            break (all, output);
        }
        // It was complete before the file grew: again, with more to read.
        documents *= 2;
        std::fs::remove_dir_all(sandbox.path("out")).unwrap();
    };
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    let found = format!(
        "grows.jsonl: changed while it was being read: expected {} bytes",
        all.len()
    );
    let advice = "(run again when it is complete";
    assert!(
        message.contains(&found) && message.contains(advice),
        "{message}"
    );
    assert!(!sandbox.path("out/summary.json").exists());
    let refused = sandbox.run(command).code(2);
    assert_message(&refused, &["inputs[0]", "--restart"]);
    // A slow run logs its stages before the result.
    let stderr = sandbox.stderr(&format!("{command} --restart"));
    let result = stderr.lines().last().unwrap_or_default();
    let seen = format!("{} documents seen", documents + 1);
    assert!(result.starts_with(&seen), "{stderr}");
}

#[test]
fn full_device_is_reported() {
    let sandbox = Sandbox::example();
    sandbox.write("result.txt", OLD);
    sandbox.refuse(
        "100 16 --output /dev/full",
        &["/dev/full: cannot be written", "disk is full"],
    );
}

/// Promise (Complete outputs): A run that fails, even while …
#[test]
fn input_that_changes_puts_nothing_on_standard_output() {
    let sandbox = with_large_input();
    let Output { status, stdout, .. } = output_of_a_run_with_a_changed_input(&sandbox, 5000, "-");
    assert_eq!(status.code(), Some(2));
    assert_eq!(text(&stdout), "");
    assert_old_result_and_nothing_else(&sandbox);
}

/// Promise (Complete outputs): A full disk, or a limit …
#[test]
fn limit_on_file_sizes_is_reported() {
    let sandbox = Sandbox::example();
    // 200 blocks are more than the 1024 bytes (512 in some shells) that are allowed.
    let samples: String = (0..200)
        .map(|number| format!("sample {number}\n\x0c"))
        .collect();
    sandbox.write("sample.txt", samples);
    sandbox.write("result.txt", OLD);
    let mut command = sandbox.command("sh");
    command.args(["-c", "ulimit -f 1; exec \"$0\" 100 16", SIMTOOL]);
    let assert = command.assert().code(2).stdout("");
    assert_message(&assert, &["result.txt: cannot be written", "ulimit -f"]);
    assert_old_result_and_nothing_else(&sandbox);
}

/// Promise (Errors and interruptions): Ctrl-C and SIGTERM stop a run …
#[test]
fn a_signal_ends_a_run_that_ignores_other_signals() {
    // Shells ignore signals for background commands, and nohup does.
    for ignored in ["INT", "HUP", "INT,QUIT"] {
        let ignored = &format!("--ignore-signal={ignored}");
        let sandbox = with_large_input();
        let mut run = std::process::Command::new("env")
            .args(["--default-signal=INT,HUP,TERM", ignored, SIMTOOL])
            .args(["100", "16", "--samples", "-"])
            .current_dir(sandbox.path(""))
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Waiting would close the input, and the run could end before the signal is handled.
        let open = run.stdin.take();
        wait_for_unnamed_file(&run, &sandbox.path(""));
        signal(&run, "TERM");
        assert_eq!(run.wait().unwrap().code(), Some(130), "{ignored}");
        drop(open);
        assert_old_result_and_nothing_else(&sandbox);
    }
}

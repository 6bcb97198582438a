//! Every output of a table of commands is what `testdata/manifest.txt` says: exit code, messages, and
//! a digest of each file. It is the same with one thread and with two, after kills, and in a bucket.
//!
//! `SIMTOOL_MANIFEST=write cargo test --test manifest` runs the commands of that file, and writes what
//! they do now into it.

mod inputs;
mod outcome;

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::sandbox::{SIMTOOL, Sandbox};
use outcome::{OUTPUT, Outcome, TEMPORARY, differences};
use simtool_testing::bucket::{Bucket, NAME};

/// The times after which runs are killed, in milliseconds. A run that ends earlier is not killed.
const KILLED_AFTER: [u64; 2] = [20, 60];

#[test]
fn outputs_are_those_of_the_manifest() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/manifest.txt");
    let expected = fs::read_to_string(&path).unwrap();
    let (sandbox, bucket) = (inputs::sandbox(), Bucket::start());
    for (key, bytes) in inputs::objects() {
        bucket.add(&key, &bytes);
    }
    outcome::remove(&sandbox, &bucket);
    let mut actual = String::new();
    for line in expected.lines() {
        if line.is_empty() || line.starts_with('#') {
            writeln!(actual, "{line}").unwrap();
        } else if let Some(command) = line.strip_prefix("$ simtool ") {
            let outcome = in_all_ways(&sandbox, &bucket, command);
            write!(actual, "{line}\n{outcome}").unwrap();
        }
    }
    if std::env::var_os("SIMTOOL_MANIFEST").is_some() {
        fs::write(&path, actual).unwrap();
    } else if actual != expected {
        panic!("{}:\n{}", path.display(), differences(&expected, &actual));
    }
}

/// What a command does. With `-o out`, it is run in several ways.
fn in_all_ways(sandbox: &Sandbox, bucket: &Bucket, command: &str) -> Outcome {
    let run = |command: &str| {
        let outcome = Outcome::of(simtool(sandbox, bucket, command), sandbox, bucket);
        outcome::remove(sandbox, bucket);
        outcome
    };
    let output = format!(" -o {OUTPUT}");
    if !command.contains(&output) {
        return run(command);
    }
    let outcome = run(&format!("{command} --threads 2"));
    let line = format!("{command} --threads 1");
    check(&line, &outcome, &run(&line), Outcome::clone);
    for milliseconds in KILLED_AFTER {
        kill(simtool(sandbox, bucket, command), milliseconds);
    }
    let line = format!("{command} after kills");
    check(&line, &outcome, &run(command), Outcome::quiet);
    let line = command.replace(&output, &format!(" -o s3://{NAME}/{OUTPUT}"));
    check(&line, &outcome, &run(&line), Outcome::anywhere);
    outcome
}

/// Fails unless `part` of the outcome of a way of running a command is as usual.
fn check(line: &str, usual: &Outcome, outcome: &Outcome, part: fn(&Outcome) -> Outcome) {
    let different = differences(&usual.to_string(), &outcome.to_string());
    let is_usual = part(usual) == part(outcome);
    assert!(
        is_usual,
        "simtool {line} differs from the command with 2 threads:\n{different}"
    );
}

/// Flags against the lines of progress that a run of more than ten seconds writes.
fn without_progress(command: &str) -> &'static [&'static str] {
    let without = [
        "completions ",
        "explain ",
        "generate ",
        "index info",
        "methods",
        "serve ",
    ];
    let with_others = ["--quiet", "--log", "--help", "--dry-run"];
    let is_command = command.contains(' ') && !without.iter().any(|name| command.starts_with(name));
    match is_command && !with_others.iter().any(|flag| command.contains(flag)) {
        true => &["--log", "none"],
        false => &[],
    }
}

/// The program with the words of `command`, and the bucket as S3.
fn simtool(sandbox: &Sandbox, bucket: &Bucket, command: &str) -> Command {
    let mut program = Command::new(SIMTOOL);
    program
        .args(command.split_whitespace())
        .args(without_progress(command))
        .current_dir(sandbox.path(""))
        .stdin(Stdio::null())
        .env_remove("SIMTOOL_SIMD")
        .env("TMPDIR", sandbox.path(TEMPORARY))
        .env("AWS_ENDPOINT_URL", format!("http://{}", bucket.address))
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_ACCESS_KEY_ID", "key")
        .env("AWS_SECRET_ACCESS_KEY", "secret");
    program
}

fn kill(mut command: Command, milliseconds: u64) {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    thread::sleep(Duration::from_millis(milliseconds));
    let _ = child.kill();
    child.wait().unwrap();
}

//! A temporary directory for inputs and outputs, and commands that run in it.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use serde_json::Value;
use tempfile::TempDir;

/// The result of `simtool 100 16` on the example.
pub const RESULT: &str = include_str!("../../testdata/example/result.txt");
/// The standard output of that command: the first of the ten blocks.
pub const FIRST_BLOCK: &str = "sample-000000\n0:article-000101 \n2:article-000050 \n\
    3:article-000008 article-000044 article-000124 article-000144 \n";
/// The result of an earlier run.
pub const OLD: &str = "an earlier result\n";

pub const SIMTOOL: &str = env!("CARGO_BIN_EXE_simtool");
const INPUTS: [&str; 4] = [
    "article.txt",
    "sample.txt",
    "stopwords.txt",
    "hashvalue.txt",
];

pub struct Sandbox(TempDir);

impl Sandbox {
    /// An empty directory.
    pub fn new() -> Sandbox {
        Sandbox(tempfile::tempdir().unwrap())
    }

    /// With the four inputs of the example.
    pub fn example() -> Sandbox {
        let sandbox = Sandbox::new();
        for name in INPUTS {
            sandbox.write(name, example(name));
        }
        sandbox
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The JSON values of a file, one a line.
    pub fn lines(&self, name: &str) -> Vec<Value> {
        json_lines(&self.read(name))
    }

    /// The names of all entries, those of temporary files included.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<String> = entries
            .map(|entry| name(entry).to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.0.path())
            .env_remove("SIMTOOL_SIMD");
        command
    }

    /// Runs `simtool` with the words of `line`.
    pub fn run(&self, line: &str) -> Assert {
        self.command(SIMTOOL).args(line.split_whitespace()).assert()
    }

    /// The standard output of a `simtool` command that has to succeed.
    pub fn stdout(&self, line: &str) -> String {
        text(&self.run(line).success().get_output().stdout)
    }

    /// The standard error of a `simtool` command that has to succeed.
    pub fn stderr(&self, line: &str) -> String {
        stderr(&self.run(line).success())
    }

    /// Runs `simtool` with the words of `line`. It has to fail with these parts of a message, to
    /// print nothing else, to leave no new file, and to keep an earlier `result.txt` as it is.
    pub fn refuse(&self, line: &str, message_parts: &[&str]) {
        let old = fs::read(self.path("result.txt")).ok();
        let before = self.names();
        let assert = self.run(line).code(2).stdout("");
        assert_message(&assert, message_parts);
        assert_eq!(self.names(), before, "{line}");
        assert_eq!(fs::read(self.path("result.txt")).ok(), old, "{line}");
    }

    /// Refuses `command` with the flags of each of some lines `FLAGS => PART OF THE MESSAGE`.
    pub fn refuse_each(&self, command: &str, lines: &str) {
        for line in lines.trim().lines() {
            let (flags, part) = line.trim().split_once(" => ").unwrap();
            self.refuse(&format!("{command} {flags}"), &[part]);
        }
    }

    /// `simtool` with the words of `line`, as a command to spawn.
    pub fn std_command(&self, line: &str) -> std::process::Command {
        let mut command = std::process::Command::new(SIMTOOL);
        command
            .args(line.split_whitespace())
            .current_dir(self.0.path())
            .env_remove("SIMTOOL_SIMD");
        command
    }

    /// Starts `simtool` with the default action for signals, and does not wait for its end.
    pub fn start(&self, args: &[&str], stdin: Stdio) -> Child {
        std::process::Command::new("env")
            .args(["--default-signal=INT,HUP,TERM", SIMTOOL])
            .args(args)
            .current_dir(self.0.path())
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }
}

/// An input of the example.
pub fn example(name: &str) -> Vec<u8> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/example");
    fs::read(directory.join(name)).unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The standard error of a command.
pub fn stderr(assert: &Assert) -> String {
    text(&assert.get_output().stderr)
}

/// The JSON value in the last line that a command wrote to standard error. Before it, a command that
/// takes long writes its progress.
pub fn last_event(assert: &Assert) -> Value {
    let events = stderr(assert);
    serde_json::from_str(events.lines().last().unwrap()).unwrap()
}

/// The JSON values of a text, one a line.
pub fn json_lines(text: &str) -> Vec<Value> {
    let value = |line| serde_json::from_str(line).unwrap();
    text.lines().map(value).collect()
}

/// Checks the message of a command that failed.
pub fn assert_message(assert: &Assert, parts: &[&str]) {
    let text = stderr(assert);
    assert!(text.starts_with("simtool: "), "{text}");
    for part in parts {
        assert!(text.contains(part), "expected {part:?} in {text:?}");
    }
}

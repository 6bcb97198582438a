//! A directory with the inputs of an example, and commands that run there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use tempfile::TempDir;

/// The result of `simtool 100 16` on the example.
pub const RESULT: &str = include_str!("../../testdata/example/result.txt");
/// What it prints: the first of the ten blocks.
pub const FIRST_BLOCK: &str = "sample-000000\n0:article-000101 \n2:article-000050 \n\
    3:article-000008 article-000044 article-000124 article-000144 \n";
/// What an earlier run left.
pub const OLD: &str = "an earlier result\n";

pub const SIMTOOL: &str = env!("CARGO_BIN_EXE_simtool");
const INPUTS: [&str; 4] = [
    "article.txt",
    "sample.txt",
    "stopwords.txt",
    "hashvalue.txt",
];

pub struct Workplace(TempDir);

impl Workplace {
    pub fn empty() -> Workplace {
        Workplace(tempfile::tempdir().unwrap())
    }

    /// With the four inputs of the example.
    pub fn example() -> Workplace {
        let place = Workplace::empty();
        for name in INPUTS {
            place.write(name, example(name));
        }
        place
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

    /// All names, those of temporary files too.
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

    /// Runs `simtool` with the words of `line`, which has to fail with these parts of a message,
    /// printing nothing, leaving no temporary file and an earlier result as it was.
    pub fn refuse(&self, line: &str, message_parts: &[&str]) {
        let old = fs::read(self.path("result.txt")).ok();
        let before = self.names();
        let assert = self.run(line).code(2).stdout("");
        assert_message(&assert, message_parts);
        assert_eq!(self.names(), before, "{line}");
        assert_eq!(fs::read(self.path("result.txt")).ok(), old, "{line}");
    }

    /// Starts `program`, without waiting for its end, with signals as they usually are.
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

/// Checks the message of a command that failed.
pub fn assert_message(assert: &Assert, parts: &[&str]) {
    let text = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(text.starts_with("simtool: "), "{text}");
    for part in parts {
        assert!(text.contains(part), "expected {part:?} in {text:?}");
    }
}

/// Waits until `is_so`, for a minute at most.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "waited for {what}"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

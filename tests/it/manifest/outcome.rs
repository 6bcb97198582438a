//! What a command did, in the form of the manifest.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::fs;
use std::path::Path;
use std::process::Command;

use xxhash_rust::xxh3::xxh3_64;

use crate::sandbox::Sandbox;
use simtool_testing::bucket::Bucket;

/// The file or directory of a command's outputs, and the objects in its place.
pub const OUTPUT: &str = "out";
/// The directory for temporary files.
pub const TEMPORARY: &str = "temporary";
/// What differs between equal runs: measured times, and the work of a run that ended early.
const VARIABLE: [&str; 4] = [
    "out/timings.json",
    "out/.simtool/",
    "out/evaluation.",
    "out/methods.csv",
];
/// A file with times of modification of inputs, and with marks of the place of the outputs.
const OF_PLACE: &str = "out/run.json";
const TIMES: [&str; 2] = ["\"modified\":", "\"checksum\":"];
/// Longer messages are digests.
const SHOWN_LINES: usize = 12;
/// What follows a measured number.
const MEASURED: [&str; 5] = ["seconds", "seconds,", "seconds:", "s", "MB"];
/// What follows a short time; which one depends on its length.
const SHORT: [&str; 3] = ["ns", "µs", "ms"];

/// The exit code, the messages and the digests of all files of a command.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
    /// Bytes and digest by name.
    files: BTreeMap<String, (usize, u64)>,
}

impl Outcome {
    /// Runs a command to its end.
    pub fn of(mut command: Command, sandbox: &Sandbox, bucket: &Bucket) -> Outcome {
        let output = command.output().unwrap();
        let mut files = BTreeMap::new();
        add_files(&sandbox.path(OUTPUT), OUTPUT, &mut files);
        for (key, object) in bucket.objects() {
            if is_output(&key) {
                files.insert(key, object.bytes.to_vec());
            }
        }
        files.retain(|name, _| !VARIABLE.iter().any(|other| name.starts_with(other)));
        if let Some(run) = files.get_mut(OF_PLACE) {
            *run = without_times(run);
        }
        let digest = |(name, bytes): (String, Vec<u8>)| (name, (bytes.len(), xxh3_64(&bytes)));
        let text = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes)
                .replace(sandbox.path("").to_str().unwrap(), "DIR/")
                .replace(&bucket.address, "HOST")
                .lines()
                .map(without_measurements)
                .collect()
        };
        Outcome {
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
            files: files.into_iter().map(digest).collect(),
        }
    }

    /// Without messages.
    pub fn quiet(&self) -> Outcome {
        let (stdout, stderr) = (String::new(), String::new());
        let (code, files) = (self.code, self.files.clone());
        Outcome {
            code,
            stdout,
            stderr,
            files,
        }
    }

    /// Without messages and without what tells a directory from a bucket.
    pub fn anywhere(&self) -> Outcome {
        let mut outcome = self.quiet();
        outcome.files.remove(OF_PLACE);
        outcome
    }
}

fn is_output(name: &str) -> bool {
    let rest = name.strip_prefix(OUTPUT);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Removes what a command has written.
pub fn remove(sandbox: &Sandbox, bucket: &Bucket) {
    let path = sandbox.path(OUTPUT);
    let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
    let path = sandbox.path(TEMPORARY);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir(path).unwrap();
    let objects = bucket.objects();
    let outputs = objects.keys().filter(|key| is_output(key));
    outputs.for_each(|key| bucket.remove(key));
}

fn add_files(path: &Path, name: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{name}/{}", entry.file_name().to_str().unwrap());
            add_files(&entry.path(), &name, files);
        }
    } else if path.exists() {
        files.insert(name.to_owned(), fs::read(path).unwrap());
    }
}

/// The lines of `run.json` that are the same for inputs of any time.
fn without_times(run: &[u8]) -> Vec<u8> {
    let lines = str::from_utf8(run).unwrap().lines();
    let same = lines.filter(|line| !TIMES.iter().any(|name| line.trim_start().starts_with(name)));
    same.collect::<Vec<_>>().join("\n").into_bytes()
}

/// A line of a message, with T for numbers that depend on the machine.
fn without_measurements(line: &str) -> String {
    let of_plan = ["time ", "instead ", "bytes "]
        .into_iter()
        .find(|name| line.starts_with(name));
    if let Some(name) = of_plan {
        return format!("{name} T\n");
    }
    // The width of a column may depend on them, too.
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_measured = |at: usize| {
        let is_number = words[at].starts_with(|first: char| first.is_ascii_digit());
        let decimals = words[at]
            .split_once('.')
            .map(|(_, decimals)| decimals.len());
        let unit = words.get(at + 1);
        let units = || MEASURED.iter().chain(&SHORT);
        is_number
            && (decimals == Some(1) || unit.is_some_and(|unit| units().any(|name| name == unit)))
    };
    if !(0..words.len()).any(is_measured) {
        return format!("{line}\n");
    }
    let word = |at: usize| match words[at] {
        _ if is_measured(at) => "T",
        unit if SHORT.contains(&unit) => "U",
        word => word,
    };
    let words: Vec<&str> = (0..words.len()).map(word).collect();
    words.join(" ") + "\n"
}

impl Display for Outcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "exit {}", self.code.unwrap_or(-1))?;
        for (mark, text) in [("|", &self.stdout), ("!", &self.stderr)] {
            let lines = text.lines().count();
            if lines > SHOWN_LINES {
                let digest = xxh3_64(text.as_bytes());
                writeln!(f, "{mark} {lines} lines {digest:016x}")?;
            } else {
                text.lines()
                    .try_for_each(|line| writeln!(f, "{mark} {line}"))?;
            }
        }
        for (name, (bytes, digest)) in &self.files {
            writeln!(f, "{name} {bytes} {digest:016x}")?;
        }
        Ok(())
    }
}

/// The blocks of the commands that differ between two manifests with the same commands: lines of the
/// first alone begin with `-`, of the second alone with `+`.
pub fn differences(expected: &str, actual: &str) -> String {
    let blocks = |text: &str| text.split("\n$ ").map(str::to_owned).collect::<Vec<_>>();
    let mut all = String::new();
    for (expected, actual) in blocks(expected).iter().zip(&blocks(actual)) {
        if expected == actual {
            continue;
        }
        let only = |mark: char, text: &str, other: &str| -> String {
            let others: Vec<&str> = other.lines().collect();
            let lines = text.lines().filter(|line| !others.contains(line));
            lines.map(|line| format!("{mark} {line}\n")).collect()
        };
        all += &format!("$ {}\n", expected.lines().next().unwrap_or_default());
        all += &only('-', expected, actual);
        all += &only('+', actual, expected);
    }
    all
}

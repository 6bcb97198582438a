//! The record of a run's output files: `OUT/.simtool/outputs`.
//!
//! The first line has the number of the run, which is part of the names of its temporary files.
//! Others have directories, before the first temporary file is created there, and outputs, before
//! they get their names. For outputs that become objects of a store, a line has the name of an upload
//! before its first part, and another one the entity tag after its end. A line is the xxh3 of a JSON
//! object, in hexadecimal, and the object. Every line is durable before the next one is written, so
//! that only the last one may be torn: what is recorded together is one line.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use super::recorded_files::{FileMark, OutputStamp, RecordedFiles};
use crate::Result;
use crate::workdir::files::errors::error;
use crate::workdir::files::names::{entries, is_number};
use crate::workdir::files::path_text;
use simtool_files::{Faults, directory, regular_contents};

/// The contents of a record.
#[derive(Debug, Default)]
pub struct Journal {
    /// The number of the run; `None` if the first line is missing or damaged.
    pub run: Option<u64>,
    /// Directories that may hold temporary files, below that of the outputs.
    pub directories: BTreeSet<PathBuf>,
    /// The outputs.
    pub recorded: RecordedFiles,
    /// The outputs and names of uploads that began and are not recorded as objects.
    pub uploads: Vec<(PathBuf, String)>,
    /// The length of all intact lines.
    pub bytes: u64,
    /// Whether a line is damaged that is not the last; the last one may be torn.
    pub is_damaged: bool,
}

impl Journal {
    /// Reads the intact lines of the file `path`; an empty record if it does not exist.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if it cannot be read.
    pub fn read(path: &Path) -> Result<Journal> {
        let text = match regular_contents(path) {
            Ok(text) => text,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(cause) => return Err(error(path, cause)),
        };
        let mut journal = Journal::default();
        let mut rest = text.split_inclusive(|&byte| byte == b'\n').peekable();
        while let Some(line) = rest.next() {
            let added = line.strip_suffix(b"\n").and_then(|line| journal.add(line));
            match added {
                Some(()) => journal.bytes += line.len() as u64,
                None => journal.is_damaged |= rest.peek().is_some(),
            }
        }
        Ok(journal)
    }

    /// Whether the record is undamaged and belongs to the run with the number `run`.
    pub fn is_sound(&self, run: u64) -> bool {
        !self.is_damaged && self.run == Some(run)
    }

    fn add(&mut self, line: &[u8]) -> Option<()> {
        let (checksum, text) = line.split_at_checked(16)?;
        let text = text.strip_prefix(b" ")?;
        if format!("{:016x}", xxh3_64(text)).as_bytes() != checksum {
            return None;
        }
        let record: Value = serde_json::from_slice(text).ok()?;
        if let Some(run) = record.get("run") {
            self.run = Some(parse_run(run)?);
        } else if let Some(directories) = record.get("directories") {
            let directories = directories.as_array()?.iter().map(path_text::decode);
            self.directories
                .extend(directories.collect::<Option<Vec<_>>>()?);
        } else if let Some(upload) = record.get("upload") {
            let name = parse_name(&record)?;
            self.uploads.push((name, upload.as_str()?.to_owned()));
        } else {
            let output = |output: &Value| Some((parse_name(output)?, parse_mark(output)?));
            let outputs = record.get("outputs")?.as_array()?.iter().map(output);
            for (name, mark) in outputs.collect::<Option<Vec<_>>>()? {
                if mark.is_object() {
                    self.uploads.retain(|(other, _)| *other != name);
                }
                self.recorded.add(&name, mark);
            }
        }
        Some(())
    }

    /// Removes the temporary files of the runs with the numbers `runs`: in the recorded
    /// directories, and in those of the outputs `names`.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn remove_temporaries(
        &self,
        out: &Path,
        names: &[PathBuf],
        runs: &[u64],
        faults: &Faults,
    ) -> Result<()> {
        let mut directories: BTreeSet<&Path> =
            names.iter().filter_map(|name| name.parent()).collect();
        directories.extend(self.directories.iter().map(PathBuf::as_path));
        directories.insert(Path::new(""));
        let prefixes: Vec<String> = runs.iter().map(|run| temporary_prefix(*run)).collect();
        let is_temporary = |name: &str| {
            let number = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix));
            number.is_some_and(is_number)
        };
        for parent in directories {
            let parent = out.join(parent);
            let entries = entries(&parent)?;
            for name in entries.iter().filter(|name| is_temporary(name)) {
                directory::remove(&parent.join(name), faults)?;
            }
        }
        Ok(())
    }
}

/// The start of the names of all temporary files of a run; a decimal number follows.
pub fn temporary_prefix(run: u64) -> String {
    format!(".simtool-{run:016x}-")
}

/// The number of a run as JSON.
pub fn run_value(run: u64) -> Value {
    format!("{run:016x}").into()
}

/// Parses the number of a run.
pub fn parse_run(value: &Value) -> Option<u64> {
    let text = value.as_str().filter(|text| text.len() == 16)?;
    u64::from_str_radix(text, 16).ok()
}

/// The first line.
pub fn first_line(run: u64) -> String {
    line(&json!({"run": run_value(run)}))
}

/// The line of directories, relative to the output directory.
pub fn directories_line(directories: &[&Path]) -> String {
    let directories = directories.iter().map(|path| path_text::encode(path));
    line(&json!({"directories": directories.collect::<Vec<_>>()}))
}

/// The line of an upload that makes the output `name` an object.
pub fn upload_line(name: &Path, upload: &str) -> String {
    line(&json!({"output": path_text::encode(name), "upload": upload}))
}

/// The line of outputs.
pub fn outputs_line(outputs: &[(&Path, FileMark)]) -> String {
    let outputs = outputs.iter().map(|(name, mark)| describe(name, mark));
    line(&json!({"outputs": outputs.collect::<Vec<_>>()}))
}

fn describe(name: &Path, mark: &FileMark) -> Value {
    let stamp = mark.stamp.as_ref().map(|stamp| match stamp {
        OutputStamp::File { inode, modified } => {
            let (seconds, nanoseconds) = modified;
            json!({"inode": inode, "modified": [seconds, nanoseconds]})
        }
        OutputStamp::Object { etag } => json!({"etag": etag}),
    });
    json!({
        "output": path_text::encode(name),
        "bytes": mark.bytes,
        "xxh3_128": digest_value(mark.digest),
        "stamp": stamp,
    })
}

/// The name of an output, which is below the output directory.
fn parse_name(object: &Value) -> Option<PathBuf> {
    path_text::decode(&object["output"]).filter(|name| path_text::is_below(name))
}

/// A digest as JSON.
pub fn digest_value(digest: u128) -> Value {
    format!("{digest:032x}").into()
}

/// The mark in an object with `bytes`, `xxh3_128` and optionally `stamp`.
pub fn parse_mark(object: &Value) -> Option<FileMark> {
    let stamp = match &object["stamp"] {
        Value::Null => None,
        stamp if stamp.get("etag").is_some() => Some(OutputStamp::Object {
            etag: stamp["etag"].as_str().map(str::to_owned),
        }),
        stamp => Some(OutputStamp::File {
            inode: stamp["inode"].as_u64()?,
            modified: (
                stamp["modified"][0].as_i64()?,
                stamp["modified"][1].as_i64()?,
            ),
        }),
    };
    Some(FileMark {
        bytes: object["bytes"].as_u64()?,
        digest: u128::from_str_radix(object["xxh3_128"].as_str()?, 16).ok()?,
        stamp,
    })
}

fn line(record: &Value) -> String {
    let text = record.to_string();
    format!("{:016x} {text}\n", xxh3_64(text.as_bytes()))
}

//! The file names of a work directory; files with other names are never removed.

use std::fs;
use std::io;
use std::path::Path;

use super::errors::error;
use crate::Result;

/// The ending of an unfinished file.
pub const PART: &str = ".part";
/// The job, without which the other files are useless.
pub const JOB: &str = "job.json";

/// Markers of complete files; removed before those files.
const MARKERS: [&str; 3] = ["reported", DECIDED, "gathered"];
/// Marks the decisions as complete.
pub const DECIDED: &str = "decided";
const FILES: [&str; 13] = [
    "segments",
    "segment-index",
    "seen-twice",
    "decisions",
    "refused",
    "known-ids",
    "known-ends",
    "lower",
    "ranges",
    "dropped",
    "repeated",
    "origins",
    "items",
];
/// Prefixes of names that end with a number.
const NUMBERED: [&str; 8] = [
    "frequencies-",
    "stream-",
    "related-",
    "kept-shard-",
    "text-shard-",
    "removed-shard-",
    "cut-shard-",
    "masked-shard-",
];
/// The record of outputs, and the lock for file systems that cannot lock directories. They are
/// removed last, so that there is no job without a record.
const LATE: [&str; 2] = [OUTPUTS, LOCK];
pub const OUTPUTS: &str = "outputs";
pub const LOCK: &str = "lock";

/// The position of a file in the order of removal; `None` for a file of others.
pub fn order(name: &str) -> Option<u32> {
    let name = name.strip_suffix(PART).unwrap_or(name);
    let is_numbered = |start: &str| name.strip_prefix(start).is_some_and(is_number);
    if MARKERS.contains(&name) {
        Some(0)
    } else if FILES.contains(&name) || NUMBERED.iter().any(|start| is_numbered(start)) {
        Some(1)
    } else if is_job(name) {
        Some(2)
    } else if LATE.contains(&name) {
        Some(3)
    } else {
        None
    }
}

/// Whether `name` is that of the job.
pub fn is_job(name: &str) -> bool {
    name.strip_suffix(PART).unwrap_or(name) == JOB
}

/// Whether the file `name` is removed last.
pub fn is_late(name: &str) -> bool {
    LATE.contains(&name.strip_suffix(PART).unwrap_or(name))
}

/// Whether `text` is a decimal number.
pub fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The names in a directory; none if it does not exist. A name that is not UTF-8 becomes one that
/// no file of simtool has.
///
/// # Errors
/// [`ErrorKind::Write`](crate::ErrorKind::Write) if it cannot be read.
pub fn entries(directory: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(error(directory, cause)),
    };
    let name = |entry: io::Result<fs::DirEntry>| {
        let entry = entry.map_err(|cause| error(directory, cause))?;
        Ok(entry.file_name().to_string_lossy().into_owned())
    };
    entries.map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_the_layout_are_removed() {
        for name in [
            "segments",
            "segment-index.part",
            "frequencies-3",
            "stream-12",
            "decided",
        ] {
            assert!(order(name).is_some_and(|order| order < 2), "{name}");
        }
        assert_eq!(
            (order("outputs"), order("job.json.part")),
            (Some(3), Some(2))
        );
        for name in [
            "notes.txt",
            "segments.bak",
            "frequencies-",
            "stream-x",
            ".part",
            "",
            "0-1",
        ] {
            assert_eq!(order(name), None, "{name}");
        }
    }
}

//! The work directory: what a run has finished, so that the same command can go on from there.
//!
//! ```text
//! OUT/.simtool/lock            held while a run is under way
//! OUT/.simtool/job.json        settings and inputs; another job may not go on from here
//! OUT/.simtool/sketch/U-S      segment S of unit U of the first reading
//! OUT/.simtool/rows, labels…   all segments together, once the first reading is complete
//! OUT/.simtool/stream-N        a copy of standard input or of a pipe
//! ```
//!
//! Everything else that a run stores is in unnamed files, which end with the process.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::io::AtomicFile;
use crate::io::directory::create_all;
use crate::{Error, ErrorKind, Result};

const NAME: &str = ".simtool";
/// The most differences between jobs that a message lists.
const MOST_DIFFERENCES: usize = 5;

/// A work directory that no other process uses.
#[derive(Debug)]
pub struct Work {
    directory: PathBuf,
    _lock: File,
}

impl Work {
    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Opens the work directory in `out`, or makes one for `job`; with `restart`, what an earlier
    /// run left is removed first.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if it cannot be made, or another process uses it;
    /// [`ErrorKind::Changed`] if it belongs to another job: the message says where they differ.
    pub fn open(out: &Path, job: &Value, restart: bool) -> Result<Work> {
        let directory = out.join(NAME);
        make(&directory)?;
        let lock = lock(&directory)?;
        let work = Work {
            directory,
            _lock: lock,
        };
        if restart {
            work.clear()?;
        }
        let path = work.directory.join("job.json");
        match fs::read(&path) {
            Ok(bytes) => {
                work.compare(&bytes, job)?;
                remove_temporaries(out)?;
            }
            Err(_) => work.publish("job.json", format!("{job:#}\n").as_bytes())?,
        }
        make(&work.directory.join("sketch"))?;
        Ok(work)
    }

    /// Removes what an earlier run of the same `job` left, which cannot be gone on from.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn begin_anew(&self, job: &Value) -> Result<()> {
        self.clear()?;
        self.publish("job.json", format!("{job:#}\n").as_bytes())?;
        make(&self.directory.join("sketch"))
    }

    /// Whether an unfinished run has its work directory in `out`.
    pub fn is_in(out: &Path) -> bool {
        out.join(NAME).join("job.json").exists()
    }

    /// The path of a named file.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The path of a segment of the first reading.
    pub fn segment(&self, unit: usize, number: usize) -> PathBuf {
        self.directory
            .join("sketch")
            .join(format!("{unit}-{number}"))
    }

    /// Writes a small file as a whole.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn publish(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let mut file = AtomicFile::create(&self.path(name))?;
        file.write_all(bytes).map_err(|cause| file.error(cause))?;
        file.publish()
    }

    /// Removes the segments, whose contents are elsewhere now.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn remove_segments(&self) -> Result<()> {
        remove(&self.directory.join("sketch"))?;
        make(&self.directory.join("sketch"))
    }

    /// Removes the directory: the run is finished.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn remove(self) -> Result<()> {
        remove(&self.directory)
    }

    fn clear(&self) -> Result<()> {
        let entries =
            fs::read_dir(&self.directory).map_err(|cause| error(&self.directory, cause))?;
        for entry in entries {
            let path = entry.map_err(|cause| error(&self.directory, cause))?.path();
            if path.file_name().is_none_or(|name| name != "lock") {
                remove(&path)?;
            }
        }
        Ok(())
    }

    fn compare(&self, stored: &[u8], job: &Value) -> Result<()> {
        let path = self.path("job.json");
        let stored: Value = serde_json::from_slice(stored).map_err(|cause| {
            let message = format!("is damaged ({cause}): start again with --restart");
            Error::new(ErrorKind::Content, message).in_file(&path)
        })?;
        let mut differences = Vec::new();
        differ("", &stored, job, &mut differences);
        if differences.is_empty() {
            return Ok(());
        }
        let more = differences.len().saturating_sub(MOST_DIFFERENCES);
        differences.truncate(MOST_DIFFERENCES);
        let mut message = format!(
            "belongs to an unfinished run of another job: {}",
            differences.join("; ")
        );
        if more > 0 {
            message += &format!("; and {more} more");
        }
        message += " (repeat the earlier command to finish it, or add --restart to begin anew)";
        Err(Error::new(ErrorKind::Changed, message).in_file(&self.directory))
    }
}

/// Lists where two values differ, as `PATH was OLD, is NEW`.
fn differ(path: &str, old: &Value, new: &Value, out: &mut Vec<String>) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let names: std::collections::BTreeSet<_> = old.keys().chain(new.keys()).collect();
            for name in names {
                let path = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                let value = |object: &serde_json::Map<_, _>| {
                    object.get(name).cloned().unwrap_or(Value::Null)
                };
                differ(&path, &value(old), &value(new), out);
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (number, (old, new)) in old.iter().zip(new).enumerate() {
                differ(&format!("{path}[{number}]"), old, new, out);
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            out.push(format!(
                "{path} had {} entries, has {}",
                old.len(),
                new.len()
            ));
        }
        _ if old != new => out.push(format!("{path} was {old}, is {new}")),
        _ => {}
    }
}

/// Removes temporary files that a killed run left: `.NAME.` and six letters or digits, below
/// `directory`, but not in the work directory.
fn remove_temporaries(directory: &Path) -> Result<()> {
    let entries = fs::read_dir(directory).map_err(|cause| error(directory, cause))?;
    for entry in entries {
        let path = entry.map_err(|cause| error(directory, cause))?.path();
        let name = path.file_name().map(|name| name.as_encoded_bytes());
        match name {
            Some(name) if name == NAME.as_bytes() => {}
            _ if path.is_dir() && !path.is_symlink() => remove_temporaries(&path)?,
            Some(name) if is_temporary(name) => remove(&path)?,
            _ => {}
        }
    }
    Ok(())
}

fn is_temporary(name: &[u8]) -> bool {
    let (Some(b'.'), Some((head, random))) = (name.first(), name.split_last_chunk::<6>()) else {
        return false;
    };
    head.len() > 2 && head.ends_with(b".") && random.iter().all(u8::is_ascii_alphanumeric)
}

fn lock(directory: &Path) -> Result<File> {
    let path = directory.join("lock");
    let file = File::create(&path).map_err(|cause| error(&path, cause))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let message = "another simtool is working there: wait for it or choose another -o";
            Err(Error::new(ErrorKind::Write, message).in_file(directory))
        }
        // A file system without locks.
        Err(TryLockError::Error(_)) => Ok(file),
    }
}

fn make(directory: &Path) -> Result<()> {
    create_all(directory)
}

fn remove(path: &Path) -> Result<()> {
    let removed = match path.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    };
    removed.map_err(|cause| error(path, cause))
}

fn error(path: &Path, cause: std::io::Error) -> Error {
    Error::new(
        ErrorKind::Write,
        "cannot be used as part of the work directory",
    )
    .in_file(path)
    .caused_by(cause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn another_job_is_refused_with_the_difference() {
        let out = tempfile::tempdir().unwrap();
        let job = json!({"settings": {"distance": 3, "keep": "first"}, "inputs": [1, 2]});
        drop(Work::open(out.path(), &job, false).unwrap());
        drop(Work::open(out.path(), &job, false).unwrap());

        let other = json!({"settings": {"distance": 4, "keep": "first"}, "inputs": [1, 2, 3]});
        let error = Work::open(out.path(), &other, false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Changed);
        let text = error.to_string();
        assert!(text.contains("settings.distance was 3, is 4"), "{text}");
        assert!(text.contains("inputs had 2 entries, has 3"), "{text}");

        let work = Work::open(out.path(), &other, true).unwrap();
        work.remove().unwrap();
        assert!(fs::read_dir(out.path()).unwrap().next().is_none());
    }

    #[test]
    fn what_a_killed_run_left_is_removed() {
        let out = tempfile::tempdir().unwrap();
        let job = json!({});
        drop(Work::open(out.path(), &job, false).unwrap());
        fs::create_dir(out.path().join("kept")).unwrap();
        let left = [".clusters.jsonl.a1B2c3", "kept/.x.Zz09aa"];
        let own = [
            "clusters.jsonl",
            ".hidden",
            ".a.b",
            "kept/.x.jsonl.gz",
            "kept/a.b.c1C2d3",
        ];
        for name in left.iter().chain(&own) {
            fs::write(out.path().join(name), "x").unwrap();
        }
        drop(Work::open(out.path(), &job, false).unwrap());
        assert!(left.iter().all(|name| !out.path().join(name).exists()));
        assert!(own.iter().all(|name| out.path().join(name).exists()));
    }

    #[test]
    fn only_one_process_works_there() {
        let out = tempfile::tempdir().unwrap();
        let _work = Work::open(out.path(), &json!({}), false).unwrap();
        let error = Work::open(out.path(), &json!({}), false).unwrap_err();
        assert!(error.to_string().contains("another simtool"), "{error}");
    }

    #[test]
    fn a_damaged_job_is_an_error() {
        let out = tempfile::tempdir().unwrap();
        let work = Work::open(out.path(), &json!({}), false).unwrap();
        fs::write(work.path("job.json"), "{").unwrap();
        drop(work);
        let error = Work::open(out.path(), &json!({}), false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Content);
        assert!(Work::open(out.path(), &json!({}), true).is_ok());
    }
}

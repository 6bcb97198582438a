//! The outputs of a run, recorded while they come into being.
//!
//! `OUT/.simtool/outputs` has a line for each temporary file before it is created, and one for each
//! output that is complete. So a run that goes on knows what is finished, and removes the temporary
//! files of the run before it and nothing else. A line is the xxh3 of a JSON object, in hexadecimal,
//! and the object.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use super::path_text;
use super::{damaged, error};
use crate::io::{AtomicFile, Faults, Operation, Recorder, directory};
use crate::{Error, Result};

/// The outputs of a run, below one directory. Clones share their record.
#[derive(Clone)]
pub struct Outputs(Arc<Record>);

struct Record {
    out: PathBuf,
    /// `out` without symbolic links.
    real_out: PathBuf,
    journal: PathBuf,
    /// In the name of every temporary file of this process.
    run: u64,
    faults: Faults,
    state: Mutex<State>,
}

struct State {
    file: File,
    temporaries: u64,
    written: BTreeMap<PathBuf, Stamp>,
}

/// What tells a file from another one of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    inode: u64,
    modified: (i64, i64),
}

/// What a journal says.
#[derive(Default)]
struct Journal {
    temporaries: Vec<PathBuf>,
    written: BTreeMap<PathBuf, Stamp>,
    /// The length of all whole lines.
    bytes: u64,
}

impl Outputs {
    /// Opens the record `journal` of the outputs in `out`, or starts one. Removes the temporary
    /// files that an earlier process recorded.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write);
    /// [`ErrorKind::Content`](crate::ErrorKind::Content) for a damaged record.
    pub fn open(out: &Path, journal: &Path, faults: &Faults) -> Result<Outputs> {
        let failed = |cause| error(journal, cause);
        let found = Journal::read(journal)?.ok_or_else(|| damaged(journal))?;
        found.remove_temporaries(out, faults)?;
        faults.before(Operation::Create, journal).map_err(failed)?;
        let file = OpenOptions::new().create(true).append(true).open(journal);
        let file = file.map_err(failed)?;
        // Without a last line that was not completed.
        file.set_len(found.bytes)
            .and_then(|()| file.sync_all())
            .map_err(failed)?;
        if let Some(directory) = journal.parent() {
            directory::sync(directory, faults)?;
        }
        Ok(Outputs(Arc::new(Record {
            out: out.to_owned(),
            real_out: fs::canonicalize(out).map_err(failed)?,
            journal: journal.to_owned(),
            run: RandomState::new().build_hasher().finish(),
            faults: faults.clone(),
            state: Mutex::new(State {
                file,
                temporaries: 0,
                written: found.written,
            }),
        })))
    }

    /// Starts an output that will be published as `path`, below the directory of the outputs.
    ///
    /// # Errors
    /// Those of [`AtomicFile::create`].
    pub fn create(&self, path: &Path) -> Result<AtomicFile> {
        let recorder = Arc::clone(&self.0);
        AtomicFile::create_recorded(path, recorder)
    }

    /// Whether `path` is an output that this run, or one that it continues, has completed, and that
    /// has not changed since.
    pub fn is_written(&self, path: &Path) -> bool {
        let Ok(name) = path.strip_prefix(&self.0.out) else {
            return false;
        };
        let recorded = self.0.state().written.get(name).copied();
        recorded.is_some() && fs::metadata(path).ok().map(|found| Stamp::of(&found)) == recorded
    }

    /// The recorded outputs with their lengths, by name.
    pub fn written(&self) -> Vec<(PathBuf, u64)> {
        let state = self.0.state();
        let written = state.written.iter();
        written
            .map(|(name, stamp)| (name.clone(), stamp.bytes))
            .collect()
    }
}

/// Removes what `journal` records as made in `out`, temporary files and outputs.
///
/// A damaged journal records nothing.
///
/// # Errors
/// [`ErrorKind::Write`](crate::ErrorKind::Write).
pub fn remove_recorded(out: &Path, journal: &Path, faults: &Faults) -> Result<()> {
    let found = Journal::read(journal)?.unwrap_or_default();
    found.remove_temporaries(out, faults)?;
    for (name, stamp) in &found.written {
        let path = out.join(name);
        let is_same = fs::metadata(&path).is_ok_and(|found| Stamp::of(&found) == *stamp);
        if is_same && path_text::is_below(name) {
            remove_output(out, name, faults)?;
        }
    }
    Ok(())
}

/// Removes the output `name` of `out`, and the directories below `out` that are empty then. A
/// symbolic link stays.
///
/// # Errors
/// [`ErrorKind::Write`](crate::ErrorKind::Write).
pub fn remove_output(out: &Path, name: &Path, faults: &Faults) -> Result<()> {
    let path = out.join(name);
    if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
        return Ok(());
    }
    faults
        .before(Operation::Remove, &path)
        .and_then(|()| fs::remove_file(&path))
        .map_err(|cause| error(&path, cause))?;
    for parent in name.ancestors().skip(1) {
        if parent.as_os_str().is_empty() || fs::remove_dir(out.join(parent)).is_err() {
            break;
        }
    }
    Ok(())
}

impl Record {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append(&self, state: &mut State, record: &Value) -> Result<()> {
        let text = record.to_string();
        let line = format!("{:016x} {text}\n", xxh3_64(text.as_bytes()));
        self.faults
            .before(Operation::Write, &self.journal)
            .and_then(|()| state.file.write_all(line.as_bytes()))
            .and_then(|()| self.faults.before(Operation::Sync, &self.journal))
            .and_then(|()| state.file.sync_data())
            .map_err(|cause| error(&self.journal, cause))
    }
}

impl Recorder for Record {
    fn temporary(&self, _: &Path, directory: &Path) -> Result<PathBuf> {
        let mut state = self.state();
        let name = format!(".simtool-{:016x}-{}", self.run, state.temporaries);
        state.temporaries += 1;
        let path = directory.join(name);
        // Below the directory of the outputs, which may be moved before the run goes on.
        let recorded = path.strip_prefix(&self.real_out).unwrap_or(&path);
        self.append(
            &mut state,
            &json!({"temporary": path_text::encode(recorded)}),
        )?;
        self.faults
            .before(Operation::Create, &path)
            .map_err(|cause| error(&path, cause))?;
        Ok(path)
    }

    fn published(&self, path: &Path, file: &Metadata) -> Result<()> {
        let Ok(name) = path.strip_prefix(&self.out) else {
            return Ok(());
        };
        let stamp = Stamp::of(file);
        let mut state = self.state();
        self.append(
            &mut state,
            &json!({
                "written": path_text::encode(name),
                "bytes": stamp.bytes,
                "inode": stamp.inode,
                "modified": [stamp.modified.0, stamp.modified.1],
            }),
        )?;
        state.written.insert(name.to_owned(), stamp);
        Ok(())
    }
}

impl Stamp {
    fn of(found: &Metadata) -> Stamp {
        Stamp {
            bytes: found.len(),
            inode: found.ino(),
            modified: (found.mtime(), found.mtime_nsec()),
        }
    }
}

impl Journal {
    /// What the file records; `None` if it is damaged. Every line is durable before the next one is
    /// written, so that only the last one may be torn: it is left out then.
    fn read(path: &Path) -> Result<Option<Journal>> {
        let text = match fs::read(path) {
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
                None if rest.peek().is_none() => {}
                None => return Ok(None),
            }
        }
        Ok(Some(journal))
    }

    fn add(&mut self, line: &[u8]) -> Option<()> {
        let (checksum, text) = line.split_at_checked(16)?;
        let text = text.strip_prefix(b" ")?;
        if format!("{:016x}", xxh3_64(text)).as_bytes() != checksum {
            return None;
        }
        let record: Value = serde_json::from_slice(text).ok()?;
        if let Some(temporary) = record.get("temporary") {
            self.temporaries.push(path_text::decode(temporary)?);
            return Some(());
        }
        let number = |field: &Value| field.as_i64();
        let stamp = Stamp {
            bytes: record["bytes"].as_u64()?,
            inode: record["inode"].as_u64()?,
            modified: (
                number(&record["modified"][0])?,
                number(&record["modified"][1])?,
            ),
        };
        let name = path_text::decode(&record["written"])?;
        self.written.insert(name, stamp);
        Some(())
    }

    fn remove_temporaries(&self, out: &Path, faults: &Faults) -> Result<()> {
        for temporary in &self.temporaries {
            let path = out.join(temporary);
            if fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
                faults
                    .before(Operation::Remove, &path)
                    .and_then(|()| fs::remove_file(&path))
                    .map_err(|cause| -> Error { error(&path, cause) })?;
            }
        }
        Ok(())
    }
}

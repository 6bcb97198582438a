//! Files of the work directory with digests, which are verified before a run resumes.

use std::fs::{self, Metadata};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::Xxh3;

use super::checksummed;
use super::errors::{damaged, error};
use super::names::PART;
use crate::Result;
use simtool_engine::Progress;
use simtool_files::{AtomicFile, Faults, Operation, Recorder, read_regular};

const BLOCK_BYTES: usize = 1 << 20;

/// An unfinished file of the work directory.
pub struct WorkFile {
    name: String,
    file: AtomicFile,
    hash: Xxh3,
    bytes: u64,
}

/// A complete file of the work directory.
pub struct FinishedFile {
    name: String,
    bytes: u64,
    digest: u128,
}

/// Names temporary files in the work directory after their final names, with an ending.
struct PartRecorder {
    faults: Faults,
}

impl Recorder for PartRecorder {
    fn temporary(&self, path: &Path, directory: &Path) -> Result<PathBuf> {
        self.faults
            .before(Operation::Create, path)
            .map_err(|cause| error(path, cause))?;
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(PART);
        Ok(directory.join(name))
    }

    fn publishing(&self, path: &Path, _: &Metadata, _: u128) -> Result<()> {
        self.faults
            .before(Operation::Rename, path)
            .map_err(|cause| error(path, cause))
    }
}

/// Creates the file `path` in a work directory.
pub fn create(path: &Path, faults: &Faults) -> Result<AtomicFile> {
    let faults = faults.clone();
    AtomicFile::create_recorded(path, Arc::new(PartRecorder { faults }))
}

/// Publishes a small object as `path`, with a checksum.
///
/// # Errors
/// [`ErrorKind::Write`](crate::ErrorKind::Write).
pub fn publish(path: &Path, object: Map<String, Value>, faults: &Faults) -> Result<()> {
    let text = checksummed::encode(checksummed::fields(&object));
    publish_bytes(path, text.as_bytes(), faults)
}

/// Publishes `bytes` as `path`.
///
/// # Errors
/// [`ErrorKind::Write`](crate::ErrorKind::Write).
pub fn publish_bytes(path: &Path, bytes: &[u8], faults: &Faults) -> Result<()> {
    let mut file = create(path, faults)?;
    file.write_all(bytes).map_err(|cause| file.error(cause))?;
    file.publish()
}

impl WorkFile {
    /// Creates the file `name` in `directory`.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn create(directory: &Path, name: &str, faults: &Faults) -> Result<WorkFile> {
        Ok(WorkFile {
            name: name.to_owned(),
            file: create(&directory.join(name), faults)?,
            hash: Xxh3::new(),
            bytes: 0,
        })
    }

    /// Appends `bytes`.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.file
            .write_all(bytes)
            .map_err(|cause| self.file.error(cause))
    }

    /// Publishes the file.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn publish(self) -> Result<FinishedFile> {
        self.file.publish()?;
        Ok(FinishedFile {
            name: self.name,
            bytes: self.bytes,
            digest: self.hash.digest128(),
        })
    }
}

/// The lengths and digests of `files`, for [`verify`].
pub fn describe(files: &[FinishedFile]) -> Map<String, Value> {
    let describe = |file: &FinishedFile| {
        let digest = format!("{:032x}", file.digest);
        (
            file.name.clone(),
            json!({"bytes": file.bytes, "xxh3_128": digest}),
        )
    };
    files.iter().map(describe).collect()
}

/// Compares the files `names` in `directory` with the lengths and digests in `described`.
///
/// # Errors
/// [`ErrorKind::Content`](crate::ErrorKind::Content) naming the first file that differs;
/// [`ErrorKind::Write`](crate::ErrorKind::Write) if one cannot be read;
/// [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
pub fn verify(
    directory: &Path,
    names: &[&str],
    described: &Value,
    progress: &Progress,
) -> Result<()> {
    for name in names {
        let path = directory.join(name);
        let found = digest_checked(&path, || progress.check())?;
        let found = found
            .map(|(bytes, digest)| json!({"bytes": bytes, "xxh3_128": format!("{digest:032x}")}));
        if found.as_ref() != described.get(*name) {
            return Err(damaged(&path));
        }
    }
    Ok(())
}

/// The length and xxh3-128 of a file; `None` if it does not exist.
///
/// # Errors
/// [`ErrorKind::Write`](crate::ErrorKind::Write) if it cannot be read.
pub fn digest(path: &Path) -> Result<Option<(u64, u128)>> {
    digest_checked(path, || Ok(()))
}

/// [`digest`], with a `check` before each block.
///
/// # Errors
/// Errors of [`digest`] and of `check`.
pub fn digest_checked(path: &Path, check: impl Fn() -> Result<()>) -> Result<Option<(u64, u128)>> {
    let failed = |cause| error(path, cause);
    if !fs::exists(path).map_err(failed)? {
        return Ok(None);
    }
    let mut file = read_regular(path).map_err(failed)?;
    let (mut hash, mut bytes) = (Xxh3::new(), 0);
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        check()?;
        let read = file.read(&mut block).map_err(failed)?;
        if read == 0 {
            return Ok(Some((bytes, hash.digest128())));
        }
        hash.update(&block[..read]);
        bytes += read as u64;
    }
}

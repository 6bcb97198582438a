//! Durable operations on directory entries.

use super::faults::{Faults, Operation};
use super::{read_error, write_error};
use crate::Result;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The start of the names of files that [`write()`] has not finished.
pub const TEMPORARY: &str = ".simtool-unfinished-";

/// Removes the files in `path` that an interrupted [`write()`] left.
///
/// # Errors
/// [`ErrorKind::Read`](crate::ErrorKind::Read) if the directory cannot be read,
/// [`ErrorKind::Write`](crate::ErrorKind::Write) if a file cannot be removed.
pub fn remove_temporary(path: &Path, faults: &Faults) -> Result<()> {
    for entry in list(path)? {
        let name = entry.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| name.starts_with(TEMPORARY)) && entry.is_file() {
            remove(&entry, faults)?;
        }
    }
    Ok(())
}

/// Creates the directory `path`, whose parent must exist. No error if it exists already.
///
/// # Errors
/// [`ErrorKind::Write`](crate::ErrorKind::Write) if that fails.
pub fn create(path: &Path, faults: &Faults) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    faults
        .before(Operation::Create, path)
        .and_then(|()| fs::create_dir(path))
        .map_err(|cause| write_error(path, "cannot be created", cause))
}

/// Creates the directory `path` and its missing parents durably, so that a power loss does not
/// remove them and the files published in them.
///
/// # Errors
/// [`ErrorKind::Write`](crate::ErrorKind::Write) if that fails.
pub fn create_all(path: &Path) -> Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    let parent = path.parent().unwrap_or(Path::new("/"));
    create_all(parent)?;
    match fs::create_dir(path) {
        Err(cause) if !path.is_dir() => return Err(write_error(path, "cannot be made", cause)),
        // Another thread may have created it meanwhile.
        _ => {}
    }
    let here = parent.as_os_str().is_empty();
    sync(
        if here { Path::new(".") } else { parent },
        &Faults::default(),
    )
}

/// Whether `path` exists.
///
/// # Errors
/// [`ErrorKind::Read`](crate::ErrorKind::Read) if the system cannot tell.
pub fn exists(path: &Path) -> Result<bool> {
    match path.try_exists() {
        Err(cause) if cause.kind() == std::io::ErrorKind::NotADirectory => Ok(false),
        found => found.map_err(|cause| read_error(path, cause)),
    }
}

/// Makes the entries of directory `path` durable.
///
/// # Errors
/// [`ErrorKind::Write`](crate::ErrorKind::Write) if that fails.
pub fn sync(path: &Path, faults: &Faults) -> Result<()> {
    faults
        .before(Operation::Sync, path)
        .and_then(|()| File::open(path)?.sync_all())
        .map_err(|cause| write_error(path, "may not survive a power loss", cause))
}

/// The files and directories in `path`, by name.
///
/// # Errors
/// [`ErrorKind::Read`](crate::ErrorKind::Read) if it cannot be read.
pub fn list(path: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |cause| read_error(path, cause);
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        entries.push(entry.map_err(unreadable)?.path());
    }
    entries.sort();
    Ok(entries)
}

/// Removes the file `path`. No error if it does not exist.
///
/// # Errors
/// [`ErrorKind::Write`](crate::ErrorKind::Write) if that fails.
pub fn remove(path: &Path, faults: &Faults) -> Result<()> {
    let removed = faults
        .before(Operation::Remove, path)
        .and_then(|()| fs::remove_file(path));
    match removed {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
            Err(write_error(path, "cannot be removed", cause))
        }
        _ => Ok(()),
    }
}

/// Replaces the file `path` by `bytes` atomically and durably.
///
/// # Errors
/// [`ErrorKind::Write`](crate::ErrorKind::Write) if that fails.
pub fn write(path: &Path, bytes: &[u8], faults: &Faults) -> Result<()> {
    use std::io::Write as _;
    let error = |cause| write_error(path, "cannot be written", cause);
    let directory = path.parent().unwrap_or(Path::new("."));
    faults.before(Operation::Create, path).map_err(error)?;
    let mut file = tempfile::Builder::new()
        .prefix(TEMPORARY)
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory)
        .map_err(error)?;
    faults.before(Operation::Write, path).map_err(error)?;
    file.write_all(bytes).map_err(error)?;
    faults.before(Operation::Sync, path).map_err(error)?;
    file.as_file().sync_all().map_err(error)?;
    faults.before(Operation::Rename, path).map_err(error)?;
    file.persist(path).map_err(|refused| error(refused.error))?;
    sync(directory, faults)
}

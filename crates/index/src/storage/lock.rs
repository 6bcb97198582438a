//! Locks that decide which process may change an index.
//!
//! Two files are locked: `lock`, as in every version of simtool, and the database. A user may
//! remove `lock`, which is empty; without the database there is no index to change.
//!
//! Readers share their locks; a process that changes the index locks it exclusively. Locking fails
//! with [`ErrorKind::Read`] if another process has a conflicting lock.

use std::path::Path;

use super::database;
use crate::io::{FileLock, directory};
use crate::{Error, ErrorKind, Result};

/// The empty lock file.
pub const LOCK: &str = "lock";

/// The locks of an open index.
pub struct IndexLock {
    /// None if an index is opened for reading and the file is missing.
    _first: Option<FileLock>,
    /// None until there is a database.
    database: Option<FileLock>,
}

impl IndexLock {
    /// For a process that creates an index in the directory `index`. An existing database is locked
    /// too: another process may be creating it.
    pub fn creating(index: &Path) -> Result<IndexLock> {
        let first = FileLock::exclusive(&index.join(LOCK))?.ok_or_else(|| in_use(index))?;
        let path = index.join(database::NAME);
        let database = match directory::exists(&path)? {
            true => Some(FileLock::existing(&path)?.ok_or_else(|| in_use(index))?),
            false => None,
        };
        Ok(IndexLock {
            _first: Some(first),
            database,
        })
    }

    /// For a process that changes the index `index`.
    ///
    /// # Errors
    /// Errors of [`creating`](Self::creating); [`ErrorKind::Content`] if there is no database.
    pub fn changing(index: &Path) -> Result<IndexLock> {
        let lock = Self::creating(index)?;
        match lock.database {
            Some(_) => Ok(lock),
            None => Err(missing(index)),
        }
    }

    /// For a process that only reads the index `index`; missing files are not locked.
    pub fn reading(index: &Path) -> Result<IndexLock> {
        let shared = |name: &str| -> Result<Option<FileLock>> {
            let path = index.join(name);
            match directory::exists(&path)? {
                true => Ok(Some(FileLock::shared(&path)?.ok_or_else(|| in_use(index))?)),
                false => Ok(None),
            }
        };
        Ok(IndexLock {
            _first: shared(LOCK)?,
            database: shared(database::NAME)?,
        })
    }

    /// Locks the database after its creation.
    pub fn lock_database(&mut self, index: &Path) -> Result<()> {
        let locked = FileLock::existing(&index.join(database::NAME))?;
        self.database = Some(locked.ok_or_else(|| in_use(index))?);
        Ok(())
    }

    /// Fails if the database of the index `index` is not the locked file any more.
    pub fn check(&self, index: &Path) -> Result<()> {
        let path = index.join(database::NAME);
        match &self.database {
            Some(lock) if lock.is_at(&path) => Ok(()),
            _ => {
                let message = "was removed or replaced while it was open (open the index again)";
                Err(Error::new(ErrorKind::Write, message).in_file(path))
            }
        }
    }
}

fn in_use(index: &Path) -> Error {
    let message = "another process has this index open (ask its service, or wait until it ends)";
    Error::new(ErrorKind::Read, message).in_file(index)
}

fn missing(index: &Path) -> Error {
    let message = "is missing (restore it from a copy, or save sealed documents by `rescue`)";
    Error::new(ErrorKind::Content, message).in_file(index.join(database::NAME))
}

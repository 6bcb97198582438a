//! Which process may change an index.
//!
//! Two files are locked: `lock`, as every version of simtool does, and the database. Someone may
//! remove `lock`, which holds nothing; without the database there is no index to be changed.

use std::path::Path;

use super::database;
use crate::io::{FileLock, directory};
use crate::{Error, ErrorKind, Result};

/// The file that holds nothing.
pub const LOCK: &str = "lock";

/// The locks of an open index.
pub struct IndexLock {
    /// None of an index opened for reading that has lost the file.
    _first: Option<FileLock>,
    /// None until there is a database.
    database: Option<FileLock>,
}

impl IndexLock {
    /// For the process that makes an index in the directory `index`. A database that is there is
    /// locked too: it may be another maker's.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if another process has the index open, [`ErrorKind::Write`] if it
    /// cannot be locked.
    pub fn making(index: &Path) -> Result<IndexLock> {
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

    /// For the process that changes the index `index`.
    ///
    /// # Errors
    /// Those of [`making`](Self::making); [`ErrorKind::Content`] if there is no database.
    pub fn changing(index: &Path) -> Result<IndexLock> {
        let lock = Self::making(index)?;
        match lock.database {
            Some(_) => Ok(lock),
            None => Err(missing(index)),
        }
    }

    /// For a process that only reads the index `index`; files that are not there are not locked.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if another process changes it, or if a file cannot be read.
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

    /// Locks the database that was made.
    ///
    /// # Errors
    /// Those of [`changing`](Self::changing).
    pub fn lock_database(&mut self, index: &Path) -> Result<()> {
        let locked = FileLock::existing(&index.join(database::NAME))?;
        self.database = Some(locked.ok_or_else(|| in_use(index))?);
        Ok(())
    }

    /// Fails if the locked database is not the one of the index `index` any more.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
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

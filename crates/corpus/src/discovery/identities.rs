//! The identities of files: which names mean the same file.

use simtool_files::remote;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The identities of the files met so far.
///
/// A symbolic link is resolved for each file that is one, other symbolic links in a path for each
/// directory. So a file costs no system call here.
#[derive(Default)]
pub(super) struct Identities {
    /// The number of each directory, by the path under which it was met.
    directories: HashMap<PathBuf, u32>,
    /// The number of each directory, by its path without symbolic links.
    real_directories: HashMap<PathBuf, u32>,
    /// The number of the first file with each identity.
    files: HashMap<Identity, u32>,
}

/// The identity of a file, equal for all its names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Identity {
    /// The number of its directory, and its name there; for a file with one name.
    Name(u32, OsString),
    /// The device and inode number; for a file with several names or none. On some file systems,
    /// inode numbers of other files are not unique.
    Inode(u64, u64),
    /// The name of standard input or of an object of a server. Names of objects that differ, such as
    /// `a//b` and `a/b`, may be equal as paths.
    Other(OsString),
}

impl Identities {
    /// The identity of the local file `path`, which is a symbolic link if `is_link`; `found` is the
    /// metadata of the file itself.
    ///
    /// # Errors
    /// Errors of resolving symbolic links.
    pub(super) fn of(
        &mut self,
        path: &Path,
        is_link: bool,
        found: &Metadata,
    ) -> io::Result<Identity> {
        let inode = Identity::Inode(found.dev(), found.ino());
        if found.is_file() && found.nlink() > 1 {
            return Ok(inode);
        }
        let named = match is_link {
            false => self.name(path),
            true => fs::canonicalize(path).and_then(|real| self.name(&real)),
        };
        match named {
            Ok(named) => Ok(named.unwrap_or(inode)),
            // An open pipe or a removed file (such as /dev/stdin) has no path.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(inode),
            Err(cause) => Err(cause),
        }
    }

    /// The identity of standard input or of an object of a server.
    pub(super) fn of_name(path: &Path) -> Identity {
        debug_assert!(remote::is_remote(path) || path == Path::new("-"));
        Identity::Other(path.into())
    }

    /// Records that the file with the number `number` has this `identity`. Returns the number of the
    /// earlier file that has it, if any.
    pub(super) fn insert(&mut self, identity: Identity, number: u32) -> Option<u32> {
        match self.files.entry(identity) {
            Entry::Vacant(entry) => {
                entry.insert(number);
                None
            }
            Entry::Occupied(entry) => Some(*entry.get()),
        }
    }

    /// The identity of a file that is no symbolic link; `None` if its path ends in no name.
    fn name(&mut self, path: &Path) -> io::Result<Option<Identity>> {
        let Some(name) = path.file_name() else {
            return Ok(None);
        };
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let directory = self.directory(directory)?;
        Ok(Some(Identity::Name(directory, name.to_owned())))
    }

    fn directory(&mut self, path: &Path) -> io::Result<u32> {
        if let Some(&number) = self.directories.get(path) {
            return Ok(number);
        }
        let real = fs::canonicalize(path)?;
        let next = self.real_directories.len() as u32;
        let number = *self.real_directories.entry(real).or_insert(next);
        self.directories.insert(path.to_owned(), number);
        Ok(number)
    }
}

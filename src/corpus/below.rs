//! Which files of a directory are meant, and what is in it and below.

use super::discover::sort_by_bytes;
use super::reading::FileChoice;
use super::source::unreadable;
use crate::{Error, ErrorKind, Result};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// The compiled patterns of a [`FileChoice`].
#[derive(Default)]
pub(super) struct Choice {
    pub(super) include: Option<GlobSet>,
    exclude: Option<GlobSet>,
    /// The device and the inode of the excepted directory, if there is one.
    pub(super) except: Option<(u64, u64)>,
}

impl Choice {
    pub(super) fn of(choice: &FileChoice) -> Result<Choice> {
        Ok(Choice {
            include: patterns("--include", &choice.include)?,
            exclude: patterns("--exclude", &choice.exclude)?,
            except: choice
                .except_directory
                .as_ref()
                .and_then(|path| fs::metadata(path).ok())
                .map(|found| directory_id(&found)),
        })
    }

    pub(super) fn includes(&self, path: &Path) -> bool {
        self.include.as_ref().is_some_and(|set| set.is_match(path))
    }

    pub(super) fn excludes(&self, path: &Path) -> bool {
        self.exclude.as_ref().is_some_and(|set| set.is_match(path))
    }

    fn is_excepted(&self, entry: &DirEntry) -> bool {
        let found = || Some(directory_id(&entry.metadata().ok()?));
        self.except.is_some() && entry.file_type().is_dir() && found() == self.except
    }

    /// All files in a directory and below, at most `depth` names down, that are not hidden, nor in
    /// the excepted directory.
    pub(super) fn files_below(&self, directory: &Path, depth: usize) -> Result<Below> {
        let walk = WalkDir::new(directory).follow_links(true).max_depth(depth);
        let is_hidden = |name: &OsStr| name.as_bytes().starts_with(b".");
        let mut below = Below::default();
        let is_wanted = |entry: &DirEntry| {
            if self.is_excepted(entry) {
                return false;
            }
            let passed = entry.depth() > 0 && is_hidden(entry.file_name());
            if passed {
                below.hidden.push(entry.path().to_owned());
            }
            !passed
        };
        for entry in walk.into_iter().filter_entry(is_wanted) {
            match entry {
                Ok(entry) if entry.file_type().is_file() => below.files.push(entry.into_path()),
                Ok(_) => {}
                Err(error) => {
                    let path = error.path().unwrap_or(directory).to_owned();
                    let (is_top, circle) = (error.depth() == 0, error.loop_ancestor().is_some());
                    let cause = match error.into_io_error() {
                        Some(cause) if !circle => cause,
                        _ => io::Error::other("a symbolic link leads back to a directory above it"),
                    };
                    if is_top {
                        return Err(unreadable(&path, cause));
                    }
                    if !path.file_name().is_some_and(is_hidden) {
                        below.unreadable.push((path, cause));
                    }
                }
            }
        }
        sort_by_bytes(&mut below.hidden);
        below
            .unreadable
            .sort_by(|(a, _), (b, _)| a.as_os_str().cmp(b.as_os_str()));
        Ok(below)
    }
}

/// What is in a directory and below.
#[derive(Default)]
pub(super) struct Below {
    /// In no order.
    pub(super) files: Vec<PathBuf>,
    pub(super) hidden: Vec<PathBuf>,
    /// Symbolic links and directories, and why they cannot be read.
    pub(super) unreadable: Vec<(PathBuf, io::Error)>,
}

/// What tells a directory from all others, whatever its path.
pub(super) fn directory_id(found: &fs::Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

/// One matcher for all `globs`; those without a slash are compared with the file's name.
fn patterns(flag: &str, globs: &[String]) -> Result<Option<GlobSet>> {
    if globs.is_empty() {
        return Ok(None);
    }
    let wrong = |cause: &globset::Error| {
        let message = format!("{flag}: no pattern: {cause}");
        Error::new(ErrorKind::Parameter, message)
    };
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let anywhere = match glob.contains('/') {
            true => glob.clone(),
            false => format!("**/{glob}"),
        };
        let glob = GlobBuilder::new(&anywhere).literal_separator(true).build();
        set.add(glob.map_err(|cause| wrong(&cause))?);
    }
    set.build().map(Some).map_err(|cause| wrong(&cause))
}

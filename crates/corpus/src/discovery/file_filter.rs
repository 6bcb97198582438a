//! The filter of files, and the listing of a directory.

use super::remote_files::RemoteInput;
use crate::reading::FileChoice;
use crate::{Error, ErrorKind, Result};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use simtool_files::read_error;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{self, AtomicU64};
use walkdir::{DirEntry, WalkDir};

/// The compiled patterns of a [`FileChoice`].
#[derive(Default)]
pub(super) struct FileFilter {
    include: Patterns,
    exclude: Patterns,
    /// The device and inode number of the excepted directory, if any.
    pub(super) except: Option<(u64, u64)>,
    /// The numbers of the names in lists that are read.
    pub(super) take: Option<Range<u64>>,
}

impl FileFilter {
    pub(super) fn of(choice: &FileChoice) -> Result<FileFilter> {
        Ok(FileFilter {
            include: Patterns::of("--include", &choice.include)?,
            exclude: Patterns::of("--exclude", &choice.exclude)?,
            except: choice
                .except_directory
                .as_ref()
                .and_then(|path| fs::metadata(path).ok())
                .map(|found| directory_id(&found)),
            take: choice.take.clone(),
        })
    }

    pub(super) fn includes(&self, path: &Path) -> bool {
        self.include.match_any(path)
    }

    pub(super) fn excludes(&self, path: &Path) -> bool {
        self.exclude.match_any(path)
    }

    /// Whether to read a file that was found in a directory or by a pattern.
    pub(super) fn accepts(&self, path: &Path) -> bool {
        // Both are evaluated, so that every pattern is compared with every file.
        let (included, excluded) = (self.includes(path), self.excludes(path));
        (included || self.include.texts.is_empty()) && !excluded
    }

    /// The patterns that matched no path so far.
    pub(super) fn unmatched(&self) -> FileChoice {
        FileChoice {
            include: self.include.unmatched(),
            exclude: self.exclude.unmatched(),
            except_directory: None,
            take: None,
        }
    }

    fn is_excepted(&self, entry: &DirEntry) -> bool {
        let found = || Some(directory_id(&entry.metadata().ok()?));
        self.except.is_some() && entry.file_type().is_dir() && found() == self.except
    }

    /// The files of a directory, recursively to a depth of `depth` names, without hidden ones and
    /// without the excepted directory. Adds their number to `found`, one by one.
    pub(super) fn list(
        &self,
        directory: &Path,
        depth: usize,
        found: &AtomicU64,
    ) -> Result<Listing> {
        let walk = WalkDir::new(directory).follow_links(true).max_depth(depth);
        let is_hidden = |name: &OsStr| name.as_bytes().starts_with(b".");
        let mut listing = Listing::default();
        let is_wanted = |entry: &DirEntry| {
            if self.is_excepted(entry) {
                return false;
            }
            let is_skipped = entry.depth() > 0 && is_hidden(entry.file_name());
            if is_skipped {
                listing.hidden.push(entry.path().to_owned());
            }
            !is_skipped
        };
        for entry in walk.into_iter().filter_entry(is_wanted) {
            match entry {
                Ok(entry) if entry.file_type().is_file() => {
                    found.fetch_add(1, atomic::Ordering::Relaxed);
                    let is_link = entry.path_is_symlink();
                    listing
                        .files
                        .push(FoundFile::local(entry.into_path(), is_link));
                }
                Ok(entry) if entry.file_type().is_dir() => {}
                Ok(entry) => {
                    let what = "a named pipe, socket or device (name it itself to read it)";
                    let cause = io::Error::new(io::ErrorKind::Unsupported, what);
                    listing.unreadable.push((entry.into_path(), cause));
                }
                Err(error) => {
                    let path = error.path().unwrap_or(directory).to_owned();
                    let (is_top, circle) = (error.depth() == 0, error.loop_ancestor().is_some());
                    let cause = match error.into_io_error() {
                        Some(cause) if !circle => cause,
                        _ => io::Error::other("a symbolic link leads back to a directory above it"),
                    };
                    if is_top {
                        return Err(read_error(&path, cause));
                    }
                    if !path.file_name().is_some_and(is_hidden) {
                        listing.unreadable.push((path, cause));
                    }
                }
            }
        }
        listing.hidden.sort_unstable_by(|a, b| compare_bytes(a, b));
        listing
            .unreadable
            .sort_by(|(a, _), (b, _)| compare_bytes(a, b));
        Ok(listing)
    }
}

/// A file found in a directory or by a listing.
pub(super) struct FoundFile {
    pub(super) path: PathBuf,
    /// Whether it is a symbolic link.
    pub(super) is_link: bool,
    /// Where it is, if it is on a server.
    pub(super) remote: Option<RemoteInput>,
}

impl FoundFile {
    /// A local file.
    pub(super) fn local(path: PathBuf, is_link: bool) -> FoundFile {
        FoundFile {
            path,
            is_link,
            remote: None,
        }
    }

    /// An object.
    pub(super) fn remote(input: RemoteInput) -> FoundFile {
        FoundFile {
            path: input.path(),
            is_link: false,
            remote: Some(input),
        }
    }
}

/// The contents of a directory, recursively.
#[derive(Default)]
pub(super) struct Listing {
    /// Unordered.
    pub(super) files: Vec<FoundFile>,
    pub(super) hidden: Vec<PathBuf>,
    /// Symbolic links and directories that cannot be read, and what is neither a file nor a
    /// directory, with the errors.
    pub(super) unreadable: Vec<(PathBuf, io::Error)>,
}

/// The order of paths by their bytes.
pub(super) fn compare_bytes(a: &Path, b: &Path) -> Ordering {
    a.as_os_str().as_bytes().cmp(b.as_os_str().as_bytes())
}

/// The identity of a directory, independent of its path.
pub(super) fn directory_id(found: &fs::Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

/// A set of patterns, and the numbers of those that matched so far.
#[derive(Default)]
struct Patterns {
    texts: Vec<String>,
    globs: GlobSet,
    matched: RefCell<BTreeSet<usize>>,
}

impl Patterns {
    fn of(flag: &str, texts: &[String]) -> Result<Patterns> {
        let wrong = |cause: &globset::Error| {
            let message = format!("{flag}: not a pattern: {cause}");
            Error::new(ErrorKind::Parameter, message)
        };
        let mut globs = GlobSetBuilder::new();
        for text in texts {
            let glob = GlobBuilder::new(&glob(text))
                .literal_separator(true)
                .build();
            globs.add(glob.map_err(|cause| wrong(&cause))?);
        }
        Ok(Patterns {
            texts: texts.to_vec(),
            globs: globs.build().map_err(|cause| wrong(&cause))?,
            matched: RefCell::default(),
        })
    }

    fn match_any(&self, path: &Path) -> bool {
        let found = self.globs.matches(path.strip_prefix(".").unwrap_or(path));
        let is_match = !found.is_empty();
        self.matched.borrow_mut().extend(found);
        is_match
    }

    fn unmatched(&self) -> Vec<String> {
        let matched = self.matched.borrow();
        let texts = self.texts.iter().enumerate();
        let unmatched = texts.filter(|(number, _)| !matched.contains(number));
        unmatched.map(|(_, text)| text.clone()).collect()
    }
}

/// The glob of a pattern. A pattern without a slash matches file names; one that ends in a slash
/// matches all files below the directories that it names.
fn glob(text: &str) -> String {
    let bare = text.strip_prefix("./").unwrap_or(text);
    let name = bare.trim_end_matches('/');
    let anywhere = if bare.len() == text.len() && !name.contains('/') {
        "**/"
    } else {
        ""
    };
    let below = if name.len() < bare.len() { "/**" } else { "" };
    format!("{anywhere}{name}{below}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names_paths_or_directories() {
        let own = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        let filter = FileFilter::of(&FileChoice {
            include: own(&["*.jsonl", "./d/*.gz", "./x.txt", "d", "*.json"]),
            exclude: own(&["old/", "./d/older/", "./old", "d/none/"]),
            except_directory: None,
            take: None,
        })
        .unwrap();
        let accepted = |path: &str| filter.accepts(Path::new(path));
        for path in ["a.jsonl", "./d/e/a.jsonl", "d/a.gz", "./d/a.gz", "x.txt"] {
            assert!(accepted(path), "{path}");
        }
        for path in ["e/a.gz", "d/x.txt", "old/a.jsonl", "d/old/e/a.jsonl"] {
            assert!(!accepted(path), "{path}");
        }
        assert!(!accepted("d/older/a.jsonl") && accepted("e/d/older/a.jsonl"));
        let unmatched = filter.unmatched();
        assert_eq!(unmatched.include, ["d", "*.json"]);
        assert_eq!(unmatched.exclude, ["./old", "d/none/"]);
    }
}

//! The files that runs wrote to an output directory, distinguished from files of the user.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::errors::error;
use super::file;
use crate::io::InputFiles;
use crate::{Error, ErrorKind, Result};

/// All versions of all recorded outputs, by name relative to the output directory.
#[derive(Clone, Debug, Default)]
pub struct RecordedFiles(BTreeMap<PathBuf, Vec<FileMark>>);

/// Properties that identify a version of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileMark {
    /// Its length.
    pub bytes: u64,
    /// The xxh3-128 of its bytes.
    pub digest: u128,
    /// The identity in the file system; `None` if only the contents are known.
    pub stamp: Option<Stamp>,
}

/// The identity of a file in the file system, which a copy does not share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The inode number.
    pub inode: u64,
    /// The modification time: seconds and nanoseconds.
    pub modified: (i64, i64),
}

impl Stamp {
    /// The stamp of a file.
    pub fn of(found: &Metadata) -> Stamp {
        Stamp {
            inode: found.ino(),
            modified: (found.mtime(), found.mtime_nsec()),
        }
    }
}

impl FileMark {
    fn is_of(&self, found: &Metadata) -> bool {
        self.bytes == found.len() && self.stamp == Some(Stamp::of(found))
    }
}

impl RecordedFiles {
    /// Adds a version of the output `name`, as its latest one.
    pub fn add(&mut self, name: &Path, mark: FileMark) {
        self.0.entry(name.to_owned()).or_default().push(mark);
    }

    /// Adds all versions of `other` as later ones.
    pub fn extend(&mut self, other: RecordedFiles) {
        for (name, marks) in other.0 {
            self.0.entry(name).or_default().extend(marks);
        }
    }

    /// The versions of one output alone.
    pub fn only(&self, name: &Path) -> RecordedFiles {
        let marks = self.0.get(name).cloned();
        RecordedFiles(
            marks
                .map(|marks| (name.to_owned(), marks))
                .into_iter()
                .collect(),
        )
    }

    /// The latest version of each output.
    pub fn latest(&self) -> impl Iterator<Item = (&Path, FileMark)> {
        let all = self.0.iter();
        all.filter_map(|(name, marks)| Some((name.as_path(), *marks.last()?)))
    }

    /// Whether the file `name` in `out` is the latest version itself rather than a copy.
    pub fn is_latest(&self, out: &Path, name: &Path) -> bool {
        let mark = self.0.get(name).and_then(|marks| marks.last());
        let found = fs::symlink_metadata(out.join(name)).ok();
        mark.zip(found)
            .is_some_and(|(mark, found)| mark.is_of(&found))
    }

    /// Whether a run wrote the file `name` in `out`, or one with the same bytes; `None` if it does
    /// not exist.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if it cannot be read.
    pub fn is_own(&self, out: &Path, name: &Path) -> Result<Option<bool>> {
        let path = out.join(name);
        let Ok(found) = fs::symlink_metadata(&path) else {
            return Ok(None);
        };
        let marks = self.0.get(name).map_or(&[][..], Vec::as_slice);
        if !found.is_file() || marks.is_empty() {
            return Ok(Some(false));
        }
        if marks.iter().any(|mark| mark.is_of(&found)) {
            return Ok(Some(true));
        }
        if marks.iter().all(|mark| mark.bytes != found.len()) {
            return Ok(Some(false));
        }
        let digest = file::digest(&path)?;
        let is_same = |mark: &FileMark| digest == Some((mark.bytes, mark.digest));
        Ok(Some(marks.iter().any(is_same)))
    }

    /// Fails if one of the files `names` in `out` was not written by a run; otherwise returns the
    /// names of those that exist.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] naming the first such file, or one that cannot be read.
    pub fn refuse_others(&self, out: &Path, names: &[PathBuf]) -> Result<BTreeSet<PathBuf>> {
        let mut own = BTreeSet::new();
        for name in names {
            match self.is_own(out, name)? {
                None => {}
                Some(true) => drop(own.insert(name.clone())),
                Some(false) => {
                    let message = match self.0.contains_key(name) {
                        true => {
                            "was changed since simtool wrote it (move it away or remove it, and \
                             give the command again)"
                        }
                        false => {
                            "is there already, and no run of simtool recorded it as its own (move \
                             it away, or choose another -o)"
                        }
                    };
                    return Err(Error::new(ErrorKind::Write, message).in_file(out.join(name)));
                }
            }
        }
        Ok(own)
    }

    /// Refuses to remove an output in `out` that the command `reads`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] naming the first such output.
    pub fn refuse_read(&self, out: &Path, reads: &InputFiles) -> Result<()> {
        let mut paths = self.0.keys().map(|name| out.join(name));
        paths.try_for_each(|path| refuse_read(&path, reads))
    }

    /// Adds the present version of the file `name` in `out`.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if it cannot be read.
    pub fn add_found(&mut self, out: &Path, name: &Path) -> Result<()> {
        if let Some((bytes, digest)) = file::digest(&out.join(name))? {
            let stamp = None;
            self.add(
                name,
                FileMark {
                    bytes,
                    digest,
                    stamp,
                },
            );
        }
        Ok(())
    }

    /// Makes the names of the outputs in `out` durable: the process that wrote them may have been
    /// killed before it did so.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn sync(&self, out: &Path) -> Result<()> {
        let present = self.0.keys().filter(|name| self.is_latest(out, name));
        let directories: BTreeSet<_> = present.filter_map(|name| name.parent()).collect();
        for directory in directories {
            let path = out.join(directory);
            let synced = fs::File::open(&path).and_then(|directory| directory.sync_all());
            synced.map_err(|cause| error(&path, cause))?;
        }
        Ok(())
    }
}

/// Refuses to remove the file at `path` if the command `reads` it.
///
/// # Errors
/// [`ErrorKind::Parameter`].
pub fn refuse_read(path: &Path, reads: &InputFiles) -> Result<()> {
    let Some(input) = reads.input_at(path) else {
        return Ok(());
    };
    let as_input = match input == path {
        true => String::new(),
        false => format!(" as {}", input.display()),
    };
    let message = format!(
        "is read by this command{as_input}, which would remove it: an earlier run with this -o \
         made it (choose another -o, or move what the command reads to another directory)"
    );
    Err(Error::new(ErrorKind::Parameter, message).in_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_128;

    #[test]
    fn files_are_recognised_by_stamp_or_by_bytes() {
        let out = tempfile::tempdir().unwrap();
        let (name, path) = (Path::new("a"), out.path().join("a"));
        let mut recorded = RecordedFiles::default();
        let is_own = |recorded: &RecordedFiles| recorded.is_own(out.path(), name).unwrap();
        assert_eq!(is_own(&recorded), None);
        fs::write(&path, "one").unwrap();
        assert_eq!(is_own(&recorded), Some(false));
        recorded.add(
            name,
            FileMark {
                bytes: 3,
                digest: xxh3_128(b"one"),
                stamp: Some(Stamp::of(&fs::metadata(&path).unwrap())),
            },
        );
        assert!(is_own(&recorded) == Some(true) && recorded.is_latest(out.path(), name));
        // A copy.
        fs::remove_file(&path).unwrap();
        fs::write(&path, "one").unwrap();
        assert!(is_own(&recorded) == Some(true));
        for other in ["two", "longer", ""] {
            fs::write(&path, other).unwrap();
            assert!(is_own(&recorded) == Some(false) && !recorded.is_latest(out.path(), name));
            let refused = recorded
                .refuse_others(out.path(), &[name.to_owned()])
                .unwrap_err();
            assert!(refused.to_string().contains("was changed"), "{refused}");
        }
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("b", &path).unwrap();
        fs::write(out.path().join("b"), "one").unwrap();
        assert_eq!(is_own(&recorded), Some(false));
    }
}

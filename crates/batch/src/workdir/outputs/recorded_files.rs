//! The files that runs wrote to an output directory, distinguished from files of the user.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use simtool_objects::{RemoteDirectory, Stored};

use super::place::{self, Place, Remote};
use crate::workdir::files::errors::error;
use crate::workdir::files::file;
use crate::{Error, ErrorKind, Result};
use simtool_files::InputFiles;

/// All versions of all recorded outputs, by name relative to the output directory.
#[derive(Clone, Debug, Default)]
pub struct RecordedFiles(BTreeMap<PathBuf, Vec<FileMark>>);

/// Properties that identify a version of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMark {
    /// Its length.
    pub bytes: u64,
    /// The xxh3-128 of its bytes.
    pub digest: u128,
    /// The identity where it is; `None` if only the contents are known.
    pub stamp: Option<OutputStamp>,
}

/// The identity of an output where it is, which a copy does not share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputStamp {
    /// A file of a file system.
    File {
        /// The inode number.
        inode: u64,
        /// The modification time: seconds and nanoseconds.
        modified: (i64, i64),
    },
    /// An object of a store.
    Object {
        /// Its entity tag, if the store has told one.
        etag: Option<String>,
    },
}

impl OutputStamp {
    /// The stamp of a file.
    pub fn of(found: &Metadata) -> OutputStamp {
        OutputStamp::File {
            inode: found.ino(),
            modified: (found.mtime(), found.mtime_nsec()),
        }
    }
}

impl FileMark {
    fn is_of(&self, found: &Metadata) -> bool {
        self.bytes == found.len() && self.stamp == Some(OutputStamp::of(found))
    }

    fn is_of_object(&self, found: &Stored) -> bool {
        let is_same = |stamp: &OutputStamp| match stamp {
            OutputStamp::Object { etag } => etag.is_some() && *etag == found.etag,
            OutputStamp::File { .. } => false,
        };
        self.bytes == found.bytes && self.stamp.as_ref().is_some_and(is_same)
    }

    /// Whether it is of the same bytes.
    pub fn has_bytes_of(&self, other: &FileMark) -> bool {
        (self.bytes, self.digest) == (other.bytes, other.digest)
    }

    /// Whether it is of an object of a store.
    pub fn is_object(&self) -> bool {
        matches!(self.stamp, Some(OutputStamp::Object { .. }))
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

    /// The latest version of one output.
    pub fn latest_of(&self, name: &Path) -> Option<&FileMark> {
        self.0.get(name)?.last()
    }

    /// The latest version of each output.
    pub fn latest(&self) -> impl Iterator<Item = (&Path, &FileMark)> {
        let all = self.0.iter();
        all.filter_map(|(name, marks)| Some((name.as_path(), marks.last()?)))
    }

    /// The names of all outputs.
    pub fn names(&self) -> impl Iterator<Item = &Path> {
        self.0.keys().map(PathBuf::as_path)
    }

    /// Whether the object `found` is the latest version of the output `name`.
    pub fn is_latest_object(&self, name: &Path, found: Option<&Stored>) -> bool {
        self.latest_of(name)
            .zip(found)
            .is_some_and(|(mark, found)| mark.is_of_object(found))
    }

    /// The version of the output `name` that the object `found` in `directory` is; `None` if no run
    /// wrote it.
    ///
    /// # Errors
    /// Errors of reading it, if its entity tag is unknown.
    pub fn version(
        &self,
        directory: &dyn RemoteDirectory,
        name: &Path,
        found: &Stored,
    ) -> Result<Option<&FileMark>> {
        let marks = self.0.get(name).map_or(&[][..], Vec::as_slice);
        if let Some(mark) = marks.iter().find(|mark| mark.is_of_object(found)) {
            return Ok(Some(mark));
        }
        if marks.iter().all(|mark| mark.bytes != found.bytes) {
            return Ok(None);
        }
        let digest = place::digest(directory, name)?;
        let is_same = |mark: &&FileMark| digest == Some((mark.bytes, mark.digest));
        Ok(marks.iter().find(is_same))
    }

    /// Whether the file `name` in `out` is the latest version itself rather than a copy.
    pub fn is_latest(&self, out: &Path, name: &Path) -> bool {
        let found = fs::symlink_metadata(out.join(name)).ok();
        self.latest_of(name)
            .zip(found)
            .is_some_and(|(mark, found)| mark.is_of(&found))
    }

    /// Whether a run wrote the output `name`, or one with the same bytes; `None` if there is none,
    /// neither under way nor where it belongs.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if it cannot be read.
    pub fn is_own(&self, place: &Place, name: &Path) -> Result<Option<bool>> {
        let local = self.is_own_file(&place.out, name)?;
        let object = match &place.remote {
            Some(Remote { directory, objects }) => match objects.get(name) {
                Some(found) => Some(self.version(&**directory, name, found)?.is_some()),
                None => None,
            },
            None => None,
        };
        Ok(match (local, object) {
            (Some(local), Some(object)) => Some(local && object),
            (local, object) => local.or(object),
        })
    }

    /// Whether a run wrote the file `name` in `out`, or one with the same bytes; `None` if it does
    /// not exist.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if it cannot be read.
    pub fn is_own_file(&self, out: &Path, name: &Path) -> Result<Option<bool>> {
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

    /// Fails if one of the outputs `names` was not written by a run; otherwise returns the names of
    /// those that exist.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] naming the first such file, or one that cannot be read.
    pub fn refuse_others(&self, place: &Place, names: &[PathBuf]) -> Result<BTreeSet<PathBuf>> {
        let mut own = BTreeSet::new();
        for name in names {
            match self.is_own(place, name)? {
                None => {}
                Some(true) => drop(own.insert(name.clone())),
                Some(false) => {
                    let message = match self.0.contains_key(name) {
                        false if place.remote.is_some() => {
                            "is there already, and the local directory of this command does not \
                             record it as its own (move it away or choose another -o; if an \
                             unfinished run wrote it, give its command again on its host, with the \
                             same --temp-dir)"
                        }
                        true => return Err(was_changed(&place.shown(name))),
                        false => {
                            "is there already, and no run of simtool recorded it as its own (move \
                             it away, or choose another -o)"
                        }
                    };
                    return Err(Error::new(ErrorKind::Write, message).in_file(place.shown(name)));
                }
            }
        }
        Ok(own)
    }

    /// Refuses to remove an output that the command `reads`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] naming the first such output.
    pub fn refuse_read(&self, place: &Place, reads: &InputFiles) -> Result<()> {
        let mut paths = self.0.keys().map(|name| place.shown(name));
        paths.try_for_each(|path| refuse_read(&path, reads))
    }

    /// Adds the present version of the output `name`.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if it cannot be read.
    pub fn add_found(&mut self, place: &Place, name: &Path) -> Result<()> {
        if let Some((bytes, digest)) = place.digest(name)? {
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

/// The error for an output that is not as it was recorded.
pub fn was_changed(path: &Path) -> Error {
    let message = "was changed since simtool wrote it (move it away or remove it, and give the \
                   command again)";
    Error::new(ErrorKind::Write, message).in_file(path)
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

    /// Promise (Deduplication): A file with the name of an …
    #[test]
    fn files_are_recognised_by_stamp_or_by_bytes() {
        let out = tempfile::tempdir().unwrap();
        let (name, path) = (Path::new("a"), out.path().join("a"));
        let mut recorded = RecordedFiles::default();
        let place = Place::new(out.path(), None);
        let is_own = |recorded: &RecordedFiles| recorded.is_own(&place, name).unwrap();
        assert_eq!(is_own(&recorded), None);
        fs::write(&path, "one").unwrap();
        assert_eq!(is_own(&recorded), Some(false));
        recorded.add(
            name,
            FileMark {
                bytes: 3,
                digest: xxh3_128(b"one"),
                stamp: Some(OutputStamp::of(&fs::metadata(&path).unwrap())),
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
                .refuse_others(&place, &[name.to_owned()])
                .unwrap_err();
            assert!(refused.to_string().contains("was changed"), "{refused}");
        }
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("b", &path).unwrap();
        fs::write(out.path().join("b"), "one").unwrap();
        assert_eq!(is_own(&recorded), Some(false));
    }
}

//! The directory of a job: what a task leaves for the tasks of later stages.
//!
//! A task writes one file, whose name says its stage and its number. A file with this name is
//! complete. It has *streams*, each of which has a number of *parts*: a later task reads one part of
//! a stream from the files of all tasks, or everything from the file with its own number.

mod inbox;
mod outbox;
mod work_file;

pub use inbox::{Inbox, TaskFile};
pub use outbox::{Outbox, Stream};

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use simtool_core::{Error, ErrorKind, Result};
use simtool_files::remote::{self, Client, is_remote};
use simtool_files::{InputFile, SequentialReader, read_error};
use simtool_objects::RemoteDirectory;

pub use work_file::WorkFile;

/// The directory of a job, which all tasks can read and write: on a disk that they share, or in an
/// object store.
#[derive(Clone)]
pub struct Work {
    directory: PathBuf,
    remote: Option<(Client, Arc<dyn RemoteDirectory>)>,
}

/// What a task found, for the driver: numbers, of which those of one name are added up, and a few
/// bytes.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
pub struct Facts {
    /// Counts by name.
    pub counts: std::collections::BTreeMap<String, u64>,
    /// Bytes that later tasks need, in the order of the tasks.
    pub samples: Vec<Vec<u8>>,
    /// Tasks whose file was there already.
    #[serde(default)]
    pub found: u64,
}

impl Facts {
    /// Adds to a count.
    pub fn add(&mut self, name: &str, count: u64) {
        *self.counts.entry(name.to_owned()).or_default() += count;
    }

    /// A count; 0 if there is none.
    pub fn count(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or_default()
    }

    /// Adds those of another task.
    pub fn merge(&mut self, other: Facts) {
        for (name, count) in other.counts {
            self.add(&name, count);
        }
        self.samples.extend(other.samples);
        self.found += other.found;
    }
}

impl Work {
    /// A directory, which is made when the first file is written.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for an object store that the environment has no access to.
    pub fn open(directory: &Path) -> Result<Work> {
        let remote = match is_remote(directory) {
            true => {
                let client = Client::new();
                let opened = client.open_directory(directory)?;
                Some((client, opened))
            }
            false => None,
        };
        Ok(Work {
            directory: directory.to_owned(),
            remote,
        })
    }

    /// Takes the directory for jobs: it has been taken before, or is empty.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if it has files of others; errors of reading and writing.
    pub fn claim(&self) -> Result<()> {
        if self.find(MARK)?.is_some() {
            return Ok(());
        }
        let is_empty = match &self.remote {
            None => match std::fs::read_dir(&self.directory) {
                Ok(mut entries) => entries.next().is_none(),
                Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => true,
                Err(cause) => return Err(read_error(&self.directory, cause)),
            },
            Some((_, directory)) => directory.list(&|_| true)?.is_empty(),
        };
        if !is_empty {
            let message = "has files that no job wrote: choose an empty directory, or a new one";
            return Err(Error::new(ErrorKind::Parameter, message).in_file(&self.directory));
        }
        self.write(MARK, env!("CARGO_PKG_VERSION").as_bytes())
    }

    /// Whether it is in an object store.
    pub fn is_remote(&self) -> bool {
        self.remote.is_some()
    }

    /// The path of a file or directory in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Starts a file, which has its name when it is complete.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn create(&self, name: &str) -> Result<WorkFile> {
        let directory = self.remote.as_ref().map(|(_, directory)| directory);
        WorkFile::create(self.path(name), name, directory)
    }

    /// Writes a file, which replaces one of this name when it is complete.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let mut file = self.create(name)?;
        file.write_all(bytes)?;
        file.publish()
    }

    /// Opens a file; `None` if it is not there.
    ///
    /// # Errors
    /// Errors of reading.
    fn find(&self, name: &str) -> Result<Option<InputFile>> {
        let path = self.path(name);
        match &self.remote {
            None => match std::fs::File::open(&path) {
                Ok(file) => Ok(Some(file.into())),
                Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(None),
                Err(cause) => Err(read_error(&path, cause)),
            },
            Some((client, directory)) => match directory.head(Path::new(name))? {
                Some(_) => remote::open(client, &path).map(Some),
                None => Ok(None),
            },
        }
    }

    /// The contents of a file; `None` if it is not there.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let Some(file) = self.find(name)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        SequentialReader::new(file.reader())
            .read_to_end(&mut bytes)
            .map_err(|cause| read_error(&self.path(name), cause))?;
        Ok(Some(bytes))
    }
}

/// The file of a directory that is used for jobs.
pub const MARK: &str = "simtool-work";
/// The file of a finished stage, in its directory.
const DONE: &str = "done.json";

impl Work {
    /// Records that a stage is finished, with what its tasks found.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn finish(&self, stage: &str, facts: &Facts) -> Result<()> {
        let text = serde_json::to_vec(facts);
        let text = text.map_err(|cause| Error::new(ErrorKind::Content, cause.to_string()))?;
        self.write(&format!("{stage}/{DONE}"), &text)
    }

    /// What the tasks of a stage found; `None` if it is not finished.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn found(&self, stage: &str) -> Result<Option<Facts>> {
        let name = format!("{stage}/{DONE}");
        let text = self.read(&name)?;
        text.map(|text| serde_json::from_slice(&text).map_err(|_| damaged(&self.path(&name))))
            .transpose()
    }

    /// What the tasks of a finished stage found.
    ///
    /// # Errors
    /// Errors of reading, also if it is not finished.
    pub fn facts(&self, stage: &str) -> Result<Facts> {
        self.found(stage)?.ok_or_else(|| {
            let message = "is not finished: did another process remove its files?";
            Error::new(ErrorKind::Content, message).in_file(self.path(stage))
        })
    }
}

/// The name of the file of a task.
fn of_task(stage: &str, task: usize) -> String {
    format!("{stage}/{task:06}")
}

/// A file of a task that is not as it was written.
pub fn damaged(path: &Path) -> Error {
    let message = "is damaged: remove it, and give the same call again";
    Error::new(ErrorKind::Content, message).in_file(path)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::FileExt;

    use proptest::prelude::*;

    use super::*;

    const RECORDS: Stream = Stream(0);
    const MESSAGES: Stream = Stream(1);
    const LOCAL: Stream = Stream(2);

    proptest! {
        /// Parts, order and places, also of files that are written in several groups.
        #[test]
        fn what_a_task_writes_is_read(
            records in prop::collection::vec((0usize..4, any::<u64>()), 0..50),
            messages in prop::collection::vec((0usize..4, 0usize..3_000_000), 0..12),
        ) {
            let directory = tempfile::tempdir().unwrap();
            let work = Work::open(directory.path()).unwrap();
            let mut out = Outbox::create(&work, "stage", 0, &[4, 4, 1]).unwrap();
            let mut places = Vec::new();
            for (part, length) in &messages {
                out.message(MESSAGES, *part, &[&[1; 3], &vec![*part as u8; *length]]).unwrap();
                places.push((out.end_of(LOCAL), length % 1000));
                out.push(LOCAL, 0, &vec![*length as u8; length % 1000]).unwrap();
            }
            for (part, record) in &records {
                out.record(RECORDS, *part, record).unwrap();
            }
            out.facts.add("count", 3);
            out.finish().unwrap();
            let file = TaskFile::open(&work, "stage", 0).unwrap();
            prop_assert_eq!(file.facts().count("count"), 3);
            for part in 0..4 {
                let own = records.iter().filter(|(of, _)| *of == part).map(|(_, record)| *record);
                let inbox = Inbox::new(&work, "stage", 1);
                prop_assert_eq!(inbox.all::<u64>(RECORDS, part).unwrap(), own.collect::<Vec<_>>());
                let own = messages.iter().filter(|(of, _)| *of == part);
                let mut expected = own.map(|(_, length)| length + 3);
                file.messages(MESSAGES, part, |message| {
                    assert_eq!(Some(message.len()), expected.next());
                    assert!(message[3..].iter().all(|byte| *byte == part as u8));
                    Ok(())
                })
                .unwrap();
                prop_assert_eq!(expected.next(), None);
            }
            for ((_, length), (offset, size)) in messages.iter().zip(places) {
                let mut bytes = vec![0; size];
                file.bytes_at(LOCAL, offset, &mut bytes).unwrap();
                prop_assert!(bytes.iter().all(|byte| *byte == *length as u8));
            }
        }

        // Promise (On a cluster): One changed byte in a file that a task left for others is an error
        /// One changed byte is an error, whichever it is.
        #[test]
        fn damage_is_noticed(place in 0usize..400, records in 1usize..20) {
            let directory = tempfile::tempdir().unwrap();
            let work = Work::open(directory.path()).unwrap();
            let mut out = Outbox::create(&work, "stage", 0, &[2]).unwrap();
            for record in 0..records as u64 {
                out.record(RECORDS, record as usize % 2, &record).unwrap();
            }
            out.finish().unwrap();
            let path = work.path(&of_task("stage", 0));
            let mut bytes = std::fs::read(&path).unwrap();
            let at = place % bytes.len();
            bytes[at] ^= 0x20;
            std::fs::File::options().write(true).open(&path).unwrap().write_all_at(&bytes, 0).unwrap();
            let read = || -> Result<()> {
                let file = TaskFile::open(&work, "stage", 0)?;
                (0..2).try_for_each(|part| file.records(RECORDS, part, |_: u64| Ok(())))
            };
            let error = read().unwrap_err();
            prop_assert!(error.to_string().contains("is damaged"), "{}", error);
        }
    }
}

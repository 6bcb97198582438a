//! Reads the files of the tasks of a stage.

use std::path::{Path, PathBuf};

use bytemuck::Pod;
use simtool_core::{Error, ErrorKind, Result};
use simtool_files::{InputFile, read_error};
use xxhash_rust::xxh3::xxh3_64;

use super::outbox::{Entry, Footer, Group};
use super::{Facts, Stream, Work, damaged, of_task};

/// The file of a task.
pub struct TaskFile {
    path: PathBuf,
    file: InputFile,
    footer: Footer,
}

/// The files of all tasks of a stage.
pub struct Inbox<'w> {
    work: &'w Work,
    stage: &'w str,
    tasks: usize,
}

impl TaskFile {
    /// Opens the file of a task; `None` if it is not there.
    ///
    /// # Errors
    /// Errors of reading, also for a damaged file.
    pub fn find(work: &Work, stage: &str, task: usize) -> Result<Option<TaskFile>> {
        let name = of_task(stage, task);
        let file = work.find(&name)?;
        file.map(|file| TaskFile::read(work.path(&name), file))
            .transpose()
    }

    /// Opens the file of a task.
    ///
    /// # Errors
    /// Errors of reading, also for a missing or damaged file.
    pub fn open(work: &Work, stage: &str, task: usize) -> Result<TaskFile> {
        TaskFile::find(work, stage, task)?.ok_or_else(|| {
            let message = "is missing: did another process remove it?";
            Error::new(ErrorKind::Read, message).in_file(work.path(&of_task(stage, task)))
        })
    }

    fn read(path: PathBuf, file: InputFile) -> Result<TaskFile> {
        let size = file.bytes().map_err(|cause| read_error(&path, cause))?;
        let mut tail = [0u64; 2];
        let at = size.checked_sub(size_of_val(&tail) as u64);
        let at = at.ok_or_else(|| damaged(&path))?;
        read_at(&path, &file, bytemuck::bytes_of_mut(&mut tail), at)?;
        let [length, digest] = tail;
        let start = at.checked_sub(length).ok_or_else(|| damaged(&path))?;
        let mut text = vec![0; length as usize];
        read_at(&path, &file, &mut text, start)?;
        if xxh3_64(&text) != digest {
            return Err(damaged(&path));
        }
        let footer = serde_json::from_slice(&text).map_err(|_| damaged(&path))?;
        Ok(TaskFile { path, file, footer })
    }

    /// What the task found.
    pub fn facts(&self) -> &Facts {
        &self.footer.facts
    }

    /// Passes the bytes of a part on, in pieces of whole records and messages.
    ///
    /// # Errors
    /// Errors of reading, also for damaged bytes, and those of `visit`.
    pub fn each(
        &self,
        stream: Stream,
        part: usize,
        mut visit: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut bytes = Vec::new();
        for group in self.groups(stream) {
            let first = part.saturating_sub(1);
            let mut entries: [Entry; 2] = [[0; 2]; 2];
            let found = &mut entries[usize::from(part == 0)..];
            let at = group.start + group.bytes + (first * size_of::<Entry>()) as u64;
            self.read_at(bytemuck::cast_slice_mut(found), at)?;
            let [[start, _], [end, digest]] = entries;
            let is_inside = start <= end && end <= group.bytes;
            if part >= group.parts || !is_inside {
                return Err(damaged(&self.path));
            }
            bytes.resize((end - start) as usize, 0);
            self.read_at(&mut bytes, group.start + start)?;
            if xxh3_64(&bytes) != digest {
                return Err(damaged(&self.path));
            }
            if !bytes.is_empty() {
                visit(&bytes)?;
            }
        }
        Ok(())
    }

    /// Passes the records of a part on, in the order in which they were written.
    ///
    /// # Errors
    /// As [`each`](Self::each).
    pub fn records<R: Pod>(
        &self,
        stream: Stream,
        part: usize,
        mut visit: impl FnMut(R) -> Result<()>,
    ) -> Result<()> {
        self.each(stream, part, |bytes| {
            let records = bytes.chunks_exact(size_of::<R>());
            match records.remainder() {
                [] => {
                    let mut records = records.map(bytemuck::pod_read_unaligned);
                    records.try_for_each(&mut visit)
                }
                _ => Err(damaged(&self.path)),
            }
        })
    }

    /// Passes the messages of a part on, in the order in which they were written.
    ///
    /// # Errors
    /// As [`each`](Self::each).
    pub fn messages(
        &self,
        stream: Stream,
        part: usize,
        mut visit: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        self.each(stream, part, |mut bytes| {
            while let Some((length, rest)) = bytes.split_first_chunk() {
                let length = u32::from_le_bytes(*length) as usize;
                let (message, rest) = rest
                    .split_at_checked(length)
                    .ok_or_else(|| damaged(&self.path))?;
                visit(message)?;
                bytes = rest;
            }
            match bytes {
                [] => Ok(()),
                _ => Err(damaged(&self.path)),
            }
        })
    }

    /// Reads bytes of a stream with one part, from an offset on that was its
    /// [end](super::Outbox::end_of) once. The caller recognises damaged bytes.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn bytes_at(&self, stream: Stream, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let mut before = 0;
        for group in self.groups(stream) {
            let end = before + group.bytes;
            if offset >= before && offset + bytes.len() as u64 <= end {
                return self.read_at(bytes, group.start + (offset - before));
            }
            before = end;
        }
        Err(damaged(&self.path))
    }

    /// The path, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn groups(&self, stream: Stream) -> impl Iterator<Item = &Group> {
        let groups = self.footer.groups.iter();
        groups.filter(move |group| group.stream == stream.0)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        read_at(&self.path, &self.file, bytes, offset)
    }
}

impl<'w> Inbox<'w> {
    /// The files of the tasks of a stage.
    pub fn new(work: &'w Work, stage: &'w str, tasks: usize) -> Inbox<'w> {
        Inbox { work, stage, tasks }
    }

    /// The file of a task.
    ///
    /// # Errors
    /// As [`TaskFile::open`].
    pub fn file(&self, task: usize) -> Result<TaskFile> {
        TaskFile::open(self.work, self.stage, task)
    }

    /// Passes the records of a part on, those of one task after those of another.
    ///
    /// # Errors
    /// As [`TaskFile::records`].
    pub fn records<R: Pod>(
        &self,
        stream: Stream,
        part: usize,
        mut visit: impl FnMut(R) -> Result<()>,
    ) -> Result<()> {
        (0..self.tasks).try_for_each(|task| self.file(task)?.records(stream, part, &mut visit))
    }

    /// All records of a part.
    ///
    /// # Errors
    /// As [`TaskFile::records`].
    pub fn all<R: Pod>(&self, stream: Stream, part: usize) -> Result<Vec<R>> {
        let mut all = Vec::new();
        self.records(stream, part, |record| {
            all.push(record);
            Ok(())
        })?;
        Ok(all)
    }

    /// Passes the messages of a part on, with the number of their task.
    ///
    /// # Errors
    /// As [`TaskFile::messages`].
    pub fn messages(
        &self,
        stream: Stream,
        part: usize,
        mut visit: impl FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        (0..self.tasks).try_for_each(|task| {
            let file = self.file(task)?;
            file.messages(stream, part, |message| visit(task, message))
        })
    }

    /// Passes the messages of a part on, each of which begins with a record.
    ///
    /// # Errors
    /// As [`TaskFile::messages`].
    pub fn headed<R: Pod>(
        &self,
        stream: Stream,
        part: usize,
        mut visit: impl FnMut(R, &[u8]) -> Result<()>,
    ) -> Result<()> {
        self.messages(stream, part, |_, message| {
            let split = message.split_at_checked(size_of::<R>());
            let (record, rest) = split.ok_or_else(|| damaged(&self.work.path(self.stage)))?;
            visit(bytemuck::pod_read_unaligned(record), rest)
        })
    }
}

fn read_at(path: &Path, file: &InputFile, mut bytes: &mut [u8], mut offset: u64) -> Result<()> {
    while !bytes.is_empty() {
        match file.read_at(bytes, offset) {
            Ok(0) => return Err(damaged(path)),
            Ok(count) => {
                bytes = &mut bytes[count..];
                offset += count as u64;
            }
            Err(cause) if cause.kind() == std::io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(read_error(path, cause)),
        }
    }
    Ok(())
}

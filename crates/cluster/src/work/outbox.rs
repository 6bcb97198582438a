//! Writes the file of a task.

use bytemuck::Pod;
use serde::{Deserialize, Serialize};
use simtool_core::Result;
use xxhash_rust::xxh3::xxh3_64;

use super::{Facts, Work, WorkFile, of_task};

/// Bytes that are held until they are written.
const HELD: usize = 16 << 20;

/// A stream of a stage: its position among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream(pub usize);

/// The file of a task, until it is complete.
pub struct Outbox {
    file: WorkFile,
    written: u64,
    streams: Vec<Held>,
    held: usize,
    groups: Vec<Group>,
    /// What is told to the driver.
    pub facts: Facts,
}

/// The bytes of a stream that are not written yet.
struct Held {
    parts: Vec<Vec<u8>>,
    bytes: usize,
    /// The bytes that were added to its only part.
    end: u64,
}

/// Consecutive bytes of a file: those of each part of a stream, and behind them an [`Entry`] for each.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Group {
    /// The stream.
    pub stream: usize,
    /// Where its bytes begin.
    pub start: u64,
    /// How many there are.
    pub bytes: u64,
    /// The number of parts.
    pub parts: usize,
}

/// Where a part ends, from the start of its group, and the xxh3 of its bytes.
pub(super) type Entry = [u64; 2];

/// The end of a file.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Footer {
    /// The groups, in order.
    pub groups: Vec<Group>,
    /// What the task found.
    pub facts: Facts,
}

impl Outbox {
    /// The file of a task of a stage, with the number of parts of each stream.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn create(work: &Work, stage: &str, task: usize, parts: &[usize]) -> Result<Outbox> {
        let held = |parts: &usize| Held {
            parts: vec![Vec::new(); *parts],
            bytes: 0,
            end: 0,
        };
        Ok(Outbox {
            file: work.create(&of_task(stage, task))?,
            written: 0,
            streams: parts.iter().map(held).collect(),
            held: 0,
            groups: Vec::new(),
            facts: Facts::default(),
        })
    }

    /// Appends bytes, which are read as one piece, to a part of a stream.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn push(&mut self, stream: Stream, part: usize, bytes: &[u8]) -> Result<()> {
        let held = &mut self.streams[stream.0];
        held.parts[part].extend_from_slice(bytes);
        held.bytes += bytes.len();
        held.end += bytes.len() as u64;
        self.held += bytes.len();
        match self.held < HELD {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Appends a record.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn record<R: Pod>(&mut self, stream: Stream, part: usize, record: &R) -> Result<()> {
        self.push(stream, part, bytemuck::bytes_of(record))
    }

    /// Appends a message of some bytes, in pieces.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn message(&mut self, stream: Stream, part: usize, pieces: &[&[u8]]) -> Result<()> {
        let length: usize = pieces.iter().map(|piece| piece.len()).sum();
        let held = &mut self.streams[stream.0];
        let whole = length + 4;
        held.parts[part].reserve(whole);
        held.parts[part].extend_from_slice(&(length as u32).to_le_bytes());
        for piece in pieces {
            held.parts[part].extend_from_slice(piece);
        }
        held.bytes += whole;
        held.end += whole as u64;
        self.held += whole;
        match self.held < HELD {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Where the next bytes of a stream with one part will begin, from the first ones.
    pub fn end_of(&self, stream: Stream) -> u64 {
        self.streams[stream.0].end
    }

    fn flush(&mut self) -> Result<()> {
        self.held = 0;
        for (stream, held) in self.streams.iter_mut().enumerate() {
            if held.bytes == 0 {
                continue;
            }
            let mut entries: Vec<Entry> = Vec::with_capacity(held.parts.len());
            let mut end = 0;
            for part in &mut held.parts {
                self.file.write_all(part)?;
                end += part.len() as u64;
                entries.push([end, xxh3_64(part)]);
                part.clear();
                // Other parts may have most of the next bytes.
                part.shrink_to(HELD / 256);
            }
            self.file.write_all(bytemuck::cast_slice(&entries))?;
            self.groups.push(Group {
                stream,
                start: self.written,
                bytes: end,
                parts: entries.len(),
            });
            self.written += end + size_of_val(entries.as_slice()) as u64;
            held.bytes = 0;
        }
        Ok(())
    }

    /// Completes the file, and returns what the task found.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn finish(mut self) -> Result<Facts> {
        self.flush()?;
        let footer = Footer {
            groups: std::mem::take(&mut self.groups),
            facts: self.facts.clone(),
        };
        let text = serde_json::to_vec(&footer).map_err(|cause| {
            simtool_core::Error::new(simtool_core::ErrorKind::Content, cause.to_string())
        })?;
        let tail = [text.len() as u64, xxh3_64(&text)];
        self.file.write_all(&text)?;
        self.file.write_all(bytemuck::cast_slice(&tail))?;
        self.file.publish()?;
        Ok(self.facts)
    }
}

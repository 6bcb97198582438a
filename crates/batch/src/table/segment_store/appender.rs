//! Segments are written and made durable beside the reading, by a few threads.
//!
//! ```text
//! append ─► begin of each segment ─► threads: data at its place ─► data synced ─► entries, synced
//!           (in order)               (in any order)               (in order, several together)
//! ```

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use bytemuck::cast_slice;
use crossbeam_channel::{Receiver, Sender, bounded};
use xxhash_rust::xxh3::Xxh3;

use super::entry::{Entry, WRITTEN_TOGETHER, halves};
use crate::table::row::TableRow;
use crate::table::rows::RowPacking;
use crate::table::segment::Segment;
use crate::workdir::GrowingFile;
use crate::{Error, ErrorKind, Result};
use simtool_core::threads;

/// The most threads that write. One is started when the others are busy.
const WRITERS: usize = 3;

/// Writes segments, and waits for them when it is dropped. Errors are then not told: call
/// [`flush`](Appender::flush) before.
pub struct Appender<R> {
    files: Arc<Files>,
    jobs: Option<Channel<R>>,
    threads: Vec<JoinHandle<()>>,
    /// The number of segments so far.
    appended: usize,
}

type Numbered<R> = (usize, Job<R>);
type Channel<R> = (Sender<Numbered<R>>, Receiver<Numbered<R>>);

/// A segment to write, in parts.
pub struct Job<R> {
    /// Where it goes; without digests.
    pub entry: Entry,
    /// How its rows are packed. Their labels begin at those of the segment.
    pub packing: RowPacking,
    /// The borders of all its sketches.
    pub borders: Vec<u64>,
    /// Its data.
    pub parts: Vec<Segment<R>>,
}

struct Files {
    data: GrowingFile,
    index: GrowingFile,
    written: Mutex<Written>,
}

#[derive(Default)]
struct Written {
    /// Segments whose data are written and that have no entry yet, by number.
    waiting: BTreeMap<usize, Entry>,
    /// The number of segments with an entry.
    indexed: usize,
    /// The entries that were not taken yet.
    entries: Vec<Entry>,
    /// Whether a thread writes entries.
    is_indexing: bool,
    has_failed: bool,
    /// The first failure, until it is told.
    failure: Option<Failure>,
}

enum Failure {
    Error(Error),
    Panic(Box<dyn Any + Send>),
}

impl<R: TableRow> Appender<R> {
    /// Appends to `data` and to `index`, which has `count` entries.
    pub fn new(data: GrowingFile, index: GrowingFile, count: usize) -> Appender<R> {
        let written = Written {
            indexed: count,
            ..Written::default()
        };
        Appender {
            files: Arc::new(Files {
                data,
                index,
                written: Mutex::new(written),
            }),
            jobs: None,
            threads: Vec::new(),
            appended: count,
        }
    }

    /// Has a segment written, which follows all others.
    ///
    /// # Errors
    /// The first error of an earlier segment; refused threads.
    pub fn append(&mut self, job: Job<R>) -> Result<()> {
        self.files.check()?;
        let (sender, receiver) = self.jobs.get_or_insert_with(|| bounded(1));
        if self.threads.is_empty() || sender.is_full() && self.threads.len() < WRITERS {
            let (files, jobs) = (Arc::clone(&self.files), receiver.clone());
            let work = move || {
                jobs.into_iter()
                    .for_each(|(number, job)| files.write(number, job))
            };
            self.threads.push(threads::start("segments", work)?);
        }
        // The threads receive until the sender is dropped.
        let _ = sender.send((self.appended, job));
        self.appended += 1;
        Ok(())
    }

    /// Waits until all segments are durable; returns the entries of those since the last time.
    ///
    /// # Errors
    /// The first error of a segment.
    pub fn flush(&mut self) -> Result<Vec<Entry>> {
        self.end();
        self.files.check()?;
        Ok(std::mem::take(&mut self.files.lock().entries))
    }
}

impl<R> Appender<R> {
    /// Waits until the threads have written all that they were given.
    fn end(&mut self) {
        self.jobs = None;
        // A panic is kept for the next call.
        self.threads
            .drain(..)
            .for_each(|thread| drop(thread.join()));
    }
}

impl<R> Drop for Appender<R> {
    /// No thread goes on writing after the run.
    fn drop(&mut self) {
        self.end();
    }
}

impl Files {
    fn lock(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self) -> Result<()> {
        let mut written = self.lock();
        match written.failure.take() {
            Some(Failure::Error(error)) => Err(error),
            Some(Failure::Panic(payload)) => panic::resume_unwind(payload),
            None if written.has_failed => {
                let message = "an earlier part of the work directory could not be written";
                Err(Error::new(ErrorKind::Write, message))
            }
            None => Ok(()),
        }
    }

    /// Writes a segment, unless another one failed.
    fn write<R: TableRow>(&self, number: usize, job: Job<R>) {
        if self.lock().has_failed {
            return;
        }
        let write = || {
            let entry = self.write_data(job)?;
            self.write_entries(number, entry)
        };
        // What a panic leaves incomplete is not used, as all writing stops.
        let failure = match panic::catch_unwind(AssertUnwindSafe(write)) {
            Ok(Ok(())) => return,
            Ok(Err(error)) => Failure::Error(error),
            Err(payload) => Failure::Panic(payload),
        };
        let mut written = self.lock();
        written.has_failed = true;
        written.failure.get_or_insert(failure);
    }

    fn write_data<R: TableRow>(&self, job: Job<R>) -> Result<Entry> {
        let mut entry = job.entry;
        let mut rows = job.packing.description();
        rows.reserve(job.packing.packed_bytes() * entry.rows as usize);
        for part in &job.parts {
            job.packing.pack(&part.rows, &mut rows);
        }
        let mut slices: Vec<&[u8]> = Vec::with_capacity(5 * job.parts.len() + 1);
        slices.extend(
            job.parts
                .iter()
                .map(|part| cast_slice::<_, u8>(&part.chunks)),
        );
        slices.push(&rows);
        slices.push(cast_slice(&job.borders));
        slices.extend(job.parts.iter().map(|part| cast_slice(&part.columns)));
        slices.extend(job.parts.iter().map(|part| &part.sketches.bytes[..]));
        slices.extend(job.parts.iter().map(|part| &part.labels[..]));
        let mut hash = Xxh3::new();
        slices.iter().for_each(|slice| hash.update(slice));
        entry.digest = halves(hash.digest128());
        entry.check = entry.checksum();
        self.data.write_at(&slices, entry.begin)?;
        Ok(entry)
    }

    /// Writes the entries of the segments whose data are written, as far as none is missing before
    /// them, unless another thread does so.
    fn write_entries(&self, number: usize, entry: Entry) -> Result<()> {
        let mut written = self.lock();
        written.waiting.insert(number, entry);
        if written.is_indexing {
            return Ok(());
        }
        written.is_indexing = true;
        loop {
            let first = written.indexed;
            let mut next = first..first + WRITTEN_TOGETHER;
            let ready = std::iter::from_fn(|| written.waiting.remove(&next.next()?));
            let ready: Vec<Entry> = ready.collect();
            if ready.is_empty() {
                written.is_indexing = false;
                return Ok(());
            }
            drop(written);
            self.data.sync()?;
            let place = (first * size_of::<Entry>()) as u64;
            self.index.write_at(&[cast_slice(&ready)], place)?;
            self.index.sync()?;
            written = self.lock();
            written.indexed += ready.len();
            written.entries.extend(ready);
        }
    }
}

//! Inputs read by a few threads, worked on by all, and their results put back into order.
//!
//! ```text
//! reader ─┐                ┌─ worker ─┐
//! reader ─┼─ whole chunks ─┼─ worker ─┼─ results ─► collector, in order within each unit
//! reader ─┘                └─ worker ─┘                    │
//!    ▲                                                     │
//!    └───────────────────── empty buffers ◄────────────────┘
//! ```
//!
//! A unit is a run of sources that one reader goes through. A reader that has none, or none left,
//! inflates ahead for those that have, so that one file keeps all of them busy if it is compressed
//! in members. What bounds memory is the number of
//! buffers: a reader cannot begin a chunk without one, and it comes back when the chunk's result
//! has been collected. Of chunks that hold a giant document, one at a time is worked on.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::Progress;
use crate::corpus::{Chunk, ChunkReader, Inflaters, Position, Reading, Source};
use crate::{Error, ErrorKind, Result};

/// A chunk of more than so many times the usual size holds a giant document.
const GIANT: usize = 4;

/// A run of sources and the place in them where work begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The sources, all of one reader.
    pub sources: Range<u32>,
    /// Where to begin in the first of them.
    pub begin: Position,
}

/// What the collector sees, in order within each unit.
#[derive(Debug)]
pub enum Event<T> {
    /// The next chunk's result.
    Chunk {
        /// Its source.
        source: u32,
        /// Where the next chunk of the source begins.
        end: Position,
        /// What the worker made of it.
        result: T,
    },
    /// The unit has no more chunks.
    End,
}

/// How inputs are read and worked on.
#[derive(Clone, Copy, Debug)]
pub struct Pipeline<'a> {
    /// All sources; units are ranges of them.
    pub sources: &'a [Source],
    /// How they are read.
    pub reading: &'a Reading,
    /// Threads that work on chunks.
    pub workers: usize,
    /// Threads that read and decompress, at most one for each unit; the others help them.
    pub readers: usize,
    /// Hears of the bytes that were read, and says whether to go on.
    pub progress: &'a Progress,
}

/// Something on its way, with its place among the things of its unit.
struct Parcel<C> {
    unit: usize,
    ordinal: u64,
    content: C,
}

/// What comes back from a worker, or from a reader at the end of a unit.
struct Outcome<T> {
    /// Nothing after a failure.
    event: Option<Event<T>>,
    /// To be used again.
    buffer: Option<Vec<u8>>,
    /// Whether the permit for giants comes back too.
    giant: bool,
}

/// Whether to go on, and what went wrong first.
#[derive(Default)]
struct State {
    stop: AtomicBool,
    failure: Mutex<Option<Failure>>,
}

enum Failure {
    Error(Error),
    Panic(Box<dyn Any + Send>),
}

impl State {
    fn fail(&self, failure: Failure) {
        let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(failure);
        self.stop.store(true, Ordering::Relaxed);
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The value of `task`, unless it fails, or something else failed before.
    fn attempt<R>(&self, task: impl FnOnce() -> Result<R>) -> Option<R> {
        if self.stopped() {
            return None;
        }
        // What a panic leaves half done is not looked at: everything stops.
        match panic::catch_unwind(AssertUnwindSafe(task)) {
            Ok(Ok(value)) => return Some(value),
            Ok(Err(error)) => self.fail(Failure::Error(error)),
            Err(payload) => self.fail(Failure::Panic(payload)),
        }
        None
    }
}

/// What a reader takes from and sends to.
struct Feed<T> {
    buffers: Receiver<Vec<u8>>,
    unused: Sender<Vec<u8>>,
    giants: Receiver<()>,
    chunks: Sender<Parcel<Chunk>>,
    results: Sender<Parcel<Outcome<T>>>,
    inflaters: Inflaters,
    /// Whether records that are too long come in parts.
    in_parts: bool,
}

impl<'a> Pipeline<'a> {
    /// The source of that number.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if there is none.
    pub fn source(&self, number: u32) -> Result<&'a Source> {
        self.sources.get(number as usize).ok_or_else(|| {
            let message = format!("no source number {number}");
            Error::new(ErrorKind::Content, message)
        })
    }

    /// Buffers in use at once.
    pub fn buffers(workers: usize, readers: usize) -> usize {
        2 * workers + readers
    }

    /// Reads `units`; each worker makes itself a state with `start` and turns chunks into results,
    /// which `collect` (on the calling thread) gets with the number of their unit, in order within
    /// each unit.
    ///
    /// # Errors
    /// The first error of a reader, a worker or the collector;
    /// [`ErrorKind::Interrupted`] when the progress was told to
    /// stop. What was collected until then was in order.
    ///
    /// # Panics
    /// If a worker does, after all threads have ended.
    pub fn run<S, T: Send>(
        &self,
        units: &[Unit],
        start: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, &Chunk) -> Result<T> + Sync,
        collect: impl FnMut(usize, Event<T>) -> Result<()>,
    ) -> Result<()> {
        self.run_reading(units, false, start, work, collect)
    }

    /// The same with readers that give long records out [in parts](ChunkReader::in_parts).
    ///
    /// # Errors
    /// As [`run`](Pipeline::run).
    ///
    /// # Panics
    /// As [`run`](Pipeline::run).
    pub fn run_in_parts<T: Send>(
        &self,
        units: &[Unit],
        work: impl Fn(&Chunk) -> Result<T> + Sync,
        collect: impl FnMut(usize, Event<T>) -> Result<()>,
    ) -> Result<()> {
        self.run_reading(units, true, || (), |(), chunk| work(chunk), collect)
    }

    fn run_reading<S, T: Send>(
        &self,
        units: &[Unit],
        in_parts: bool,
        start: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, &Chunk) -> Result<T> + Sync,
        mut collect: impl FnMut(usize, Event<T>) -> Result<()>,
    ) -> Result<()> {
        let (state, next) = (State::default(), AtomicUsize::new(0));
        let readers = self.readers.max(1);
        let count = Pipeline::buffers(self.workers, readers.min(units.len().max(1)));
        let (empty, buffers) = bounded(count);
        let (permit, giants) = bounded(1);
        let (chunk_sender, chunks) = bounded::<Parcel<Chunk>>(count);
        let (result_sender, results) = bounded(count + readers);
        // Cannot fail: the receivers are alive, and there is room.
        let _ = permit.send(());
        (0..count).for_each(|_| drop(empty.send(Vec::new())));
        let inflaters = Inflaters::new(readers);
        let (state, start, work, next) = (&state, &start, &work, &next);

        thread::scope(|scope| {
            for _ in 0..readers {
                let feed = Feed {
                    buffers: buffers.clone(),
                    unused: empty.clone(),
                    giants: giants.clone(),
                    chunks: chunk_sender.clone(),
                    results: result_sender.clone(),
                    inflaters: inflaters.clone(),
                    in_parts,
                };
                scope.spawn(move || {
                    let mut number = next.fetch_add(1, Ordering::Relaxed);
                    while let Some(unit) = units.get(number) {
                        state.attempt(|| self.read(number, unit, &feed, state));
                        number = next.fetch_add(1, Ordering::Relaxed);
                    }
                    let Feed { inflaters, .. } = feed;
                    state.attempt(|| {
                        inflaters.help();
                        Ok(())
                    });
                });
            }
            for _ in 0..self.workers {
                let (chunks, results) = (chunks.clone(), result_sender.clone());
                scope.spawn(move || {
                    let mut own = start();
                    for parcel in chunks {
                        let outcome = self.finish(parcel, state, |chunk| work(&mut own, chunk));
                        // The collector lives as long as we do.
                        let _ = results.send(outcome);
                    }
                });
            }
            drop((chunk_sender, chunks, result_sender, inflaters));
            in_order(&results, |unit, outcome: Outcome<T>| {
                if let Some(event) = outcome.event {
                    state.attempt(|| collect(unit, event));
                }
                outcome
                    .buffer
                    .into_iter()
                    .for_each(|buffer| drop(empty.send(buffer)));
                if outcome.giant {
                    let _ = permit.send(());
                }
            });
        });
        let failure = state
            .failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        match failure {
            None => Ok(()),
            Some(Failure::Error(error)) => Err(error),
            Some(Failure::Panic(payload)) => panic::resume_unwind(payload),
        }
    }

    /// Sends all chunks of a unit to the workers, then its end to the collector.
    fn read<T>(&self, number: usize, unit: &Unit, feed: &Feed<T>, state: &State) -> Result<()> {
        let (mut ordinal, mut begin) = (0, unit.begin);
        for source in unit.sources.clone() {
            let Some(described) = self.sources.get(source as usize) else {
                break;
            };
            let mut reader = ChunkReader::open(described, source, self.reading, begin)?
                .helped_by(feed.inflaters.clone());
            if feed.in_parts {
                reader = reader.in_parts();
            }
            let mut reached = reader.file_offset();
            loop {
                self.progress.check()?;
                let Ok(buffer) = feed.buffers.recv() else {
                    return Ok(());
                };
                if state.stopped() {
                    return Ok(());
                }
                let Some(chunk) = reader.next(buffer)? else {
                    let _ = feed.unused.send(Vec::new());
                    break;
                };
                let now = reader.file_offset();
                self.progress.advance(now.saturating_sub(reached));
                reached = reached.max(now);
                if self.is_giant(&chunk) {
                    let _ = feed.giants.recv();
                }
                let parcel = Parcel {
                    unit: number,
                    ordinal,
                    content: chunk,
                };
                let _ = feed.chunks.send(parcel);
                ordinal += 1;
            }
            let rest = described.bytes.unwrap_or(reached).saturating_sub(reached);
            self.progress.advance(rest);
            begin = Position::default();
        }
        let end = Outcome {
            event: Some(Event::End),
            buffer: None,
            giant: false,
        };
        let _ = feed.results.send(Parcel {
            unit: number,
            ordinal,
            content: end,
        });
        Ok(())
    }

    /// Has a chunk worked on.
    fn finish<T>(
        &self,
        parcel: Parcel<Chunk>,
        state: &State,
        work: impl FnOnce(&Chunk) -> Result<T>,
    ) -> Parcel<Outcome<T>> {
        let chunk = parcel.content;
        let giant = self.is_giant(&chunk);
        let event = state.attempt(|| work(&chunk)).map(|result| Event::Chunk {
            source: chunk.source,
            end: chunk.end,
            result,
        });
        let buffer = if giant {
            Vec::new()
        } else {
            chunk.into_buffer()
        };
        Parcel {
            unit: parcel.unit,
            ordinal: parcel.ordinal,
            content: Outcome {
                event,
                buffer: Some(buffer),
                giant,
            },
        }
    }

    fn is_giant(&self, chunk: &Chunk) -> bool {
        chunk.memory_bytes() > GIANT * self.reading.chunk_bytes
    }
}

/// Hands on what arrives, in order within each unit.
fn in_order<C>(arriving: &Receiver<Parcel<C>>, mut hand_on: impl FnMut(usize, C)) {
    let mut waiting: BTreeMap<(usize, u64), C> = BTreeMap::new();
    let mut due: BTreeMap<usize, u64> = BTreeMap::new();
    for parcel in arriving {
        let unit = parcel.unit;
        waiting.insert((unit, parcel.ordinal), parcel.content);
        let next = due.entry(unit).or_default();
        while let Some(content) = waiting.remove(&(unit, *next)) {
            *next += 1;
            hand_on(unit, content);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Format;
    use std::io::Write;
    use std::path::Path;

    /// The borders, sizes and skips of all chunks, by unit.
    fn read(path: &Path, reading: &Reading, readers: usize) -> Vec<(usize, Seen)> {
        let source = Source::of_file(path, reading).unwrap();
        let progress = Progress::default();
        let pipeline = Pipeline {
            sources: &[source],
            reading,
            workers: 2,
            readers,
            progress: &progress,
        };
        let unit = Unit {
            sources: 0..1,
            begin: Position::default(),
        };
        let mut all = Vec::new();
        let look = |(): &mut (), chunk: &Chunk| {
            let hash = xxhash_rust::xxh3::xxh3_64(chunk.bytes());
            Ok((chunk.start, hash, chunk.skipped.len()))
        };
        let collect = |unit, event| {
            if let Event::Chunk { end, result, .. } = event {
                all.push((unit, (end, result)));
            }
            Ok(())
        };
        pipeline.run(&[unit], || (), look, collect).unwrap();
        all
    }

    type Seen = (Position, (Position, u64, usize));

    #[test]
    fn readers_without_a_unit_help_and_change_nothing() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for number in 0..3000u32 {
            let line = |part: u32| format!("{}\n", number.wrapping_mul(part * 7919 + 77));
            let lines: String = (0..200).map(line).collect();
            let mut encoder = flate2::write::GzEncoder::new(&mut file, Default::default());
            encoder.write_all(lines.as_bytes()).unwrap();
            encoder.finish().unwrap();
            if number == 1500 {
                file.write_all(b"damage").unwrap();
            }
        }
        let reading = Reading {
            format: Some(Format::Jsonl),
            chunk_bytes: 100_000,
            ..Reading::default()
        };
        let alone = read(file.path(), &reading, 1);
        assert_eq!(alone.iter().map(|(_, (_, seen))| seen.2).sum::<usize>(), 1);
        for readers in [2, 5] {
            assert_eq!(read(file.path(), &reading, readers), alone);
        }
    }

    #[test]
    fn order_is_restored_within_each_unit() {
        let (sender, receiver) = crossbeam_channel::unbounded();
        for (unit, ordinal) in [(1, 1), (0, 2), (0, 0), (1, 0), (0, 1), (1, 2)] {
            let parcel = Parcel {
                unit,
                ordinal,
                content: (unit, ordinal),
            };
            sender.send(parcel).unwrap();
        }
        drop(sender);
        let mut seen = Vec::new();
        in_order(&receiver, |_, content| seen.push(content));
        let (first, second): (Vec<_>, Vec<_>) = seen.into_iter().partition(|(unit, _)| *unit == 0);
        assert_eq!(first, [(0, 0), (0, 1), (0, 2)]);
        assert_eq!(second, [(1, 0), (1, 1), (1, 2)]);
    }
}

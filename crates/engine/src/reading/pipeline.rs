//! A pipeline: readers read inputs, workers process them, and the results are put back in order.
//!
//! ```text
//! reader ─┐                ┌─ worker ─┐
//! reader ─┼─ whole chunks ─┼─ worker ─┼─ results ─► collector, in order within each unit
//! reader ─┘                └─ worker ─┘                    │
//!    ▲                                                     │
//!    └───────────────────── empty buffers ◄────────────────┘
//! ```
//!
//! A unit is a range of sources, or a section of a large one, that one reader reads. A reader without a unit decompresses members
//! for the others, so that a single file compressed in members keeps all readers busy. The number
//! of buffers bounds memory: a reader needs one to begin a chunk, and it is free again when the
//! chunk's result has been collected. Only one chunk with a giant document is processed at a time.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::units::{Unit, units};
use crate::Progress;
use crate::{Error, Result, threads};
use simtool_corpus::{
    Chunk, ChunkReader, Inflaters, Position, Reading, Source, request_small_ahead,
};
use simtool_files::usage::thread_time;

/// A chunk with more than this multiple of the usual size holds a giant document.
const GIANT_FACTOR: usize = 4;

/// An event for the collector, in order within each unit.
#[derive(Debug)]
pub enum Event<T> {
    /// The next chunk's result.
    Chunk {
        /// Its source.
        source: u32,
        /// Where the next chunk of the source begins.
        end: Position,
        /// The result of the worker.
        result: T,
    },
    /// The unit has no more chunks.
    End,
}

/// How inputs are read and processed.
#[derive(Clone, Copy, Debug)]
pub struct Pipeline<'a> {
    /// All sources; units are ranges of them, or sections of one.
    pub sources: &'a [Source],
    /// How they are read.
    pub reading: &'a Reading,
    /// Threads that work on chunks.
    pub workers: usize,
    /// Threads that read and decompress. One thread reads a unit; threads without a unit help
    /// the others.
    pub readers: usize,
    /// Notified of bytes that were read; may stop the pipeline.
    pub progress: &'a Progress,
}

/// A message with its position among the messages of its unit.
struct Numbered<C> {
    unit: usize,
    ordinal: u64,
    content: C,
}

/// The result of a worker for a chunk, or of a reader for the end of a unit.
struct WorkResult<T> {
    /// `None` after a failure.
    event: Option<Event<T>>,
    /// A buffer to reuse.
    buffer: Option<Vec<u8>>,
    /// Whether to release the permit for giant chunks.
    giant: bool,
}

/// Whether to stop, and the first failure.
#[derive(Default)]
struct RunState {
    stop: AtomicBool,
    failure: Mutex<Option<Failure>>,
}

enum Failure {
    Error(Error),
    Panic(Box<dyn Any + Send>),
}

impl RunState {
    fn fail(&self, failure: Failure) {
        let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(failure);
        self.stop.store(true, Ordering::Relaxed);
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Starts a thread of the pipeline, unless it has stopped.
    fn start<'scope>(
        &self,
        scope: &'scope Scope<'scope, '_>,
        name: String,
        work: impl FnOnce() + Send + 'scope,
    ) {
        self.attempt(|| threads::start_scoped(scope, name, work).map(drop));
    }

    /// The value of `task`, unless it fails or an earlier failure stopped the pipeline.
    fn attempt<R>(&self, task: impl FnOnce() -> Result<R>) -> Option<R> {
        if self.stopped() {
            return None;
        }
        // Data that a panic leaves incomplete is never used, as everything stops.
        match panic::catch_unwind(AssertUnwindSafe(task)) {
            Ok(Ok(value)) => return Some(value),
            Ok(Err(error)) => self.fail(Failure::Error(error)),
            Err(payload) => self.fail(Failure::Panic(payload)),
        }
        None
    }
}

/// The channels of a reader.
struct ReaderChannels<T> {
    /// Empty buffers.
    buffers: Receiver<Vec<u8>>,
    /// Takes back a buffer that no chunk needed.
    unused: Sender<Vec<u8>>,
    /// The permit for a giant chunk.
    giants: Receiver<()>,
    chunks: Sender<Numbered<Chunk>>,
    results: Sender<Numbered<WorkResult<T>>>,
    inflaters: Inflaters,
    /// Whether records beyond the length limit are read in parts.
    in_parts: bool,
}

impl Pipeline<'_> {
    /// The bytes of `sources` whose size is known, or of the `section` of a single one.
    pub fn bytes_of(&self, sources: Range<u32>, section: Option<u64>) -> u64 {
        let sizes = sources.filter_map(|number| self.sources.get(number as usize)?.bytes);
        let bytes = sizes.fold(0, u64::saturating_add);
        let of = self.reading.section_bytes;
        match section {
            Some(section) => bytes.saturating_sub(section.saturating_mul(of)).min(of),
            None => bytes,
        }
    }

    /// The bytes of all sources whose size is known.
    pub fn bytes(&self) -> u64 {
        let sizes = self.sources.iter().filter_map(|source| source.bytes);
        sizes.sum()
    }

    /// All sources as units, in order; large sources that have sections have a unit for each.
    pub fn units(&self) -> Vec<Unit> {
        let units = units(self.sources).into_iter();
        units.flat_map(|sources| self.sections(sources)).collect()
    }

    /// `sources`, which share a unit, or the sections of a single source.
    pub fn sections(&self, sources: Range<u32>) -> Vec<Unit> {
        let bytes = self.reading.section_bytes;
        let single = self.sources.get(sources.start as usize);
        match single.map(|source| source.sections(bytes)) {
            Some(count) if sources.len() == 1 && count > 1 => (0..count)
                .map(|section| Unit {
                    begin: Position::of_section(section, bytes),
                    section: Some(section),
                    ..Unit::whole(sources.clone())
                })
                .collect(),
            _ => vec![Unit::whole(sources)],
        }
    }

    /// The maximum number of buffers that are in use at the same time.
    pub fn buffers(workers: usize, readers: usize) -> usize {
        2 * workers + readers
    }

    /// Reads `units`. Each worker makes its state with `start`, and turns chunks into results with
    /// `work`. `collect` gets the results with the numbers of their units on the calling thread, in
    /// order within each unit.
    ///
    /// # Errors
    /// The first error of a reader, a worker or the collector; `ErrorKind::Interrupted` when the
    /// progress is stopped; `ErrorKind::Memory` if the system does not start all threads. The
    /// results that were collected before the failure are in order.
    ///
    /// # Panics
    /// If a reader, `work` or `collect` panics, after all threads have ended. `start` must not
    /// panic.
    pub fn run<S, T: Send>(
        &self,
        units: &[Unit],
        start: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, &Chunk) -> Result<T> + Sync,
        collect: impl FnMut(usize, Event<T>) -> Result<()>,
    ) -> Result<()> {
        self.run_reading(units, false, start, work, collect)
    }

    /// [`run`](Pipeline::run) with readers that read long records [in
    /// parts](ChunkReader::in_parts).
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
        let (state, next) = (RunState::default(), AtomicUsize::new(0));
        let readers = self.readers.max(1);
        let count = Pipeline::buffers(self.workers, readers.min(units.len().max(1)));
        let (empty, buffers) = bounded(count);
        let (permit, giants) = bounded(1);
        let (chunk_sender, chunks) = bounded::<Numbered<Chunk>>(count);
        let (result_sender, results) = bounded(count + readers);
        // Cannot fail, as the receivers are alive and the channel has capacity.
        let _ = permit.send(());
        (0..count).for_each(|_| drop(empty.send(Vec::new())));
        let inflaters = Inflaters::new(readers);
        let busiest = AtomicU64::new(0);
        let (state, start, work, next, busiest) = (&state, &start, &work, &next, &busiest);

        thread::scope(|scope| {
            // Readers wait for buffers, which workers and the collector return. So no reader begins
            // unless there are workers; without a thread for another reader, the others stop.
            for number in 0..self.workers {
                let (chunks, results) = (chunks.clone(), result_sender.clone());
                state.start(scope, format!("work-{number}"), move || {
                    let mut own = start();
                    for numbered in chunks {
                        let outcome = self.finish(numbered, state, |chunk| work(&mut own, chunk));
                        // The collector outlives the workers.
                        let _ = results.send(outcome);
                    }
                });
            }
            for number in 0..readers {
                let channels = ReaderChannels {
                    buffers: buffers.clone(),
                    unused: empty.clone(),
                    giants: giants.clone(),
                    chunks: chunk_sender.clone(),
                    results: result_sender.clone(),
                    inflaters: inflaters.clone(),
                    in_parts,
                };
                state.start(scope, format!("read-{number}"), move || {
                    let mut number = next.fetch_add(1, Ordering::Relaxed);
                    while let Some(unit) = units.get(number) {
                        state.attempt(|| self.read(number, unit, &channels, state));
                        number = next.fetch_add(1, Ordering::Relaxed);
                    }
                    // With more units, other readers would share the work.
                    if units.len() <= readers {
                        let nanoseconds = thread_time().as_nanos() as u64;
                        busiest.fetch_max(nanoseconds, Ordering::Relaxed);
                    }
                    let ReaderChannels { inflaters, .. } = channels;
                    state.attempt(|| {
                        inflaters.help();
                        Ok(())
                    });
                });
            }
            drop((chunk_sender, chunks, result_sender, inflaters));
            in_order(&results, |unit, outcome: WorkResult<T>| {
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
        let busiest = Duration::from_nanos(busiest.load(Ordering::Relaxed));
        self.progress.reader_worked(busiest);
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
    fn read<T>(
        &self,
        number: usize,
        unit: &Unit,
        channels: &ReaderChannels<T>,
        state: &RunState,
    ) -> Result<()> {
        let (mut ordinal, mut begin) = (0, unit.begin);
        for source in unit.sources.clone() {
            let Some(described) = self.sources.get(source as usize) else {
                break;
            };
            let next = source as usize + 1..unit.sources.end as usize;
            request_small_ahead(self.sources.get(next).unwrap_or_default());
            let mut reader = ChunkReader::open(described, source, self.reading, begin)?
                .helped_by(channels.inflaters.clone());
            if channels.in_parts {
                reader = reader.in_parts();
            }
            if let Some(section) = unit.section {
                reader = reader.within_section(section);
            }
            let section = unit
                .section
                .map(|section| self.reading.section_bytes.saturating_mul(section));
            // What was read to find the start of a section counts, too.
            let is_new = unit.begin
                == Position::of_section(unit.begin.section(), self.reading.section_bytes);
            let from = section.filter(|_| is_new).unwrap_or(u64::MAX);
            let mut reached = reader.file_offset().min(from);
            loop {
                self.progress.check()?;
                let Ok(buffer) = channels.buffers.recv() else {
                    return Ok(());
                };
                if state.stopped() {
                    return Ok(());
                }
                let Some(chunk) = reader.next(buffer)? else {
                    let _ = channels.unused.send(Vec::new());
                    break;
                };
                let now = reader.file_offset();
                self.progress.advance(now.saturating_sub(reached));
                reached = reached.max(now);
                if self.is_giant(&chunk) {
                    let _ = channels.giants.recv();
                }
                let numbered = Numbered {
                    unit: number,
                    ordinal,
                    content: chunk,
                };
                let _ = channels.chunks.send(numbered);
                ordinal += 1;
            }
            let end = section.unwrap_or(0) + self.bytes_of(source..source + 1, unit.section);
            self.progress.advance(end.saturating_sub(reached));
            begin = Position::default();
        }
        let end = WorkResult {
            event: Some(Event::End),
            buffer: None,
            giant: false,
        };
        let _ = channels.results.send(Numbered {
            unit: number,
            ordinal,
            content: end,
        });
        Ok(())
    }

    /// Processes a chunk.
    fn finish<T>(
        &self,
        numbered: Numbered<Chunk>,
        state: &RunState,
        work: impl FnOnce(&Chunk) -> Result<T>,
    ) -> Numbered<WorkResult<T>> {
        let chunk = numbered.content;
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
        Numbered {
            unit: numbered.unit,
            ordinal: numbered.ordinal,
            content: WorkResult {
                event,
                buffer: Some(buffer),
                giant,
            },
        }
    }

    fn is_giant(&self, chunk: &Chunk) -> bool {
        chunk.memory_bytes() > GIANT_FACTOR * self.reading.chunk_bytes
    }
}

/// Passes on what arrives, in order within each unit.
fn in_order<C>(arriving: &Receiver<Numbered<C>>, mut pass_on: impl FnMut(usize, C)) {
    let mut waiting: BTreeMap<(usize, u64), C> = BTreeMap::new();
    let mut due: BTreeMap<usize, u64> = BTreeMap::new();
    for numbered in arriving {
        let unit = numbered.unit;
        waiting.insert((unit, numbered.ordinal), numbered.content);
        let next = due.entry(unit).or_default();
        while let Some(content) = waiting.remove(&(unit, *next)) {
            *next += 1;
            pass_on(unit, content);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_corpus::Format;
    use std::io::Write;
    use std::path::Path;

    /// The positions, content hashes and numbers of skipped records of all chunks, with their
    /// units.
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
        let unit = Unit::whole(0..1);
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

    /// Promise (Deduplication): Threads without input decompress ahead for …
    #[test]
    fn helping_readers_do_not_change_the_result() {
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
            let numbered = Numbered {
                unit,
                ordinal,
                content: (unit, ordinal),
            };
            sender.send(numbered).unwrap();
        }
        drop(sender);
        let mut seen = Vec::new();
        in_order(&receiver, |_, content| seen.push(content));
        let (first, second): (Vec<_>, Vec<_>) = seen.into_iter().partition(|(unit, _)| *unit == 0);
        assert_eq!(first, [(0, 0), (0, 1), (0, 2)]);
        assert_eq!(second, [(1, 0), (1, 1), (1, 2)]);
    }
}

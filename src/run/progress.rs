//! What a run is doing, for whoever watches it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::{Error, ErrorKind, Result};

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A sample of the articles, to guess which words will be frequent.
    Sample,
    /// The words of the articles are counted.
    Count,
    /// The first words by count are found and proven.
    Rank,
    /// Articles and samples get their fingerprints.
    Fingerprint,
    /// Near articles are looked up and written.
    Search,
    /// Documents are read, and get rows and sketches.
    Sketch,
    /// Documents with the same words find their leaders.
    Group,
    /// Documents that have another one near are found.
    Mark,
    /// Their shingles are read.
    Verify,
    /// Who stays is decided.
    Cluster,
    /// What was found is written down.
    Report,
    /// The inputs are written again, without duplicates.
    Write,
}

/// How long a stage took and what it went through.
#[derive(Clone, Copy, Debug)]
pub struct StageTime {
    /// The stage.
    pub stage: Stage,
    /// Wall-clock time.
    pub time: Duration,
    /// Bytes of text covered (of output, for [`Stage::Search`]).
    pub bytes: u64,
}

/// A run's state, shared with the threads that watch or stop it.
#[derive(Debug, Default)]
pub struct Progress {
    stop: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
    current: Mutex<Option<(Stage, Instant)>>,
    finished: Mutex<Vec<StageTime>>,
}

impl Stage {
    /// The stage's name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Sample => "sample",
            Stage::Count => "count",
            Stage::Rank => "rank",
            Stage::Fingerprint => "fingerprint",
            Stage::Search => "search",
            Stage::Sketch => "sketch",
            Stage::Group => "group",
            Stage::Mark => "mark",
            Stage::Verify => "verify",
            Stage::Cluster => "cluster",
            Stage::Report => "report",
            Stage::Write => "write",
        }
    }
}

impl Progress {
    /// The progress of a run that has not begun.
    pub fn new() -> Progress {
        Progress::default()
    }

    /// Asks the run to stop; it ends with [`ErrorKind::Interrupted`] soon.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the run goes on.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`] after [`Progress::stop`].
    pub fn check(&self) -> Result<()> {
        match self.stop.load(Ordering::Relaxed) {
            true => Err(Error::new(ErrorKind::Interrupted, "interrupted")),
            false => Ok(()),
        }
    }

    /// The stage under way, the work done and the work to do in its own units (bytes, or samples
    /// for [`Stage::Search`]), and the time since it began.
    pub fn current(&self) -> Option<(Stage, u64, u64, Duration)> {
        let current = lock(&self.current);
        let (done, total) = (
            self.done.load(Ordering::Relaxed),
            self.total.load(Ordering::Relaxed),
        );
        current.map(|(stage, since)| (stage, done, total, since.elapsed()))
    }

    /// The stages that have ended, in order.
    pub fn finished(&self) -> Vec<StageTime> {
        lock(&self.finished).clone()
    }

    pub(super) fn begin(&self, stage: Stage, total: u64) {
        let mut current = lock(&self.current);
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
        *current = Some((stage, Instant::now()));
    }

    pub(super) fn advance(&self, done: u64) {
        self.done.fetch_add(done, Ordering::Relaxed);
    }

    pub(super) fn advance_to(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
    }

    pub(super) fn end(&self, bytes: u64) {
        if let Some((stage, since)) = lock(&self.current).take() {
            lock(&self.finished).push(StageTime {
                stage,
                time: since.elapsed(),
                bytes,
            });
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|broken| broken.into_inner())
}

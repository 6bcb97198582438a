//! The progress of a run, for observers.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use simtool_files::usage::{process_time, thread_time};

use crate::{Error, ErrorKind, Result};

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Inputs are listed and examined, and the output directory is checked. Only in plans.
    List,
    /// A sample of the articles is read, to guess which words are frequent.
    Sample,
    /// Words or other features are counted.
    Count,
    /// The most frequent words are found and proven.
    Rank,
    /// Articles and samples get their fingerprints.
    Fingerprint,
    /// Places of repeated units, or of anchors of repeated stretches, are read.
    Locate,
    /// Near documents are searched; in the main job, the result is written.
    Search,
    /// Documents are read and sketched.
    Sketch,
    /// The results of the first reading are put together.
    Gather,
    /// Documents with the same words are grouped.
    Group,
    /// Documents with a near one are found.
    Mark,
    /// Shingles of the documents with a near one are read, or stretches that may be repeated.
    Verify,
    /// Documents to keep are chosen.
    Cluster,
    /// Reports are written.
    Report,
    /// The inputs are written without duplicates.
    Write,
}

/// The duration of a stage and the bytes that it processed.
#[derive(Clone, Copy, Debug)]
pub struct StageTime {
    /// The stage.
    pub stage: Stage,
    /// Wall-clock time.
    pub time: Duration,
    /// Processor time of all threads of the process.
    pub processor: Duration,
    /// The part of it that one thread worked alone, which more threads cannot shorten: an estimate.
    pub alone: Duration,
    /// Bytes of text that were processed (of output, for the search of the main job).
    pub bytes: u64,
    /// The number of the stage in the plan, from 1, and the number of planned stages.
    pub number: Option<(usize, usize)>,
}

/// A future stage of a run with its expected duration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StagePlan {
    /// The stage.
    pub stage: Stage,
    /// Wall-clock time; zero if unknown.
    pub time: Duration,
}

impl StagePlan {
    /// A stage that takes about `seconds`.
    pub fn lasting(stage: Stage, seconds: f64) -> StagePlan {
        StagePlan {
            stage,
            time: Duration::from_secs_f64(seconds.clamp(0.0, 1e9)),
        }
    }

    /// A stage of unknown duration.
    pub fn untimed(stage: Stage) -> StagePlan {
        StagePlan {
            stage,
            time: Duration::ZERO,
        }
    }
}

/// The unit of a stage's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkUnit {
    /// Bytes of the input.
    Bytes,
    /// Documents.
    Documents,
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// The current stage.
    pub stage: Stage,
    /// The number of the stage in the plan, from 1, and the number of planned stages.
    pub number: Option<(usize, usize)>,
    /// Work done, in the stage's unit.
    pub done: u64,
    /// Work to do; zero if unknown.
    pub total: u64,
    /// Time since the stage began.
    pub elapsed: Duration,
    /// Time until the stage ends, by its own rate or by the plan; `None` if neither is known.
    pub stage_left: Option<Duration>,
    /// Time until the run ends, if the plan has times.
    pub run_left: Option<Duration>,
}

/// The state of a run, shared with the threads that observe or stop it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Zero if the run is not to stop; otherwise it stops at this of the coming checks.
    stop: AtomicU64,
    done: AtomicU64,
    total: AtomicU64,
    /// Nanoseconds of the busiest readers of the stage, of one pipeline after another.
    reader: AtomicU64,
    current: Mutex<Option<Current>>,
    finished: Mutex<Vec<StageTime>>,
    plan: Mutex<Vec<StagePlan>>,
}

/// The current stage.
#[derive(Clone, Copy, Debug)]
struct Current {
    stage: Stage,
    since: Instant,
    /// The processor time of the process and of the thread until then.
    used: [Duration; 2],
    thread: ThreadId,
    /// The stage's index in the plan, or that of the previous stage if the plan lacks this one.
    place: Option<usize>,
}

/// The least share of a stage's work from which its rate is used.
const TRUSTED_SHARE: f64 = 0.05;
/// The most by which the remaining stages are assumed to be slower or faster than planned.
const MAX_CORRECTION: f64 = 10.0;
/// The share of later stages' planned time that is treated as already spent, exactly as planned.
const UNKNOWN_SHARE: f64 = 0.05;

impl Stage {
    /// The stage's name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Stage::List => "list",
            Stage::Sample => "sample",
            Stage::Count => "count",
            Stage::Rank => "rank",
            Stage::Fingerprint => "fingerprint",
            Stage::Locate => "locate",
            Stage::Search => "search",
            Stage::Sketch => "sketch",
            Stage::Gather => "gather",
            Stage::Group => "group",
            Stage::Mark => "mark",
            Stage::Verify => "verify",
            Stage::Cluster => "cluster",
            Stage::Report => "report",
            Stage::Write => "write",
        }
    }

    /// The unit of the stage's work.
    pub fn unit(self) -> WorkUnit {
        match self {
            Stage::Search | Stage::Mark | Stage::Cluster => WorkUnit::Documents,
            _ => WorkUnit::Bytes,
        }
    }
}

impl Progress {
    /// The progress of a run that has not begun.
    pub fn new() -> Progress {
        Progress::default()
    }

    /// Stops the run, which soon ends with [`ErrorKind::Interrupted`].
    pub fn stop(&self) {
        self.stop_at_check(1);
    }

    /// Stops the run at the check with this number, counted from 1, of those that it will make. Unlike
    /// a signal after some time, this reaches the same part of the run on every machine.
    pub fn stop_at_check(&self, number: u64) {
        self.stop.store(number, Ordering::Relaxed);
    }

    /// Fails if the run is to stop.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`] after [`Progress::stop`].
    pub fn check(&self) -> Result<()> {
        match self.stop.load(Ordering::Relaxed) {
            0 => Ok(()),
            1 => Err(Error::new(ErrorKind::Interrupted, "interrupted")),
            _ => {
                let next = |number: u64| (number > 1).then(|| number - 1);
                let _ = self
                    .stop
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
                Ok(())
            }
        }
    }

    /// Sets the plan: the coming stages with their durations. Observers use it, the run does not.
    pub fn expect(&self, stages: Vec<StagePlan>) {
        *lock(&self.plan) = stages;
    }

    /// The current stage and its progress; `None` if no stage is running.
    pub fn current(&self) -> Option<Snapshot> {
        let current = (*lock(&self.current))?;
        let plan = lock(&self.plan);
        let done = self.done.load(Ordering::Relaxed);
        let total = self.total.load(Ordering::Relaxed);
        let elapsed = current.since.elapsed();
        let planned = current.place.and_then(|place| plan.get(place));
        let planned = planned.filter(|planned| planned.stage == current.stage);
        let stage_left = stage_left(done, total, elapsed, planned);
        let run_left = current.place.and_then(|place| {
            let has_times = plan.iter().any(|stage| !stage.time.is_zero());
            let finished = self.finished();
            let spent: Duration = finished.iter().map(|stage| stage.time).sum();
            let ended = finished.iter().filter_map(|stage| stage.number);
            let begun = ended.map(|(number, _)| number - 1).chain([place]);
            let planned = begun.filter_map(|place| plan.get(place));
            let planned = planned.map(|stage| stage.time).sum();
            let took = spent + elapsed + stage_left.unwrap_or_default();
            let later = RemainingPlan {
                left: stage_left.unwrap_or_default(),
                time: plan.iter().skip(place + 1).map(|stage| stage.time).sum(),
            };
            has_times.then(|| later.run_left(planned, took))
        });
        Some(Snapshot {
            stage: current.stage,
            number: current
                .place
                .filter(|_| planned.is_some())
                .map(|place| (place + 1, plan.len())),
            done,
            total,
            elapsed,
            stage_left,
            run_left,
        })
    }

    /// The finished stages, in order.
    pub fn finished(&self) -> Vec<StageTime> {
        lock(&self.finished).clone()
    }

    /// Begins a stage with `total` work to do, zero if that is unknown.
    pub fn begin(&self, stage: Stage, total: u64) {
        let place = self.place_of(stage);
        let mut current = lock(&self.current);
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
        self.reader.store(0, Ordering::Relaxed);
        *current = Some(Current {
            stage,
            since: Instant::now(),
            used: [process_time(), thread_time()],
            thread: thread::current().id(),
            place,
        });
    }

    /// The index in the plan of a stage that begins: the first of its kind after the finished ones.
    fn place_of(&self, stage: Stage) -> Option<usize> {
        let plan = lock(&self.plan);
        let ended = lock(&self.finished);
        let next = ended.iter().fold(0, |next, ended| {
            let found = plan
                .iter()
                .skip(next)
                .position(|one| one.stage == ended.stage);
            found.map_or(next, |at| next + at + 1)
        });
        let found = plan.iter().skip(next).position(|one| one.stage == stage);
        match found {
            Some(at) => Some(next + at),
            None => next.checked_sub(1),
        }
    }

    /// Adds work that is done.
    pub fn advance(&self, done: u64) {
        self.done.fetch_add(done, Ordering::Relaxed);
    }

    /// Sets the work that is done, unless more is done already: threads do not report in order.
    pub fn advance_to(&self, done: u64) {
        self.done.fetch_max(done, Ordering::Relaxed);
    }

    /// Adds the processor time of the busiest thread that read inputs for a part of the stage.
    pub fn reader_worked(&self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.reader.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Ends the stage, in which `bytes` were read or written.
    pub fn end(&self, bytes: u64) {
        let number = self.current().and_then(|current| current.number);
        let ended = lock(&self.current).take();
        if let Some(current) = ended {
            let [process, thread] = current.used;
            let processor = process_time().saturating_sub(process);
            let own = match thread::current().id() == current.thread {
                true => thread_time().saturating_sub(thread),
                false => Duration::ZERO,
            };
            let reader = Duration::from_nanos(self.reader.load(Ordering::Relaxed));
            lock(&self.finished).push(StageTime {
                stage: current.stage,
                time: current.since.elapsed(),
                processor,
                alone: reader.max(alone(own, processor)),
                bytes,
                number,
            });
        }
    }
}

/// What a thread worked alone: all that it worked, or of a thread of a pool, what it worked more than
/// an equal part of the `processor` time.
fn alone(own: Duration, processor: Duration) -> Duration {
    let threads = match rayon::current_thread_index() {
        None => return own,
        Some(_) => rayon::current_num_threads() as u32,
    };
    let more = (own * threads).saturating_sub(processor);
    more.checked_div(threads - 1).unwrap_or_default()
}

/// Time until a stage ends: by its own rate if known, otherwise by the plan.
fn stage_left(
    done: u64,
    total: u64,
    elapsed: Duration,
    planned: Option<&StagePlan>,
) -> Option<Duration> {
    let share = done as f64 / total.max(1) as f64;
    let by_plan = planned
        .filter(|planned| !planned.time.is_zero())
        .map(|planned| planned.time.saturating_sub(elapsed));
    match (total > 0 && done > 0, by_plan) {
        (true, by_plan) if share >= TRUSTED_SHARE || by_plan.is_none() => {
            let left = elapsed.as_secs_f64() * (1.0 / share - 1.0).max(0.0);
            Some(Duration::from_secs_f64(left.min(1e9)))
        }
        (_, by_plan) => by_plan,
    }
}

/// The planned future of a run.
struct RemainingPlan {
    /// Time until the current stage ends.
    left: Duration,
    /// Planned time of later stages.
    time: Duration,
}

impl RemainingPlan {
    /// Time until the run ends. The later stages are assumed to be as much slower or faster than
    /// planned as the stages so far, which took `took` instead of `planned`. Both exclude stages
    /// that an earlier run finished.
    fn run_left(&self, planned: Duration, took: Duration) -> Duration {
        let [left, later, planned, took] =
            [self.left, self.time, planned, took].map(|time| time.as_secs_f64());
        // A very short stage says little about the others.
        let unknown = UNKNOWN_SHARE * later;
        let correction = match planned + unknown > 0.0 {
            true => (took + unknown) / (planned + unknown),
            false => 1.0,
        };
        let correction = correction.clamp(1.0 / MAX_CORRECTION, MAX_CORRECTION);
        Duration::from_secs_f64((left + later * correction).min(1e9))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|broken| broken.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(stages: &[(Stage, u64)]) -> Vec<StagePlan> {
        let stage = |&(stage, seconds)| StagePlan {
            stage,
            time: Duration::from_secs(seconds),
        };
        stages.iter().map(stage).collect()
    }

    #[test]
    fn stages_are_numbered_by_the_plan() {
        let progress = Progress::new();
        progress.expect(plan(&[
            (Stage::Count, 1),
            (Stage::Count, 1),
            (Stage::Sketch, 1),
            (Stage::Group, 1),
        ]));
        let number = |stage| {
            progress.begin(stage, 0);
            let number = progress.current().unwrap().number;
            progress.end(0);
            number
        };
        assert_eq!(number(Stage::Count), Some((1, 4)));
        assert_eq!(number(Stage::Count), Some((2, 4)));
        // A stage that the plan lacks has no number, and does not change those of others.
        assert_eq!(number(Stage::Search), None);
        // A stage that an earlier run finished is skipped.
        assert_eq!(number(Stage::Group), Some((4, 4)));
        assert_eq!(progress.current(), None);
    }

    #[test]
    fn a_run_stops_at_the_given_check_and_at_all_later_ones() {
        let progress = Progress::new();
        assert!(progress.check().is_ok());
        progress.stop_at_check(3);
        let checks = [(); 5].map(|()| progress.check().is_ok());
        assert_eq!(checks, [true, true, false, false, false]);
    }

    #[test]
    fn the_run_time_includes_later_stages() {
        let seconds = |left, time, planned, took| {
            let [left, time, planned, took] = [left, time, planned, took].map(Duration::from_secs);
            RemainingPlan { left, time }
                .run_left(planned, took)
                .as_secs()
        };
        // As planned: 5 of the first stage, and 36 of later ones.
        assert_eq!(seconds(5, 36, 10, 10), 41);
        // Nearly twice as slow as planned.
        assert_eq!(seconds(10, 36, 10, 20), 76);
        assert_eq!(seconds(9, 0, 46, 60), 9);
        // A short stage that took no time says nothing about a long one.
        assert_eq!(seconds(0, 300, 1, 0), 281);
    }

    #[test]
    fn stages_of_an_earlier_run_do_not_affect_the_estimate() {
        let progress = Progress::new();
        progress.expect(plan(&[
            (Stage::Sketch, 1000),
            (Stage::Gather, 1),
            (Stage::Write, 600),
        ]));
        progress.begin(Stage::Gather, 1);
        let left = progress.current().unwrap().run_left.unwrap();
        assert!((550..610).contains(&left.as_secs()), "{left:?}");
        progress.end(0);
        progress.begin(Stage::Write, 100);
        let left = progress.current().unwrap().run_left.unwrap();
        assert!((590..610).contains(&left.as_secs()), "{left:?}");
    }

    #[test]
    fn the_rate_of_a_stage_replaces_its_plan() {
        let planned = StagePlan {
            stage: Stage::Sketch,
            time: Duration::from_secs(100),
        };
        let left = |done, planned| stage_left(done, 1000, Duration::from_secs(10), planned);
        assert_eq!(left(0, Some(&planned)), Some(Duration::from_secs(90)));
        assert_eq!(left(10, Some(&planned)), Some(Duration::from_secs(90)));
        assert_eq!(left(200, Some(&planned)), Some(Duration::from_secs(40)));
        assert_eq!(left(200, None), Some(Duration::from_secs(40)));
        assert_eq!(left(0, None), None);
        assert_eq!(stage_left(5, 0, Duration::from_secs(10), None), None);
    }
}

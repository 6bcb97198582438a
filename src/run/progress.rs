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
    /// What the first reading left is put together.
    Gather,
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
    /// Its number among the planned stages, from 1, and how many those are.
    pub number: Option<(usize, usize)>,
}

/// A stage of a run that has not begun, and how long it should take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StagePlan {
    /// The stage.
    pub stage: Stage,
    /// Wall-clock time; zero if it is not known.
    pub time: Duration,
}

impl StagePlan {
    /// A stage of which nothing else is known.
    pub fn untimed(stage: Stage) -> StagePlan {
        StagePlan {
            stage,
            time: Duration::ZERO,
        }
    }
}

/// What the work of a stage is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkUnit {
    /// Bytes of the input.
    Bytes,
    /// Documents.
    Documents,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// The stage under way.
    pub stage: Stage,
    /// Its number among the planned stages, from 1, and how many those are.
    pub number: Option<(usize, usize)>,
    /// Work done, in the stage's unit.
    pub done: u64,
    /// Work to do; zero if it is not known.
    pub total: u64,
    /// Time since the stage began.
    pub elapsed: Duration,
    /// Time until the stage ends, by its own rate or by the plan.
    pub stage_left: Option<Duration>,
    /// Time until the run ends, if the plan has times.
    pub run_left: Option<Duration>,
}

/// A run's state, shared with the threads that watch or stop it.
#[derive(Debug, Default)]
pub struct Progress {
    stop: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
    current: Mutex<Option<Current>>,
    finished: Mutex<Vec<StageTime>>,
    plan: Mutex<Vec<StagePlan>>,
}

/// The stage under way.
#[derive(Clone, Copy, Debug)]
struct Current {
    stage: Stage,
    since: Instant,
    /// Its place in the plan, or that of the stage before if the plan lacks it.
    place: Option<usize>,
}

/// The rate of a stage is trusted from this share of its work on.
const TRUSTED_SHARE: f64 = 0.05;
/// How much slower or faster than planned the rest is taken to be, at most.
const MOST_CORRECTION: f64 = 10.0;
/// Stages behind the one under way count with this share of their planned time as if it had been
/// taken already, exactly as planned.
const UNKNOWN_SHARE: f64 = 0.05;

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
            Stage::Gather => "gather",
            Stage::Group => "group",
            Stage::Mark => "mark",
            Stage::Verify => "verify",
            Stage::Cluster => "cluster",
            Stage::Report => "report",
            Stage::Write => "write",
        }
    }

    /// What its work is measured in.
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

    /// Tells which stages there will be, and how long each should take; replaces an earlier plan.
    /// For those who watch: the run does not depend on it.
    pub fn expect(&self, stages: Vec<StagePlan>) {
        *lock(&self.plan) = stages;
    }

    /// The stage under way and how far it is; `None` between two stages.
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
            let later = Later {
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

    /// The stages that have ended, in order.
    pub fn finished(&self) -> Vec<StageTime> {
        lock(&self.finished).clone()
    }

    pub(super) fn begin(&self, stage: Stage, total: u64) {
        let place = self.place_of(stage);
        let mut current = lock(&self.current);
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
        *current = Some(Current {
            stage,
            since: Instant::now(),
            place,
        });
    }

    /// The place of a stage that begins now: the first one of its kind behind those that ended.
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

    pub(super) fn advance(&self, done: u64) {
        self.done.fetch_add(done, Ordering::Relaxed);
    }

    pub(super) fn advance_to(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
    }

    pub(super) fn end(&self, bytes: u64) {
        let number = self.current().and_then(|current| current.number);
        let ended = lock(&self.current).take();
        if let Some(Current { stage, since, .. }) = ended {
            lock(&self.finished).push(StageTime {
                stage,
                time: since.elapsed(),
                bytes,
                number,
            });
        }
    }
}

/// Time until a stage ends: by its own rate, once there is one, else by the plan.
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

/// What comes after now, as planned.
struct Later {
    /// Time until the stage under way ends.
    left: Duration,
    /// Planned time of the stages behind it.
    time: Duration,
}

impl Later {
    /// Time until the run ends: its later stages are taken to be as much slower or faster than
    /// planned as those that were begun, which should have taken `planned` and `took` as long. The
    /// stages that an earlier run finished are not among them.
    fn run_left(&self, planned: Duration, took: Duration) -> Duration {
        let [left, later, planned, took] =
            [self.left, self.time, planned, took].map(|time| time.as_secs_f64());
        // A stage that takes next to no time says little of the others.
        let unknown = UNKNOWN_SHARE * later;
        let correction = match planned + unknown > 0.0 {
            true => (took + unknown) / (planned + unknown),
            false => 1.0,
        };
        let correction = correction.clamp(1.0 / MOST_CORRECTION, MOST_CORRECTION);
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
        // What the plan lacks has no number, and does not disturb those of the others.
        assert_eq!(number(Stage::Search), None);
        // A stage that an earlier run finished is passed over.
        assert_eq!(number(Stage::Group), Some((4, 4)));
        assert_eq!(progress.current(), None);
    }

    #[test]
    fn a_run_ends_after_its_later_stages() {
        let seconds = |left, time, planned, took| {
            let [left, time, planned, took] = [left, time, planned, took].map(Duration::from_secs);
            Later { left, time }.run_left(planned, took).as_secs()
        };
        // As planned: 5 of the first stage, and the 36 behind it.
        assert_eq!(seconds(5, 36, 10, 10), 41);
        // Nearly twice as slow as planned.
        assert_eq!(seconds(10, 36, 10, 20), 76);
        assert_eq!(seconds(9, 0, 46, 60), 9);
        // A short stage that was done at once says nothing of a long one.
        assert_eq!(seconds(0, 300, 1, 0), 281);
    }

    #[test]
    fn stages_of_an_earlier_run_do_not_make_this_one_fast() {
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
    fn the_rate_of_a_stage_counts_once_there_is_one() {
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

//! The current task of a thread, and its duration.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::problem::Problem;

/// Answers a task on behalf of its thread.
pub type GiveUp = Box<dyn FnOnce(Problem) + Send>;

/// The task of one thread, watched by another.
#[derive(Default)]
pub struct CurrentTask(Mutex<Work>);

#[derive(Default)]
struct Work {
    /// The time when reading of the current document began.
    since: Option<Instant>,
    /// None between tasks, and after the task was cancelled.
    give_up: Option<GiveUp>,
    /// Whether another thread takes over the next tasks.
    is_replaced: bool,
}

impl CurrentTask {
    /// Begins a task.
    pub fn begin(&self, give_up: GiveUp) {
        self.work().give_up = Some(give_up);
    }

    /// Ends the task; returns whether the thread was replaced meanwhile.
    pub fn end(&self) -> bool {
        let mut work = self.work();
        work.since = None;
        work.give_up = None;
        work.is_replaced
    }

    /// Calls `read`, which reads one document, and measures its time.
    pub fn document<T>(&self, read: impl FnOnce() -> T) -> T {
        self.work().since = Some(Instant::now());
        let done = read();
        self.work().since = None;
        done
    }

    /// The time since reading of the current document began.
    pub fn took(&self) -> Option<Duration> {
        self.work().since.map(|since| since.elapsed())
    }

    /// Answers the task with `problem`, unless it is answered already.
    pub fn give_up(&self, problem: Problem) {
        let give_up = self.work().give_up.take();
        if let Some(give_up) = give_up {
            give_up(problem);
        }
    }

    /// Marks the thread as replaced if it still reads a document and `replace` starts a new thread.
    pub fn replace(&self, replace: impl FnOnce() -> bool) {
        let mut work = self.work();
        if work.since.is_some() && !work.is_replaced {
            work.is_replaced = replace();
        }
    }

    /// Whether the thread was replaced.
    pub fn is_replaced(&self) -> bool {
        self.work().is_replaced
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! What a thread of the pool is working on, and for how long.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::problem::Problem;

/// Answers a task in the place of its thread.
pub type GiveUp = Box<dyn FnOnce(Problem) + Send>;

/// The work of one thread, watched by another.
#[derive(Default)]
pub struct Desk(Mutex<Work>);

#[derive(Default)]
struct Work {
    /// Since when a document is being read.
    since: Option<Instant>,
    /// None between tasks, and of a task that was given up.
    give_up: Option<GiveUp>,
    /// Another thread does what this one would do next.
    is_replaced: bool,
}

impl Desk {
    /// A task begins.
    pub fn begin(&self, give_up: GiveUp) {
        self.work().give_up = Some(give_up);
    }

    /// The task has ended; whether the thread was replaced meanwhile.
    pub fn end(&self) -> bool {
        let mut work = self.work();
        work.since = None;
        work.give_up = None;
        work.is_replaced
    }

    /// Does `read`, which reads one document: the time of a document is limited.
    pub fn document<T>(&self, read: impl FnOnce() -> T) -> T {
        self.work().since = Some(Instant::now());
        let done = read();
        self.work().since = None;
        done
    }

    /// How long the document has taken that is being read.
    pub fn took(&self) -> Option<Duration> {
        self.work().since.map(|since| since.elapsed())
    }

    /// Answers the task with `problem`, unless that has been done.
    pub fn give_up(&self, problem: Problem) {
        let give_up = self.work().give_up.take();
        if let Some(give_up) = give_up {
            give_up(problem);
        }
    }

    /// Marks the thread as replaced if it still reads a document and `replace` starts another one.
    pub fn replace(&self, replace: impl FnOnce() -> bool) {
        let mut work = self.work();
        if work.since.is_some() && !work.is_replaced {
            work.is_replaced = replace();
        }
    }

    /// Whether another thread has its place.
    pub fn is_replaced(&self) -> bool {
        self.work().is_replaced
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

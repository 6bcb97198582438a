//! Threads that make sketches and search.
//!
//! No document stops them: a thread that reads one for longer than [`SLOW`] is replaced by another
//! one, and ends with that document. A document that takes longer than the limit is given up: its
//! request is answered, and the memory that was lent for it is returned. At most [`MOST_REPLACED`]
//! threads are replaced at once; while all of them and all others are busy with such documents,
//! tasks are refused.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle, sleep};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};
use simtool::run::seen::Seen;
use simtool::{Error, ErrorKind, Result};
use tokio::sync::oneshot;

use super::ask::Reader;
use super::desk::{Desk, GiveUp};
use super::memory::{Held, Loan};
use super::problem::Problem;

/// A document that takes longer has its thread replaced.
const SLOW: Duration = Duration::from_secs(1);
/// So many threads may be replaced at once.
const MOST_REPLACED: usize = 16;
/// How often the threads are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// What a thread does next. Requests at once are bounded, so that the queue is, too.
struct Task {
    work: Box<dyn FnOnce(&mut Reader<'_>) + Send>,
    give_up: GiveUp,
}

/// The threads.
pub struct Pool {
    tasks: Sender<Task>,
    crew: Arc<Crew>,
    watch: JoinHandle<()>,
}

/// What the threads share.
struct Crew {
    seen: Arc<Seen>,
    tasks: Receiver<Task>,
    /// The longest that a document may take.
    limit: Duration,
    threads: Mutex<Vec<(Arc<Desk>, JoinHandle<()>)>>,
    started: AtomicUsize,
    ended: AtomicBool,
}

/// A reply that a thread is going to send.
pub struct Later<T>(oneshot::Receiver<std::result::Result<T, Problem>>);

impl Pool {
    /// So many threads for an index, which give up a document after `limit`.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if they cannot be started.
    pub fn start(seen: &Arc<Seen>, threads: usize, limit: Duration) -> Result<Pool> {
        let (sender, tasks) = unbounded();
        let crew = Arc::new(Crew {
            seen: Arc::clone(seen),
            tasks,
            limit,
            threads: Mutex::default(),
            started: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
        });
        (0..threads.max(1)).try_for_each(|_| crew.start())?;
        let watched = Arc::clone(&crew);
        Ok(Pool {
            watch: spawn("watch".into(), move || watched.watch())?,
            tasks: sender,
            crew,
        })
    }

    /// Has `task` done.
    pub fn run<T: Send + 'static>(
        &self,
        task: impl FnOnce(&mut Reader<'_>) -> T + Send + 'static,
    ) -> Later<T> {
        self.run_with(Loan::default(), move |reader, _| task(reader))
    }

    /// Has `task` done, whose memory `loan` pays for; that is returned when the task is done or
    /// given up.
    pub fn run_with<T: Send + 'static>(
        &self,
        loan: Loan,
        task: impl FnOnce(&mut Reader<'_>, &Held) -> T + Send + 'static,
    ) -> Later<T> {
        let (answer, later) = oneshot::channel();
        let answer = Arc::new(Mutex::new(Some(answer)));
        let held = Held::new(loan);
        let (given_up, released) = (Arc::clone(&answer), held.clone());
        let take = |answer: &Mutex<Option<_>>| {
            let mut answer = answer.lock().unwrap_or_else(PoisonError::into_inner);
            answer.take()
        };
        let task = Task {
            work: Box::new(move |reader: &mut Reader<'_>| {
                let is_wanted = |answer: &oneshot::Sender<_>| !answer.is_closed();
                let waits = answer.lock().unwrap_or_else(PoisonError::into_inner);
                if !waits.as_ref().is_some_and(is_wanted) {
                    return;
                }
                drop(waits);
                let done = task(reader, &held);
                if let Some(answer) = take(&answer) {
                    let _ = answer.send(Ok(done));
                }
            }),
            give_up: Box::new(move |problem| {
                released.release();
                if let Some(answer) = take(&given_up) {
                    let _ = answer.send(Err(problem));
                }
            }),
        };
        // If all threads were gone, there would be no answer, which the caller is told.
        let _ = self.tasks.send(task);
        Later(later)
    }

    /// Ends the threads. Those that read a document that takes too long end with the process.
    pub fn end(self, deadline: Instant) {
        let Pool { tasks, crew, watch } = self;
        drop(tasks);
        crew.ended.store(true, Ordering::Relaxed);
        join(watch, deadline);
        let threads = std::mem::take(&mut *crew.threads());
        for (_, thread) in threads {
            join(thread, deadline);
        }
    }
}

/// Waits for a thread until the deadline.
pub fn join(thread: JoinHandle<()>, deadline: Instant) {
    while !thread.is_finished() && Instant::now() < deadline {
        sleep(LOOK / 10);
    }
    if thread.is_finished() {
        let _ = thread.join();
    }
}

fn spawn(name: String, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let thread = Builder::new().name(name).spawn(work);
    thread.map_err(|cause| Error::new(ErrorKind::Memory, "cannot start threads").caused_by(cause))
}

impl Crew {
    /// Starts a thread.
    fn start(self: &Arc<Self>) -> Result<()> {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let desk = Arc::new(Desk::default());
        let (crew, own) = (Arc::clone(self), Arc::clone(&desk));
        let thread = spawn(format!("sketch-{number}"), move || crew.work(&own))?;
        self.threads().push((desk, thread));
        Ok(())
    }

    fn threads(&self) -> std::sync::MutexGuard<'_, Vec<(Arc<Desk>, JoinHandle<()>)>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does tasks until there are no more, or until this thread was replaced.
    fn work(&self, desk: &Desk) {
        let mut reader = Reader::new(&self.seen, desk);
        for Task { work, give_up } in &self.tasks {
            desk.begin(give_up);
            // What a panic leaves behind is dropped, never looked at.
            if catch_unwind(AssertUnwindSafe(|| work(&mut reader))).is_err() {
                reader = Reader::new(&self.seen, desk);
            }
            if desk.end() {
                return;
            }
        }
    }

    /// Looks after threads that take long.
    fn watch(self: &Arc<Self>) {
        while !self.ended.load(Ordering::Relaxed) {
            sleep(LOOK);
            let mut threads = self.threads();
            threads.retain(|(_, thread)| !thread.is_finished());
            let desks: Vec<Arc<Desk>> = threads.iter().map(|(desk, _)| Arc::clone(desk)).collect();
            drop(threads);
            let mut replaced = desks.iter().filter(|desk| desk.is_replaced()).count();
            let mut are_stuck = true;
            for desk in &desks {
                let took = desk.took().unwrap_or_default();
                if took < SLOW {
                    are_stuck &= desk.is_replaced();
                    continue;
                }
                if took >= self.limit {
                    desk.give_up(Problem::slow_document(self.limit));
                }
                desk.replace(|| {
                    let starts = replaced < MOST_REPLACED && self.start().is_ok();
                    replaced += usize::from(starts);
                    are_stuck &= !starts;
                    starts
                });
            }
            if are_stuck {
                let waiting = self.tasks.try_iter();
                waiting.for_each(|task| (task.give_up)(Problem::overloaded()));
            }
        }
    }
}

impl<T> Later<T> {
    /// The answer.
    ///
    /// # Errors
    /// If the task panicked, was given up, or was refused.
    pub async fn get(self) -> std::result::Result<T, Problem> {
        let Later(later) = self;
        later.await.unwrap_or_else(|_| Err(Problem::unanswered()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::trial::{Trial, run, until};
    use std::sync::mpsc;

    /// A document that is read until the sender is dropped.
    fn read_on(pool: &Pool, loan: Loan) -> (mpsc::Sender<()>, Later<()>) {
        let (end, ended) = mpsc::channel::<()>();
        let later = pool.run_with(loan, move |reader, _| {
            reader.desk().document(|| {
                let _ = ended.recv();
            });
        });
        (end, later)
    }

    #[test]
    fn documents_that_do_not_end_are_given_up_and_others_are_answered() {
        run(async {
            let mut trial = Trial::new();
            trial.limits.request = Duration::from_millis(1500);
            let service = trial.service();
            let (pool, memory) = (&service.pool, &service.memory);
            let mut ends = Vec::new();
            let mut laters = Vec::new();
            for _ in 0..5 {
                let loan = memory.lend(1 << 20).await;
                let (end, later) = read_on(pool, loan);
                ends.push(end);
                laters.push(later);
            }
            // Two threads; each is replaced as often as it takes.
            assert_eq!(pool.run(|_| 7).get().await.unwrap(), 7);
            for later in laters {
                assert_eq!(later.get().await.unwrap_err().code(), "slow-document");
            }
            assert_eq!(memory.lent(), 0);
            drop(ends);
            let threads = || pool.crew.threads().len();
            until("as many threads as before", || threads() == 2).await;
        });
    }

    #[test]
    fn when_too_many_documents_do_not_end_tasks_are_refused_until_they_do() {
        run(async {
            let mut trial = Trial::new();
            trial.limits.request = Duration::from_millis(100);
            let service = trial.service();
            let pool = &service.pool;
            let slow: Vec<_> = (0..MOST_REPLACED + 2)
                .map(|_| read_on(pool, Loan::default()))
                .collect();
            let is_stuck = || {
                let threads = pool.crew.threads();
                let slow = |desk: &Desk| desk.took().is_some_and(|took| took >= SLOW);
                threads.len() == MOST_REPLACED + 2 && threads.iter().all(|(desk, _)| slow(desk))
            };
            until("a pool that is stuck", is_stuck).await;
            assert_eq!(pool.run(|_| 7).get().await.unwrap_err().code(), "busy");
            drop(slow);
            until("a free thread", || !is_stuck()).await;
            assert_eq!(pool.run(|_| 7).get().await.unwrap(), 7);
        });
    }
}

//! Threads that compute sketches and search.
//!
//! A slow document does not block them: a thread that reads one for longer than [`SLOW`] is
//! replaced by a new thread, and ends after its task. A task with a document that takes longer than
//! the limit is cancelled: it is answered, and its memory is released. At most [`MAX_REPLACED`]
//! threads are replaced at once. While all threads are busy with slow documents, tasks are refused.
//!
//! Batches are processed in slices, which have a queue of their own. Each thread takes turns, so that
//! batches do not delay other requests for longer than a slice takes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, select, unbounded};
use simtool_batch::seen::Seen;
use simtool_core::Result;
use simtool_core::threads::start;
use tokio::sync::oneshot;

use super::threads::join;
use crate::config::Config;
use crate::limits::memory::{Reserved, TaskMemory};
use crate::log::Log;
use crate::problem::Problem;
use crate::question::QuestionReader;
use crate::question::current_task::{CurrentTask, GiveUp};

/// A thread that reads a document for longer than this is replaced.
const SLOW: Duration = Duration::from_secs(1);
/// The maximum number of threads that are replaced at once.
const MAX_REPLACED: usize = 16;
/// The interval of the checks for slow documents.
const LOOK: Duration = Duration::from_millis(50);

/// A task for a thread. The number of requests bounds the queue.
struct Task {
    work: Box<dyn FnOnce(&mut QuestionReader<'_>) + Send>,
    give_up: GiveUp,
}

/// The threads.
pub struct Pool {
    tasks: Sender<Task>,
    slices: Sender<Task>,
    shared: Arc<PoolThreads>,
    watch: JoinHandle<()>,
}

/// The shared state of the threads.
struct PoolThreads {
    seen: Arc<Seen>,
    log: Log,
    tasks: Receiver<Task>,
    slices: Receiver<Task>,
    /// The longest time for a document.
    limit: Duration,
    threads: Mutex<Vec<(Arc<CurrentTask>, JoinHandle<()>)>>,
    started: AtomicUsize,
    ended: AtomicBool,
}

/// The reply of a task.
pub struct PendingReply<T>(oneshot::Receiver<std::result::Result<T, Problem>>);

impl Pool {
    /// Starts the configured threads for an index.
    pub fn start(seen: &Arc<Seen>, config: &Config) -> Result<Pool> {
        let (task_sender, tasks) = unbounded();
        let (slice_sender, slices) = unbounded();
        let shared = Arc::new(PoolThreads {
            seen: Arc::clone(seen),
            log: config.log,
            tasks,
            slices,
            limit: config.limits.document,
            threads: Mutex::default(),
            started: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
        });
        (0..config.threads.max(1)).try_for_each(|_| shared.start())?;
        let watched = Arc::clone(&shared);
        Ok(Pool {
            watch: start("watch", move || watched.watch())?,
            tasks: task_sender,
            slices: slice_sender,
            shared,
        })
    }

    /// Runs `task` in a thread.
    pub fn run<T: Send + 'static>(
        &self,
        task: impl FnOnce(&mut QuestionReader<'_>) -> T + Send + 'static,
    ) -> PendingReply<T> {
        self.run_with(Reserved::default(), move |reader, _| task(reader))
    }

    /// Runs `task` in a thread with reserved memory, which is released after completion or
    /// cancellation.
    pub fn run_with<T: Send + 'static>(
        &self,
        reservation: Reserved,
        task: impl FnOnce(&mut QuestionReader<'_>, &TaskMemory) -> T + Send + 'static,
    ) -> PendingReply<T> {
        Self::queue(&self.tasks, reservation, task)
    }

    /// Runs `task`, a slice of a batch, like [`run_with`](Self::run_with).
    pub fn run_slice<T: Send + 'static>(
        &self,
        reservation: Reserved,
        task: impl FnOnce(&mut QuestionReader<'_>, &TaskMemory) -> T + Send + 'static,
    ) -> PendingReply<T> {
        Self::queue(&self.slices, reservation, task)
    }

    fn queue<T: Send + 'static>(
        queue: &Sender<Task>,
        reservation: Reserved,
        task: impl FnOnce(&mut QuestionReader<'_>, &TaskMemory) -> T + Send + 'static,
    ) -> PendingReply<T> {
        let (answer, later) = oneshot::channel();
        let answer = Arc::new(Mutex::new(Some(answer)));
        let held = TaskMemory::new(reservation);
        let (given_up, released) = (Arc::clone(&answer), held.clone());
        let take = |answer: &Mutex<Option<_>>| {
            let mut answer = answer.lock().unwrap_or_else(PoisonError::into_inner);
            answer.take()
        };
        let task = Task {
            work: Box::new(move |reader: &mut QuestionReader<'_>| {
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
        // If all threads have ended, the reply is an error.
        let _ = queue.send(task);
        PendingReply(later)
    }

    /// Ends the threads. Threads with a slow document end with the process.
    pub fn end(self, deadline: Instant) {
        let Pool {
            tasks,
            slices,
            shared,
            watch,
        } = self;
        drop((tasks, slices));
        shared.ended.store(true, Ordering::Relaxed);
        join(watch, deadline);
        let threads = std::mem::take(&mut *shared.threads());
        for (_, thread) in threads {
            join(thread, deadline);
        }
    }
}

impl PoolThreads {
    /// Starts a thread.
    fn start(self: &Arc<Self>) -> Result<()> {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let current = Arc::new(CurrentTask::default());
        let (shared, own) = (Arc::clone(self), Arc::clone(&current));
        let thread = start(format!("sketch-{number}"), move || shared.work(&own))?;
        self.threads().push((current, thread));
        Ok(())
    }

    fn threads(&self) -> std::sync::MutexGuard<'_, Vec<(Arc<CurrentTask>, JoinHandle<()>)>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs tasks until there are no more, or until this thread is replaced.
    fn work(&self, current: &CurrentTask) {
        let mut reader = QuestionReader::new(&self.seen, self.log, current);
        let mut prefers_slices = false;
        while let Some(Task { work, give_up }) = self.next_task(prefers_slices) {
            prefers_slices = !prefers_slices;
            current.begin(give_up);
            // After a panic, the state of the reader is not used again.
            if catch_unwind(AssertUnwindSafe(|| work(&mut reader))).is_err() {
                reader = QuestionReader::new(&self.seen, self.log, current);
            }
            if current.end() {
                return;
            }
        }
    }

    /// Waits for a task of either queue; `None` if there will be no more.
    fn next_task(&self, prefers_slices: bool) -> Option<Task> {
        let (first, second) = match prefers_slices {
            true => (&self.slices, &self.tasks),
            false => (&self.tasks, &self.slices),
        };
        let waiting = first.try_recv().or_else(|_| second.try_recv());
        // Both queues are closed at once, when nothing can be added to them.
        waiting.ok().or_else(|| {
            select! {
                recv(first) -> task => task.or_else(|_| second.recv()).ok(),
                recv(second) -> task => task.or_else(|_| first.recv()).ok(),
            }
        })
    }

    /// Replaces slow threads, cancels tasks at the limit, and refuses tasks if no thread is free.
    fn watch(self: &Arc<Self>) {
        while !self.ended.load(Ordering::Relaxed) {
            sleep(LOOK);
            let mut threads = self.threads();
            threads.retain(|(_, thread)| !thread.is_finished());
            let currents: Vec<Arc<CurrentTask>> = threads
                .iter()
                .map(|(current, _)| Arc::clone(current))
                .collect();
            drop(threads);
            let mut replaced = currents
                .iter()
                .filter(|current| current.is_replaced())
                .count();
            let mut are_stuck = true;
            for current in &currents {
                let took = current.took().unwrap_or_default();
                if took < SLOW {
                    are_stuck &= current.is_replaced();
                    continue;
                }
                if took >= self.limit {
                    current.give_up(Problem::slow_document(self.limit));
                }
                current.replace(|| {
                    let starts = replaced < MAX_REPLACED && self.start().is_ok();
                    replaced += usize::from(starts);
                    are_stuck &= !starts;
                    starts
                });
            }
            if are_stuck {
                let waiting = self.tasks.try_iter().chain(self.slices.try_iter());
                waiting.for_each(|task| (task.give_up)(Problem::overloaded()));
            }
        }
    }
}

impl<T> PendingReply<T> {
    /// Waits for the reply.
    pub async fn get(self) -> std::result::Result<T, Problem> {
        let PendingReply(later) = self;
        later.await.unwrap_or_else(|_| Err(Problem::unanswered()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_service::{TestService, run, until};
    use std::sync::mpsc;

    /// A document that is read until the sender is dropped.
    fn read_on(pool: &Pool, reservation: Reserved) -> (mpsc::Sender<()>, PendingReply<()>) {
        let (end, ended) = mpsc::channel::<()>();
        let later = pool.run_with(reservation, move |reader, _| {
            reader.task().document(|| {
                let _ = ended.recv();
            });
        });
        (end, later)
    }

    /// Promise (The service): A document whose text takes too …
    #[test]
    fn endless_documents_are_cancelled_and_others_are_answered() {
        run(async {
            let mut trial = TestService::new();
            trial.limits.document = Duration::from_millis(1500);
            let service = trial.service();
            let (pool, memory) = (&service.pool, &service.memory);
            let mut ends = Vec::new();
            let mut laters = Vec::new();
            for _ in 0..5 {
                let reservation = memory.reserve(1 << 20).await;
                let (end, later) = read_on(pool, reservation);
                ends.push(end);
                laters.push(later);
            }
            // Two threads; each is replaced as often as necessary.
            assert_eq!(pool.run(|_| 7).get().await.unwrap(), 7);
            for later in laters {
                assert_eq!(later.get().await.unwrap_err().code(), "slow-document");
            }
            assert_eq!(memory.reserved(), 0);
            drop(ends);
            let threads = || pool.shared.threads().len();
            until("as many threads as before", || threads() == 2).await;
        });
    }

    /// Promise (The service): A document whose text takes too …
    #[test]
    fn tasks_are_refused_while_all_threads_read_endless_documents() {
        run(async {
            let mut trial = TestService::new();
            trial.limits.document = Duration::from_millis(100);
            let service = trial.service();
            let pool = &service.pool;
            let slow: Vec<_> = (0..MAX_REPLACED + 2)
                .map(|_| read_on(pool, Reserved::default()))
                .collect();
            let is_stuck = || {
                let threads = pool.shared.threads();
                let slow = |current: &CurrentTask| current.took().is_some_and(|took| took >= SLOW);
                threads.len() == MAX_REPLACED + 2
                    && threads.iter().all(|(current, _)| slow(current))
            };
            until("a pool that is stuck", is_stuck).await;
            assert_eq!(pool.run(|_| 7).get().await.unwrap_err().code(), "busy");
            drop(slow);
            until("a free thread", || !is_stuck()).await;
            // A check for slow documents that began before may still refuse a task.
            let answer = loop {
                match pool.run(|_| 7).get().await {
                    Err(problem) if problem.code() == "busy" => tokio::time::sleep(LOOK).await,
                    answer => break answer,
                }
            };
            assert_eq!(answer.unwrap(), 7);
        });
    }
}

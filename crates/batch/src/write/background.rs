//! Tasks beside the thread that collects the results of a pipeline.
//!
//! ```text
//! collector ─► tasks, on the pool ─► results, in order within each sequence ─► file
//! ```
//!
//! The pool of a job has no other work while a pipeline runs. The collector helps it only if the tasks
//! hold too many bytes.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use rayon::{ScopeFifo, Yield};

use crate::{Error, ErrorKind, Result};

/// Starts tasks on the pool.
pub struct Background<'b, 'scope> {
    scope: &'b ScopeFifo<'scope>,
    tasks: Arc<Tasks>,
}

/// The tasks that have not ended.
struct Tasks {
    most_bytes: u64,
    state: Mutex<TaskState>,
    /// Notified when a task ends.
    ended: Condvar,
}

#[derive(Default)]
struct TaskState {
    /// The bytes that tasks and their results hold.
    bytes: u64,
    /// Whether no further task begins.
    stopped: bool,
    failure: Option<Error>,
}

/// The bytes that a task or its result holds.
struct Permit {
    tasks: Arc<Tasks>,
    bytes: u64,
}

/// A writer of items in their order.
pub trait InOrder: Send + Sized {
    /// What it writes.
    type Item: Send;

    /// Writes the next item; returns the writer, unless that was the last one.
    ///
    /// # Errors
    /// Errors of writing.
    fn write(self, item: Self::Item) -> Result<Option<Self>>;
}

/// The items of a writer, which several threads make.
pub struct Sequence<W: InOrder>(Mutex<SequenceState<W>>);

struct SequenceState<W: InOrder> {
    /// The number of the next item that is requested, and of the next one that is written.
    requested: u64,
    written: u64,
    /// Items that are waiting for an earlier one.
    ready: BTreeMap<u64, (W::Item, Permit)>,
    /// `None` while it writes, and after its last item.
    writer: Option<W>,
}

/// Calls `collect`, which starts tasks that hold at most `most_bytes`, or one task; waits for their
/// end.
///
/// # Errors
/// Errors of `collect`, and the first error of a task.
///
/// # Panics
/// If a task does.
pub fn with_background<'scope, T>(
    most_bytes: u64,
    collect: impl FnOnce(&Background<'_, 'scope>) -> Result<T>,
) -> Result<T> {
    let tasks = Arc::new(Tasks {
        most_bytes,
        state: Mutex::default(),
        ended: Condvar::new(),
    });
    let value = rayon::in_place_scope_fifo(|scope| {
        let tasks = Arc::clone(&tasks);
        let background = Background { scope, tasks };
        let value = collect(&background);
        background.tasks.state().stopped |= value.is_err();
        value
    })?;
    let failure = tasks.state().failure.take();
    failure.map_or(Ok(value), Err)
}

impl<'scope> Background<'_, 'scope> {
    /// Starts a task that holds `bytes`, and waits while all together hold too many.
    ///
    /// # Errors
    /// The first error of a task.
    pub fn run(&self, bytes: u64, task: impl FnOnce() -> Result<()> + Send + 'scope) -> Result<()> {
        self.start(bytes, move |permit| task().map(|()| drop(permit)))
    }

    /// Starts a task that makes the next item of a sequence. The task or the item holds `bytes`. Waits
    /// while all together hold too many.
    ///
    /// # Errors
    /// The first error of a task.
    pub fn append<W: InOrder + 'scope>(
        &self,
        sequence: &Arc<Sequence<W>>,
        bytes: u64,
        make: impl FnOnce() -> Result<W::Item> + Send + 'scope,
    ) -> Result<()> {
        let number = sequence.request();
        let sequence = Arc::clone(sequence);
        self.start(bytes, move |permit| sequence.add(number, make()?, permit))
    }

    fn start(
        &self,
        bytes: u64,
        task: impl FnOnce(Permit) -> Result<()> + Send + 'scope,
    ) -> Result<()> {
        self.tasks.state().bytes += bytes;
        let tasks = Arc::clone(&self.tasks);
        let permit = Permit { tasks, bytes };
        let tasks = Arc::clone(&self.tasks);
        self.scope.spawn_fifo(move |_| {
            let stopped = tasks.state().stopped;
            if !stopped && let Err(error) = task(permit) {
                tasks.fail(error);
            }
        });
        self.tasks.wait()
    }
}

impl Tasks {
    fn state(&self) -> MutexGuard<'_, TaskState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, error: Error) {
        let mut state = self.state();
        state.stopped = true;
        state.failure.get_or_insert(error);
        self.ended.notify_all();
    }

    /// Waits while tasks hold too many bytes.
    fn wait(&self) -> Result<()> {
        let mut state = self.state();
        let mut is_busy = true;
        while !state.stopped && state.bytes >= self.most_bytes {
            if is_busy {
                drop(state);
                // Without a pool, or if all tasks are running, there is nothing to do here.
                is_busy = rayon::yield_now() == Some(Yield::Executed);
                state = self.state();
            } else {
                state = (self.ended.wait(state)).unwrap_or_else(PoisonError::into_inner);
                is_busy = true;
            }
        }
        let panicked = || {
            let message = "internal error: a task panicked; please report it";
            Error::new(ErrorKind::Content, message)
        };
        match state.stopped {
            true => Err(state.failure.take().unwrap_or_else(panicked)),
            false => Ok(()),
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.tasks.state();
        state.bytes -= self.bytes;
        state.stopped |= thread::panicking();
        self.tasks.ended.notify_all();
    }
}

impl<W: InOrder> Sequence<W> {
    /// The items of `writer`.
    pub fn new(writer: W) -> Arc<Sequence<W>> {
        Arc::new(Sequence(Mutex::new(SequenceState {
            requested: 0,
            written: 0,
            ready: BTreeMap::new(),
            writer: Some(writer),
        })))
    }

    /// The writer, when all tasks have ended; `None` after its last item.
    pub fn take(&self) -> Option<W> {
        self.state().writer.take()
    }

    fn state(&self) -> MutexGuard<'_, SequenceState<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request(&self) -> u64 {
        let mut state = self.state();
        state.requested += 1;
        state.requested - 1
    }

    /// Adds an item, and writes those that are next, unless another thread does.
    fn add(&self, number: u64, item: W::Item, permit: Permit) -> Result<()> {
        let mut state = self.state();
        state.ready.insert(number, (item, permit));
        loop {
            let next = state.written;
            let Some(writer) = state.writer.take() else {
                return Ok(());
            };
            let Some((item, permit)) = state.ready.remove(&next) else {
                state.writer = Some(writer);
                return Ok(());
            };
            drop(state);
            let writer = writer.write(item)?;
            drop(permit);
            state = self.state();
            state.written += 1;
            state.writer = writer;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    struct Numbers(Vec<u64>);

    impl InOrder for Numbers {
        type Item = u64;

        fn write(mut self, item: u64) -> Result<Option<Numbers>> {
            if item == u64::MAX {
                return Err(Error::new(ErrorKind::Write, "full"));
            }
            self.0.push(item);
            Ok(Some(self))
        }
    }

    fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(work)
    }

    #[test]
    fn items_are_written_in_order_and_tasks_hold_few_bytes() {
        for threads in [1, 2, 5] {
            let (held, most) = (AtomicU64::new(0), AtomicU64::new(0));
            let sequences = [0, 1].map(|_| Sequence::new(Numbers(Vec::new())));
            let written = on_threads(threads, || {
                with_background(4, |background| {
                    for number in 0..200_u64 {
                        let now = 1 + held.fetch_add(1, Ordering::SeqCst);
                        most.fetch_max(now, Ordering::SeqCst);
                        let sequence = &sequences[(number % 2) as usize];
                        let held = &held;
                        background.append(sequence, 1, move || {
                            thread::sleep(Duration::from_micros(number * 7919 % 300));
                            held.fetch_sub(1, Ordering::SeqCst);
                            Ok(number)
                        })?;
                    }
                    background.run(9, || Ok(()))
                })
            });
            written.unwrap();
            for (sequence, first) in sequences.iter().zip([0, 1]) {
                let numbers = sequence.take().unwrap().0;
                assert_eq!(numbers, (first..200).step_by(2).collect::<Vec<_>>());
            }
            assert!(most.into_inner() <= 4);
        }
    }

    #[test]
    fn an_error_ends_the_tasks() {
        for threads in [1, 3] {
            let begun = AtomicU64::new(0);
            let sequence = Sequence::new(Numbers(Vec::new()));
            let failed = on_threads(threads, || {
                with_background(8, |background| {
                    (0..10_000_u64).try_for_each(|number| {
                        let begun = &begun;
                        background.append(&sequence, 1, move || {
                            begun.fetch_add(1, Ordering::SeqCst);
                            Ok(if number == 20 { u64::MAX } else { number })
                        })
                    })
                })
            });
            assert_eq!(failed.unwrap_err().to_string(), "full");
            assert!(begun.into_inner() < 40);
        }
    }

    #[test]
    #[should_panic(expected = "mine")]
    fn a_panic_is_passed_on() {
        let sequence = Sequence::new(Numbers(Vec::new()));
        let run = || {
            with_background(2, |background| {
                (0..9).try_for_each(|_| background.append(&sequence, 1, || panic!("mine")))
            })
        };
        drop(on_threads(2, run));
    }
}

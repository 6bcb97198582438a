//! Threads that make sketches and search.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use crossbeam_channel::{Receiver, Sender, unbounded};
use simtool::run::seen::Seen;
use simtool::{Error, ErrorKind, Result};
use tokio::sync::oneshot;

use super::ask::Reader;
use super::problem::Problem;

/// What a thread does next. Requests at once are bounded, so that the queue is, too.
type Task = Box<dyn FnOnce(&mut Reader<'_>) + Send>;

/// The threads.
pub struct Pool {
    tasks: Sender<Task>,
    threads: Vec<JoinHandle<()>>,
}

/// What a thread is going to answer.
pub struct Later<T>(oneshot::Receiver<T>);

impl Pool {
    /// So many threads for an index.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if they cannot be started.
    pub fn start(seen: &Arc<Seen>, threads: usize) -> Result<Pool> {
        let (sender, tasks) = unbounded::<Task>();
        let start = |number| {
            let (seen, tasks) = (Arc::clone(seen), tasks.clone());
            Builder::new()
                .name(format!("sketch-{number}"))
                .spawn(move || work(&seen, &tasks))
                .map_err(|cause| {
                    Error::new(ErrorKind::Memory, "cannot start threads").caused_by(cause)
                })
        };
        Ok(Pool {
            threads: (0..threads.max(1)).map(start).collect::<Result<_>>()?,
            tasks: sender,
        })
    }

    /// Has `task` done.
    pub fn run<T: Send + 'static>(
        &self,
        task: impl FnOnce(&mut Reader<'_>) -> T + Send + 'static,
    ) -> Later<T> {
        let (answer, later) = oneshot::channel();
        // If all threads were gone, nobody would answer; whoever left does not want to know.
        let _ = self.tasks.send(Box::new(move |reader| {
            if !answer.is_closed() {
                let _ = answer.send(task(reader));
            }
        }));
        Later(later)
    }

    /// Ends the threads.
    pub fn end(self) {
        drop(self.tasks);
        for thread in self.threads {
            let _ = thread.join();
        }
    }
}

impl<T> Later<T> {
    /// The answer.
    ///
    /// # Errors
    /// If the task panicked.
    pub async fn get(self) -> std::result::Result<T, Problem> {
        let Later(later) = self;
        later.await.map_err(|_| Problem::unanswered())
    }
}

fn work(seen: &Seen, tasks: &Receiver<Task>) {
    let mut reader = Reader::new(seen);
    for task in tasks {
        // What a panic leaves behind is dropped, never looked at.
        if catch_unwind(AssertUnwindSafe(|| task(&mut reader))).is_err() {
            reader = Reader::new(seen);
        }
    }
}

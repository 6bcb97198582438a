//! A pool of threads that share a list of work items.

use rayon::ThreadPool;

use super::Progress;
use crate::{Result, threads};

/// A pool of threads.
#[derive(Debug)]
pub struct Workers {
    pool: ThreadPool,
}

impl Workers {
    /// A pool of `threads` threads.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if the system does not start them.
    pub fn new(threads: usize) -> Result<Workers> {
        threads::pool(threads).map(|pool| Workers { pool })
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Runs `task` inside the pool, so that its parallel iterators use these threads.
    pub fn install<R: Send>(&self, task: impl FnOnce() -> R + Send) -> R {
        self.pool.install(task)
    }

    /// Processes `items`. Each thread makes its state with `start`, then takes the next item with
    /// its number until none is left. Returns the states of all threads, in any order.
    ///
    /// # Errors
    /// An error of `work`; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted) if `progress`
    /// was stopped. Items that no thread has taken by then are dropped.
    pub fn for_each<T: Send, S: Send>(
        &self,
        progress: &Progress,
        items: Vec<T>,
        start: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, usize, T) -> Result<()> + Sync,
    ) -> Result<Vec<S>> {
        let (sender, queue) = crossbeam_channel::unbounded();
        for item in items.into_iter().enumerate() {
            // Cannot fail, as the receiver is alive.
            let _ = sender.send(item);
        }
        drop(sender);
        let states = self.pool.broadcast(|_| {
            let mut state = start();
            for (number, item) in queue.try_iter() {
                let done = progress
                    .check()
                    .and_then(|()| work(&mut state, number, item));
                if let Err(error) = done {
                    queue.try_iter().for_each(drop);
                    return Err(error);
                }
            }
            Ok(state)
        });
        states.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, ErrorKind};

    #[test]
    fn every_item_is_done_once() {
        let workers = Workers::new(3).unwrap();
        let items: Vec<usize> = (0..1000).collect();
        let work = |seen: &mut Vec<usize>, number: usize, item: usize| {
            assert_eq!(number, item);
            seen.push(item);
            Ok(())
        };
        let states = workers
            .for_each(&Progress::new(), items, Vec::new, work)
            .unwrap();
        assert_eq!(states.len(), 3);
        let mut seen = states.concat();
        seen.sort_unstable();
        assert_eq!(seen, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn an_error_ends_the_work() {
        let workers = Workers::new(2).unwrap();
        let fail = |_: &mut (), number, ()| match number {
            10 => Err(Error::new(ErrorKind::Read, "ten")),
            _ => Ok(()),
        };
        let error = workers
            .for_each(&Progress::new(), vec![(); 1 << 20], || (), fail)
            .unwrap_err();
        assert_eq!(error.to_string(), "ten");
    }

    #[test]
    fn a_stop_ends_the_work() {
        let (workers, progress) = (Workers::new(1).unwrap(), Progress::new());
        let work = |_: &mut (), number, ()| {
            assert!(number < 5, "an item after the stop");
            if number == 4 {
                progress.stop();
            }
            Ok(())
        };
        let error = workers
            .for_each(&progress, vec![(); 10], || (), work)
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
    }
}

//! Syncs and other waits for a disk, from several threads.
//!
//! A file system makes the files of all threads that wait at the same time durable together, so that
//! eight threads that sync small files take about an eighth of the time of one.

use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::Result;

/// The threads that wait at the same time. They need no cores.
const THREADS: usize = 16;
/// Their stacks.
const STACK_BYTES: usize = 512 << 10;

/// The results of `task` for all `items`, in their order. If the system has no more threads, fewer
/// do the work.
///
/// # Errors
/// An error of a task, after which no further task begins.
///
/// # Panics
/// If a task does.
pub fn map<T: Send, R: Send>(
    items: Vec<T>,
    task: impl Fn(T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let others = THREADS.min(items.len()).saturating_sub(1);
    let next = Mutex::new(items.into_iter().enumerate());
    let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
    let stop = || {
        let mut rest = next.lock().unwrap_or_else(PoisonError::into_inner);
        rest.by_ref().for_each(drop);
    };
    let work = || -> Result<Vec<(usize, R)>> {
        let mut done = Vec::new();
        while let Some((number, item)) = take() {
            match task(item) {
                Ok(result) => done.push((number, result)),
                Err(error) => {
                    stop();
                    return Err(error);
                }
            }
        }
        Ok(done)
    };
    let all = thread::scope(|scope| {
        let start = |_| {
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            thread.spawn_scoped(scope, work).ok()
        };
        let started: Vec<_> = (0..others).map_while(start).collect();
        let own = work();
        let mut all = vec![own];
        for thread in started {
            match thread.join() {
                Ok(done) => all.push(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    let all = all.into_iter().collect::<Result<Vec<_>>>()?;
    let mut done: Vec<(usize, R)> = all.into_iter().flatten().collect();
    done.sort_unstable_by_key(|(number, _)| *number);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, ErrorKind};
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn results_are_in_order_and_an_error_ends_the_work() {
        for count in [0, 1, 5, 1000] {
            let doubled = map((0..count).collect(), |item: u32| Ok(2 * item)).unwrap();
            assert_eq!(doubled, (0..count).map(|item| 2 * item).collect::<Vec<_>>());
        }
        let begun = AtomicU32::new(0);
        let failed = map((0..100_000).collect(), |_: u32| {
            begun.fetch_add(1, Ordering::Relaxed);
            Err::<(), _>(Error::new(ErrorKind::Write, "full"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "full");
        assert!(begun.into_inner() <= THREADS as u32);
    }
}

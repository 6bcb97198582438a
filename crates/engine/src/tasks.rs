//! Tasks on several threads, and one thread that collects what they find.

use std::panic;
use std::sync::{Mutex, PoisonError};
use std::thread;

use crossbeam_channel::bounded;

use crate::{Error, ErrorKind, Result, threads};

/// Blocks for each thread that are found and not collected yet.
const WAITING_BLOCKS: usize = 2;

/// Runs `work` for each of `tasks` on at most `most_threads` threads, and returns the results in the
/// order of the tasks.
///
/// `work` passes what it finds to a function, in blocks that the caller's thread collects: the blocks
/// of a task in order, those of different tasks in any order. So `collect` may use the current rayon
/// pool, and a block should have many records.
///
/// # Errors
/// Errors of `work` and of `collect`; [`ErrorKind::Memory`] if the system does not start a thread.
pub fn collect_from<T: Send, B: Send, R: Send>(
    most_threads: usize,
    tasks: Vec<T>,
    work: impl Fn(T, &mut dyn FnMut(B) -> Result<()>) -> Result<R> + Sync,
    mut collect: impl FnMut(B) -> Result<()>,
) -> Result<Vec<R>> {
    let threads = most_threads.min(tasks.len());
    if threads <= 1 {
        let mut results = tasks.into_iter().map(|task| work(task, &mut collect));
        return results.by_ref().collect();
    }
    let mut results: Vec<Option<R>> = tasks.iter().map(|_| None).collect();
    let queue = Mutex::new(tasks.into_iter().zip(&mut results));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let (sender, blocks) = bounded(WAITING_BLOCKS * threads);
    let run = |sender: crossbeam_channel::Sender<B>| {
        while let Some((task, result)) = next() {
            let found = work(task, &mut |block| {
                // The caller stops if it cannot collect.
                let stopped = |_| Error::new(ErrorKind::Interrupted, "stopped");
                sender.send(block).map_err(stopped)
            });
            match found {
                Ok(found) => *result = Some(found),
                Err(error) => {
                    while next().is_some() {}
                    return Err(error);
                }
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let started = (0..threads).map(|number| {
            let (sender, run) = (sender.clone(), &run);
            threads::start_scoped(scope, format!("task-{number}"), move || run(sender))
        });
        let started: Vec<_> = started.collect();
        drop(sender);
        let collected = blocks.iter().try_for_each(&mut collect);
        drop(blocks);
        let mut ended = Ok(());
        for thread in started {
            let result = thread?
                .join()
                .unwrap_or_else(|payload| panic::resume_unwind(payload));
            ended = ended.and(result);
        }
        collected.and(ended)
    })?;
    drop(queue);
    Ok(results.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers below each task, in blocks of three, and their count.
    fn numbers(task: u32, found: &mut dyn FnMut(Vec<u32>) -> Result<()>) -> Result<u32> {
        let all: Vec<u32> = (0..task).collect();
        all.chunks(3).try_for_each(|block| found(block.to_vec()))?;
        Ok(task)
    }

    #[test]
    fn every_task_is_run_once_and_every_block_is_collected() {
        for threads in [0, 1, 2, 5] {
            for count in [0, 1, 3, 100] {
                let tasks: Vec<u32> = (0..count).collect();
                let mut sum = 0;
                let results = collect_from(threads, tasks.clone(), numbers, |block| {
                    sum += block.len();
                    Ok(())
                });
                assert_eq!(results.unwrap(), tasks);
                assert_eq!(sum as u32, tasks.iter().sum::<u32>());
            }
        }
    }

    #[test]
    fn an_error_of_a_task_or_of_the_collector_ends_all() {
        let error = |message| Error::new(ErrorKind::Write, message);
        for threads in [1, 3] {
            let tasks: Vec<u32> = (0..1000).collect();
            let fail = |task, found: &mut dyn FnMut(Vec<u32>) -> Result<()>| match task {
                20 => Err(error("task")),
                _ => numbers(task, found),
            };
            let failed = collect_from(threads, tasks.clone(), fail, |_| Ok(()));
            assert_eq!(failed.unwrap_err().to_string(), "task");
            let failed = collect_from(threads, tasks, numbers, |block| match block.len() {
                2 => Err(error("collector")),
                _ => Ok(()),
            });
            assert_eq!(failed.unwrap_err().to_string(), "collector");
        }
    }

    #[test]
    #[should_panic(expected = "task 7")]
    fn a_panic_is_passed_on() {
        let fail = |task, _: &mut dyn FnMut(()) -> Result<()>| -> Result<()> {
            assert!(task != 7, "task 7");
            Ok(())
        };
        let _ = collect_from(2, (0..10).collect(), fail, |()| Ok(()));
    }
}

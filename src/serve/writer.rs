//! The one thread that changes the index: what waits is added in one commit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle};

use crossbeam_channel::{Receiver, Sender, unbounded};
use simtool::index::{Answer, Entry};
use simtool::run::seen::Seen;
use simtool::{Error, ErrorKind};
use tokio::sync::oneshot;

use super::ask::Asked;
use super::problem::Problem;

/// So many documents share a commit.
const GROUP: usize = 1 << 14;

/// Documents that somebody adds, with their answers.
type Added = Result<Vec<(Asked, Answer)>, Problem>;

/// What is to be changed, and who wants to know.
enum Change {
    Add(Vec<Asked>, oneshot::Sender<Added>),
    Remove(Vec<u8>, oneshot::Sender<Result<bool, Problem>>),
}

/// The thread.
pub struct Writer {
    changes: Sender<Change>,
    thread: JoinHandle<()>,
    counts: Arc<Counts>,
}

/// What was committed.
#[derive(Default)]
pub struct Counts {
    /// Commits of additions.
    pub commits: AtomicU64,
    /// Documents that were in them.
    pub documents: AtomicU64,
    /// Documents that were removed.
    pub removed: AtomicU64,
    /// Commits that failed.
    pub failed: AtomicU64,
}

impl Writer {
    /// Starts the thread.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if it cannot be started.
    pub fn start(seen: &Arc<Seen>) -> simtool::Result<Writer> {
        let (changes, waiting) = unbounded();
        let counts = Arc::new(Counts::default());
        let (seen, counted) = (Arc::clone(seen), Arc::clone(&counts));
        let thread = Builder::new()
            .name("writer".into())
            .spawn(move || work(&seen, &waiting, &counted))
            .map_err(|cause| {
                Error::new(ErrorKind::Memory, "cannot start threads").caused_by(cause)
            })?;
        Ok(Writer {
            changes,
            thread,
            counts,
        })
    }

    /// Looks for documents that have ids and adds them, in their order, as one step.
    pub async fn add(&self, asked: Vec<Asked>) -> Added {
        let (answer, later) = oneshot::channel();
        let _ = self.changes.send(Change::Add(asked, answer));
        later.await.unwrap_or_else(|_| Err(ended()))
    }

    /// Removes a document; says whether it was there.
    pub async fn remove(&self, id: Vec<u8>) -> Result<bool, Problem> {
        let (answer, later) = oneshot::channel();
        let _ = self.changes.send(Change::Remove(id, answer));
        later.await.unwrap_or_else(|_| Err(ended()))
    }

    /// What was committed.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Ends the thread when all that waits is done.
    pub fn end(self) {
        drop(self.changes);
        let _ = self.thread.join();
    }
}

fn ended() -> Problem {
    Problem::broken("an internal error, please report it")
}

fn work(seen: &Seen, waiting: &Receiver<Change>, counts: &Counts) {
    for first in waiting {
        let mut group = Vec::new();
        let mut documents = 0;
        let mut next = Some(first);
        while let Some(change) = next.take() {
            match change {
                Change::Add(asked, answer) => {
                    documents += asked.len();
                    group.push((asked, answer));
                    if documents < GROUP {
                        next = waiting.try_recv().ok();
                    }
                }
                Change::Remove(id, answer) => {
                    // What came before it is added before it is removed.
                    add(seen, std::mem::take(&mut group), counts);
                    let removed = contained(|| remove(seen, &id, counts));
                    let _ = answer.send(removed);
                }
            }
        }
        add(seen, group, counts);
    }
}

fn add(seen: &Seen, group: Vec<(Vec<Asked>, oneshot::Sender<Added>)>, counts: &Counts) {
    if group.is_empty() {
        return;
    }
    let all = || group.iter().flat_map(|(asked, _)| asked);
    let limit = all().map(|asked| asked.limit).max().unwrap_or(1);
    let added = contained(|| {
        let entries = all().map(|asked| Entry {
            id: asked.id.as_deref().unwrap_or_default(),
            sketch: &asked.sketch,
            payload: &asked.payload,
        });
        let entries: Vec<Entry<'_>> = entries.collect();
        let added = seen.index().add(&entries, limit);
        added.map_err(|error| Problem::from(&error))
    });
    match added {
        Ok(answers) => {
            let added = answers.iter().filter(|answer| answer.added).count();
            counts.commits.fetch_add(1, Ordering::Relaxed);
            counts.documents.fetch_add(added as u64, Ordering::Relaxed);
            let mut answers = answers.into_iter();
            for (asked, answer) in group {
                let own = asked.into_iter().zip(answers.by_ref());
                let _ = answer.send(Ok(own.collect()));
            }
        }
        Err(problem) => {
            counts.failed.fetch_add(1, Ordering::Relaxed);
            for (_, answer) in group {
                let _ = answer.send(Err(problem.clone()));
            }
        }
    }
}

fn remove(seen: &Seen, id: &[u8], counts: &Counts) -> Result<bool, Problem> {
    match seen.index().remove(&[id]) {
        Ok(there) => {
            let there = there.first().copied().unwrap_or(false);
            counts.removed.fetch_add(there.into(), Ordering::Relaxed);
            Ok(there)
        }
        Err(error) => {
            counts.failed.fetch_add(1, Ordering::Relaxed);
            Err(Problem::from(&error))
        }
    }
}

/// What came of `task`; a panic is an answer, too, and the next change is tried.
fn contained<T>(task: impl FnOnce() -> Result<T, Problem>) -> Result<T, Problem> {
    catch_unwind(AssertUnwindSafe(task)).unwrap_or_else(|_| Err(ended()))
}

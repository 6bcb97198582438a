//! The one thread that changes the index: what waits is added in one commit.
//!
//! What waits is bounded by the [places](super::gate::Place) of those who wait, and what it holds
//! by the [memory](super::memory) that was lent for it. Whoever has left before his turn changes
//! nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, unbounded};
use simtool::index::{Answer, Entry, Limit};
use simtool::run::seen::Seen;
use simtool::{Error, ErrorKind};
use tokio::sync::oneshot;

use super::answer;
use super::ask::Asked;
use super::gate::Place;
use super::pool::join;
use super::problem::Problem;

/// So many documents, bytes of them, or matches that they may have, share a commit.
const GROUP: usize = 1 << 14;
const GROUP_BYTES: usize = 16 << 20;
const GROUP_MATCHES: usize = 1 << 18;
/// The ids of all matches of a commit; the answers behind are cut short.
const GROUP_ID_BYTES: usize = 64 << 20;
/// An index gives all documents of a commit as many matches as one of them wants. So those who
/// want few do not share one with those who want many.
const FEW: [usize; 2] = [10, 100];

/// Documents that somebody adds, with the answer to each.
pub type Added = Vec<(Asked, Result<Answer, Problem>)>;

/// What is to be changed, and who wants to know. The place is given back when it is done.
enum Change {
    Add(Addition, Option<Place>),
    Remove(Vec<u8>, oneshot::Sender<Result<bool, Problem>>, Place),
}

/// Documents of one caller.
struct Addition {
    asked: Vec<Asked>,
    answer: oneshot::Sender<Added>,
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

    /// Looks for documents that have ids and adds them, in their order, as one step. Who has no
    /// place to hand over keeps one until this is answered.
    pub async fn add(&self, asked: Vec<Asked>, place: Option<Place>) -> Result<Added, Problem> {
        let (answer, later) = oneshot::channel();
        let addition = Addition { asked, answer };
        let _ = self.changes.send(Change::Add(addition, place));
        later.await.map_err(|_| Problem::unanswered())
    }

    /// Removes a document; says whether it was there.
    pub async fn remove(&self, id: Vec<u8>, place: Place) -> Result<bool, Problem> {
        let (answer, later) = oneshot::channel();
        let _ = self.changes.send(Change::Remove(id, answer, place));
        later.await.unwrap_or_else(|_| Err(Problem::unanswered()))
    }

    /// What was committed.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Ends the thread when all that waits is done, or leaves it alone at the deadline.
    pub fn end(self, deadline: Instant) {
        drop(self.changes);
        join(self.thread, deadline);
    }
}

fn work(seen: &Seen, waiting: &Receiver<Change>, counts: &Counts) {
    for first in waiting {
        let mut group = Group::default();
        let mut next = Some(first);
        while let Some(change) = next.take() {
            match change {
                // Nobody would hear the answer.
                Change::Add(addition, _) if addition.answer.is_closed() => {}
                Change::Remove(_, answer, _) if answer.is_closed() => {}
                Change::Add(addition, place) => group.push(addition, place),
                Change::Remove(id, answer, _place) => {
                    // What came before it is added before it is removed.
                    std::mem::take(&mut group).add(seen, counts);
                    let removed = contained(|| remove(seen, &id, counts));
                    let _ = answer.send(removed);
                }
            }
            if !group.is_full() {
                next = waiting.try_recv().ok();
            }
        }
        group.add(seen, counts);
    }
}

/// What is added together.
#[derive(Default)]
struct Group {
    /// By how many matches they want.
    additions: [Vec<Addition>; FEW.len() + 1],
    documents: usize,
    bytes: usize,
    matches: usize,
    places: Vec<Place>,
}

impl Group {
    fn push(&mut self, addition: Addition, place: Option<Place>) {
        let asked = &addition.asked;
        self.documents += asked.len();
        self.bytes += asked.iter().map(Asked::weight).sum::<usize>();
        self.matches += asked.iter().map(|asked| asked.limit).sum::<usize>();
        self.places.extend(place);
        let limit = most_wanted(asked);
        let class = FEW.partition_point(|few| *few < limit);
        self.additions[class].push(addition);
    }

    fn is_full(&self) -> bool {
        self.documents >= GROUP || self.bytes >= GROUP_BYTES || self.matches >= GROUP_MATCHES
    }

    /// Adds all of it, and tells whoever waits.
    fn add(self, seen: &Seen, counts: &Counts) {
        for additions in self.additions {
            let mut asked = Vec::new();
            let mut callers = Vec::new();
            for addition in additions {
                callers.push((addition.asked.len(), addition.answer));
                asked.extend(addition.asked);
            }
            let mut answers = Vec::with_capacity(asked.len());
            add(seen, &asked, most_wanted(&asked), counts, &mut answers);
            let mut answered = asked.into_iter().zip(answers);
            for (count, caller) in callers {
                let _ = caller.send(answered.by_ref().take(count).collect());
            }
        }
    }
}

fn most_wanted(asked: &[Asked]) -> usize {
    asked.iter().map(|asked| asked.limit).max().unwrap_or(1)
}

/// Adds documents in one commit, or, if one of them cannot be added, in as many as it takes to
/// leave that one out.
fn add(
    seen: &Seen,
    asked: &[Asked],
    limit: usize,
    counts: &Counts,
    answers: &mut Vec<Result<Answer, Problem>>,
) {
    if asked.is_empty() {
        return;
    }
    let added = contained(|| {
        let entries = asked.iter().map(|asked| Entry {
            id: asked.id.as_deref().unwrap_or_default(),
            sketch: &asked.sketch,
            payload: &asked.payload,
        });
        let entries: Vec<Entry<'_>> = entries.collect();
        let limit = Limit {
            all_id_bytes: GROUP_ID_BYTES,
            ..answer::limit(limit)
        };
        let added = seen.index().add_within(&entries, limit);
        added.map_err(|error| Problem::from(&error))
    });
    match added {
        Ok(added) => {
            let new = added.iter().filter(|answer| answer.added).count();
            counts.commits.fetch_add(1, Ordering::Relaxed);
            counts.documents.fetch_add(new as u64, Ordering::Relaxed);
            answers.extend(asked.iter().zip(added).map(|(asked, mut answer)| {
                answer.matches.truncate(asked.limit);
                let mut left = answer::limit(asked.limit).id_bytes;
                answer::cut(&mut answer, &mut left);
                answer.truncated &= answer.matches.len() < asked.limit;
                Ok(answer)
            }));
        }
        // Nothing of it is there: what others send stands in nobody's way.
        Err(problem) if problem.is_of_a_document() && asked.len() > 1 => {
            let (first, second) = asked.split_at(asked.len() / 2);
            add(seen, first, limit, counts, answers);
            add(seen, second, limit, counts, answers);
        }
        Err(problem) => {
            counts.failed.fetch_add(1, Ordering::Relaxed);
            answers.extend(asked.iter().map(|_| Err(problem.clone())));
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
    catch_unwind(AssertUnwindSafe(task)).unwrap_or_else(|_| Err(Problem::unanswered()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::trial::{Disk, Failure, Trial, addition, run, until};
    use std::io::ErrorKind;

    fn codes(added: &Added) -> Vec<Result<bool, &'static str>> {
        let code = |answer: &Result<Answer, Problem>| match answer {
            Ok(answer) => Ok(answer.added),
            Err(problem) => Err(problem.code()),
        };
        added.iter().map(|(_, answer)| code(answer)).collect()
    }

    /// A group of callers, each with his documents; what each hears.
    fn together(seen: &Seen, callers: Vec<Vec<Asked>>) -> Vec<Added> {
        let mut group = Group::default();
        let mut answers = Vec::new();
        for asked in callers {
            let (answer, later) = oneshot::channel();
            group.push(Addition { asked, answer }, None);
            answers.push(later);
        }
        group.add(seen, &Counts::default());
        let answers = answers.into_iter();
        answers
            .map(|later| later.blocking_recv().unwrap())
            .collect()
    }

    #[test]
    fn a_document_that_cannot_be_added_is_refused_alone() {
        let trial = Trial::new();
        let seen = trial.seen();
        let mut wrong = addition("wrong", 3);
        wrong.sketch.pop();
        let callers = vec![
            vec![addition("a", 1), addition("b", u64::MAX)],
            vec![addition("c", 2), wrong, addition("d", 1 << 40)],
            vec![addition("e", !1)],
        ];
        let heard = together(&seen, callers);
        assert_eq!(codes(&heard[0]), [Ok(true), Ok(true)]);
        assert_eq!(codes(&heard[1]), [Ok(true), Err("bad-document"), Ok(true)]);
        assert_eq!(codes(&heard[2]), [Ok(true)]);
        // In their order: the last one found the second one.
        let (_, last) = &heard[2][0];
        assert_eq!(last.as_ref().unwrap().matches[0].id, b"b");
        assert_eq!(seen.index().info().documents, 5);
    }

    #[test]
    fn everybody_hears_as_many_matches_as_he_wants() {
        let trial = Trial::new();
        let seen = trial.seen();
        let known = (0..40).map(|number| addition(&format!("k{number}"), 0));
        together(&seen, vec![known.collect()]);
        let with = |id: &str, limit| Asked {
            limit,
            ..addition(id, 0)
        };
        let callers = vec![
            vec![with("a", 1)],
            vec![with("b", 9)],
            vec![with("c", 1000)],
        ];
        let heard = together(&seen, callers);
        let matches = heard
            .iter()
            .map(|added| added[0].1.as_ref().unwrap().matches.len());
        assert_eq!(matches.collect::<Vec<_>>(), [1, 9, 42]);
        let mut group = Group::default();
        for limit in [10, 11, 100, 101, 1, 1000] {
            let (answer, _) = oneshot::channel();
            let asked = vec![with("x", limit)];
            group.push(Addition { asked, answer }, None);
        }
        let wanted = group.additions.each_ref().map(|additions| {
            let limits = additions
                .iter()
                .map(|addition| most_wanted(&addition.asked));
            limits.max().unwrap()
        });
        assert_eq!(wanted, [10, 100, 1000]);
    }

    #[test]
    fn groups_are_bounded() {
        let with = |limit, payload| Asked {
            limit,
            payload: vec![0; payload],
            ..addition("a", 0)
        };
        let fits = |asked: Vec<Asked>| {
            let mut group = Group::default();
            let (answer, _) = oneshot::channel();
            group.push(Addition { asked, answer }, None);
            !group.is_full()
        };
        assert!(fits(vec![with(1000, 1 << 20)]));
        assert!(!fits(vec![with(1, GROUP_BYTES)]));
        assert!(!fits((0..263).map(|_| with(1000, 0)).collect()));
        assert!(!fits((0..GROUP).map(|_| with(1, 0)).collect()));
    }

    #[test]
    fn what_the_disk_refuses_is_told_and_questions_go_on() {
        let disk = Disk::default();
        let trial = Trial::with(disk.faults());
        let seen = trial.seen();
        together(&seen, vec![vec![addition("a", 1)]]);
        let failures: [(Failure, &str); 3] = [
            (|| ErrorKind::StorageFull.into(), "disk-full"),
            (|| ErrorKind::ReadOnlyFilesystem.into(), "disk-read-only"),
            (|| ErrorKind::PermissionDenied.into(), "internal"),
        ];
        for (failure, code) in failures {
            disk.fail(Some(failure));
            for _ in 0..2 {
                let heard = together(&seen, vec![vec![addition("b", 2)]]);
                assert_eq!(codes(&heard[0]), [Err(code)]);
                let removed = remove(&seen, b"a", &Counts::default());
                assert_eq!(removed.unwrap_err().code(), code);
                assert!(seen.index().document(b"a").unwrap().is_some());
            }
        }
        disk.fail(None);
        let heard = together(&seen, vec![vec![addition("b", 2)]]);
        assert_eq!(codes(&heard[0]), [Ok(true)]);
    }

    #[test]
    fn who_left_while_waiting_has_added_nothing() {
        run(async {
            let disk = Disk::default();
            let trial = Trial::with(disk.faults());
            let service = trial.service();
            disk.stand_still(true);
            let first = tokio::spawn({
                let service = Arc::clone(&service);
                async move { service.writer.add(vec![addition("a", 1)], None).await }
            });
            let before = disk.asked();
            until("a commit that is under way", || disk.asked() > before).await;
            for _ in 0..3 {
                let place = service.place().unwrap();
                let late = service.writer.add(vec![addition("b", 2)], Some(place));
                let late = tokio::time::timeout(std::time::Duration::from_millis(1), late);
                assert!(late.await.is_err());
            }
            let place = service.place().unwrap();
            // Who has left still has a place, so that the queue cannot grow.
            assert_eq!(service.slow.available_permits(), 4);
            let patient = tokio::spawn({
                let service = Arc::clone(&service);
                async move {
                    service
                        .writer
                        .add(vec![addition("c", 3)], Some(place))
                        .await
                }
            });
            until("the last one", || service.writer.changes.len() == 4).await;
            disk.stand_still(false);
            assert_eq!(codes(&first.await.unwrap().unwrap()), [Ok(true)]);
            assert_eq!(codes(&patient.await.unwrap().unwrap()), [Ok(true)]);
            let index = service.seen.index();
            assert!(index.document(b"b").unwrap().is_none());
            assert!(index.document(b"c").unwrap().is_some());
            until("all places", || service.slow.available_permits() == 8).await;
        });
    }
}

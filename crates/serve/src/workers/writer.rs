//! The thread that changes the index: waiting additions share a commit.
//!
//! The [permits](crate::limits::permits::SlowPermit) of the callers bound the number of waiting
//! requests; the [memory](crate::limits::memory) that they reserved bounds the size of these requests.
//! A request that is cancelled before its turn has no effect.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, unbounded};
use simtool_batch::seen::Seen;
use simtool_core::threads::start;
use simtool_index::{Answer, Entry, Limit};
use tokio::sync::oneshot;

use super::threads::join;
use crate::limits::permits::SlowPermit;
use crate::log::Log;
use crate::problem::Problem;
use crate::question::Question;
use crate::question::answer;

/// A group of additions is full when it reaches any of these limits: on documents, on their bytes,
/// or on the matches that they ask for.
const GROUP: usize = 1 << 14;
const GROUP_BYTES: usize = 16 << 20;
const GROUP_MATCHES: usize = 1 << 18;
/// The maximum bytes of ids in all answers of a commit; answers beyond that are truncated.
const GROUP_ID_BYTES: usize = 64 << 20;
/// All documents of a commit are searched with the largest limit that one of them asks for; then
/// each answer is truncated to its own limit. So documents with small and with large limits are in
/// different commits.
const FEW: [usize; 2] = [10, 100];

/// Documents of one caller, with the answer to each.
pub type Added = Vec<(Question, Result<Answer, Problem>)>;

/// A change and the channel of its answer. The permit is released after the change.
enum WriteRequest {
    Add(AdditionRequest, Option<SlowPermit>),
    Remove(Vec<u8>, oneshot::Sender<Result<bool, Problem>>, SlowPermit),
}

/// Documents of one caller.
struct AdditionRequest {
    questions: Vec<Question>,
    answer: oneshot::Sender<Added>,
}

/// The thread.
pub struct Writer {
    changes: Sender<WriteRequest>,
    thread: JoinHandle<()>,
    counts: Arc<WriteCounts>,
}

/// Counts of commits.
#[derive(Default)]
pub struct WriteCounts {
    /// Commits of additions.
    pub commits: AtomicU64,
    /// Documents in these commits.
    pub documents: AtomicU64,
    /// Documents that were removed.
    pub removed: AtomicU64,
    /// Commits of additions or removals that failed.
    pub failed: AtomicU64,
}

impl Writer {
    /// Starts the thread.
    pub fn start(seen: &Arc<Seen>, dump: String, log: Log) -> simtool_core::Result<Writer> {
        let (changes, waiting) = unbounded();
        let counts = Arc::new(WriteCounts::default());
        let committer = Committer {
            seen: Arc::clone(seen),
            dump,
            counts: Arc::clone(&counts),
            log,
        };
        let thread = start("writer", move || committer.work(&waiting))?;
        Ok(Writer {
            changes,
            thread,
            counts,
        })
    }

    /// Looks up and adds documents, in order; all must have ids. They share one commit unless one
    /// of them is refused. A caller that passes no permit has to hold one until the answer.
    pub async fn add(
        &self,
        questions: Vec<Question>,
        permit: Option<SlowPermit>,
    ) -> Result<Added, Problem> {
        let (answer, later) = oneshot::channel();
        let addition = AdditionRequest { questions, answer };
        let _ = self.changes.send(WriteRequest::Add(addition, permit));
        later.await.map_err(|_| Problem::unanswered())
    }

    /// Removes a document; returns whether it existed.
    pub async fn remove(&self, id: Vec<u8>, permit: SlowPermit) -> Result<bool, Problem> {
        let (answer, later) = oneshot::channel();
        let _ = self.changes.send(WriteRequest::Remove(id, answer, permit));
        later.await.unwrap_or_else(|_| Err(Problem::unanswered()))
    }

    /// The counts of commits.
    pub fn counts(&self) -> &WriteCounts {
        &self.counts
    }

    /// Waits until the pending requests are done, at most until the deadline.
    pub fn end(self, deadline: Instant) {
        drop(self.changes);
        join(self.thread, deadline);
    }
}

/// The state of the thread.
struct Committer {
    seen: Arc<Seen>,
    /// The label of the dump of additions.
    dump: String,
    counts: Arc<WriteCounts>,
    log: Log,
}

impl Committer {
    fn work(&self, waiting: &Receiver<WriteRequest>) {
        for first in waiting {
            let mut group = CommitGroup::default();
            let mut next = Some(first);
            while let Some(change) = next.take() {
                match change {
                    // The caller was cancelled.
                    WriteRequest::Add(addition, _) if addition.answer.is_closed() => {}
                    WriteRequest::Remove(_, answer, _) if answer.is_closed() => {}
                    WriteRequest::Add(addition, permit) => group.push(addition, permit),
                    WriteRequest::Remove(id, answer, _permit) => {
                        // Earlier additions come first.
                        self.add_all(std::mem::take(&mut group));
                        let removed = contained(|| self.remove(&id));
                        let _ = answer.send(removed);
                    }
                }
                if !group.is_full() {
                    next = waiting.try_recv().ok();
                }
            }
            self.add_all(group);
        }
    }

    /// Adds all documents, and answers their callers.
    fn add_all(&self, group: CommitGroup) {
        for additions in group.additions {
            let mut questions = Vec::new();
            let mut callers = Vec::new();
            for addition in additions {
                callers.push((addition.questions.len(), addition.answer));
                questions.extend(addition.questions);
            }
            let mut answers = Vec::with_capacity(questions.len());
            self.add(&questions, max_wanted(&questions), &mut answers);
            let mut answered = questions.into_iter().zip(answers);
            for (count, caller) in callers {
                let _ = caller.send(answered.by_ref().take(count).collect());
            }
        }
    }

    /// Adds documents in one commit; if one of them is refused, in several commits without that
    /// one.
    fn add(
        &self,
        questions: &[Question],
        limit: usize,
        answers: &mut Vec<Result<Answer, Problem>>,
    ) {
        if questions.is_empty() {
            return;
        }
        let added = contained(|| {
            let entries: Vec<Entry<'_>> = questions.iter().map(Question::entry).collect();
            let limit = Limit {
                all_id_bytes: GROUP_ID_BYTES,
                ..answer::limit(limit)
            };
            let added = self.seen.index().add(&entries, &self.dump, limit);
            added.map_err(|error| Problem::of(self.log, "add", &error))
        });
        match added {
            Ok(added) => {
                let new = added.iter().filter(|answer| answer.added).count();
                self.counts.commits.fetch_add(1, Ordering::Relaxed);
                self.counts
                    .documents
                    .fetch_add(new as u64, Ordering::Relaxed);
                answers.extend(questions.iter().zip(added).map(|(question, mut answer)| {
                    answer.matches.truncate(question.limit);
                    let mut left = answer::limit(question.limit).id_bytes;
                    answer::cut(&mut answer, &mut left);
                    answer.truncated &= answer.matches.len() < question.limit;
                    Ok(answer)
                }));
            }
            // Nothing was added: each half is tried alone, so that other documents are added.
            Err(problem) if problem.is_of_a_document() && questions.len() > 1 => {
                let (first, second) = questions.split_at(questions.len() / 2);
                self.add(first, limit, answers);
                self.add(second, limit, answers);
            }
            Err(problem) => {
                self.counts.failed.fetch_add(1, Ordering::Relaxed);
                answers.extend(questions.iter().map(|_| Err(problem.clone())));
            }
        }
    }

    fn remove(&self, id: &[u8]) -> Result<bool, Problem> {
        match self.seen.index().remove(&[id]) {
            Ok(there) => {
                let there = there.first().copied().unwrap_or(false);
                self.counts
                    .removed
                    .fetch_add(there.into(), Ordering::Relaxed);
                Ok(there)
            }
            Err(error) => {
                self.counts.failed.fetch_add(1, Ordering::Relaxed);
                Err(Problem::of(self.log, "remove", &error))
            }
        }
    }
}

/// Additions that share commits.
#[derive(Default)]
struct CommitGroup {
    /// By class of the largest number of matches asked for; see [`FEW`].
    additions: [Vec<AdditionRequest>; FEW.len() + 1],
    documents: usize,
    bytes: usize,
    matches: usize,
    permits: Vec<SlowPermit>,
}

impl CommitGroup {
    fn push(&mut self, addition: AdditionRequest, permit: Option<SlowPermit>) {
        let questions = &addition.questions;
        self.documents += questions.len();
        self.bytes += questions.iter().map(Question::weight).sum::<usize>();
        self.matches += questions
            .iter()
            .map(|question| question.limit)
            .sum::<usize>();
        self.permits.extend(permit);
        let limit = max_wanted(questions);
        let class = FEW.partition_point(|few| *few < limit);
        self.additions[class].push(addition);
    }

    fn is_full(&self) -> bool {
        self.documents >= GROUP || self.bytes >= GROUP_BYTES || self.matches >= GROUP_MATCHES
    }
}

fn max_wanted(questions: &[Question]) -> usize {
    questions
        .iter()
        .map(|question| question.limit)
        .max()
        .unwrap_or(1)
}

/// The result of `task`; a panic becomes a problem, and the thread goes on.
fn contained<T>(task: impl FnOnce() -> Result<T, Problem>) -> Result<T, Problem> {
    catch_unwind(AssertUnwindSafe(task)).unwrap_or_else(|_| Err(Problem::unanswered()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_service::{Disk, Failure, TestService, addition, near_zero, run, until};
    use std::io::ErrorKind;

    fn codes(added: &Added) -> Vec<Result<bool, &'static str>> {
        let code = |answer: &Result<Answer, Problem>| match answer {
            Ok(answer) => Ok(answer.added),
            Err(problem) => Err(problem.code()),
        };
        added.iter().map(|(_, answer)| code(answer)).collect()
    }

    fn committer(seen: &Arc<Seen>) -> Committer {
        Committer {
            seen: Arc::clone(seen),
            dump: String::new(),
            counts: Arc::default(),
            log: Log::Failures(|_| {}),
        }
    }

    /// Adds the documents of several callers together; returns the answers to each caller.
    fn together(seen: &Arc<Seen>, callers: Vec<Vec<Question>>) -> Vec<Added> {
        let mut group = CommitGroup::default();
        let mut answers = Vec::new();
        for questions in callers {
            let (answer, later) = oneshot::channel();
            group.push(AdditionRequest { questions, answer }, None);
            answers.push(later);
        }
        committer(seen).add_all(group);
        let answers = answers.into_iter();
        answers
            .map(|later| later.blocking_recv().unwrap())
            .collect()
    }

    /// Promise (The service): A document that cannot be added is refused alone, and each request
    /// has its own limit on matches
    #[test]
    fn a_document_that_cannot_be_added_is_refused_alone() {
        let trial = TestService::new();
        let seen = Arc::new(trial.seen());
        let mut wrong = addition("wrong", 3);
        wrong.facts.sketch.pop();
        let callers = vec![
            vec![addition("a", 1), addition("b", u64::MAX)],
            vec![addition("c", 2), wrong, addition("d", 1 << 40)],
            vec![addition("e", !1)],
        ];
        let answers = together(&seen, callers);
        assert_eq!(codes(&answers[0]), [Ok(true), Ok(true)]);
        assert_eq!(
            codes(&answers[1]),
            [Ok(true), Err("bad-document"), Ok(true)]
        );
        assert_eq!(codes(&answers[2]), [Ok(true)]);
        // In their order: the last one found the second one.
        let (_, last) = &answers[2][0];
        assert_eq!(last.as_ref().unwrap().matches[0].id, b"b");
        assert_eq!(seen.index().info().documents, 5);
    }

    /// Promise (The service): A document that cannot be added …
    #[test]
    fn each_caller_gets_the_matches_that_it_asks_for() {
        let trial = TestService::new();
        let seen = Arc::new(trial.seen());
        let known = (0..40).map(|number| addition(&format!("k{number}"), near_zero(number)));
        together(&seen, vec![known.collect()]);
        let with = |id: &str, limit| Question {
            limit,
            ..addition(id, 0)
        };
        let callers = vec![
            vec![with("a", 1)],
            vec![with("b", 9)],
            vec![with("c", 1000)],
        ];
        let answers = together(&seen, callers);
        let matches = answers
            .iter()
            .map(|added| added[0].1.as_ref().unwrap().matches.len());
        // The first of the three is a copy of the first known one, and so are the others.
        assert_eq!(matches.collect::<Vec<_>>(), [1, 9, 40]);
        let mut group = CommitGroup::default();
        for limit in [10, 11, 100, 101, 1, 1000] {
            let (answer, _) = oneshot::channel();
            let questions = vec![with("x", limit)];
            group.push(AdditionRequest { questions, answer }, None);
        }
        let wanted = group.additions.each_ref().map(|additions| {
            let limits = additions
                .iter()
                .map(|addition| max_wanted(&addition.questions));
            limits.max().unwrap()
        });
        assert_eq!(wanted, [10, 100, 1000]);
    }

    /// Promise (The service): Waiting bodies, lines and answers are …
    #[test]
    fn groups_are_bounded() {
        let with = |limit, payload| Question {
            limit,
            payload: vec![0; payload],
            ..addition("a", 0)
        };
        let fits = |questions: Vec<Question>| {
            let mut group = CommitGroup::default();
            let (answer, _) = oneshot::channel();
            group.push(AdditionRequest { questions, answer }, None);
            !group.is_full()
        };
        assert!(fits(vec![with(1000, 1 << 20)]));
        assert!(!fits(vec![with(1, GROUP_BYTES)]));
        assert!(!fits((0..263).map(|_| with(1000, 0)).collect()));
        assert!(!fits((0..GROUP).map(|_| with(1, 0)).collect()));
    }

    /// Promise (The service): A full or read-only disk refuses …
    #[test]
    fn disk_errors_are_reported_and_queries_go_on() {
        let disk = Disk::default();
        let trial = TestService::with(disk.faults());
        let seen = Arc::new(trial.seen());
        together(&seen, vec![vec![addition("a", 1)]]);
        let failures: [(Failure, &str); 3] = [
            (|| ErrorKind::StorageFull.into(), "disk-full"),
            (|| ErrorKind::ReadOnlyFilesystem.into(), "disk-read-only"),
            (|| ErrorKind::PermissionDenied.into(), "internal"),
        ];
        for (failure, code) in failures {
            disk.fail(Some(failure));
            for _ in 0..2 {
                let answers = together(&seen, vec![vec![addition("b", 2)]]);
                assert_eq!(codes(&answers[0]), [Err(code)]);
                let removed = committer(&seen).remove(b"a");
                assert_eq!(removed.unwrap_err().code(), code);
                assert!(seen.index().document(b"a").unwrap().is_some());
            }
        }
        disk.fail(None);
        let answers = together(&seen, vec![vec![addition("b", 2)]]);
        assert_eq!(codes(&answers[0]), [Ok(true)]);
    }

    /// Promise (The service): Additions do not block queries; queued …
    #[test]
    fn a_cancelled_addition_has_no_effect() {
        run(async {
            let disk = Disk::default();
            let trial = TestService::with(disk.faults());
            let service = trial.service();
            disk.block(true);
            let first = tokio::spawn({
                let service = Arc::clone(&service);
                async move { service.writer.add(vec![addition("a", 1)], None).await }
            });
            let before = disk.begun();
            until("a commit under way", || disk.begun() > before).await;
            for _ in 0..3 {
                let permit = service.permits.slow().unwrap();
                let late = service.writer.add(vec![addition("b", 2)], Some(permit));
                let late = tokio::time::timeout(std::time::Duration::from_millis(1), late);
                assert!(late.await.is_err());
            }
            let permit = service.permits.slow().unwrap();
            // A cancelled request keeps its permit, so that the queue is bounded.
            assert_eq!(service.permits.slow.available_permits(), 4);
            let waiting = tokio::spawn({
                let service = Arc::clone(&service);
                async move {
                    service
                        .writer
                        .add(vec![addition("c", 3)], Some(permit))
                        .await
                }
            });
            until("the last request", || service.writer.changes.len() == 4).await;
            disk.block(false);
            assert_eq!(codes(&first.await.unwrap().unwrap()), [Ok(true)]);
            assert_eq!(codes(&waiting.await.unwrap().unwrap()), [Ok(true)]);
            let index = service.seen.index();
            assert!(index.document(b"b").unwrap().is_none());
            assert!(index.document(b"c").unwrap().is_some());
            until("all permits", || {
                service.permits.slow.available_permits() == 8
            })
            .await;
        });
    }
}

//! Many questions in one request: a JSON object a line, answered in order while they arrive.
//!
//! ```text
//! body ─► Lines ─► parts of some hundred lines ─► Pool ─► runs of questions, runs of additions ─► answers
//! ```
//!
//! A few parts are on their way at once, on [borrowed memory](super::memory), and answers wait in
//! bounded room: memory does not grow with the batch. Lines are taken one after another: what one
//! adds, the next finds. Whatever goes wrong is said once for each line it concerns.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as _, Frame};
use http_body_util::BodyExt;
use simtool::index::{Answer, Limit, Query};
use simtool::run::seen::Seen;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::Service;
use super::answer::{IDS_BYTES, Said, cut, id_bytes, limit, loan_bytes};
use super::ask::Asked;
use super::frames::Answers;
use super::gate::{Permit, Place};
use super::lines::{Line, Lines};
use super::memory::Loan;
use super::pool::{Later, Pool};
use super::problem::Problem;

/// So many lines, or bytes of memory, make a part.
const PART_LINES: usize = 1024;
const PART_BYTES: usize = 2 << 20;
/// The beginning of a line may have so many bytes that are not lent.
const BEGUN_BYTES: usize = 64 << 10;
/// Parts that are prepared while one is answered.
const AHEAD: usize = 4;
/// Matches that the lines of a run may have, all together.
const MOST_MATCHES: usize = 1 << 13;
/// So many bytes of answers are sent before the next run is begun.
const SENT_BYTES: usize = 64 << 10;

/// A line: what it asks, or what is wrong with it.
type Read = Result<Asked, Problem>;

/// Lines that are taken together.
#[derive(Default)]
struct Part {
    lines: Vec<Line>,
    weight: usize,
    loan: Loan,
}

/// The same on their way through the pool.
struct Prepared {
    numbers: Vec<u64>,
    read: Later<Vec<Read>>,
}

/// Neighbours that are answered together.
#[derive(Default)]
struct Run {
    numbers: Vec<u64>,
    asked: Vec<Asked>,
}

/// What a run is answered: lines, and the verdict of each.
type Told = (Vec<u8>, Vec<&'static str>);

/// How far the questions of a run are.
enum Outcome {
    /// The first of them are answered; the others come next.
    Answered(Told, Run),
    /// So many bytes have to be lent for the answer to the first ones, which are then looked up
    /// again.
    Long(Run, usize),
}

/// The answers to the lines of `body`.
pub fn answers(
    service: Arc<Service>,
    permits: (Option<Permit>, Place),
    add: Option<bool>,
    body: Body,
) -> Body {
    let (answers, frames) = Answers::of(&service);
    let (parts, prepared) = mpsc::channel(AHEAD);
    let reading = Arc::clone(&service);
    tokio::spawn(async move { Cutting::new(&reading, add, parts).all(body).await });
    tokio::spawn(async move {
        answer_all(&service, prepared, answers).await;
        drop(permits);
    });
    Body::new(frames)
}

/// Cuts a body into parts and has them read.
struct Cutting<'a> {
    service: &'a Service,
    add: Option<bool>,
    parts: mpsc::Sender<Prepared>,
    lines: Lines,
    part: Part,
    /// The loan of a long line that is coming.
    long: Option<Loan>,
    /// When the line that is coming has to be there.
    deadline: Instant,
}

/// Nobody wants answers any more.
struct Left;

impl<'a> Cutting<'a> {
    fn new(service: &'a Service, add: Option<bool>, parts: mpsc::Sender<Prepared>) -> Cutting<'a> {
        Cutting {
            service,
            add,
            parts,
            lines: Lines::new(service.config.limits.body_bytes),
            part: Part::default(),
            long: None,
            deadline: Instant::now(),
        }
    }

    async fn all(mut self, body: Body) {
        // Who has left needs no reason.
        let _: Result<(), Left> = self.cut(body).await;
    }

    async fn cut(&mut self, mut body: Body) -> Result<(), Left> {
        self.begin_to_wait();
        loop {
            let frame = match at_once(&mut body).await {
                Some(frame) => Ok(frame),
                None => {
                    // What has arrived is answered, however few lines it is.
                    self.hand_on().await?;
                    timeout_at(self.deadline, body.frame()).await
                }
            };
            let ended = match frame {
                Ok(Some(Ok(frame))) => {
                    let data = frame.into_data();
                    self.lines.push(data.unwrap_or_default());
                    false
                }
                Ok(None) => {
                    self.lines.end();
                    true
                }
                Ok(Some(Err(error))) => {
                    let problem = Problem::bad("broken-body", error.to_string());
                    self.lines.fail(problem);
                    true
                }
                Err(_) => {
                    self.lines.fail(Problem::slow());
                    true
                }
            };
            self.take_lines().await?;
            if ended {
                return self.hand_on().await;
            }
            self.watch_the_next_line().await?;
        }
    }

    /// Takes the lines that are there.
    async fn take_lines(&mut self) -> Result<(), Left> {
        let first = self.lines.number();
        while let Some(line) = self.lines.next() {
            let length = line.text.as_ref().map_or(0, Vec::len);
            let weight = self.service.memory.weight(length);
            if let Some(loan) = self.long.take() {
                self.part.loan = loan;
                self.part.push(line, weight);
                self.hand_on().await?;
                continue;
            }
            if !self.part.has_room_for(weight) {
                self.hand_on().await?;
            }
            if self.part.lines.is_empty() {
                self.part.loan = self.service.memory.lend(PART_BYTES.max(weight)).await;
            }
            self.part.push(line, weight);
        }
        if self.lines.number() != first {
            self.begin_to_wait();
        }
        Ok(())
    }

    /// Borrows what a line may need that is going to be long. It is small still, and nothing else
    /// is lent to this batch but what has been handed on.
    async fn watch_the_next_line(&mut self) -> Result<(), Left> {
        let is_long = self.lines.begun() > BEGUN_BYTES;
        if !is_long {
            // It came to its end, or it was too long and is passed over.
            self.long = None;
        } else if self.long.is_none() {
            self.hand_on().await?;
            let most = self.service.config.limits.body_bytes;
            let weight = self.service.memory.weight(most);
            self.long = Some(self.service.memory.lend(weight).await);
            self.begin_to_wait();
        }
        Ok(())
    }

    /// Hands on the lines that are there, if any.
    async fn hand_on(&mut self) -> Result<(), Left> {
        if self.part.lines.is_empty() {
            return Ok(());
        }
        let (part, add) = (std::mem::take(&mut self.part), self.add);
        let prepared = Prepared {
            numbers: part.lines.iter().map(|line| line.number).collect(),
            read: part.read(&self.service.pool, add),
        };
        let handed_on = self.parts.send(prepared).await;
        self.begin_to_wait();
        handed_on.map_err(|_| Left)
    }

    /// From now on the caller has time for a line.
    fn begin_to_wait(&mut self) {
        self.deadline = Instant::now() + self.service.config.limits.request;
    }
}

impl Part {
    fn has_room_for(&self, weight: usize) -> bool {
        self.lines.is_empty() || self.lines.len() < PART_LINES && self.weight + weight <= PART_BYTES
    }

    fn push(&mut self, line: Line, weight: usize) {
        self.lines.push(line);
        self.weight += weight;
    }

    /// What the lines ask. Each keeps what it needs of the loan.
    fn read(self, pool: &Pool, add: Option<bool>) -> Later<Vec<Read>> {
        let Part { lines, loan, .. } = self;
        pool.run_with(loan, move |reader, held| {
            let mut read = |line: Line| {
                let mut asked = reader.read(&line.text?, add)?;
                asked.loan = held.take(asked.weight());
                Ok(asked)
            };
            lines.into_iter().map(&mut read).collect()
        })
    }
}

/// The next piece of a body, if it is there already.
async fn at_once(body: &mut Body) -> Option<Option<Result<Frame<Bytes>, axum::Error>>> {
    poll_fn(|context| {
        let frame = Pin::new(&mut *body).poll_frame(context);
        Poll::Ready(match frame {
            Poll::Ready(frame) => Some(frame),
            Poll::Pending => None,
        })
    })
    .await
}

async fn answer_all(service: &Arc<Service>, mut parts: mpsc::Receiver<Prepared>, answers: Answers) {
    while let Some(Prepared { numbers, read }) = parts.recv().await {
        let read = match read.get().await {
            Ok(read) => read,
            Err(problem) => numbers.iter().map(|_| Err(problem.clone())).collect(),
        };
        if !answer(service, numbers, read, &answers).await {
            return;
        }
    }
    answers.end();
}

/// Answers a part: neighbours of one kind are done together. Whether the caller still reads.
async fn answer(
    service: &Arc<Service>,
    numbers: Vec<u64>,
    read: Vec<Read>,
    answers: &Answers,
) -> bool {
    let mut text = Vec::new();
    let mut read = numbers.into_iter().zip(read).peekable();
    while let Some((number, first)) = read.next() {
        match first {
            Ok(asked) => {
                let mut run = Run::default();
                run.push(number, asked);
                let fits = |run: &Run, next: &Read| next.as_ref().is_ok_and(|next| run.takes(next));
                while let Some((number, Ok(next))) = read.next_if(|(_, next)| fits(&run, next)) {
                    run.push(number, next);
                }
                // Memory is lent for answers until they are sent.
                let mut rest = Some(run);
                while let Some(run) = rest.take().filter(|run| !run.asked.is_empty()) {
                    let (told, next, _loan) = run.answer(service).await;
                    let (lines, verdicts) = told;
                    text.extend(lines);
                    verdicts
                        .into_iter()
                        .for_each(|verdict| service.metrics.line(verdict));
                    let is_long = text.len() >= SENT_BYTES;
                    if is_long && !answers.send(std::mem::take(&mut text)).await {
                        return false;
                    }
                    rest = Some(next);
                }
            }
            Err(problem) => {
                service.metrics.line(PROBLEM);
                problem.at_line(number).write(&mut text);
            }
        }
        if text.len() >= SENT_BYTES && !answers.send(std::mem::take(&mut text)).await {
            return false;
        }
    }
    answers.send(text).await
}

/// How a line is counted that is answered by a problem.
const PROBLEM: &str = "problem";

impl Run {
    /// Whether `next` may be answered with the others: it is of their kind, and there are not too
    /// many. An index gives each of them as many matches as any wants.
    fn takes(&self, next: &Asked) -> bool {
        let matches = (self.asked.len() + 1) * next.limit;
        self.asked.first().is_some_and(|first| {
            (first.add, first.limit) == (next.add, next.limit) && matches <= MOST_MATCHES
        })
    }

    fn push(&mut self, number: u64, asked: Asked) {
        self.numbers.push(number);
        self.asked.push(asked);
    }

    /// Answers the first of its questions, or all; those that are left, and what was lent for the
    /// answers.
    async fn answer(self, service: &Arc<Service>) -> (Told, Run, Loan) {
        let numbers = self.numbers.clone();
        let answered = match self.asked.first().is_some_and(|first| first.add) {
            true => self.add(service).await,
            false => self.look(service).await,
        };
        answered.unwrap_or_else(|problem| {
            let mut text = Vec::new();
            for number in &numbers {
                problem.clone().at_line(*number).write(&mut text);
            }
            let told = (text, vec![PROBLEM; numbers.len()]);
            (told, Run::default(), Loan::default())
        })
    }

    async fn add(self, service: &Arc<Service>) -> Result<(Told, Run, Loan), Problem> {
        let Run { numbers, asked } = self;
        let mut added = service.writer.add(asked, None).await?;
        let mut left = IDS_BYTES;
        let answers = || added.iter().filter_map(|(_, answer)| answer.as_ref().ok());
        let bytes: usize = answers().map(id_bytes).sum();
        let loan = match loan_bytes(bytes.min(IDS_BYTES)) {
            Some(bytes) => service.memory.lend_for_answer(bytes).await,
            None => Loan::default(),
        };
        for (_, answer) in &mut added {
            if let Ok(answer) = answer {
                cut(answer, &mut left);
            }
        }
        let told = tell(&service.seen, &numbers, &added);
        Ok((told, Run::default(), loan))
    }

    async fn look(self, service: &Arc<Service>) -> Result<(Told, Run, Loan), Problem> {
        let looked = service
            .pool
            .run(move |reader| self.tell(reader.seen(), false));
        match looked.get().await? {
            Outcome::Answered(told, rest) => Ok((told, rest, Loan::default())),
            Outcome::Long(run, bytes) => {
                let loan = service.memory.lend_for_answer(bytes).await;
                let looked = service
                    .pool
                    .run(move |reader| run.tell(reader.seen(), true));
                match looked.get().await? {
                    Outcome::Answered(told, rest) => Ok((told, rest, loan)),
                    Outcome::Long(..) => Err(Problem::unanswered()),
                }
            }
        }
    }

    /// Answers questions; a long answer only if memory was lent for it.
    fn tell(mut self, seen: &Seen, is_lent: bool) -> Outcome {
        let mut answers = look(seen, &self.asked);
        let is_cut =
            |answer: &Result<Answer, Problem>| answer.as_ref().is_ok_and(|answer| answer.truncated);
        // An answer that others have cut short comes next.
        let whole = answers.iter().skip(1).position(is_cut);
        answers.truncate(whole.map_or(answers.len(), |whole| whole + 1));
        let bytes = answers.iter().flatten().map(id_bytes).sum();
        match loan_bytes(bytes) {
            Some(bytes) if !is_lent => Outcome::Long(self, bytes),
            _ => {
                let rest = Run {
                    numbers: self.numbers.split_off(answers.len()),
                    asked: self.asked.split_off(answers.len()),
                };
                let answered: Vec<_> = self.asked.into_iter().zip(answers).collect();
                Outcome::Answered(tell(seen, &self.numbers, &answered), rest)
            }
        }
    }
}

/// Looks for documents that have one limit. The first answer is whole; others may be cut short.
fn look(seen: &Seen, asked: &[Asked]) -> Vec<Result<Answer, Problem>> {
    let queries = asked.iter().map(|asked| Query {
        id: asked.id.as_deref(),
        sketch: &asked.sketch,
    });
    let queries: Vec<Query<'_>> = queries.collect();
    let limit = Limit {
        all_id_bytes: IDS_BYTES,
        ..limit(asked.first().map_or(1, |first| first.limit))
    };
    match seen.index().seen_within(&queries, limit) {
        Ok(answers) => answers.into_iter().map(Ok).collect(),
        // What stands in the way of one need not stand in the way of all.
        Err(_) => {
            let alone = |query: &Query<'_>| {
                let answers = seen.index().seen_within(std::slice::from_ref(query), limit);
                let answer = answers.map_err(|error| Problem::from(&error))?.pop();
                answer.ok_or_else(Problem::unanswered)
            };
            queries.iter().map(alone).collect()
        }
    }
}

/// The answers as lines.
fn tell(seen: &Seen, numbers: &[u64], answered: &[(Asked, Result<Answer, Problem>)]) -> Told {
    let (mut text, mut verdicts) = (Vec::new(), Vec::new());
    for (number, (asked, answer)) in numbers.iter().zip(answered) {
        let verdict = match answer {
            Ok(answer) => {
                let said = Said::new(seen, asked, answer);
                // Writing to memory cannot fail.
                let _ = serde_json::to_writer(&mut text, &said);
                text.push(b'\n');
                said.verdict
            }
            Err(problem) => {
                problem.clone().at_line(*number).write(&mut text);
                PROBLEM
            }
        };
        verdicts.push(verdict);
    }
    (text, verdicts)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Context;

    use serde_json::{Value, json};

    use super::*;
    use crate::serve::trial::{Disk, Trial, run, until};

    /// A body that is fed by a test.
    struct Fed(mpsc::Receiver<Bytes>);

    impl http_body::Body for Fed {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            let piece = self.0.poll_recv(context);
            piece.map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
        }
    }

    fn batch(service: &Arc<Service>, body: Body) -> Body {
        let place = service.place().unwrap();
        answers(Arc::clone(service), (None, place), None, body)
    }

    async fn lines(mut body: Body) -> Vec<Value> {
        let mut text = Vec::new();
        // Each piece is given back when it is read, as a connection does.
        while let Some(frame) = body.frame().await {
            text.extend_from_slice(&frame.unwrap().into_data().unwrap());
        }
        let lines = text.split(|byte| *byte == b'\n');
        let lines = lines.filter(|line| !line.is_empty());
        lines
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    fn problems(said: &[Value]) -> Vec<(&str, u64)> {
        let problem = |said: &'_ Value| -> Option<(&'static str, u64)> {
            let code = said["code"].as_str()?.to_owned().leak();
            Some((code, said["line"].as_u64()?))
        };
        said.iter().filter_map(problem).collect()
    }

    /// Additions, with blank lines before some of them, so that numbers are not places.
    fn additions(ids: std::ops::Range<u64>) -> Body {
        let line = |id: u64| {
            let body = json!({"fingerprint": format!("{id:016x}"), "id": format!("{id}")});
            format!("\n{body}\n")
        };
        Body::from(ids.map(line).collect::<String>())
    }

    async fn add(service: &Arc<Service>, body: Body) -> Vec<Value> {
        let place = service.place().unwrap();
        lines(answers(
            Arc::clone(service),
            (None, place),
            Some(true),
            body,
        ))
        .await
    }

    #[test]
    fn what_the_writer_refuses_is_said_of_each_line() {
        run(async {
            let disk = Disk::default();
            let trial = Trial::with(disk.faults());
            let service = trial.service();
            assert_eq!(add(&service, additions(0..1)).await[0]["added"], true);
            disk.fail(Some(|| std::io::ErrorKind::StorageFull.into()));
            let said = add(&service, additions(1..4)).await;
            assert_eq!(
                problems(&said),
                [("disk-full", 2), ("disk-full", 4), ("disk-full", 6)]
            );
            disk.fail(Some(|| panic!("the disk is gone")));
            let said = add(&service, additions(1..3)).await;
            assert_eq!(problems(&said), [("internal", 2), ("internal", 4)]);
            disk.fail(None);
            let said = add(&service, additions(1..4)).await;
            assert!(said.len() == 3 && said.iter().all(|said| said["added"] == true));
        });
    }

    #[test]
    fn a_part_that_cannot_be_read_is_answered_line_by_line() {
        run(async {
            let trial = Trial::new();
            let service = trial.service();
            let (answers, frames) = Answers::of(&service);
            let (parts, prepared) = mpsc::channel(1);
            let numbers = vec![4, 5, 9];
            let read = service.pool.run(|_| -> Vec<Read> { panic!("on purpose") });
            assert!(parts.send(Prepared { numbers, read }).await.is_ok());
            drop(parts);
            answer_all(&service, prepared, answers).await;
            let said = lines(Body::new(frames)).await;
            assert_eq!(
                problems(&said),
                [("internal", 4), ("internal", 5), ("internal", 9)]
            );
        });
    }

    /// Of many long lines that do not end, few are in memory; when those end, others come.
    #[test]
    fn long_lines_wait_for_memory_and_all_of_them_get_it() {
        run(async {
            let mut trial = Trial::new();
            trial.limits.body_bytes = 1 << 20;
            trial.limits.memory_bytes = 5 << 20;
            trial.limits.requests = 32;
            let service = trial.service();
            let piece = Bytes::from(vec![b'x'; 64 << 10]);
            let taken: Vec<_> = (0..12).map(|_| Arc::new(AtomicUsize::new(0))).collect();
            let begin = |taken: &Arc<AtomicUsize>| {
                let (feed, fed) = mpsc::channel(1);
                let said = tokio::spawn(lines(batch(&service, Body::new(Fed(fed)))));
                let (piece, taken) = (piece.clone(), Arc::clone(taken));
                let fed = tokio::spawn(async move {
                    feed.send(Bytes::from_static(b"{\"text\":\""))
                        .await
                        .unwrap();
                    for _ in 0..12 {
                        feed.send(piece.clone()).await.unwrap();
                        taken.fetch_add(1, Ordering::Relaxed);
                    }
                    feed
                });
                (fed, said)
            };
            let batches: Vec<_> = taken.iter().map(begin).collect();
            let counts = || taken.iter().map(|taken| taken.load(Ordering::Relaxed));
            until("four of them", || {
                counts().filter(|taken| *taken == 12).count() == 4
            })
            .await;
            // The others stand where nothing had to be lent to them.
            assert!(counts().all(|taken| taken == 12 || taken <= 4));
            assert!(service.memory.lent() <= 5 << 20);
            // When they end, none waits for ever.
            let ends = batches.into_iter().map(|(fed, answers)| {
                tokio::spawn(async move {
                    let feed = fed.await.unwrap();
                    feed.send(Bytes::from_static(b"\"}\n{}\n")).await.unwrap();
                    drop(feed);
                    answers.await.unwrap()
                })
            });
            for said in ends.collect::<Vec<_>>() {
                let said = said.await.unwrap();
                assert_eq!(said[0]["verdict"], "new");
                assert_eq!(problems(&said), [("bad-request", 2)]);
            }
            until("all memory", || service.memory.lent() == 0).await;
        });
    }

    /// What waits for the writer is paid for until it is answered.
    #[test]
    fn loans_last_until_the_answer() {
        run(async {
            let disk = Disk::default();
            let trial = Trial::with(disk.faults());
            let service = trial.service();
            let payload = "p".repeat(3 << 20);
            let line = json!({"text": "a", "id": "a", "payload": payload, "add": true});
            disk.stand_still(true);
            let said = tokio::spawn(lines(batch(&service, Body::from(line.to_string()))));
            let begin = service.writer.counts();
            until("the loan to shrink to what is kept", || {
                (3 << 20..3 << 20 | 64 << 10).contains(&service.memory.lent())
            })
            .await;
            assert_eq!(begin.commits.load(Ordering::Relaxed), 0);
            disk.stand_still(false);
            assert_eq!(said.await.unwrap()[0]["added"], true);
            until("all memory", || service.memory.lent() == 0).await;
        });
    }

    /// Who does not read is not answered for ever, and keeps no memory but his share.
    #[test]
    fn answers_wait_in_bounded_room() {
        run(async {
            let mut trial = Trial::new();
            trial.limits.memory_bytes = 4 << 20;
            let service = trial.service();
            let body = json!({"fingerprint": "0000000000000000", "limit": 1000}).to_string() + "\n";
            let known = add(&service, {
                let line = |id: u64| {
                    json!({"fingerprint": "0000000000000000", "id": format!("{id}")}).to_string()
                        + "\n"
                };
                Body::from((0..1000).map(line).collect::<String>())
            });
            assert_eq!(known.await.len(), 1000);
            let (feed, fed) = mpsc::channel(1);
            let unread = batch(&service, Body::new(Fed(fed)));
            let lines_sent = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&lines_sent);
            let feeding = tokio::spawn(async move {
                let many = Bytes::from(body.repeat(40));
                for _ in 0..30 {
                    if feed.send(many.clone()).await.is_err() {
                        return;
                    }
                    counted.fetch_add(40, Ordering::Relaxed);
                }
            });
            // No more lines are taken, long before all are sent.
            let mut last = usize::MAX;
            loop {
                tokio::time::sleep(std::time::Duration::from_millis(300)).await;
                let now = lines_sent.load(Ordering::Relaxed);
                if now == last {
                    break;
                }
                last = now;
            }
            assert!(last < 1200, "{last}");
            // Who comes to read at last gets all of them.
            let all = lines(unread).await;
            assert_eq!(all.len(), 1200);
            assert_eq!(all[1199]["matches"].as_array().unwrap().len(), 1000);
            feeding.await.unwrap();
        });
    }

    #[test]
    fn runs_are_cut_by_the_matches_they_may_have() {
        let asked = |limit, add| Asked {
            limit,
            add,
            ..Asked::default()
        };
        let mut run = Run::default();
        run.push(1, asked(1000, false));
        assert!(!run.takes(&asked(10, false)) && !run.takes(&asked(1000, true)));
        for number in 2..9 {
            assert!(run.takes(&asked(1000, false)));
            run.push(number, asked(1000, false));
        }
        assert!(!run.takes(&asked(1000, false)));
    }
}

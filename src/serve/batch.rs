//! Batches: a question on each line, answered in order while further lines arrive.
//!
//! ```text
//! body ─► Lines ─► parts of up to 1024 lines ─► Pool, in slices ─► runs of questions, runs of
//! additions ─► answers
//! ```
//!
//! A few parts are under way at once, in [reserved memory](super::memory), and pending answers are
//! bounded: memory does not grow with the batch. Lines are processed in order, so that a line finds
//! the additions before it. A problem is reported once for each line that it concerns.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as _, Frame};
use http_body_util::BodyExt;
use simtool::index::{Answer, Limit, Query};
use simtool::jobs::seen::Seen;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Duration, Instant, timeout_at};

use super::answer::{AnswerJson, IDS_BYTES, answer_reservation, cut, id_bytes, limit};
use super::answer_body::Answers;
use super::lines::{Line, Lines};
use super::memory::Reserved;
use super::permits::{RequestPermit, SlowPermit};
use super::pool::{PendingReply, Pool};
use super::problem::Problem;
use super::question::{Question, QuestionReader};
use super::service::Service;

/// Bounds of a part: lines and their memory.
const PART_LINES: usize = 1024;
const PART_BYTES: usize = 2 << 20;
/// The first bytes of a line, which need no reservation.
const BEGUN_BYTES: usize = 64 << 10;
/// A thread that has parsed lines of a part for this time turns to other requests.
const SLICE: Duration = Duration::from_millis(250);
/// Parts that are parsed ahead.
const AHEAD: usize = 4;
/// The most matches that the lines of a run ask for together.
const MOST_MATCHES: usize = 1 << 13;
/// Answers are sent when they reach this number of bytes.
const SENT_BYTES: usize = 64 << 10;

/// The question of a line, or its problem.
type ParsedLine = Result<Question, Problem>;

/// Lines that are parsed together.
#[derive(Default)]
struct Part {
    lines: Vec<Line>,
    weight: usize,
    reservation: Reserved,
}

/// A part that is being parsed.
struct PendingPart {
    numbers: Vec<u64>,
    /// One task, which ends if the client disconnects.
    read: JoinSet<Vec<ParsedLine>>,
}

/// Adjacent questions that are answered together.
#[derive(Default)]
struct Run {
    numbers: Vec<u64>,
    questions: Vec<Question>,
}

/// The answers to a run: lines, and the verdict of each.
type RunAnswer = (Vec<u8>, Vec<&'static str>);

/// The state of a run.
enum RunOutcome {
    /// The answers to the first questions, and the remaining questions.
    Answered(RunAnswer, Run),
    /// This number of bytes has to be reserved for the answers, which are then looked up again.
    Long(Run, usize),
}

/// Answers the lines of `body`; the result is the body of the answer.
pub fn answers(
    service: Arc<Service>,
    permits: (Option<RequestPermit>, SlowPermit),
    add: Option<bool>,
    body: Body,
) -> Body {
    let (answers, frames) = Answers::new(&service.memory, service.config.limits.request);
    let (parts, prepared) = mpsc::channel(AHEAD);
    let mut reader = BatchReader {
        service: Arc::clone(&service),
        add,
        parts,
        lines: Lines::new(service.config.limits.body_bytes),
        part: Part::default(),
        long: None,
        deadline: Instant::now(),
    };
    // It ends with the body, or when the client disconnects.
    tokio::spawn(async move { reader.read(body).await });
    tokio::spawn(async move {
        answer_all(&service, prepared, answers).await;
        drop(permits);
    });
    Body::new(frames)
}

/// Splits a body into parts and has them parsed.
struct BatchReader {
    service: Arc<Service>,
    add: Option<bool>,
    parts: mpsc::Sender<PendingPart>,
    lines: Lines,
    part: Part,
    /// The reservation of an incomplete long line.
    long: Option<Reserved>,
    /// The time limit of the incomplete line.
    deadline: Instant,
}

/// The client disconnected.
struct Disconnected;

impl BatchReader {
    async fn read(&mut self, mut body: Body) -> Result<(), Disconnected> {
        self.begin_to_wait();
        loop {
            let frame = match at_once(&mut body).await {
                Some(frame) => Ok(frame),
                None => {
                    // Lines that have arrived are answered, however few.
                    self.hand_on().await?;
                    timeout_at(self.deadline, body.frame()).await
                }
            };
            let end = match frame {
                Ok(Some(Ok(frame))) => {
                    self.lines.push(frame.into_data().unwrap_or_default());
                    None
                }
                Ok(None) => Some(Ok(())),
                Ok(Some(Err(error))) => Some(Err(Problem::bad("broken-body", error.to_string()))),
                Err(_) => Some(Err(Problem::slow())),
            };
            let has_ended = end.is_some();
            self.lines.end = end;
            self.take_lines().await?;
            if has_ended {
                return self.hand_on().await;
            }
            self.watch_the_next_line().await?;
        }
    }

    /// Takes the complete lines.
    async fn take_lines(&mut self) -> Result<(), Disconnected> {
        let first = self.lines.number();
        while let Some(line) = self.lines.next() {
            let length = line.text.as_ref().map_or(0, Vec::len);
            let weight = self.service.memory.weight(length);
            if let Some(reservation) = self.long.take() {
                self.part.reservation = reservation;
                self.part.push(line, weight);
                self.hand_on().await?;
                continue;
            }
            if !self.part.has_room_for(weight) {
                self.hand_on().await?;
            }
            if self.part.lines.is_empty() {
                self.part.reservation = self.service.memory.reserve(PART_BYTES.max(weight)).await;
            }
            self.part.push(line, weight);
        }
        if self.lines.number() != first {
            self.begin_to_wait();
        }
        Ok(())
    }

    /// Reserves memory for a line that may become long. At this time the batch holds no other
    /// reservation but those of parts under way.
    async fn watch_the_next_line(&mut self) -> Result<(), Disconnected> {
        let is_long = self.lines.begun() > BEGUN_BYTES;
        if !is_long {
            // The line is complete, or it is too long and skipped.
            self.long = None;
        } else if self.long.is_none() {
            self.hand_on().await?;
            let most = self.service.config.limits.body_bytes;
            let weight = self.service.memory.weight(most);
            self.long = Some(self.service.memory.reserve(weight).await);
            self.begin_to_wait();
        }
        Ok(())
    }

    /// Hands the collected lines to the pool, if any.
    async fn hand_on(&mut self) -> Result<(), Disconnected> {
        if self.part.lines.is_empty() {
            return Ok(());
        }
        let (part, add) = (std::mem::take(&mut self.part), self.add);
        let numbers = part.lines.iter().map(|line| line.number).collect();
        let service = Arc::clone(&self.service);
        let mut read = JoinSet::new();
        read.spawn(part.read(move |part| part.read_slice(&service.pool, add)));
        let handed_on = self.parts.send(PendingPart { numbers, read }).await;
        self.begin_to_wait();
        handed_on.map_err(|_| Disconnected)
    }

    /// Restarts the time limit of a line.
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

    /// Parses all lines by calls of `read_slice`, which returns parsed lines and the remaining ones.
    async fn read(
        self,
        read_slice: impl Fn(Part) -> PendingReply<(Vec<ParsedLine>, Part)>,
    ) -> Vec<ParsedLine> {
        let mut all = Vec::with_capacity(self.lines.len());
        let mut rest = self;
        while !rest.lines.is_empty() {
            let count = rest.lines.len();
            match read_slice(rest).get().await {
                Ok((read, next)) => {
                    all.extend(read);
                    rest = next;
                }
                Err(problem) => {
                    all.extend((0..count).map(|_| Err(problem.clone())));
                    break;
                }
            }
        }
        all
    }

    /// Parses at least one line, and more until [`SLICE`] has passed. Each question keeps its part of
    /// the reservation.
    fn read_slice(self, pool: &Pool, add: Option<bool>) -> PendingReply<(Vec<ParsedLine>, Part)> {
        let Part {
            lines,
            weight,
            reservation,
        } = self;
        pool.run_slice(reservation, move |reader, held| {
            let begin = std::time::Instant::now();
            let mut parse = |line: Line| {
                let mut question = reader.read(&line.text?, add)?;
                question.reservation = held.take(question.weight());
                Ok(question)
            };
            let mut rest = lines.into_iter();
            let mut read = Vec::new();
            for line in rest.by_ref() {
                read.push(parse(line));
                if begin.elapsed() >= SLICE {
                    break;
                }
            }
            let rest = Part {
                lines: rest.collect(),
                weight,
                reservation: held.take(usize::MAX),
            };
            (read, rest)
        })
    }
}

/// The next piece of a body, if it has arrived.
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

async fn answer_all(
    service: &Arc<Service>,
    mut parts: mpsc::Receiver<PendingPart>,
    answers: Answers,
) {
    while let Some(PendingPart { numbers, mut read }) = parts.recv().await {
        let read = tokio::select! {
            read = read.join_next() => read,
            () = answers.closed() => None,
        };
        let Some(Ok(read)) = read else {
            return;
        };
        if !answer(service, numbers, read, &answers).await {
            return;
        }
    }
    answers.end();
}

/// Answers a part, adjacent questions of one kind together; returns whether the client still reads.
async fn answer(
    service: &Arc<Service>,
    numbers: Vec<u64>,
    read: Vec<ParsedLine>,
    answers: &Answers,
) -> bool {
    let mut text = Vec::new();
    let mut read = numbers.into_iter().zip(read).peekable();
    while let Some((number, first)) = read.next() {
        match first {
            Ok(question) => {
                let mut run = Run::default();
                run.push(number, question);
                let fits =
                    |run: &Run, next: &ParsedLine| next.as_ref().is_ok_and(|next| run.takes(next));
                while let Some((number, Ok(next))) = read.next_if(|(_, next)| fits(&run, next)) {
                    run.push(number, next);
                }
                // The reservation for answers lasts until they are sent.
                let mut rest = Some(run);
                while let Some(run) = rest.take().filter(|run| !run.questions.is_empty()) {
                    let (answer, next, _loan) = run.answer(service).await;
                    let (lines, verdicts) = answer;
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

/// The verdict of lines with a problem, for counts.
const PROBLEM: &str = "problem";

impl Run {
    /// Whether `next` may be answered with the others: it is of the same kind and limit, and the
    /// matches of all of them are bounded.
    fn takes(&self, next: &Question) -> bool {
        let matches = (self.questions.len() + 1) * next.limit;
        self.questions.first().is_some_and(|first| {
            (first.add, first.limit) == (next.add, next.limit) && matches <= MOST_MATCHES
        })
    }

    fn push(&mut self, number: u64, question: Question) {
        self.numbers.push(number);
        self.questions.push(question);
    }

    /// Answers the first questions, or all; returns also the remaining questions and the
    /// reservation for the answers.
    async fn answer(self, service: &Arc<Service>) -> (RunAnswer, Run, Reserved) {
        let numbers = self.numbers.clone();
        let answered = match self.questions.first().is_some_and(|first| first.add) {
            true => self.add(service).await,
            false => self.look(service).await,
        };
        answered.unwrap_or_else(|problem| {
            let mut text = Vec::new();
            for number in &numbers {
                problem.clone().at_line(*number).write(&mut text);
            }
            let answer = (text, vec![PROBLEM; numbers.len()]);
            (answer, Run::default(), Reserved::default())
        })
    }

    async fn add(self, service: &Arc<Service>) -> Result<(RunAnswer, Run, Reserved), Problem> {
        let Run { numbers, questions } = self;
        let mut added = service.writer.add(questions, None).await?;
        let mut left = IDS_BYTES;
        let answers = || added.iter().filter_map(|(_, answer)| answer.as_ref().ok());
        let bytes: usize = answers().map(id_bytes).sum();
        let bytes = answer_reservation(bytes.min(IDS_BYTES));
        let reservation = service.memory.reserve_for_answer(bytes).await;
        for (_, answer) in &mut added {
            if let Ok(answer) = answer {
                cut(answer, &mut left);
            }
        }
        let answer = write_answers(&service.seen, &numbers, &added);
        Ok((answer, Run::default(), reservation))
    }

    async fn look(self, service: &Arc<Service>) -> Result<(RunAnswer, Run, Reserved), Problem> {
        let looked = service
            .pool
            .run(move |reader| self.answer_questions(reader, false));
        match looked.get().await? {
            RunOutcome::Answered(answer, rest) => Ok((answer, rest, Reserved::default())),
            RunOutcome::Long(run, bytes) => {
                let reservation = service.memory.reserve_for_answer(Some(bytes)).await;
                let looked = service
                    .pool
                    .run(move |reader| run.answer_questions(reader, true));
                match looked.get().await? {
                    RunOutcome::Answered(answer, rest) => Ok((answer, rest, reservation)),
                    RunOutcome::Long(..) => Err(Problem::unanswered()),
                }
            }
        }
    }

    /// Answers questions; long answers only if their memory is reserved.
    fn answer_questions(mut self, reader: &QuestionReader<'_>, is_reserved: bool) -> RunOutcome {
        let mut answers = look(reader, &self.questions);
        let is_cut =
            |answer: &Result<Answer, Problem>| answer.as_ref().is_ok_and(|answer| answer.truncated);
        // A truncated answer is looked up again as the first of the next run, because earlier
        // answers may have used its bytes.
        let whole = answers.iter().skip(1).position(is_cut);
        answers.truncate(whole.map_or(answers.len(), |whole| whole + 1));
        let bytes = answers.iter().flatten().map(id_bytes).sum();
        match answer_reservation(bytes) {
            Some(bytes) if !is_reserved => RunOutcome::Long(self, bytes),
            _ => {
                let rest = Run {
                    numbers: self.numbers.split_off(answers.len()),
                    questions: self.questions.split_off(answers.len()),
                };
                let answered: Vec<_> = self.questions.into_iter().zip(answers).collect();
                RunOutcome::Answered(write_answers(reader.seen(), &self.numbers, &answered), rest)
            }
        }
    }
}

/// Looks up questions with the same limit. Answers after the first may be truncated because of the
/// answers before them.
fn look(reader: &QuestionReader<'_>, questions: &[Question]) -> Vec<Result<Answer, Problem>> {
    let queries = questions.iter().map(|question| Query {
        id: question.id.as_deref(),
        sketch: &question.sketch,
    });
    let queries: Vec<Query<'_>> = queries.collect();
    let limit = Limit {
        all_id_bytes: IDS_BYTES,
        ..limit(questions.first().map_or(1, |first| first.limit))
    };
    match reader.seen().index().seen(&queries, limit) {
        Ok(answers) => answers.into_iter().map(Ok).collect(),
        // An error may concern one question only, so each is looked up alone.
        Err(_) => {
            let alone = |query: &Query<'_>| {
                let answers = reader.look_up(std::slice::from_ref(query), limit)?;
                answers.into_iter().next().ok_or_else(Problem::unanswered)
            };
            queries.iter().map(alone).collect()
        }
    }
}

/// The answers as lines.
fn write_answers(
    seen: &Seen,
    numbers: &[u64],
    answered: &[(Question, Result<Answer, Problem>)],
) -> RunAnswer {
    let (mut text, mut verdicts) = (Vec::new(), Vec::new());
    for (number, (question, answer)) in numbers.iter().zip(answered) {
        let verdict = match answer {
            Ok(answer) => {
                let json = AnswerJson::new(seen, question, answer);
                // Writing to memory cannot fail.
                let _ = serde_json::to_writer(&mut text, &json);
                text.push(b'\n');
                json.verdict
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
    use crate::serve::question::SLOWISH_TEXT;
    use crate::serve::test_service::{Disk, TestService, run, until};

    /// A body that a test feeds.
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
        let permit = service.permits.slow().unwrap();
        answers(Arc::clone(service), (None, permit), None, body)
    }

    async fn lines(mut body: Body) -> Vec<Value> {
        let mut text = Vec::new();
        // Each piece is dropped when it is read, as a connection does.
        while let Some(frame) = body.frame().await {
            text.extend_from_slice(&frame.unwrap().into_data().unwrap());
        }
        let lines = text.split(|byte| *byte == b'\n');
        let lines = lines.filter(|line| !line.is_empty());
        lines
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    fn problems(answers: &[Value]) -> Vec<(&str, u64)> {
        let problem = |answer: &'_ Value| -> Option<(&'static str, u64)> {
            let code = answer["code"].as_str()?.to_owned().leak();
            Some((code, answer["line"].as_u64()?))
        };
        answers.iter().filter_map(problem).collect()
    }

    /// Additions with blank lines between them, so that line numbers differ from positions.
    fn additions(ids: std::ops::Range<u64>) -> Body {
        let line = |id: u64| {
            let body = json!({"fingerprint": format!("{id:016x}"), "id": format!("{id}")});
            format!("\n{body}\n")
        };
        Body::from(ids.map(line).collect::<String>())
    }

    async fn add(service: &Arc<Service>, body: Body) -> Vec<Value> {
        let permit = service.permits.slow().unwrap();
        lines(answers(
            Arc::clone(service),
            (None, permit),
            Some(true),
            body,
        ))
        .await
    }

    #[test]
    fn problems_of_the_writer_are_reported_for_each_line() {
        run(async {
            let disk = Disk::default();
            let trial = TestService::with(disk.faults());
            let service = trial.service();
            assert_eq!(add(&service, additions(0..1)).await[0]["added"], true);
            disk.fail(Some(|| std::io::ErrorKind::StorageFull.into()));
            let answers = add(&service, additions(1..4)).await;
            assert_eq!(
                problems(&answers),
                [("disk-full", 2), ("disk-full", 4), ("disk-full", 6)]
            );
            disk.fail(Some(|| panic!("the disk is gone")));
            let answers = add(&service, additions(1..3)).await;
            assert_eq!(problems(&answers), [("internal", 2), ("internal", 4)]);
            disk.fail(None);
            let answers = add(&service, additions(1..4)).await;
            assert!(answers.len() == 3 && answers.iter().all(|answer| answer["added"] == true));
        });
    }

    #[test]
    fn a_part_that_cannot_be_parsed_is_answered_line_by_line() {
        run(async {
            let trial = TestService::new();
            let service = trial.service();
            let (answers, frames) = Answers::new(&service.memory, trial.limits.request);
            let (parts, prepared) = mpsc::channel(1);
            let numbers = vec![4, 5, 9];
            let mut part = Part::default();
            for number in &numbers {
                let text = Ok(Vec::new());
                let line = Line {
                    number: *number,
                    text,
                };
                part.push(line, 0);
            }
            let panics = Arc::clone(&service);
            let mut read = JoinSet::new();
            read.spawn(part.read(move |_| panics.pool.run(|_| panic!("on purpose"))));
            assert!(parts.send(PendingPart { numbers, read }).await.is_ok());
            drop(parts);
            answer_all(&service, prepared, answers).await;
            let answers = lines(Body::new(frames)).await;
            assert_eq!(
                problems(&answers),
                [("internal", 4), ("internal", 5), ("internal", 9)]
            );
        });
    }

    /// Each of the batches takes 50 seconds, one on each thread.
    #[test]
    fn batches_of_slow_lines_do_not_delay_other_requests() {
        run(async {
            let service = TestService::new().service();
            let line = json!({"text": format!("{SLOWISH_TEXT} and more")});
            let body = format!("{line}\n").repeat(500);
            let begin = || tokio::spawn(lines(batch(&service, Body::from(body.clone()))));
            let batches = [begin(), begin(), begin()];
            until("reserved memory", || service.memory.reserved() > 0).await;
            for _ in 0..3 {
                assert_eq!(service.pool.run(|_| 7).get().await.unwrap(), 7);
            }
            for batch in batches {
                assert!(!batch.is_finished());
                batch.abort();
            }
            until("all memory", || service.memory.reserved() == 0).await;
        });
    }

    /// Few of many endless lines are in memory; when they end, others follow.
    #[test]
    fn long_lines_wait_for_memory_and_get_it() {
        run(async {
            let mut trial = TestService::new();
            trial.limits.body_bytes = 1 << 20;
            trial.limits.memory_bytes = 5 << 20;
            trial.limits.requests = 32;
            let service = trial.service();
            let piece = Bytes::from(vec![b'x'; 64 << 10]);
            let taken: Vec<_> = (0..12).map(|_| Arc::new(AtomicUsize::new(0))).collect();
            let begin = |taken: &Arc<AtomicUsize>| {
                let (feed, fed) = mpsc::channel(1);
                let answers = tokio::spawn(lines(batch(&service, Body::new(Fed(fed)))));
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
                (fed, answers)
            };
            let batches: Vec<_> = taken.iter().map(begin).collect();
            let counts = || taken.iter().map(|taken| taken.load(Ordering::Relaxed));
            until("four of them", || {
                counts().filter(|taken| *taken == 12).count() == 4
            })
            .await;
            // The others wait within the bytes that need no reservation.
            assert!(counts().all(|taken| taken == 12 || taken <= 4));
            assert!(service.memory.reserved() <= 5 << 20);
            // When they end, the others proceed.
            let ends = batches.into_iter().map(|(fed, answers)| {
                tokio::spawn(async move {
                    let feed = fed.await.unwrap();
                    feed.send(Bytes::from_static(b"\"}\n{}\n")).await.unwrap();
                    drop(feed);
                    answers.await.unwrap()
                })
            });
            for answers in ends.collect::<Vec<_>>() {
                let answers = answers.await.unwrap();
                assert_eq!(answers[0]["verdict"], "new");
                assert_eq!(problems(&answers), [("bad-request", 2)]);
            }
            until("all memory", || service.memory.reserved() == 0).await;
        });
    }

    /// A question that waits for the writer keeps its reservation until the answer.
    #[test]
    fn reservations_last_until_the_answer() {
        run(async {
            let disk = Disk::default();
            let trial = TestService::with(disk.faults());
            let service = trial.service();
            let payload = "p".repeat(3 << 20);
            let line = json!({"text": "a", "id": "a", "payload": payload, "add": true});
            disk.block(true);
            let answers = tokio::spawn(lines(batch(&service, Body::from(line.to_string()))));
            let begin = service.writer.counts();
            until("the reservation to shrink to what is kept", || {
                (3 << 20..3 << 20 | 64 << 10).contains(&service.memory.reserved())
            })
            .await;
            assert_eq!(begin.commits.load(Ordering::Relaxed), 0);
            disk.block(false);
            assert_eq!(answers.await.unwrap()[0]["added"], true);
            until("all memory", || service.memory.reserved() == 0).await;
        });
    }

    /// A client that does not read gets a bounded number of answers and bounded memory.
    #[test]
    fn pending_answers_are_bounded() {
        run(async {
            let mut trial = TestService::new();
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
            // Reading of lines stops long before all are sent.
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
            // All answers arrive when the client reads at last.
            let all = lines(unread).await;
            assert_eq!(all.len(), 1200);
            assert_eq!(all[1199]["matches"].as_array().unwrap().len(), 1000);
            feeding.await.unwrap();
        });
    }

    #[test]
    fn runs_are_bounded_by_their_matches() {
        let question = |limit, add| Question {
            limit,
            add,
            ..Question::default()
        };
        let mut run = Run::default();
        run.push(1, question(1000, false));
        assert!(!run.takes(&question(10, false)) && !run.takes(&question(1000, true)));
        for number in 2..9 {
            assert!(run.takes(&question(1000, false)));
            run.push(number, question(1000, false));
        }
        assert!(!run.takes(&question(1000, false)));
    }
}

//! Batches: a question on each line, answered in order while further lines arrive.
//!
//! ```text
//! body ─► Lines ─► parts of up to 1024 lines ─► Pool, in slices ─► runs of questions, runs of
//! additions ─► answers
//! ```
//!
//! A few parts are under way at once, in [reserved memory](crate::limits::memory), and pending
//! answers are bounded: memory does not grow with the batch. Lines are processed in order, so that a
//! line finds the additions before it. A problem is reported once for each line that it concerns.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as _, Frame};
use http_body_util::BodyExt;
use simtool_batch::seen::Seen;
use simtool_index::{Answer, Entry, Limit};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Duration, Instant, timeout_at};

use super::answer_body::Answers;
use super::lines::{Line, Lines};
use crate::limits::memory::Reserved;
use crate::limits::permits::{RequestPermit, SlowPermit};
use crate::problem::Problem;
use crate::question::answer::{AnswerJson, IDS_BYTES, answer_reservation, cut, id_bytes, limit};
use crate::question::{Question, QuestionReader};
use crate::service::Service;
use crate::workers::pool::{PendingReply, Pool};

/// Bounds of a part: lines and their memory.
const PART_LINES: usize = 1024;
const PART_BYTES: usize = 2 << 20;
/// The first bytes of a line, which need no reservation.
const BEGUN_BYTES: usize = 64 << 10;
/// A thread that has parsed lines of a part for this time turns to other requests.
const SLICE: Duration = Duration::from_millis(250);
/// Parts that are parsed ahead.
const AHEAD: usize = 4;
/// The maximum number of matches that the lines of a run ask for together.
const MAX_MATCHES: usize = 1 << 13;
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
            (first.add, first.limit) == (next.add, next.limit) && matches <= MAX_MATCHES
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
    let queries: Vec<Entry<'_>> = questions.iter().map(Question::entry).collect();
    let limit = Limit {
        all_id_bytes: IDS_BYTES,
        ..limit(questions.first().map_or(1, |first| first.limit))
    };
    match reader.seen().index().seen(&queries, limit) {
        Ok(answers) => answers.into_iter().map(Ok).collect(),
        // An error may concern one question only, so each is looked up alone.
        Err(_) => {
            let alone = |query: &Entry<'_>| {
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
mod tests;

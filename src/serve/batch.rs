//! Many questions in one request: a JSON object a line, answered in order while they arrive.
//!
//! ```text
//! body ─► Lines ─► parts of some hundred lines ─► Pool ─► runs of questions, runs of additions ─► answers
//! ```
//!
//! A few parts are on their way at once, and answers wait in a bounded queue: memory does not grow
//! with the batch. Lines are taken one after another: what one adds, the next finds.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as _, Frame};
use http_body_util::BodyExt;
use simtool::index::Query;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::Service;
use super::answer::Said;
use super::ask::Asked;
use super::frames::Frames;
use super::gate::Permit;
use super::lines::{Line, Lines};
use super::pool::Later;
use super::problem::Problem;

/// So many lines, or bytes, make a part.
const PART_LINES: usize = 1024;
const PART_BYTES: usize = 1 << 20;
/// Parts that are prepared while one is answered.
const AHEAD: usize = 4;
/// Answers of so many parts wait for a caller who does not read them yet.
const WAITING: usize = 64;

/// A line: what it asks, or what is wrong with it.
type Read = Result<Asked, Problem>;

/// The answers to the lines of `body`.
pub fn answers(
    service: Arc<Service>,
    permit: Option<Permit>,
    add: Option<bool>,
    body: Body,
) -> Body {
    let (answers, frames) = mpsc::channel(WAITING);
    let (parts, prepared) = mpsc::channel(AHEAD);
    let reading = Arc::clone(&service);
    tokio::spawn(async move { read(&reading, add, body, parts).await });
    tokio::spawn(async move {
        answer_all(&service, prepared, answers).await;
        drop(permit);
    });
    Body::new(Frames(frames))
}

/// Cuts a body into parts and has them read.
async fn read(
    service: &Service,
    add: Option<bool>,
    mut body: Body,
    parts: mpsc::Sender<Later<Vec<Read>>>,
) {
    let mut lines = Lines::new(service.config.limits.body_bytes);
    let mut part = Vec::new();
    let mut bytes = 0;
    // Whether anybody still wants answers.
    let hand_on = async |part: &mut Vec<Line>, bytes: &mut usize| {
        let part = std::mem::take(part);
        let lent = service.lend(std::mem::take(bytes)).await;
        let read = service.pool.run(move |reader| {
            let read = part.into_iter().map(|line| {
                let (number, text) = (line.number, line.text);
                let read = text.and_then(|text| reader.read(&text, add));
                read.map_err(|problem| problem.at_line(number))
            });
            let read = read.collect();
            drop(lent);
            read
        });
        parts.send(read).await.is_ok()
    };
    loop {
        let frame = match at_once(&mut body).await {
            Some(frame) => Ok(frame),
            None => {
                // What has arrived is answered, however few lines it is.
                if !part.is_empty() && !hand_on(&mut part, &mut bytes).await {
                    return;
                }
                timeout(service.config.limits.request, body.frame()).await
            }
        };
        let ended = match frame {
            Ok(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data() {
                    lines.push(&data);
                }
                false
            }
            Ok(None) => {
                lines.end();
                true
            }
            Ok(Some(Err(error))) => {
                lines.fail(Problem::bad("broken-body", error.to_string()));
                true
            }
            Err(_) => {
                lines.fail(Problem::slow());
                true
            }
        };
        while let Some(line) = lines.next() {
            bytes += line.text.as_ref().map_or(0, Vec::len);
            part.push(line);
            let is_full = part.len() >= PART_LINES || bytes >= PART_BYTES;
            if is_full && !hand_on(&mut part, &mut bytes).await {
                return;
            }
        }
        if ended {
            if !part.is_empty() {
                hand_on(&mut part, &mut bytes).await;
            }
            return;
        }
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

async fn answer_all(
    service: &Arc<Service>,
    mut parts: mpsc::Receiver<Later<Vec<Read>>>,
    answers: mpsc::Sender<Bytes>,
) {
    while let Some(part) = parts.recv().await {
        let text = match part.get().await {
            Ok(read) => answer(service, read).await,
            Err(problem) => {
                let mut text = Vec::new();
                problem.write(&mut text);
                text
            }
        };
        // A caller who does not read the answers keeps nothing busy for ever.
        let limit = service.config.limits.request;
        match timeout(limit, answers.send(text.into())).await {
            Ok(Ok(())) => {}
            _ => return,
        }
    }
}

/// The answers of a part: neighbours of one kind are done together.
async fn answer(service: &Arc<Service>, read: Vec<Read>) -> Vec<u8> {
    let mut text = Vec::new();
    let mut read = read.into_iter().peekable();
    while let Some(first) = read.next() {
        let first = match first {
            Ok(asked) => asked,
            Err(problem) => {
                service.metrics.line("problem");
                problem.write(&mut text);
                continue;
            }
        };
        let add = first.add;
        let mut run = vec![first];
        while let Some(Ok(asked)) =
            read.next_if(|next| next.as_ref().is_ok_and(|asked| asked.add == add))
        {
            run.push(asked);
        }
        let count = run.len();
        let answered = match add {
            true => service.writer.add(run).await,
            false => look(service, run).await,
        };
        match answered {
            Ok(answered) => {
                for (asked, answer) in answered {
                    let said = Said::new(&service.seen, &asked, answer);
                    service.metrics.line(said.verdict);
                    // Writing to memory cannot fail.
                    let _ = serde_json::to_writer(&mut text, &said);
                    text.push(b'\n');
                }
            }
            Err(problem) => (0..count).for_each(|_| {
                service.metrics.line("problem");
                problem.write(&mut text);
            }),
        }
    }
    text
}

async fn look(
    service: &Service,
    run: Vec<Asked>,
) -> Result<Vec<(Asked, simtool::index::Answer)>, Problem> {
    let looked = service.pool.run(move |reader| {
        let queries = run.iter().map(|asked| Query {
            id: asked.id.as_deref(),
            sketch: &asked.sketch,
        });
        let queries: Vec<Query<'_>> = queries.collect();
        let limit = run.iter().map(|asked| asked.limit).max().unwrap_or(1);
        let answers = reader.seen().index().seen(&queries, limit);
        let answers = answers.map_err(|error| Problem::from(&error))?;
        Ok(run.into_iter().zip(answers).collect())
    });
    looked.get().await?
}

//! Questions: the JSON of a request, and the sketch that it describes.

pub(super) mod answer;
pub(super) mod current_task;

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use simtool_batch::seen::{Seen, TextFacts, TextSketcher, too_long};
use simtool_core::Error;
use simtool_core::sketch::{Compare, Shape};
use simtool_corpus::web::html;
use simtool_index::{Answer, Entry, Limit, MAX_ID_BYTES};

use crate::limits::memory::Reserved;
use crate::log::Log;
use crate::problem::{Problem, read_only};
use current_task::CurrentTask;

/// The default number of matches.
const USUAL_LIMIT: usize = 10;
/// The largest number of matches.
const MAX_LIMIT: usize = 1000;

/// The body of a request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body<'a> {
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    html: Option<Cow<'a, str>>,
    fingerprint: Option<Cow<'a, str>>,
    id: Option<Cow<'a, str>>,
    id_base64: Option<Cow<'a, str>>,
    add: Option<bool>,
    payload: Option<Cow<'a, str>>,
    limit: Option<usize>,
}

/// A question to the index.
#[derive(Debug, Default)]
pub struct Question {
    pub id: Option<Vec<u8>>,
    pub facts: TextFacts<Vec<u8>>,
    pub payload: Vec<u8>,
    pub add: bool,
    pub limit: usize,
    /// The memory reserved for it.
    pub reservation: Reserved,
}

impl Question {
    /// Approximate memory of the question until it is answered.
    pub fn weight(&self) -> usize {
        let held = [self.id.as_deref().unwrap_or_default(), &self.payload];
        let held: usize = held.iter().map(|bytes| bytes.len()).sum();
        // In the answer, each byte of the sketch is two digits.
        size_of::<Question>() + held + 3 * self.facts.sketch.len()
    }

    /// The document as the index takes it.
    pub fn entry(&self) -> Entry<'_> {
        Entry {
            id: self.id.as_deref().unwrap_or_default(),
            payload: &self.payload,
            ..self.facts.entry()
        }
    }
}

/// Parses bodies into questions; each thread has its own reader.
pub struct QuestionReader<'a> {
    seen: &'a Seen,
    texts: TextSketcher<'a>,
    text: Vec<u8>,
    read_only: bool,
    log: Log,
    task: &'a CurrentTask,
}

/// The buffer for the text of pages is shrunk to this capacity before each page.
const KEPT_CAPACITY: usize = 1 << 20;

impl<'a> QuestionReader<'a> {
    /// A reader for the thread of `task`.
    pub fn new(seen: &'a Seen, log: Log, task: &'a CurrentTask) -> QuestionReader<'a> {
        QuestionReader {
            seen,
            texts: seen.texts(),
            text: Vec::new(),
            read_only: seen.index().info().read_only,
            log,
            task,
        }
    }

    /// The task that measures the time of documents.
    #[cfg(test)]
    pub fn task(&self) -> &'a CurrentTask {
        self.task
    }

    /// The index.
    pub fn seen(&self) -> &'a Seen {
        self.seen
    }

    /// Looks up queries.
    pub fn look_up(&self, queries: &[Entry<'_>], limit: Limit) -> Result<Vec<Answer>, Problem> {
        let answers = self.seen.index().seen(queries, limit);
        answers.map_err(|error| self.problem(&error))
    }

    /// The problem of a failed look-up; the error is logged unless the document caused it.
    pub fn problem(&self, error: &Error) -> Problem {
        Problem::of(self.log, "look", error)
    }

    /// Parses a body; `add` is the parameter in the URL.
    pub fn read(&mut self, body: &[u8], add: Option<bool>) -> Result<Question, Problem> {
        let task = self.task;
        task.document(|| self.question(body, add))
    }

    fn question(&mut self, body: &[u8], add: Option<bool>) -> Result<Question, Problem> {
        let text = std::str::from_utf8(body).map_err(|error| {
            let detail = format!("byte {} is not UTF-8", error.valid_up_to());
            Problem::bad("not-utf8", detail)
        })?;
        let body: Body<'_> = serde_json::from_str(text)
            .map_err(|error| Problem::bad("bad-json", error.to_string()))?;
        let facts = self.facts(&body)?;
        let add = match (add, body.add) {
            (Some(one), Some(other)) if one != other => {
                let detail = "the address and the body disagree about \"add\"";
                return Err(Problem::bad("bad-request", detail));
            }
            (one, other) => one.or(other).unwrap_or(false),
        };
        let limit = body.limit.unwrap_or(USUAL_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            let detail = format!("limit {limit}: expected 1 to {MAX_LIMIT}");
            return Err(Problem::bad("bad-request", detail));
        }
        let payload = body.payload.unwrap_or_default();
        let question = Question {
            id: id(body.id, body.id_base64)?,
            facts,
            payload: payload.into_owned().into_bytes(),
            add,
            limit,
            reservation: Reserved::default(),
        };
        if let Some(detail) = too_long(&question.entry()) {
            return Err(Problem::too_long(detail));
        }
        if add && question.id.is_none() {
            let detail = "an addition needs an \"id\"";
            return Err(Problem::bad("missing-id", detail));
        }
        if add && self.read_only {
            return Err(read_only());
        }
        Ok(question)
    }

    /// The facts about the text, page or fingerprint of a body.
    fn facts(&mut self, body: &Body<'_>) -> Result<TextFacts<Vec<u8>>, Problem> {
        #[cfg(test)]
        read_slowly(body.text.as_deref());
        let text = match (&body.text, &body.html, &body.fingerprint) {
            (Some(text), None, None) => text.as_bytes(),
            (None, Some(page), None) => {
                self.text.clear();
                self.text.shrink_to(KEPT_CAPACITY);
                html::text(page, self.seen.settings().html, &mut self.text);
                &self.text
            }
            (None, None, Some(fingerprint)) => {
                return Ok(TextFacts {
                    sketch: self.fingerprint(fingerprint)?,
                    ..TextFacts::default()
                });
            }
            _ => {
                let detail = "expected one of \"text\", \"html\" and \"fingerprint\"";
                return Err(Problem::bad("bad-request", detail));
            }
        };
        Ok(self.texts.read(text).to_owned())
    }

    fn fingerprint(&self, text: &str) -> Result<Vec<u8>, Problem> {
        let Shape::Bits { width, .. } = self.seen.method().shape() else {
            let detail = "the method of this index makes no fingerprints: send the text";
            return Err(Problem::bad("no-fingerprints", detail));
        };
        let digits = width as usize / 4;
        let value = u128::from_str_radix(text, 16).ok();
        let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match value.filter(|_| is_hex && text.len() == digits) {
            Some(value) => Ok(value.to_le_bytes()[..digits / 2].to_vec()),
            None => {
                let detail = format!("fingerprint: expected {digits} hexadecimal digits");
                Err(Problem::bad("bad-fingerprint", detail))
            }
        }
    }
}

fn id(
    text: Option<Cow<'_, str>>,
    base64: Option<Cow<'_, str>>,
) -> Result<Option<Vec<u8>>, Problem> {
    let id = match (text, base64) {
        // If both are given, the text is only a readable form of the bytes.
        (_, Some(base64)) => {
            let bytes = STANDARD.decode(base64.as_bytes());
            bytes.map_err(|error| Problem::bad("bad-id", format!("id_base64: {error}")))?
        }
        (Some(text), None) => text.into_owned().into_bytes(),
        (None, None) => return Ok(None),
    };
    if id.is_empty() || id.len() > MAX_ID_BYTES {
        let detail = format!("an id of {} bytes: expected 1 to {MAX_ID_BYTES}", id.len());
        return Err(Problem::bad("bad-id", detail));
    }
    Ok(Some(id))
}

/// A text with this prefix takes ten minutes to read.
#[cfg(test)]
pub const SLOW_TEXT: &str = "a text that takes ten minutes ";
/// The number of these texts that are being read.
#[cfg(test)]
pub static SLOW_READERS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// A text with this prefix takes a tenth of a second to read.
#[cfg(test)]
pub const SLOWISH_TEXT: &str = "a text that takes a tenth of a second ";

/// Stands for anything that makes reading a document slow.
#[cfg(test)]
fn read_slowly(text: Option<&str>) {
    let has_prefix = |prefix| text.is_some_and(|text| text.starts_with(prefix));
    if has_prefix(SLOWISH_TEXT) {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    if has_prefix(SLOW_TEXT) {
        SLOW_READERS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        std::thread::sleep(std::time::Duration::from_secs(600));
        SLOW_READERS.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
    }
}

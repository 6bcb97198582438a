//! What is asked: the body of a request, and what an index needs of it.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use simtool::corpus::web::html;
use simtool::index::{Entry, MOST_ID_BYTES};
use simtool::run::seen::{Seen, Texts, too_long};
use simtool::sketch::Shape;

use super::desk::Desk;
use super::memory::Loan;
use super::problem::{Problem, read_only};

/// Matches of an answer, unless told otherwise.
const USUAL_LIMIT: usize = 10;
/// The most that may be asked for.
const MOST_LIMIT: usize = 1000;

/// The body as it comes.
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

/// What is asked of the index.
#[derive(Debug, Default)]
pub struct Asked {
    pub id: Option<Vec<u8>>,
    pub sketch: Vec<u8>,
    pub payload: Vec<u8>,
    pub add: bool,
    pub limit: usize,
    /// What pays for it.
    pub loan: Loan,
}

impl Asked {
    /// Bytes that it holds, about, until it is answered.
    pub fn weight(&self) -> usize {
        let held = [self.id.as_deref().unwrap_or_default(), &self.payload];
        let held: usize = held.iter().map(|bytes| bytes.len()).sum();
        // Its answer shows each byte of the sketch as two digits.
        size_of::<Asked>() + held + 3 * self.sketch.len()
    }
}

/// What turns bodies into questions; each thread has its own.
pub struct Reader<'a> {
    seen: &'a Seen,
    texts: Texts<'a>,
    text: Vec<u8>,
    read_only: bool,
    desk: &'a Desk,
}

/// Buffers that grew beyond this for a giant page are given back.
const KEPT_CAPACITY: usize = 1 << 20;

impl<'a> Reader<'a> {
    /// For the thread that works at `desk`.
    pub fn new(seen: &'a Seen, desk: &'a Desk) -> Reader<'a> {
        Reader {
            seen,
            texts: seen.texts(),
            text: Vec::new(),
            read_only: seen.index().info().read_only,
            desk,
        }
    }

    /// Where the time of documents is taken.
    #[cfg(test)]
    pub fn desk(&self) -> &'a Desk {
        self.desk
    }

    /// The index.
    pub fn seen(&self) -> &'a Seen {
        self.seen
    }

    /// Reads a body; `add` is what the address says.
    pub fn read(&mut self, body: &[u8], add: Option<bool>) -> Result<Asked, Problem> {
        let desk = self.desk;
        desk.document(|| self.question(body, add))
    }

    fn question(&mut self, body: &[u8], add: Option<bool>) -> Result<Asked, Problem> {
        let text = std::str::from_utf8(body).map_err(|error| {
            let detail = format!("byte {} is not UTF-8", error.valid_up_to());
            Problem::bad("not-utf8", detail)
        })?;
        let body: Body<'_> = serde_json::from_str(text)
            .map_err(|error| Problem::bad("bad-json", error.to_string()))?;
        let sketch = self.sketch(&body)?;
        let add = match (add, body.add) {
            (Some(one), Some(other)) if one != other => {
                let detail = "the address and the body disagree about \"add\"";
                return Err(Problem::bad("bad-request", detail));
            }
            (one, other) => one.or(other).unwrap_or(false),
        };
        let limit = body.limit.unwrap_or(USUAL_LIMIT);
        if !(1..=MOST_LIMIT).contains(&limit) {
            let detail = format!("limit {limit}: expected 1 to {MOST_LIMIT}");
            return Err(Problem::bad("bad-request", detail));
        }
        let payload = body.payload.unwrap_or_default();
        let id = id(body.id, body.id_base64)?;
        let entry = Entry {
            id: id.as_deref().unwrap_or_default(),
            sketch: &sketch,
            payload: payload.as_bytes(),
        };
        if let Some(detail) = too_long(&entry) {
            return Err(Problem::too_long(detail));
        }
        if add && id.is_none() {
            let detail = "what is to be added needs an \"id\"";
            return Err(Problem::bad("missing-id", detail));
        }
        if add && self.read_only {
            return Err(read_only());
        }
        Ok(Asked {
            id,
            sketch,
            payload: payload.into_owned().into_bytes(),
            add,
            limit,
            loan: Loan::default(),
        })
    }

    /// The sketch of the one thing that a body holds; empty if there is nothing to compare.
    fn sketch(&mut self, body: &Body<'_>) -> Result<Vec<u8>, Problem> {
        #[cfg(test)]
        super::trial::read_slowly(body.text.as_deref());
        let text = match (&body.text, &body.html, &body.fingerprint) {
            (Some(text), None, None) => text.as_bytes(),
            (None, Some(page), None) => {
                self.text.clear();
                self.text.shrink_to(KEPT_CAPACITY);
                html::text(page, self.seen.settings().html, &mut self.text);
                &self.text
            }
            (None, None, Some(fingerprint)) => return self.fingerprint(fingerprint),
            _ => {
                let detail = "expected one of \"text\", \"html\" and \"fingerprint\"";
                return Err(Problem::bad("bad-request", detail));
            }
        };
        Ok(self.texts.sketch(text).unwrap_or_default().to_vec())
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
        // Where both stand, the text is what can be shown of the bytes.
        (_, Some(base64)) => {
            let bytes = STANDARD.decode(base64.as_bytes());
            bytes.map_err(|error| Problem::bad("bad-id", format!("id_base64: {error}")))?
        }
        (Some(text), None) => text.into_owned().into_bytes(),
        (None, None) => return Ok(None),
    };
    if id.is_empty() || id.len() > MOST_ID_BYTES {
        let detail = format!("an id of {} bytes: expected 1 to {MOST_ID_BYTES}", id.len());
        return Err(Problem::bad("bad-id", detail));
    }
    Ok(Some(id))
}

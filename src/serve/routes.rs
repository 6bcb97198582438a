//! What can be asked where.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName,
};
use serde::Serialize;
use simtool::index::Query;
use simtool::sketch::Shape;
use tokio::time::timeout;

use super::answer::{Said, id_bytes, limit, loan_bytes};
use super::ask::{Asked, Reader};
use super::gate::Permit;
use super::memory::Loan;
use super::problem::{Problem, read_only};
use super::{Service, batch, copies};

const PAGE: &str = include_str!("page.html");
const OPENAPI: &str = include_str!("openapi.json");
/// The page loads nothing and talks to its own service alone.
const POLICY: &str = include_str!("page-policy.txt").trim_ascii();
/// Takes as long as it takes.
pub const COPIES: &str = "/v1/copies";
const DOCUMENTS: &str = "/v1/documents/";
/// A document of so many bytes is shown without a loan; a longer one takes so many bytes for each
/// of its own: itself, as it is shown, and in Base64 if it is no text.
const SHORT_DOCUMENT: usize = 64 << 10;
const SHOWN: usize = 8;

pub type Answered = Result<Response, Problem>;

/// The routes.
pub fn router(service: &Arc<Service>) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/healthz", get(|| async { text("ok\n", "text/plain") }))
        .route("/openapi.json", get(openapi))
        .route("/metrics", get(metrics))
        .route("/v1/stats", get(stats))
        .route("/v1/seen", post(seen))
        .route("/v1/seen/batch", post(batch))
        .route(COPIES, post(copies::copy))
        .route("/v1/documents/{*id}", get(document).delete(remove))
        .fallback(|| async { Problem::unknown_route() })
        .method_not_allowed_fallback(|| async { Problem::wrong_method() })
        .with_state(Arc::clone(service))
}

/// The route that a path belongs to, for counts.
pub fn route_of(path: &str) -> &'static str {
    let routes = [
        "/",
        "/healthz",
        "/openapi.json",
        "/metrics",
        "/v1/stats",
        "/v1/seen",
        "/v1/seen/batch",
        COPIES,
    ];
    match routes.into_iter().find(|route| *route == path) {
        Some(route) => route,
        None if path.starts_with(DOCUMENTS) => "/v1/documents",
        None => "other",
    }
}

async fn page() -> Response {
    let mut response = text(PAGE, "text/html; charset=utf-8");
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_SECURITY_POLICY,
        hyper::header::HeaderValue::from_static(POLICY),
    );
    headers.insert(
        CACHE_CONTROL,
        hyper::header::HeaderValue::from_static("no-cache"),
    );
    response
}

/// The document, which says how long the fingerprints of this index are.
async fn openapi(State(service): State<Arc<Service>>) -> Response {
    let said = match service.seen.method().shape() {
        Shape::Bits { width, .. } => {
            let digits = format!("[0-9a-fA-F]{{{}}}$", width / 4);
            OPENAPI.replacen("[0-9a-fA-F]+$", &digits, 1)
        }
        Shape::Keys => OPENAPI.into(),
    };
    typed("application/json", said)
}

async fn metrics(State(service): State<Arc<Service>>) -> Response {
    let text = service.metrics.text(&service);
    typed("text/plain; version=0.0.4", text)
}

async fn stats(State(service): State<Arc<Service>>) -> Response {
    let seen = &service.seen;
    let (info, settings) = (seen.index().info(), seen.settings());
    let bytes: u64 = info.segments.iter().map(|(_, _, bytes)| bytes).sum();
    let bits = match seen.method().shape() {
        Shape::Bits { width, distance } => Some((width, distance)),
        Shape::Keys => None,
    };
    let known = serde_json::json!({
        "version": env!("CARGO_PKG_VERSION"),
        "about": seen.about(),
        "method": settings.spec.to_string(),
        "tokenizer": settings.tokenizer.name(),
        "html": settings.html,
        "stop_words": settings.stop_words.to_string(),
        "bits": bits.map(|(width, _)| width),
        "distance": bits.map(|(_, distance)| distance),
        "documents": info.documents,
        "removed": info.removed,
        "recent": info.recent,
        "segments": info.segments.len(),
        "bytes": bytes,
        "read_only": info.read_only,
        "trouble": info.trouble,
        "accidental_hits_per_query": seen.accidental_hits(),
        "uptime_seconds": service.begin.elapsed().as_secs(),
    });
    typed("application/json", known.to_string())
}

async fn seen(State(service): State<Arc<Service>>, request: Request) -> Answered {
    let add = asked_to_add(request.uri().query())?;
    let Lent { bytes, loan } = body(&service, request.into_body()).await?;
    let read = service.pool.run_with(loan, move |reader, held| {
        let mut asked = reader.read(&bytes, add)?;
        asked.loan = held.take(asked.weight());
        match asked.add {
            true => Ok(Outcome::Add(asked)),
            false => look(reader, asked, None),
        }
    });
    let mut outcome = read.get().await??;
    loop {
        outcome = match outcome {
            Outcome::Answered(verdict, text, loan) => {
                service.metrics.said(verdict);
                return Ok(typed("application/json", Lent::body(text, loan)));
            }
            Outcome::Add(asked) => {
                let place = service.place()?;
                let mut added = service.writer.add(vec![asked], Some(place)).await?;
                let (asked, answer) = added.pop().ok_or_else(Problem::unanswered)?;
                let answer = answer?;
                let loan = match loan_bytes(id_bytes(&answer)) {
                    Some(bytes) => service.memory.lend_for_answer(bytes).await,
                    None => Loan::default(),
                };
                let said = Said::new(&service.seen, &asked, &answer);
                Outcome::answered(&said, loan)
            }
            Outcome::Long(asked, bytes) => {
                let loan = service.memory.lend_for_answer(bytes).await;
                let looked = service
                    .pool
                    .run(move |reader| look(reader, asked, Some(loan)));
                looked.get().await??
            }
        };
    }
}

/// How far a question is.
enum Outcome {
    /// The verdict, and the answer with the loan for it.
    Answered(&'static str, Vec<u8>, Loan),
    /// The writer answers it.
    Add(Asked),
    /// So many bytes have to be lent for its answer, which is then looked up again.
    Long(Asked, usize),
}

impl Outcome {
    fn answered(said: &Said<'_>, mut loan: Loan) -> Outcome {
        let text = json_bytes(said);
        loan.keep(text.len());
        Outcome::Answered(said.verdict, text, loan)
    }
}

/// Answers a question, if its answer is short or has its loan.
fn look(reader: &Reader<'_>, asked: Asked, loan: Option<Loan>) -> Result<Outcome, Problem> {
    let query = Query {
        id: asked.id.as_deref(),
        sketch: &asked.sketch,
    };
    let seen = reader.seen();
    let answers = seen.index().seen_within(&[query], limit(asked.limit));
    let answer = answers.map_err(|error| Problem::from(&error))?.pop();
    let answer = answer.ok_or_else(Problem::unanswered)?;
    match (loan_bytes(id_bytes(&answer)), loan) {
        (Some(bytes), None) => Ok(Outcome::Long(asked, bytes)),
        (_, loan) => {
            let said = Said::new(seen, &asked, &answer);
            Ok(Outcome::answered(&said, loan.unwrap_or_default()))
        }
    }
}

async fn batch(
    State(service): State<Arc<Service>>,
    Extension(permit): Extension<Option<Permit>>,
    request: Request,
) -> Answered {
    let add = asked_to_add(request.uri().query())?;
    let place = service.place()?;
    let body = batch::answers(service, (permit, place), add, request.into_body());
    Ok(typed("application/x-ndjson", body))
}

async fn document(State(service): State<Arc<Service>>, request: Request) -> Answered {
    let id = id_of(request.uri().path())?;
    let mut loan = Loan::default();
    let mut lent = SHORT_DOCUMENT;
    loop {
        let id = id.clone();
        let found = service.pool.run(move |reader| -> Result<_, Problem> {
            let seen = reader.seen();
            let found = seen.index().document(&id);
            let document = found.map_err(|error| Problem::from(&error))?;
            let document = document.ok_or_else(Problem::unknown_id)?;
            let weight = document.sketch.len() + document.payload.len();
            Ok(match weight <= lent {
                true => Ok(json_bytes(&seen.known(&document))),
                // It is looked up again when there is memory for it.
                false => Err(weight),
            })
        });
        match found.get().await?? {
            Ok(text) => {
                loan.keep(text.len());
                return Ok(typed("application/json", Lent::body(text, loan)));
            }
            Err(weight) => {
                // What was lent for less is given back before more is asked for.
                drop(std::mem::take(&mut loan));
                loan = service.memory.lend(weight.saturating_mul(SHOWN)).await;
                lent = weight;
            }
        }
    }
}

async fn remove(State(service): State<Arc<Service>>, request: Request) -> Answered {
    let id = id_of(request.uri().path())?;
    if service.seen.index().info().read_only {
        return Err(read_only());
    }
    let place = service.place()?;
    match service.writer.remove(id, place).await? {
        true => Ok(json(&serde_json::json!({"removed": true}))),
        false => Err(Problem::unknown_id()),
    }
}

/// What `add` of an address says.
fn asked_to_add(query: Option<&str>) -> Result<Option<bool>, Problem> {
    let mut add = None;
    for pair in query
        .unwrap_or_default()
        .split('&')
        .filter(|pair| !pair.is_empty())
    {
        add = match pair {
            "add" | "add=true" | "add=1" => Some(true),
            "add=false" | "add=0" => Some(false),
            _ => {
                let detail = format!("{pair:?} in the address: expected add=true or add=false");
                return Err(Problem::bad("bad-request", detail));
            }
        };
    }
    Ok(add)
}

/// The id in an address: every byte that is not written as `%` and two digits stands for itself.
fn id_of(path: &str) -> Result<Vec<u8>, Problem> {
    let text = path.strip_prefix(DOCUMENTS).unwrap_or_default().as_bytes();
    let mut id = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            id.push(first);
            continue;
        }
        let digit = |at: usize| char::from(*after.get(at)?).to_digit(16);
        let Some((high, low)) = digit(0).zip(digit(1)) else {
            let detail = "a % in the address without two hexadecimal digits";
            return Err(Problem::bad("bad-id", detail));
        };
        id.push((high * 16 + low) as u8);
        rest = &after[2..];
    }
    Ok(id)
}

/// Bytes in memory that are lent as long as this lives.
pub struct Lent {
    pub bytes: Bytes,
    loan: Loan,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Lent {
    /// The body of an answer, which keeps its loan until it is written.
    fn body(text: Vec<u8>, loan: Loan) -> Body {
        let bytes = Bytes::from(text);
        Body::from(Bytes::from_owner(Lent { bytes, loan }))
    }
}

/// Reads a body.
pub async fn body(service: &Service, body: Body) -> Result<Lent, Problem> {
    use http_body::Body as _;
    let most = service.config.limits.body_bytes;
    let claimed = body.size_hint().upper();
    let wanted = usize::try_from(claimed.unwrap_or(most as u64)).unwrap_or(usize::MAX);
    if wanted > most {
        return Err(Problem::large(most));
    }
    let mut reading = Reading {
        body,
        bytes: Vec::new(),
        most,
    };
    let time = service.config.limits.request;
    let slow = |_| Problem::slow();
    let small = service.memory.small();
    let mut loan = Loan::default();
    if !timeout(time, reading.read_to(small))
        .await
        .map_err(slow)??
    {
        loan = service.memory.lend(service.memory.weight(wanted)).await;
        let rest = reading.read_to(usize::MAX);
        timeout(time, rest).await.map_err(slow)??;
    }
    Ok(Lent {
        bytes: reading.bytes.into(),
        loan,
    })
}

/// A body that is being read.
struct Reading {
    body: Body,
    bytes: Vec<u8>,
    most: usize,
}

impl Reading {
    /// Reads until there are more than so many bytes; whether the body has ended.
    async fn read_to(&mut self, bytes: usize) -> Result<bool, Problem> {
        while self.bytes.len() <= bytes {
            let Some(frame) = self.body.frame().await else {
                return Ok(true);
            };
            let frame = frame.map_err(|error| Problem::bad("broken-body", error.to_string()))?;
            let data = frame.into_data().unwrap_or_default();
            if self.bytes.len() + data.len() > self.most {
                return Err(Problem::large(self.most));
            }
            self.bytes.extend_from_slice(&data);
        }
        Ok(false)
    }
}

pub fn json(value: &impl Serialize) -> Response {
    typed("application/json", json_bytes(value))
}

fn json_bytes(value: &impl Serialize) -> Vec<u8> {
    // Writing to memory cannot fail.
    serde_json::to_vec(value).unwrap_or_default()
}

fn text(text: &'static str, kind: &'static str) -> Response {
    let mut response = typed(kind, text);
    let length = hyper::header::HeaderValue::from(text.len());
    response.headers_mut().insert(CONTENT_LENGTH, length);
    response
}

fn typed(kind: &'static str, body: impl Into<Body>) -> Response {
    let headers: [(HeaderName, &str); 2] = [
        (CONTENT_TYPE, kind),
        (HeaderName::from_static("x-content-type-options"), "nosniff"),
    ];
    (StatusCode::OK, headers, body.into()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_any_bytes() {
        let id = |path: &str| id_of(path).ok();
        assert_eq!(id("/v1/documents/a"), Some(b"a".to_vec()));
        let address = "/v1/documents/http%3A%2F%2Fa%2f%3fb%ff";
        assert_eq!(id(address), Some(b"http://a/?b\xff".to_vec()));
        let plain = "/v1/documents/http://a//b";
        assert_eq!(id(plain), Some(b"http://a//b".to_vec()));
        for wrong in ["%", "%1", "%1x", "%%%"] {
            assert_eq!(id(&format!("/v1/documents/{wrong}")), None);
        }
    }

    #[test]
    fn addresses_may_add() {
        let add = |query| asked_to_add(query).ok();
        assert_eq!(add(None), Some(None));
        assert_eq!(add(Some("add=true")), Some(Some(true)));
        assert_eq!(add(Some("add=0&")), Some(Some(false)));
        assert_eq!(add(Some("ad=true")), None);
    }
}

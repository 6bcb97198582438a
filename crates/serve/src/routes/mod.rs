//! The routes of the service.

mod answer_body;
mod batch;
mod body;
mod copies;
mod gauges;
mod lines;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Request, State};
use axum::response::Response;
use axum::routing::{get, post};
use hyper::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, HeaderValue};
use simtool_core::sketch::{Compare, Shape};

use crate::limits::memory::Reserved;
use crate::limits::permits::RequestPermit;
use crate::problem::{Problem, read_only};
use crate::question::answer::{AnswerJson, answer_reservation, id_bytes, limit};
use crate::question::{Question, QuestionReader};
use crate::service::Service;
use body::{Reply, ReservedBytes, json, json_bytes, read_body, typed};

const PAGE: &str = include_str!("page.html");
const OPENAPI: &str = include_str!("openapi.json");
/// The page loads nothing, and connects to its own service alone.
const POLICY: &str = include_str!("page-policy.txt").trim_ascii();
/// Copies have no time limit.
pub const COPIES: &str = "/v1/copies";
const DOCUMENTS: &str = "/v1/documents/";
/// The longest document that is returned without a reservation.
const SHORT_DOCUMENT: usize = 64 << 10;
/// Reserved bytes for each byte of a longer document: its value, its JSON, and Base64 if it is no
/// text.
const RESERVED_FACTOR: usize = 8;

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

/// The route of a path, for counts.
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
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// The OpenAPI description, with the length of the fingerprints of this index.
async fn openapi(State(service): State<Arc<Service>>) -> Response {
    let answer = match service.seen.method().shape() {
        Shape::Bits { width, .. } => {
            let digits = format!("[0-9a-fA-F]{{{}}}$", width / 4);
            OPENAPI.replacen("[0-9a-fA-F]+$", &digits, 1)
        }
        Shape::Keys => OPENAPI.into(),
    };
    typed("application/json", answer)
}

async fn metrics(State(service): State<Arc<Service>>) -> Response {
    let text = service.metrics.text(&gauges::of(&service));
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
        "dumps": info.dumps,
        "recent": info.recent,
        "segments": info.segments.len(),
        "bytes": bytes,
        "read_only": info.read_only,
        "trouble": info.trouble,
        "verified": settings.verifies(),
        "estimated": settings.estimates(),
        "similarity": settings.similarity(),
        "uptime_seconds": service.begin.elapsed().as_secs(),
    });
    typed("application/json", known.to_string())
}

async fn seen(State(service): State<Arc<Service>>, request: Request) -> Reply {
    let add = asked_to_add(request.uri().query())?;
    let ReservedBytes { bytes, reservation } = read_body(&service, request.into_body()).await?;
    let read = service.pool.run_with(reservation, move |reader, held| {
        let mut question = reader.read(&bytes, add)?;
        question.reservation = held.take(question.weight());
        match question.add {
            true => Ok(SeenOutcome::Add(question)),
            false => look(reader, question, None),
        }
    });
    let mut outcome = read.get().await??;
    loop {
        outcome = match outcome {
            SeenOutcome::Answered(verdict, text, reservation) => {
                service.metrics.verdict(verdict);
                return Ok(ReservedBytes::json(text, reservation));
            }
            SeenOutcome::Add(question) => {
                let permit = service.permits.slow()?;
                let mut added = service.writer.add(vec![question], Some(permit)).await?;
                let (question, answer) = added.pop().ok_or_else(Problem::unanswered)?;
                let answer = answer?;
                let bytes = answer_reservation(id_bytes(&answer));
                let reservation = service.memory.reserve_for_answer(bytes).await;
                let answer = AnswerJson::new(&service.seen, &question, &answer);
                SeenOutcome::answered(&answer, reservation)
            }
            SeenOutcome::Long(question, bytes) => {
                let reservation = service.memory.reserve_for_answer(Some(bytes)).await;
                let looked = service
                    .pool
                    .run(move |reader| look(reader, question, Some(reservation)));
                looked.get().await??
            }
        };
    }
}

/// The state of a question.
enum SeenOutcome {
    /// The verdict, the answer, and the memory reserved for it.
    Answered(&'static str, Vec<u8>, Reserved),
    /// The writer answers it.
    Add(Question),
    /// This number of bytes has to be reserved for the answer, which is then looked up again.
    Long(Question, usize),
}

impl SeenOutcome {
    fn answered(answer: &AnswerJson<'_>, mut reservation: Reserved) -> SeenOutcome {
        let text = json_bytes(answer);
        reservation.keep(text.len());
        SeenOutcome::Answered(answer.verdict, text, reservation)
    }
}

/// Answers a question, if the answer is short or its memory is reserved.
fn look(
    reader: &QuestionReader<'_>,
    question: Question,
    reservation: Option<Reserved>,
) -> Result<SeenOutcome, Problem> {
    let seen = reader.seen();
    let answers = reader.look_up(&[question.entry()], limit(question.limit))?;
    let answer = answers.into_iter().next().ok_or_else(Problem::unanswered)?;
    match (answer_reservation(id_bytes(&answer)), reservation) {
        (Some(bytes), None) => Ok(SeenOutcome::Long(question, bytes)),
        (_, reservation) => {
            let answer = AnswerJson::new(seen, &question, &answer);
            Ok(SeenOutcome::answered(
                &answer,
                reservation.unwrap_or_default(),
            ))
        }
    }
}

async fn batch(
    State(service): State<Arc<Service>>,
    Extension(permit): Extension<Option<RequestPermit>>,
    request: Request,
) -> Reply {
    let add = asked_to_add(request.uri().query())?;
    let slow = service.permits.slow()?;
    let body = batch::answers(service, (permit, slow), add, request.into_body());
    Ok(typed("application/x-ndjson", body))
}

async fn document(State(service): State<Arc<Service>>, request: Request) -> Reply {
    let id = id_of(request.uri().path())?;
    let mut reservation = Reserved::default();
    let mut reserved = SHORT_DOCUMENT;
    loop {
        let id = id.clone();
        let found = service.pool.run(move |reader| -> Result<_, Problem> {
            let seen = reader.seen();
            let document = seen.index().document(&id);
            let document = document.map_err(|error| reader.problem(&error))?;
            let document = document.ok_or_else(Problem::unknown_id)?;
            let weight = document.sketch.len() + document.payload.len();
            Ok(match weight <= reserved {
                true => Ok(json_bytes(&seen.known(&document))),
                // It is looked up again when its memory is reserved.
                false => Err(weight),
            })
        });
        match found.get().await?? {
            Ok(text) => {
                reservation.keep(text.len());
                return Ok(ReservedBytes::json(text, reservation));
            }
            Err(weight) => {
                // A smaller reservation is released before a larger one is requested.
                drop(std::mem::take(&mut reservation));
                reservation = service
                    .memory
                    .reserve(weight.saturating_mul(RESERVED_FACTOR))
                    .await;
                reserved = weight;
            }
        }
    }
}

async fn remove(State(service): State<Arc<Service>>, request: Request) -> Reply {
    let id = id_of(request.uri().path())?;
    if service.seen.index().info().read_only {
        return Err(read_only());
    }
    let permit = service.permits.slow()?;
    match service.writer.remove(id, permit).await? {
        true => Ok(json(&serde_json::json!({"removed": true}))),
        false => Err(Problem::unknown_id()),
    }
}

/// The parameter `add` in the query of a URL.
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

/// The id in the path of a URL, in which `%` and two hexadecimal digits stand for a byte.
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

fn text(text: &'static str, kind: &'static str) -> Response {
    let mut response = typed(kind, text);
    let length = HeaderValue::from(text.len());
    response.headers_mut().insert(CONTENT_LENGTH, length);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_may_have_any_bytes() {
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
    fn the_address_may_ask_for_an_addition() {
        let add = |query| asked_to_add(query).ok();
        assert_eq!(add(None), Some(None));
        assert_eq!(add(Some("add=true")), Some(Some(true)));
        assert_eq!(add(Some("add=0&")), Some(Some(false)));
        assert_eq!(add(Some("ad=true")), None);
    }
}

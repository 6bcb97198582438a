//! Bodies of requests, read within their limits, and of answers.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body::Body as _;
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderName};
use serde::Serialize;
use tokio::time::timeout;

use crate::limits::memory::Reserved;
use crate::problem::Problem;
use crate::service::Service;

/// The response of a route.
pub type Reply = Result<Response, Problem>;

/// Bytes with their reserved memory.
pub struct ReservedBytes {
    pub bytes: Bytes,
    pub reservation: Reserved,
}

impl AsRef<[u8]> for ReservedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl ReservedBytes {
    /// A JSON answer that holds its reservation until it is written.
    pub fn json(text: Vec<u8>, reservation: Reserved) -> Response {
        let bytes = Bytes::from(text);
        let bytes = Bytes::from_owner(ReservedBytes { bytes, reservation });
        typed("application/json", bytes)
    }
}

/// Reads the body of a request.
pub async fn read_body(service: &Service, body: Body) -> Result<ReservedBytes, Problem> {
    let most = service.config.limits.body_bytes;
    let claimed = body.size_hint().upper();
    let wanted = usize::try_from(claimed.unwrap_or(most as u64)).unwrap_or(usize::MAX);
    if wanted > most {
        return Err(Problem::large(most));
    }
    let mut reading = BodyReader {
        body,
        bytes: Vec::new(),
        most,
    };
    let time = service.config.limits.request;
    let slow = |_| Problem::slow();
    let small = service.memory.small();
    let mut reservation = Reserved::default();
    if !timeout(time, reading.read_to(small))
        .await
        .map_err(slow)??
    {
        reservation = service.memory.reserve(service.memory.weight(wanted)).await;
        let rest = reading.read_to(usize::MAX);
        timeout(time, rest).await.map_err(slow)??;
    }
    Ok(ReservedBytes {
        bytes: reading.bytes.into(),
        reservation,
    })
}

/// A body that is being read.
struct BodyReader {
    body: Body,
    bytes: Vec<u8>,
    most: usize,
}

impl BodyReader {
    /// Reads until there are more than `bytes` bytes; returns whether the body has ended.
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

pub fn json_bytes(value: &impl Serialize) -> Vec<u8> {
    // Writing to memory cannot fail.
    serde_json::to_vec(value).unwrap_or_default()
}

pub fn typed(kind: &'static str, body: impl Into<Body>) -> Response {
    let headers: [(HeaderName, &str); 2] = [
        (CONTENT_TYPE, kind),
        (HeaderName::from_static("x-content-type-options"), "nosniff"),
    ];
    (StatusCode::OK, headers, body.into()).into_response()
}

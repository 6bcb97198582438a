//! What went wrong, as `application/problem+json` (RFC 9457).

use std::io;
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use hyper::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{HeaderMap, StatusCode};
use serde::Serialize;
use simtool::{Error, ErrorKind};

/// The code of a document that no index takes.
const BAD_DOCUMENT: &str = "bad-document";

/// A request that failed.
#[derive(Clone, Debug, Serialize)]
pub struct Problem {
    #[serde(serialize_with = "number")]
    status: StatusCode,
    title: &'static str,
    /// What programs tell it by.
    code: &'static str,
    detail: String,
    /// The line of a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
}

fn number<S: serde::Serializer>(status: &StatusCode, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u16(status.as_u16())
}

impl Problem {
    fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Problem {
        Problem {
            status,
            title: status.canonical_reason().unwrap_or("Error"),
            code,
            detail: detail.into(),
            line: None,
        }
    }

    /// A request that says something else than it has to.
    pub fn bad(code: &'static str, detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, code, detail)
    }

    pub fn unauthorized() -> Problem {
        let detail = "send the token of this service: Authorization: Bearer TOKEN";
        Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
    }

    pub fn foreign(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::FORBIDDEN, "foreign-origin", detail)
    }

    pub fn unknown_route() -> Problem {
        let detail = "there is nothing here: /openapi.json lists what there is";
        Problem::new(StatusCode::NOT_FOUND, "unknown-route", detail)
    }

    pub fn unknown_id() -> Problem {
        let detail = "there is no document of this id";
        Problem::new(StatusCode::NOT_FOUND, "unknown-id", detail)
    }

    pub fn wrong_method() -> Problem {
        let detail = "this route has no such method: the header Allow lists those it has";
        Problem::new(StatusCode::METHOD_NOT_ALLOWED, "wrong-method", detail)
    }

    pub fn slow() -> Problem {
        let detail = "the request was not complete in time";
        Problem::new(StatusCode::REQUEST_TIMEOUT, "too-slow", detail)
    }

    pub fn late() -> Problem {
        let detail = "there was no answer in time; what was to be changed may have been changed";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "late", detail)
    }

    /// A document that takes too long.
    pub fn slow_document(limit: Duration) -> Problem {
        let detail = format!(
            "no text could be made of this document in {} seconds: send less of it, or its text \
             alone",
            limit.as_secs_f64()
        );
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "slow-document", detail)
    }

    /// All threads work on documents that take too long.
    pub fn overloaded() -> Problem {
        let detail = "too many documents that take long: come back in a second";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", detail)
    }

    pub fn large(most: usize) -> Problem {
        Problem::too_long(format!("at most {most} bytes are taken"))
    }

    /// Something is longer than it may be.
    pub fn too_long(detail: String) -> Problem {
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", detail)
    }

    pub fn busy() -> Problem {
        let detail = "too many requests at once: come back in a second";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", detail)
    }

    /// Too many requests that may take long.
    pub fn crowded() -> Problem {
        let detail = "too many additions, removals, batches and copies at once: come back in a \
                      second";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", detail)
    }

    /// A service that makes no copies.
    pub fn no_copies() -> Problem {
        let detail = "this service makes no copies: start it with --copies DIR";
        Problem::new(StatusCode::NOT_FOUND, "no-copies", detail)
    }

    pub fn copy_exists() -> Problem {
        let detail = "there is something of this name: choose another one";
        Problem::new(StatusCode::CONFLICT, "copy-exists", detail)
    }

    pub fn copying() -> Problem {
        let detail = "another copy is being made: come back when it is done";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", detail)
    }

    /// A copy that could not be made; the index is as it was. The paths of this machine are not
    /// for callers: the log of the service has them.
    pub fn of_a_copy(error: &Error) -> Problem {
        let why = error.cause().map(|cause| format!(" ({})", cause.kind()));
        let detail = format!(
            "no copy was made{}: standard error of the service says where",
            why.unwrap_or_default()
        );
        match Problem::from(error) {
            problem if problem.status == StatusCode::BAD_REQUEST => Problem::broken(detail),
            problem => Problem { detail, ..problem },
        }
    }

    pub fn unanswered() -> Problem {
        Problem::broken("an internal error, please report it")
    }

    pub fn broken(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
    }

    /// Whether it is about a document alone, and not about all that were added with it.
    pub fn is_of_a_document(&self) -> bool {
        self.code == BAD_DOCUMENT
    }

    /// What programs tell it by.
    #[cfg(test)]
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// The same, of a line of a batch.
    pub fn at_line(self, line: u64) -> Problem {
        let line = Some(line);
        Problem { line, ..self }
    }

    /// Appends it as a line.
    pub fn write(&self, out: &mut Vec<u8>) {
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(&mut *out, self);
        out.push(b'\n');
    }
}

impl From<&Error> for Problem {
    fn from(error: &Error) -> Problem {
        let full = |cause: &io::Error| {
            let kinds = [
                io::ErrorKind::StorageFull,
                io::ErrorKind::QuotaExceeded,
                io::ErrorKind::FileTooLarge,
            ];
            kinds.contains(&cause.kind())
        };
        let is_write = error.kind() == ErrorKind::Write;
        let kind = error.cause().map(io::Error::kind);
        let refused = |code| {
            let detail = format!("nothing was changed: {error}");
            Problem::new(StatusCode::INSUFFICIENT_STORAGE, code, detail)
        };
        match error.kind() {
            ErrorKind::Parameter => Problem::bad(BAD_DOCUMENT, error.to_string()),
            _ if is_write && kind == Some(io::ErrorKind::ReadOnlyFilesystem) => {
                refused("disk-read-only")
            }
            _ if is_write && error.cause().is_none_or(full) => refused("disk-full"),
            _ => Problem::broken(error.to_string()),
        }
    }
}

/// An index that is open for reading only.
pub fn read_only() -> Problem {
    let detail = "the index is open for reading only";
    Problem::new(StatusCode::FORBIDDEN, "read-only", detail)
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut headers = HeaderMap::new();
        let mut set = |name, value: &'static str| {
            headers.insert(name, hyper::header::HeaderValue::from_static(value));
        };
        set(CONTENT_TYPE, "application/problem+json");
        match self.code {
            "unauthorized" => set(WWW_AUTHENTICATE, "Bearer"),
            "busy" | "late" => set(RETRY_AFTER, "1"),
            _ => {}
        }
        let mut body = Vec::new();
        self.write(&mut body);
        let mut response = (self.status, headers, body).into_response();
        // Whoever sends too much is still sending.
        if self.code == "too-large" {
            let close = hyper::header::HeaderValue::from_static("close");
            response
                .headers_mut()
                .insert(hyper::header::CONNECTION, close);
        }
        response
    }
}

//! Errors of requests as `application/problem+json` (RFC 9457).

use std::io;
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use hyper::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{HeaderMap, StatusCode};
use serde::Serialize;
use simtool_core::{Error, ErrorKind};

use crate::log::Log;

/// The code of a document that an index refuses.
const BAD_DOCUMENT: &str = "bad-document";

/// A request that failed.
#[derive(Clone, Debug, Serialize)]
pub struct Problem {
    #[serde(serialize_with = "number")]
    status: StatusCode,
    title: &'static str,
    /// Identifies the problem for programs.
    code: &'static str,
    detail: String,
    /// The number of the line in a batch.
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

    /// An invalid request.
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
        let detail = "unknown route: /openapi.json lists the routes";
        Problem::new(StatusCode::NOT_FOUND, "unknown-route", detail)
    }

    pub fn unknown_id() -> Problem {
        let detail = "there is no document of this id";
        Problem::new(StatusCode::NOT_FOUND, "unknown-id", detail)
    }

    pub fn wrong_method() -> Problem {
        let detail = "this route does not allow the method: the header Allow lists its methods";
        Problem::new(StatusCode::METHOD_NOT_ALLOWED, "wrong-method", detail)
    }

    pub fn slow() -> Problem {
        let detail = "the request was not complete in time";
        Problem::new(StatusCode::REQUEST_TIMEOUT, "too-slow", detail)
    }

    pub fn late() -> Problem {
        let detail = "there was no answer in time; a requested change may have been made";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "late", detail)
    }

    /// Reading a document takes too long.
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
        let detail = "too many slow documents: retry in a second";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", detail)
    }

    pub fn large(most: usize) -> Problem {
        Problem::too_long(format!("at most {most} bytes are accepted"))
    }

    /// Something exceeds its limit.
    pub fn too_long(detail: String) -> Problem {
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", detail)
    }

    pub fn busy() -> Problem {
        let detail = "too many requests at once: retry in a second";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", detail)
    }

    /// There are too many requests that may take long.
    pub fn crowded() -> Problem {
        let detail = "too many additions, removals, batches and copies at once: retry in a second";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", detail)
    }

    /// The service has no directory for copies.
    pub fn no_copies() -> Problem {
        let detail = "this service makes no copies: start it with --copies DIR";
        Problem::new(StatusCode::NOT_FOUND, "no-copies", detail)
    }

    pub fn copy_exists() -> Problem {
        let detail = "a file or directory has this name: choose another one";
        Problem::new(StatusCode::CONFLICT, "copy-exists", detail)
    }

    pub fn copying() -> Problem {
        let detail = "another copy is being made: retry when it is complete";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", detail)
    }

    /// A change or a query that failed, perhaps because of its document.
    pub fn of(log: Log, operation: &str, error: &Error) -> Problem {
        match error.kind() {
            ErrorKind::Parameter => Problem::bad(BAD_DOCUMENT, error.to_string()),
            _ => Problem::failed(log, operation, "nothing was changed", error),
        }
    }

    /// An operation failed, with `outcome`. Clients do not see paths of this machine, which are on
    /// standard error.
    pub fn failed(log: Log, operation: &str, outcome: &str, error: &Error) -> Problem {
        log.failed(operation, error);
        let full = |kind: &io::ErrorKind| {
            let kinds = [
                io::ErrorKind::StorageFull,
                io::ErrorKind::QuotaExceeded,
                io::ErrorKind::FileTooLarge,
            ];
            kinds.contains(kind)
        };
        let is_write = error.kind() == ErrorKind::Write;
        let kind = error.cause().map(io::Error::kind);
        let why = kind.map_or(String::new(), |kind| format!(" ({kind})"));
        let detail = format!("{outcome}{why}: standard error of the service says where");
        let refused = |code| Problem::new(StatusCode::INSUFFICIENT_STORAGE, code, &*detail);
        match kind {
            Some(io::ErrorKind::ReadOnlyFilesystem) if is_write => refused("disk-read-only"),
            kind if is_write && kind.as_ref().is_none_or(full) => refused("disk-full"),
            _ => Problem::broken(detail),
        }
    }

    pub fn unanswered() -> Problem {
        Problem::broken("an internal error, please report it")
    }

    pub fn broken(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
    }

    /// Whether it concerns one document only, and not the others of the same commit.
    pub fn is_of_a_document(&self) -> bool {
        self.code == BAD_DOCUMENT
    }

    #[cfg(test)]
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// The same with the number of a line.
    pub fn at_line(self, line: u64) -> Problem {
        let line = Some(line);
        Problem { line, ..self }
    }

    /// Appends it as a line of JSON.
    pub fn write(&self, out: &mut Vec<u8>) {
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(&mut *out, self);
        out.push(b'\n');
    }
}

/// The index is open for reading only.
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
        // The client may still be sending.
        if self.code == "too-large" {
            let close = hyper::header::HeaderValue::from_static("close");
            response
                .headers_mut()
                .insert(hyper::header::CONNECTION, close);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_failure_names_a_path_to_callers() {
        for (kind, cause, code) in [
            (ErrorKind::Write, io::ErrorKind::StorageFull, "disk-full"),
            (
                ErrorKind::Write,
                io::ErrorKind::ReadOnlyFilesystem,
                "disk-read-only",
            ),
            (
                ErrorKind::Write,
                io::ErrorKind::PermissionDenied,
                "internal",
            ),
            (ErrorKind::Read, io::ErrorKind::StorageFull, "internal"),
        ] {
            let error = Error::new(kind, "is in the way")
                .in_file("/srv/seen/recent.redb")
                .caused_by(cause.into());
            let problem = Problem::of(Log::Failures(|_| {}), "add", &error);
            assert_eq!(problem.code, code);
            assert!(problem.detail.starts_with("nothing was changed ("));
            assert!(!problem.detail.contains("/srv"), "{}", problem.detail);
        }
        let error = Error::new(ErrorKind::Parameter, "an id of 0 bytes");
        let problem = Problem::of(Log::Failures(|_| {}), "add", &error);
        assert_eq!(
            (problem.code, &*problem.detail),
            (BAD_DOCUMENT, "an id of 0 bytes")
        );
    }
}

//! Answers of servers, and what follows from those that are no success.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use object_store::HeaderMap;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_LENGTH, CONTENT_RANGE, ETAG, LAST_MODIFIED, RETRY_AFTER};

use crate::{ErrorKind, Identity};

/// The maximum number of bytes of an error's body that are read and shown.
pub(crate) const MAX_DETAIL_BYTES: usize = 2048;
/// The maximum number of characters of a server's text in a message.
const MAX_DETAIL_CHARACTERS: usize = 200;

/// The status and headers of an answer.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub status: StatusCode,
    pub headers: HeaderMap,
}

/// The bytes of an answer, in pieces.
pub(crate) enum Body {
    Response(Box<reqwest::Response>),
    Empty,
}

/// A successful answer to the request for a range.
pub(crate) struct Fetched {
    /// The object that the server has now.
    pub identity: Identity,
    /// The offset in the object at which the body begins.
    pub offset: u64,
    pub body: Body,
}

/// A listed object.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub key: String,
    pub identity: Identity,
    /// The time of its last modification, in seconds since 1970.
    pub modified: Option<i64>,
}

/// What to do about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Advice {
    /// Nothing is known.
    None,
    /// Check the credentials for the kind of server.
    Access,
    /// Send larger parts.
    LargerParts,
}

/// Why an attempt failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Another attempt would fail as well.
    Final {
        kind: ErrorKind,
        detail: String,
        advice: Advice,
    },
    /// There is no such object.
    Missing { detail: String },
    /// The server wants fewer requests. It may also mean that access is denied, if `is_doubtful`.
    Slow {
        detail: String,
        after: Option<Duration>,
        is_doubtful: bool,
    },
    /// There is no connection.
    Unreachable { detail: String },
    /// The connection broke, or the server has an error.
    Broken { detail: String },
}

impl Failure {
    pub(crate) fn broken(detail: impl Into<String>) -> Failure {
        Failure::Broken {
            detail: detail.into(),
        }
    }

    pub(crate) fn refused(detail: impl Into<String>) -> Failure {
        Failure::advised(detail, Advice::None)
    }

    pub(crate) fn advised(detail: impl Into<String>, advice: Advice) -> Failure {
        Failure::Final {
            kind: ErrorKind::Read,
            detail: detail.into(),
            advice,
        }
    }

    pub(crate) fn changed(detail: impl Into<String>) -> Failure {
        Failure::of_kind(ErrorKind::Changed, detail)
    }

    pub(crate) fn of_kind(kind: ErrorKind, detail: impl Into<String>) -> Failure {
        Failure::Final {
            kind,
            detail: detail.into(),
            advice: Advice::None,
        }
    }
}

impl Body {
    /// The next piece; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        match self {
            Body::Response(response) => next_piece(response).await,
            Body::Empty => Ok(None),
        }
    }
}

/// The next piece of a body; `None` at the end.
pub(crate) async fn next_piece(response: &mut reqwest::Response) -> Result<Option<Bytes>, Failure> {
    let piece = response.chunk().await;
    piece.map_err(|error| Failure::broken(transport_error(&error.without_url())))
}

impl Head {
    fn text(&self, name: impl reqwest::header::AsHeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The offset at which the body begins, and the size of the object if it is told.
    pub(crate) fn range(&self) -> Option<(u64, Option<u64>)> {
        if self.status == StatusCode::PARTIAL_CONTENT {
            let (range, size) = self
                .text(CONTENT_RANGE)?
                .trim()
                .strip_prefix("bytes ")?
                .split_once('/')?;
            let start = range.split_once('-')?.0.parse().ok()?;
            return Some((start, size.parse().ok()));
        }
        Some((
            0,
            self.text(CONTENT_LENGTH)
                .and_then(|bytes| bytes.parse().ok()),
        ))
    }

    /// Whether it says that the object has no bytes: the answer to a request for its first ones.
    pub(crate) fn is_empty_object(&self) -> bool {
        self.status == StatusCode::RANGE_NOT_SATISFIABLE
            && self
                .text(CONTENT_RANGE)
                .is_some_and(|range| range.trim() == "bytes */0")
    }

    /// The identity of the object, which has `bytes` bytes.
    pub(crate) fn identity(&self, bytes: u64) -> Identity {
        let own = |text: Option<&str>| text.map(str::to_owned);
        let etag = own(self.text(ETAG).filter(|tag| !tag.trim().is_empty()));
        let version = ["x-amz-version-id", "x-goog-generation", "x-ms-version-id"]
            .into_iter()
            .find_map(|name| own(self.text(name)));
        Identity {
            bytes,
            modified: match etag {
                Some(_) => None,
                None => own(self.text(LAST_MODIFIED)),
            },
            etag,
            version: version.filter(|version| version != "null"),
        }
    }

    /// How long the server asks to wait before the next request.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        let text = self.text(RETRY_AFTER)?.trim();
        if let Ok(seconds) = text.parse() {
            return Some(Duration::from_secs(seconds));
        }
        let time = httpdate::parse_http_date(text).ok()?;
        Some(time.duration_since(SystemTime::now()).unwrap_or_default())
    }

    /// What an answer that is no success means. `body` is its body, or the start of it.
    pub(crate) fn failure(&self, body: &[u8], is_store: bool) -> Failure {
        let status = self.status;
        let code = error_code(body);
        let detail = self.described(body);
        match status.as_u16() {
            404 | 410 => Failure::Missing { detail },
            412 => Failure::changed(format!("changed while it was being read ({detail})")),
            301 | 302 | 307 | 308 if is_store => {
                let region = self.text("x-amz-bucket-region").map_or_else(
                    || "AWS_REGION or AWS_ENDPOINT_URL is probably wrong".to_owned(),
                    |region| format!("the bucket is in another region: set AWS_REGION={region}"),
                );
                Failure::refused(format!("{detail}; {region}"))
            }
            403 if is_store
                && !matches!(code, None | Some("SlowDown" | "RequestLimitExceeded")) =>
            {
                Failure::advised(detail, Advice::Access)
            }
            403 => Failure::Slow {
                detail,
                after: self.retry_after(),
                is_doubtful: true,
            },
            429 | 503 => Failure::Slow {
                detail,
                after: self.retry_after(),
                is_doubtful: false,
            },
            408 | 425 | 500 | 502 | 504 => Failure::broken(detail),
            416 => Failure::refused(format!(
                "{detail}: the server refuses this range (download the object first, and read the \
                 copy)"
            )),
            // Redirects that are followed do not come here.
            300..400 => Failure::refused(format!("{detail}: the redirect is not followed")),
            _ if code == Some("EntityTooSmall") => Failure::advised(detail, Advice::LargerParts),
            _ => Failure::advised(detail, Advice::Access),
        }
    }

    fn described(&self, body: &[u8]) -> String {
        let reason = self.status.canonical_reason().unwrap_or_default();
        let mut detail = format!("{} {reason}", self.status.as_u16());
        if let Some(words) = words_of(body) {
            detail.push_str(": ");
            detail.push_str(&words);
        }
        detail
    }
}

/// The error code in the XML of an object store.
pub(crate) fn error_code(body: &[u8]) -> Option<&str> {
    element(std::str::from_utf8(body).ok()?, "Code")
}

fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, behind) = text.split_once(&format!("<{name}>"))?;
    let (content, _) = behind.split_once('<')?;
    Some(content.trim()).filter(|content| !content.is_empty())
}

/// The words of an error's body for people. Only some elements of an object store's XML are used,
/// since others repeat credentials.
fn words_of(body: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    let words = match (element(text, "Code"), element(text, "Message")) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => match element(text, "title") {
            Some(title) => title.to_owned(),
            None if text.starts_with('<') => return None,
            None => json_message(text).unwrap_or_else(|| text.to_owned()),
        },
    };
    let line = words.lines().next().unwrap_or_default();
    let is_shown = |letter: &char| !letter.is_control();
    let line: String = line
        .chars()
        .filter(is_shown)
        .take(MAX_DETAIL_CHARACTERS)
        .collect();
    (!line.is_empty()).then_some(line)
}

/// The member `error` of a JSON object, which the hub answers.
fn json_message(text: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    value.get("error")?.as_str().map(str::to_owned)
}

/// Whether a transfer failed as the answer is no valid HTTP.
pub(crate) fn is_invalid_answer(error: &(dyn std::error::Error + 'static)) -> bool {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let mut causes = causes.filter_map(|cause| cause.downcast_ref::<hyper::Error>());
    causes.any(hyper::Error::is_parse)
}

/// The description of a failed transfer: the innermost cause, which has no URL.
pub(crate) fn transport_error(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let text = cause.to_string();
    match text.contains("://") {
        // Some errors repeat the request.
        true => "the request failed".to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(status: u16, headers: &[(&'static str, &str)]) -> Head {
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            all.insert(*name, value.parse().unwrap());
        }
        Head {
            status: StatusCode::from_u16(status).unwrap(),
            headers: all,
        }
    }

    #[test]
    fn waits_are_read() {
        let wait = |value| head(503, &[("retry-after", value)]).retry_after();
        assert_eq!(wait("7"), Some(Duration::from_secs(7)));
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        let far = wait("Fri, 31 Dec 9999 23:59:59 GMT").unwrap();
        assert!(far > Duration::from_secs(1 << 32), "{far:?}");
        for wrong in [
            "soon",
            "",
            "Sun, 06 Nov",
            "Sun, 06 Foo 1994 08:49:37 GMT",
            "Sun, 18446744073709551615 Nov 9999 08:49:37 GMT",
            "Sun, 06 Nov 9999 18446744073709551615:18446744073709551615:99 GMT",
        ] {
            assert_eq!(wait(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn ranges_and_sizes_are_read() {
        let partial = |range| head(206, &[("content-range", range)]).range();
        assert_eq!(partial("bytes 5-9/100"), Some((5, Some(100))));
        assert_eq!(partial("bytes 5-9/*"), Some((5, None)));
        for wrong in ["bytes", "bytes */100", "items 5-9/100"] {
            assert_eq!(partial(wrong), None, "{wrong}");
        }
        assert_eq!(
            head(200, &[("content-length", "3")]).range(),
            Some((0, Some(3)))
        );
        assert_eq!(head(200, &[]).range(), Some((0, None)));
        assert!(head(416, &[("content-range", "bytes */0")]).is_empty_object());
        assert!(!head(416, &[("content-range", "bytes */9")]).is_empty_object());
        assert!(!head(416, &[]).is_empty_object());
    }

    /// Promise (Inputs on servers): Credentials, and signatures in URLs, are …
    #[test]
    fn credentials_in_errors_are_not_shown() {
        let body = b"<Error><Code>InvalidAccessKeyId</Code><Message>It does not exist.</Message>\
                     <AWSAccessKeyId>AKIA</AWSAccessKeyId></Error>";
        let failure = head(403, &[]).failure(body, true);
        let Failure::Final { detail, .. } = failure else {
            panic!("{failure:?}");
        };
        assert_eq!(
            detail,
            "403 Forbidden: InvalidAccessKeyId: It does not exist."
        );
    }

    #[test]
    fn statuses_are_distinguished() {
        let failure = |status, is_store| head(status, &[]).failure(b"", is_store);
        assert!(matches!(failure(404, true), Failure::Missing { .. }));
        assert!(matches!(
            failure(503, true),
            Failure::Slow {
                is_doubtful: false,
                ..
            }
        ));
        assert!(matches!(failure(429, false), Failure::Slow { .. }));
        assert!(matches!(
            failure(403, false),
            Failure::Slow {
                is_doubtful: true,
                ..
            }
        ));
        assert!(matches!(failure(500, false), Failure::Broken { .. }));
        assert!(matches!(
            failure(412, false),
            Failure::Final {
                kind: ErrorKind::Changed,
                ..
            }
        ));
        assert!(matches!(failure(401, false), Failure::Final { .. }));
        let parts = head(400, &[]).failure(b"<Code>EntityTooSmall</Code>", true);
        assert!(matches!(
            parts,
            Failure::Final {
                advice: Advice::LargerParts,
                ..
            }
        ));
        // The text of a message alone decides nothing.
        let text = head(400, &[]).failure(b"<Message>EntityTooSmall</Message>", true);
        assert!(matches!(
            text,
            Failure::Final {
                advice: Advice::Access,
                ..
            }
        ));
    }
}

//! Web servers.

use std::ops::Range;

use reqwest::StatusCode;
use reqwest::header::{ACCEPT_ENCODING, AUTHORIZATION, HeaderValue, IF_MATCH, RANGE};

use crate::requests::answer::{
    Body, Failure, Fetched, Head, MAX_DETAIL_BYTES, is_invalid_answer, transport_error,
};
use crate::{Identity, Location};

/// The client for web servers.
pub(crate) struct Web {
    http: reqwest::Client,
}

impl Web {
    pub(crate) fn new(http: reqwest::Client) -> Web {
        Web { http }
    }

    /// Asks for a range of a file.
    pub(crate) async fn get(
        &self,
        location: &Location,
        range: Range<u64>,
        identity: Option<&Identity>,
    ) -> Result<Fetched, Failure> {
        let if_match = identity.and_then(Identity::if_match);
        get(&self.http, &location.secret_url(), range, if_match, None).await
    }
}

/// Asks `url` for a range. `token` is for the host of the URL only, not for those of redirects.
pub(crate) async fn get(
    http: &reqwest::Client,
    url: &str,
    range: Range<u64>,
    if_match: Option<String>,
    token: Option<&HeaderValue>,
) -> Result<Fetched, Failure> {
    let if_match = &if_match;
    fetched(range, false, |range| async move {
        let mut request = http.get(url).header(ACCEPT_ENCODING, "identity");
        if let Some(range) = range {
            let last = range.end.saturating_sub(1);
            request = request.header(RANGE, format!("bytes={}-{last}", range.start));
        }
        if let Some(tag) = if_match {
            request = request.header(IF_MATCH, tag);
        }
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, token.clone());
        }
        send(request).await
    })
    .await
}

/// The object in the answer of `ask`, which asks a server for a range, or for all bytes.
///
/// A server that refuses the first bytes of an object without saying that there are none is asked
/// again, for all bytes.
pub(super) async fn fetched<F>(
    range: Range<u64>,
    is_store: bool,
    ask: impl Fn(Option<Range<u64>>) -> F,
) -> Result<Fetched, Failure>
where
    F: Future<Output = Result<reqwest::Response, Failure>>,
{
    let mut response = ask(Some(range.clone())).await?;
    let mut head = head(&response);
    if head.status == StatusCode::RANGE_NOT_SATISFIABLE && range.start == 0 {
        if head.is_empty_object() {
            return Ok(Fetched {
                identity: head.identity(0),
                offset: 0,
                body: Body::Empty,
            });
        }
        response = ask(None).await?;
        head = self::head(&response);
    }
    if !matches!(head.status, StatusCode::OK | StatusCode::PARTIAL_CONTENT) {
        let body = start_of_body(response).await;
        return Err(head.failure(&body, is_store));
    }
    let Some((offset, bytes)) = head.range() else {
        return Err(Failure::refused("an answer with an invalid Content-Range"));
    };
    if offset > range.start {
        let detail = format!(
            "an answer with another range: its Content-Range begins at byte {offset}, not {}",
            range.start
        );
        return Err(Failure::refused(detail));
    }
    let Some(bytes) = bytes else {
        let detail = "the server does not tell the size of this file: download it first, and read \
                    the copy";
        return Err(Failure::refused(detail));
    };
    Ok(Fetched {
        identity: head.identity(bytes),
        offset,
        body: Body::Response(Box::new(response)),
    })
}

/// Sends a request.
pub(crate) async fn send(request: reqwest::RequestBuilder) -> Result<reqwest::Response, Failure> {
    request.send().await.map_err(unanswered)
}

/// Why a request has no answer.
pub(super) fn unanswered(error: reqwest::Error) -> Failure {
    let (is_invalid, is_unreachable) = (is_invalid_answer(&error), error.is_connect());
    let is_final = error.is_builder() || error.is_redirect();
    let detail = transport_error(&error.without_url());
    match (is_invalid, is_final, is_unreachable) {
        (true, ..) => Failure::refused(format!("an answer that is no valid HTTP: {detail}")),
        (_, true, _) => Failure::refused(detail),
        (.., true) => Failure::Unreachable { detail },
        _ => Failure::broken(detail),
    }
}

/// The status and headers of a response.
pub(crate) fn head(response: &reqwest::Response) -> Head {
    Head {
        status: response.status(),
        headers: response.headers().clone(),
    }
}

/// The first bytes of the body of an error.
pub(crate) async fn start_of_body(mut response: reqwest::Response) -> Vec<u8> {
    let mut body = Vec::new();
    while body.len() < MAX_DETAIL_BYTES {
        match response.chunk().await {
            Ok(Some(piece)) => body.extend_from_slice(&piece),
            Ok(None) | Err(_) => break,
        }
    }
    body.truncate(MAX_DETAIL_BYTES);
    body
}

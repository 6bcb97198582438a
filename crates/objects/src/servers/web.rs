//! Web servers.

use std::ops::Range;

use reqwest::StatusCode;
use reqwest::header::{ACCEPT_ENCODING, AUTHORIZATION, HeaderValue, IF_MATCH, RANGE};

use crate::answer::{Body, Failure, Fetched, Head, MOST_SAID_BYTES, transport_error};
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
    let last = range.end.saturating_sub(1);
    let mut request = http
        .get(url)
        .header(RANGE, format!("bytes={}-{last}", range.start))
        .header(ACCEPT_ENCODING, "identity");
    if let Some(tag) = if_match {
        request = request.header(IF_MATCH, tag);
    }
    if let Some(token) = token {
        request = request.header(AUTHORIZATION, token.clone());
    }
    let response = send(request).await?;
    let head = head(&response);
    if head.is_empty_object() && range.start == 0 {
        return Ok(Fetched {
            identity: head.identity(0),
            offset: 0,
            body: Body::Empty,
        });
    }
    if !matches!(head.status, StatusCode::OK | StatusCode::PARTIAL_CONTENT) {
        let body = start_of_body(response).await;
        return Err(head.failure(&body, false));
    }
    let Some((offset, bytes)) = head.range() else {
        return Err(Failure::broken("an answer with an invalid Content-Range"));
    };
    let Some(bytes) = bytes else {
        let said = "the server does not tell the size of this file: download it first, and read \
                    the copy";
        return Err(Failure::refused(said));
    };
    Ok(Fetched {
        identity: head.identity(bytes),
        offset,
        body: Body::Response(Box::new(response)),
    })
}

/// Sends a request.
pub(crate) async fn send(request: reqwest::RequestBuilder) -> Result<reqwest::Response, Failure> {
    let response = request.send().await;
    response.map_err(|error| {
        let (is_invalid, is_unreachable) = (error.is_builder(), error.is_connect());
        let said = transport_error(&error.without_url());
        match (is_invalid, is_unreachable) {
            (true, _) => Failure::refused(said),
            (_, true) => Failure::Unreachable { said },
            _ => Failure::broken(said),
        }
    })
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
    while body.len() < MOST_SAID_BYTES {
        match response.chunk().await {
            Ok(Some(piece)) => body.extend_from_slice(&piece),
            Ok(None) | Err(_) => break,
        }
    }
    body.truncate(MOST_SAID_BYTES);
    body
}

//! The clients that make requests.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as HyperClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioExecutor;
use object_store::client::HttpRequest;
use reqwest::header::{HeaderValue, USER_AGENT};
use reqwest::redirect::{Action, Attempt, Policy};
use rustls::ClientConfig;
use url::Url;

use super::answer::{Failure, is_invalid_answer, transport_error};
use super::threads::Names;
use crate::location::has_secret_of;

const AGENT: &str = concat!("simtool/", env!("CARGO_PKG_VERSION"));
/// The maximum number of redirects of a request.
const MAX_REDIRECTS: usize = 10;
/// The time for a connection to the address that gives a machine its credentials: on other machines,
/// there is nothing at this address.
const CREDENTIALS_TIME: Duration = Duration::from_secs(1);

/// Clients with different settings; copies share their connections.
#[derive(Clone, Debug)]
pub(crate) struct Http {
    /// For web servers and the hub: follows redirects.
    pub(crate) web: reqwest::Client,
    /// For stores: follows redirects inside a server only, as headers of requests have credentials.
    pub(crate) stores: reqwest::Client,
    /// The same, which soon gives up a connection.
    pub(crate) credentials: reqwest::Client,
    /// For paths that the other clients would change.
    pub(crate) verbatim: Verbatim,
}

/// A client that sends paths as they are, also with the parts `.` and `..`.
#[derive(Clone, Debug)]
pub(crate) struct Verbatim(HyperClient<HttpsConnector<HttpConnector<Names>>, Full<bytes::Bytes>>);

impl Http {
    /// Clients whose servers may be silent for `timeout`, and have the addresses of `names`.
    ///
    /// # Errors
    /// The first one of the HTTP library.
    pub(crate) fn new(
        tls: &ClientConfig,
        names: Names,
        timeout: Duration,
    ) -> reqwest::Result<Http> {
        let client = |redirects: Policy, connect_timeout: Duration| {
            reqwest::Client::builder()
                .user_agent(AGENT)
                .tls_backend_preconfigured(tls.clone())
                .referer(false)
                .redirect(redirects)
                .dns_resolver(Arc::new(names.clone()))
                .connect_timeout(connect_timeout)
                // Requests that read end before.
                .read_timeout(timeout + Duration::from_secs(1))
                .build()
        };
        let mut connector = HttpConnector::new_with_resolver(names.clone());
        connector.enforce_http(false);
        connector.set_connect_timeout(Some(timeout));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls.clone())
            .https_or_http()
            .enable_http1()
            .wrap_connector(connector);
        Ok(Http {
            web: client(Policy::custom(follow), timeout)?,
            stores: client(Policy::custom(stay), timeout)?,
            credentials: client(Policy::custom(stay), CREDENTIALS_TIME)?,
            verbatim: Verbatim(HyperClient::builder(TokioExecutor::new()).build(connector)),
        })
    }
}

/// Follows redirects, except for those that would be [refused](refusal). (The client itself leaves out
/// `Authorization` for other servers.)
fn follow(attempt: Attempt<'_>) -> Action {
    match refusal(attempt.url(), attempt.previous()) {
        Some(why) => attempt.error(why),
        None => attempt.follow(),
    }
}

/// Follows redirects inside a server only. Others are an answer with their status.
fn stay(attempt: Attempt<'_>) -> Action {
    match is_same_server(attempt.url(), attempt.previous()) {
        true => follow(attempt),
        false => attempt.stop(),
    }
}

/// Why a redirect from the last one of `previous` to `next` is not followed: it would take a credential
/// to another server, or there were too many.
fn refusal(next: &Url, previous: &[Url]) -> Option<&'static str> {
    let is_secure = |url: &Url| url.scheme() == "https";
    if previous.len() > MAX_REDIRECTS {
        Some("more than 10 redirects")
    } else if previous.iter().any(is_secure) && !is_secure(next) {
        Some("a redirect from https to http, which is not followed")
    } else if !is_same_server(next, previous) && previous.iter().any(|url| has_secret_of(next, url))
    {
        Some(
            "a redirect that takes the signature of the URL to another server, which is not followed",
        )
    } else {
        None
    }
}

/// Whether `next` is on the server of all URLs before it.
fn is_same_server(next: &Url, previous: &[Url]) -> bool {
    let next = next.origin();
    previous.iter().all(|url| url.origin() == next)
}

impl Verbatim {
    /// Sends a request without a body.
    pub(crate) async fn send(&self, request: HttpRequest) -> Result<reqwest::Response, Failure> {
        if Matcher::from_env().intercept(request.uri()).is_some() {
            let detail = "its key has a part . or .., which cannot be asked for through a proxy";
            return Err(Failure::refused(detail));
        }
        let mut request = request.map(|_| Full::default());
        let agent = HeaderValue::from_static(AGENT);
        request.headers_mut().insert(USER_AGENT, agent);
        let answer = self.0.request(request).await;
        let answer = answer.map_err(|error| {
            let detail = transport_error(&error);
            match (is_invalid_answer(&error), error.is_connect()) {
                (true, _) => Failure::refused(format!("an answer that is no valid HTTP: {detail}")),
                (_, true) => Failure::Unreachable { detail },
                _ => Failure::broken(detail),
            }
        })?;
        Ok(answer.map(reqwest::Body::wrap).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promise (Inputs on servers): No credential crosses to another host …
    #[test]
    fn redirects_that_take_credentials_to_other_servers_are_refused() {
        for (from, next, word) in [
            ("http://h/a", "http://h/b", None),
            ("http://h/a", "https://h/b", None),
            ("https://h/a", "https://other/b?sig=own", None),
            ("https://h/a", "http://h/a", Some("https to http")),
            ("https://h/a?sig=x", "https://h/b?sig=x", None),
            (
                "https://h/a?sig=x",
                "https://h:444/b?sig=x",
                Some("signature"),
            ),
            (
                "https://h/a?X-Amz-Signature=x%2B&c=d",
                "https://i/?s=x%2b",
                Some("signature"),
            ),
            (
                "https://h/a?X-Amz-Date=1&c=d",
                "https://i/?X-Amz-Date=1&c=d",
                None,
            ),
            ("https://h/a?sig=", "https://i/?sig=", None),
        ] {
            let url = |text: &str| Url::parse(text).unwrap();
            let why = refusal(&url(next), &[url(from)]);
            assert_eq!(why.is_some(), word.is_some(), "{from} {next}");
            assert!(why.is_none_or(|why| word.is_some_and(|word| why.contains(word))));
        }
        let many: Vec<Url> = (0..=MAX_REDIRECTS)
            .map(|number| Url::parse(&format!("http://h/{number}")).unwrap())
            .collect();
        assert_eq!(refusal(&many[0], &many[1..]), None);
        assert!(refusal(&many[0], &many).is_some());
    }
}

//! Requests to object stores: the library builds and signs them, and this module sends them.
//!
//! Each passes through [`Sender`]. An [`Order`] is a request whose answer this crate reads itself, and
//! which may be for a key that the library does not know. Of other requests, the last answer is kept:
//! the library's errors have no headers, such as `Retry-After`, and their texts may have signatures.

use std::cell::RefCell;
use std::io;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::StreamExt;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use object_store::{ClientConfigKey, ClientOptions};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::form_urlencoded;

use super::signing::Signer;
use super::web::unanswered;
use crate::requests::answer::{
    Advice, Failure, Head, MAX_DETAIL_BYTES, is_invalid_answer, transport_error,
};
use crate::requests::hosts::lock;
use crate::requests::http::{Http, Verbatim};

tokio::task_local! {
    /// The last answer to a request of the current task.
    static ANSWER: RefCell<Option<Answer>>;
}

/// The key that the library asks for if it does not know the real one.
pub(super) const PLACEHOLDER: &str = "simtool";
/// A header of requests to directory buckets, whose credentials only the library has.
const SESSION: &str = "x-amz-s3session-token";
/// The characters that URLs of requests encode.
const ENCODED: AsciiSet = NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
const ENCODED_IN_PATHS: AsciiSet = ENCODED.remove(b'/');

type Response = Result<reqwest::Response, Failure>;

/// A request whose answer this crate reads: an extension of the request of the library.
#[derive(Clone)]
pub(super) struct Order {
    /// The key that replaces [`PLACEHOLDER`] at the end of the path, if any; empty for the bucket.
    pub key: Option<String>,
    /// Parameters that are added to the query.
    pub parameters: Vec<(&'static str, String)>,
    pub signer: Signer,
    answer: Arc<Mutex<Option<Response>>>,
}

impl Order {
    pub(super) fn new(signer: Signer) -> Order {
        Order {
            key: None,
            parameters: Vec::new(),
            signer,
            answer: Arc::default(),
        }
    }

    /// The answer, which the library does not get: it reports an error.
    pub(super) async fn answer<T>(
        self,
        request: impl Future<Output = object_store::Result<T>>,
    ) -> Response {
        let (result, last) = recorded(request).await;
        match (lock(&self.answer).take(), result) {
            (Some(answer), _) => answer,
            (None, Err(error)) => Err(failure(&error, last)),
            (None, Ok(_)) => Err(Failure::refused(
                "internal error: a request that was not sent",
            )),
        }
    }
}

/// An answer, or why there is none.
pub(super) enum Answer {
    Success,
    /// A refusal, with the start of its body.
    Refusal(Head, Vec<u8>),
    /// No connection, or a broken one.
    None(Failure),
}

/// Sends requests, and keeps the last answer.
#[derive(Debug)]
struct Sender {
    http: reqwest::Client,
    verbatim: Verbatim,
    /// Whether it asks the machine for credentials.
    is_for_credentials: bool,
}

impl Sender {
    fn refused(&self, head: Head, detail: Vec<u8>) -> Answer {
        match self.is_for_credentials {
            true => Answer::None(no_credentials()),
            false => Answer::Refusal(head, detail),
        }
    }

    fn broken(&self, error: &HttpError) -> Answer {
        let detail = transport_error(error);
        Answer::None(match (self.is_for_credentials, error.kind()) {
            (true, _) => no_credentials(),
            _ if is_invalid_answer(error) => {
                Failure::refused(format!("an answer that is no valid HTTP: {detail}"))
            }
            (_, HttpErrorKind::Connect) => Failure::Unreachable { detail },
            _ => Failure::broken(detail),
        })
    }

    /// Sends the request of an order.
    async fn send(&self, order: &Order, mut request: HttpRequest) -> Response {
        let is_changed = order.key.is_some() || !order.parameters.is_empty();
        match request.headers().contains_key(SESSION) {
            true if order.key.is_some() => {
                return Err(Failure::refused(
                    "its key cannot be asked for in a directory bucket",
                ));
            }
            false if is_changed => {
                change(&mut request, order)?;
                order.signer.sign(&mut request).await?;
            }
            _ => {}
        }
        let mut parts = request.uri().path().split('/');
        if parts.any(|part| matches!(part, "." | "..")) {
            return self.verbatim.send(request).await;
        }
        let url = request.uri().to_string();
        let url = url
            .parse()
            .map_err(|_| Failure::refused("its key makes no valid URL"))?;
        let mut own = reqwest::Request::new(request.method().clone(), url);
        *own.headers_mut() = request.headers().clone();
        self.http.execute(own).await.map_err(unanswered)
    }
}

/// Gives a request the key and the parameters of an order.
fn change(request: &mut HttpRequest, order: &Order) -> Result<(), Failure> {
    let uri = request.uri();
    let invalid = || Failure::refused("its key makes no valid URL");
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return Err(invalid());
    };
    let mut path = uri.path().to_owned();
    if let Some(key) = &order.key {
        let bucket = path.strip_suffix(PLACEHOLDER).ok_or_else(invalid)?;
        path = match key.as_str() {
            "" => bucket.trim_end_matches('/').to_owned(),
            key => format!("{bucket}{}", utf8_percent_encode(key, &ENCODED_IN_PATHS)),
        };
    }
    let query = uri.query().unwrap_or_default().as_bytes();
    let encoded = |text: &str| utf8_percent_encode(text, &ENCODED).to_string();
    let own = form_urlencoded::parse(query).map(|(name, value)| (encoded(&name), encoded(&value)));
    let added = order.parameters.iter();
    let added = added.map(|(name, value)| (encoded(name), encoded(value)));
    // In the order in which they are signed.
    let mut parameters: Vec<_> = own.chain(added).collect();
    parameters.sort_unstable();
    let parameters = parameters
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    let query = parameters.collect::<Vec<_>>().join("&");
    let mark = if query.is_empty() { "" } else { "?" };
    let changed = format!("{scheme}://{authority}{path}{mark}{query}");
    *request.uri_mut() = changed.parse().map_err(|_| invalid())?;
    Ok(())
}

fn no_credentials() -> Failure {
    let detail = "no credentials in the environment, and none from this machine";
    Failure::advised(detail, Advice::Access)
}

#[async_trait]
impl HttpService for Sender {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        if let Some(order) = request.extensions().get::<Order>().cloned() {
            let answer = self.send(&order, request).await;
            *lock(&order.answer) = Some(answer);
            let cause = io::Error::other("the answer is not for the library");
            return Err(HttpError::new(HttpErrorKind::Unknown, cause));
        }
        let result = HttpService::call(&self.http, request).await;
        let (result, answer) = match result {
            Ok(response) => {
                let (head, body) = response.into_parts();
                match head.status.is_success() {
                    true => {
                        let response = HttpResponse::from_parts(head, body);
                        (Ok(response), Answer::Success)
                    }
                    false => {
                        let own = Head {
                            status: head.status,
                            headers: head.headers.clone(),
                        };
                        let detail = start_of(body).await;
                        let response = HttpResponse::from_parts(head, detail.clone().into());
                        (Ok(response), self.refused(own, detail))
                    }
                }
            }
            Err(error) => {
                let answer = self.broken(&error);
                (Err(error), answer)
            }
        };
        // Credentials may be renewed outside of a task that wants the answer.
        let _ = ANSWER.try_with(|last| last.replace(Some(answer)));
        result
    }
}

/// The first bytes of the body of an error.
async fn start_of(body: HttpResponseBody) -> Vec<u8> {
    let mut stream = body.bytes_stream();
    let mut start = Vec::new();
    while start.len() < MAX_DETAIL_BYTES {
        match stream.next().await {
            Some(Ok(piece)) => start.extend_from_slice(&piece),
            Some(Err(_)) | None => break,
        }
    }
    start.truncate(MAX_DETAIL_BYTES);
    start
}

/// Gives all buckets the clients of this crate.
#[derive(Debug)]
pub(super) struct Connector(pub(super) Http);

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        // The library sets a short time for the address that gives a machine its credentials: on
        // other machines, there is nothing at this address.
        let time =
            |options: &ClientOptions| options.get_config_value(&ClientConfigKey::ConnectTimeout);
        let is_for_credentials = time(options) != time(&ClientOptions::default());
        let http = match is_for_credentials {
            true => &self.0.credentials,
            false => &self.0.stores,
        };
        Ok(HttpClient::new(Sender {
            http: http.clone(),
            verbatim: self.0.verbatim.clone(),
            is_for_credentials,
        }))
    }
}

/// The result of a request, and the last answer to it.
pub(super) async fn recorded<T>(request: impl Future<Output = T>) -> (T, Option<Answer>) {
    let recorded = async {
        let result = request.await;
        (result, ANSWER.with(RefCell::take))
    };
    ANSWER.scope(RefCell::new(None), recorded).await
}

/// What an error of the library means, after the last answer.
pub(super) fn failure(error: &object_store::Error, answer: Option<Answer>) -> Failure {
    match answer {
        Some(Answer::Refusal(head, body)) => head.failure(&body, true),
        Some(Answer::None(failure)) => failure,
        Some(Answer::Success) | None => Failure::refused(transport_error(error)),
    }
}

/// The result of a request that is no order. After an answer that began as a success, the connection
/// broke, or the rest of the answer describes an error of the server.
pub(super) fn answered<T>(
    (result, answer): (object_store::Result<T>, Option<Answer>),
) -> Result<T, Failure> {
    result.map_err(|error| match answer {
        Some(Answer::Success) => Failure::broken("the answer is incomplete, or describes an error"),
        answer => failure(&error, answer),
    })
}

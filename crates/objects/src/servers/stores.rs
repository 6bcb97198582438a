//! Buckets of object stores: S3, Google Cloud Storage, Azure.
//!
//! The library signs requests and parses listings. Its own attempts are switched off. Its requests
//! pass through [`Recorder`], which keeps the last answer: the library's errors have no headers, such
//! as `Retry-After`, and their texts may have signatures.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::{
    ClientConfigKey, ClientOptions, GetOptions, GetRange, GetResultPayload, ObjectMeta,
    ObjectStore, RetryConfig,
};
use reqwest::StatusCode;

use futures_util::StreamExt;

use crate::answer::{Body, Failure, Fetched, Head, MOST_SAID_BYTES, transport_error};
use crate::environment::{is_set, variable};
use crate::http::Http;
use crate::{Error, ErrorKind, Identity, Location, Result, Scheme};

tokio::task_local! {
    /// The last answer to a request of the current task.
    static ANSWER: RefCell<Option<Answer>>;
}

/// An answer, or why there is none.
pub(super) enum Answer {
    Success(Head),
    /// A refusal, with the start of its body.
    Refusal(Head, Vec<u8>),
    /// No connection, or a broken one.
    None(Failure),
}

/// Passes requests on, and keeps the last answer.
#[derive(Debug)]
struct Recorder {
    http: reqwest::Client,
    /// Whether it asks the machine for credentials.
    is_for_credentials: bool,
}

impl Recorder {
    fn refused(&self, head: Head, said: Vec<u8>) -> Answer {
        match self.is_for_credentials {
            true => Answer::None(no_credentials()),
            false => Answer::Refusal(head, said),
        }
    }

    fn broken(&self, error: &HttpError) -> Answer {
        let said = transport_error(error);
        Answer::None(match (self.is_for_credentials, error.kind()) {
            (true, _) => no_credentials(),
            (_, HttpErrorKind::Connect) => Failure::Unreachable { said },
            _ => Failure::broken(said),
        })
    }
}

fn no_credentials() -> Failure {
    Failure::refused("no credentials in the environment, and none from this machine")
}

#[async_trait]
impl HttpService for Recorder {
    async fn call(&self, request: HttpRequest) -> std::result::Result<HttpResponse, HttpError> {
        let result = HttpService::call(&self.http, request).await;
        let (result, answer) = match result {
            Ok(response) => {
                let (head, body) = response.into_parts();
                let own = Head {
                    status: head.status,
                    headers: head.headers.clone(),
                };
                match own.status.is_success() {
                    true => {
                        let response = HttpResponse::from_parts(head, body);
                        (Ok(response), Answer::Success(own))
                    }
                    false => {
                        let said = start_of(body).await;
                        let response = HttpResponse::from_parts(head, said.clone().into());
                        (Ok(response), self.refused(own, said))
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
    while start.len() < MOST_SAID_BYTES {
        match stream.next().await {
            Some(Ok(piece)) => start.extend_from_slice(&piece),
            Some(Err(_)) | None => break,
        }
    }
    start.truncate(MOST_SAID_BYTES);
    start
}

/// A bucket that objects can be written to.
pub(crate) trait Bucket: ObjectStore + MultipartStore {}

impl<T: ObjectStore + MultipartStore> Bucket for T {}

/// Gives all buckets the client of this crate, with its user agent and timeouts.
#[derive(Debug)]
struct Connector(Http);

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        // The library sets a short time for the address that gives a machine its credentials: on
        // other machines, there is nothing at this address.
        let time =
            |options: &ClientOptions| options.get_config_value(&ClientConfigKey::ConnectTimeout);
        let is_for_credentials = time(options) != time(&ClientOptions::default());
        let http = match is_for_credentials {
            true => &self.0.hasty,
            false => &self.0.usual,
        };
        Ok(HttpClient::new(Recorder {
            http: http.clone(),
            is_for_credentials,
        }))
    }
}

/// The bucket of a location, with the settings of the environment, and the name of its host.
///
/// # Errors
/// [`ErrorKind::Parameter`] if settings are missing or contradictory.
pub(super) fn open(location: &Location, http: &Http) -> Result<(Arc<dyn Bucket>, String)> {
    let connector = Connector(http.clone());
    let bucket = location.host.as_str();
    let opened = match location.scheme {
        Scheme::Gs => GoogleCloudStorageBuilder::from_env()
            .with_bucket_name(bucket)
            .with_client_options(content_types())
            .with_retry(no_attempts())
            .with_http_connector(connector)
            .build()
            .map(|store| Arc::new(store) as Arc<dyn Bucket>),
        Scheme::Az => MicrosoftAzureBuilder::from_env()
            .with_container_name(bucket)
            .with_client_options(content_types())
            .with_allow_http(true)
            .with_retry(no_attempts())
            .with_http_connector(connector)
            .build()
            .map(|store| Arc::new(store) as Arc<dyn Bucket>),
        _ => s3(bucket)
            .with_http_connector(connector)
            .build()
            .map(|store| Arc::new(store) as Arc<dyn Bucket>),
    };
    let store = opened.map_err(|error| {
        let message = format!("cannot be opened: {}", transport_error(&error));
        Error::new(ErrorKind::Parameter, message).in_file(location.path())
    })?;
    Ok((store, host(location)))
}

fn s3(bucket: &str) -> AmazonS3Builder {
    let builder = AmazonS3Builder::from_env()
        .with_bucket_name(bucket)
        // Several servers with this interface lack the request that removes many objects.
        .with_disable_bulk_delete(true)
        .with_client_options(content_types())
        .with_retry(no_attempts());
    match is_set("AWS_NO_SIGN_REQUEST") {
        true => builder.with_skip_signature(true),
        false => builder,
    }
}

/// The content types of written objects, by the endings of their names. The client of this crate uses
/// no other of these options.
fn content_types() -> ClientOptions {
    let types = [
        ("csv", "text/csv; charset=utf-8"),
        ("gz", "application/gzip"),
        ("html", "text/html; charset=utf-8"),
        ("json", "application/json"),
        ("jsonl", "application/jsonl"),
        ("parquet", "application/vnd.apache.parquet"),
        ("zst", "application/zstd"),
    ];
    let add =
        |options: ClientOptions, (ending, name)| options.with_content_type_for_suffix(ending, name);
    types.into_iter().fold(ClientOptions::default(), add)
}

fn no_attempts() -> RetryConfig {
    RetryConfig {
        max_retries: 0,
        ..RetryConfig::default()
    }
}

/// The host that answers for a bucket, or a name of its own for it.
fn host(location: &Location) -> String {
    let endpoint = match location.scheme {
        Scheme::S3 => variable("AWS_ENDPOINT_URL_S3")
            .or_else(|| variable("AWS_ENDPOINT_URL"))
            .or_else(|| variable("AWS_ENDPOINT")),
        Scheme::Gs => variable("GOOGLE_BASE_URL"),
        _ => variable("AZURE_STORAGE_ENDPOINT").or_else(|| variable("AZURE_ENDPOINT")),
    };
    let parsed = endpoint.and_then(|endpoint| url::Url::parse(&endpoint).ok());
    let own = parsed.and_then(|url| {
        let host = url.host_str()?.to_owned();
        Some(
            url.port()
                .map_or(host.clone(), |port| format!("{host}:{port}")),
        )
    });
    own.unwrap_or_else(|| format!("{}://{}", location.scheme.name(), location.host))
}

/// The key of a location.
pub(super) fn key(location: &Location) -> std::result::Result<Path, Failure> {
    Path::parse(&location.key).map_err(|error| Failure::refused(format!("an invalid key: {error}")))
}

/// Asks for a range of an object.
pub(super) async fn get(
    store: &dyn ObjectStore,
    location: &Location,
    range: Range<u64>,
    identity: Option<&Identity>,
) -> std::result::Result<Fetched, Failure> {
    let key = key(location)?;
    let options = GetOptions {
        range: Some(GetRange::Bounded(range.clone())),
        if_match: identity.and_then(Identity::if_match),
        ..GetOptions::default()
    };
    let (result, answer) = recorded(store.get_opts(&key, options)).await;
    let result = match (result, answer) {
        (Ok(result), Some(Answer::Success(head))) => (result, head),
        (_, Some(Answer::Refusal(head, _))) if head.is_empty_object() && range.start == 0 => {
            return Ok(Fetched {
                identity: head.identity(0),
                offset: 0,
                body: Body::Empty,
            });
        }
        (Err(error), answer) => return Err(failure(&error, answer)),
        (Ok(_), _) => return Err(Failure::refused("not an answer of a server")),
    };
    let (result, head) = result;
    let GetResultPayload::Stream(stream) = result.payload;
    Ok(Fetched {
        identity: head.identity(result.meta.size),
        offset: result.range.start,
        body: Body::Stream(stream),
    })
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
        Some(Answer::Success(head)) if head.status == StatusCode::OK => Failure::refused(
            "the server ignores ranges: download the object first, and read the copy",
        ),
        Some(Answer::Success(_)) | None => Failure::refused(transport_error(error)),
    }
}

/// Appends the objects below `directory` to `listed`, from its last one on.
pub(super) async fn list<T>(
    store: &dyn ObjectStore,
    directory: &Location,
    listed: &mut Vec<(String, T)>,
    describe: impl Fn(ObjectMeta) -> T,
) -> std::result::Result<(), Failure> {
    let prefix = key(directory)?;
    let prefix = (!directory.key.is_empty()).then_some(&prefix);
    let request = async {
        let mut found = match listed.last() {
            None => store.list(prefix),
            Some((last, _)) => store.list_with_offset(prefix, &Path::from(last.as_str())),
        };
        while let Some(entry) = found.next().await {
            let entry = entry?;
            listed.push((entry.location.to_string(), describe(entry)));
        }
        Ok(())
    };
    answered(recorded(request).await)
}

/// The identity of a listed object.
pub(super) fn identity(found: ObjectMeta) -> Identity {
    Identity {
        bytes: found.size,
        etag: found.e_tag,
        version: found.version,
        modified: None,
    }
}

/// The result of a request other than for a range. After an answer that began as a success, the
/// connection broke, or the rest of the answer describes an error of the server.
pub(super) fn answered<T>(
    (result, answer): (object_store::Result<T>, Option<Answer>),
) -> std::result::Result<T, Failure> {
    result.map_err(|error| match answer {
        Some(Answer::Success(_)) => {
            Failure::broken("the answer is incomplete, or describes an error")
        }
        answer => failure(&error, answer),
    })
}

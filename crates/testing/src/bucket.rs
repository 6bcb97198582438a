//! A server with a bucket of the S3 interface: objects can be written, in parts too, and removed. It
//! checks no signatures, and its tests decide which requests fail.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use crate::http::{self, send};

pub use crate::http::Request;

/// What goes wrong with a request.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// Another status; nothing is done.
    Status(u16),
    /// The connection ends before anything is done.
    Refuse,
    /// The request is done, and the connection ends without an answer.
    LoseAnswer,
    /// The answer has the status of a success, and describes an error; nothing is done.
    ErrorInSuccess,
    /// The request waits.
    Delay(Duration),
}

/// An object.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its content.
    pub bytes: Arc<Vec<u8>>,
    /// Its entity tag.
    pub etag: String,
    /// Seconds since 1970.
    pub modified: u64,
    /// The `Content-Type` with which it was written.
    pub content_type: Option<String>,
}

#[derive(Default)]
struct Upload {
    key: String,
    content_type: Option<String>,
    parts: BTreeMap<u32, Vec<u8>>,
}

type Faults = Box<dyn Fn(&Request) -> Option<Fault> + Send + Sync>;

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Object>,
    uploads: BTreeMap<String, Upload>,
    /// How many uploads began.
    begun: usize,
    requests: usize,
    ignores_conditions: bool,
    /// When the server started, in seconds since 1970.
    start: u64,
}

struct Shared {
    state: Mutex<State>,
    faults: Mutex<Option<Faults>>,
}

/// A running server; its threads end with the process.
pub struct Bucket {
    /// Its host and port.
    pub address: String,
    shared: Arc<Shared>,
}

/// The name of the bucket.
pub const NAME: &str = "bucket";

impl Bucket {
    /// An empty bucket on a free port.
    pub fn start() -> Bucket {
        let state = State {
            start: now(),
            ..State::default()
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            faults: Mutex::default(),
        });
        let own = Arc::clone(&shared);
        let address = http::start(move |stream, request| answer(stream, &own, request));
        Bucket { address, shared }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap()
    }

    /// Adds or replaces an object.
    pub fn add(&self, key: &str, bytes: &[u8]) {
        let object = object(bytes.to_vec(), "");
        self.state().objects.insert(key.to_owned(), object);
    }

    /// Removes an object.
    pub fn remove(&self, key: &str) {
        self.state().objects.remove(key);
    }

    /// All objects.
    pub fn objects(&self) -> BTreeMap<String, Object> {
        self.state().objects.clone()
    }

    /// The unfinished uploads, with the numbers of their parts.
    pub fn uploads(&self) -> Vec<(String, usize)> {
        let state = self.state();
        let uploads = state.uploads.values();
        uploads
            .map(|upload| (upload.key.clone(), upload.parts.len()))
            .collect()
    }

    /// How many uploads in parts began so far.
    pub fn begun_uploads(&self) -> usize {
        self.state().begun
    }

    /// Makes the server ignore `If-None-Match`, as some do.
    pub fn ignore_conditions(&self) {
        self.state().ignores_conditions = true;
    }

    /// What goes wrong from now on.
    pub fn set_faults(&self, faults: impl Fn(&Request) -> Option<Fault> + Send + Sync + 'static) {
        *self.shared.faults.lock().unwrap() = Some(Box::new(faults));
    }

    /// Nothing goes wrong from now on.
    pub fn end_faults(&self) {
        *self.shared.faults.lock().unwrap() = None;
    }
}

fn object(bytes: Vec<u8>, suffix: &str) -> Object {
    let hash = http::hash(&bytes);
    Object {
        bytes: Arc::new(bytes),
        etag: format!("{hash:x}{suffix}"),
        modified: now(),
        content_type: None,
    }
}

fn now() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.unwrap().as_secs()
}

/// Answers a request. Returns whether the connection goes on.
fn answer(stream: &TcpStream, shared: &Shared, mut request: Request) -> std::io::Result<bool> {
    let bucket = request.path.split('/').next();
    assert_eq!(bucket, Some(NAME), "{}", request.raw_path);
    {
        let mut state = shared.state.lock().unwrap();
        request.number = state.requests;
        state.requests += 1;
    }
    let faults = shared.faults.lock().unwrap();
    let fault = faults.as_ref().and_then(|faults| faults(&request));
    drop(faults);
    match fault {
        Some(Fault::Refuse) => return Ok(false),
        Some(Fault::Status(status)) => {
            let body = "<Error><Code>Refused</Code><Message>a test</Message></Error>";
            return send(stream, &request, status, "", body.as_bytes());
        }
        Some(Fault::ErrorInSuccess) => {
            let body = "<Error><Code>InternalError</Code><Message>a test</Message></Error>";
            return send(stream, &request, 200, "", body.as_bytes());
        }
        Some(Fault::LoseAnswer) => {
            drop(act(shared, &request));
            return Ok(false);
        }
        Some(Fault::Delay(time)) => thread::sleep(time),
        None => {}
    }
    let (status, headers, body) = act(shared, &request);
    send(stream, &request, status, &headers, &body)
}

impl Request {
    /// The name of the object in the bucket.
    pub fn key(&self) -> &str {
        self.path.split_once('/').map_or("", |(_, key)| key)
    }
}

type Answer = (u16, String, Vec<u8>);

fn refusal(status: u16, code: &str) -> Answer {
    let body = format!("<Error><Code>{code}</Code><Message>{code}</Message></Error>");
    (status, String::new(), body.into_bytes())
}

fn xml(body: &str) -> Answer {
    (
        200,
        String::new(),
        format!("<?xml version=\"1.0\"?>{body}").into_bytes(),
    )
}

/// Does what a request asks for.
fn act(shared: &Shared, request: &Request) -> Answer {
    let mut state = shared.state.lock().unwrap();
    let upload = request.parameter("uploadId");
    let key = request.key();
    match (request.method.as_str(), upload) {
        ("GET", None) if request.parameter("list-type").is_some() => listing(&state, request),
        ("GET", None) if request.parameter("uploads").is_some() => uploads(&state, request),
        ("GET" | "HEAD", None) => content(&state, request),
        ("POST", None) if request.parameter("uploads").is_some() => {
            state.begun += 1;
            let id = format!("upload {}", state.begun);
            let upload = Upload {
                key: key.to_owned(),
                content_type: request.header("content-type").map(str::to_owned),
                ..Upload::default()
            };
            state.uploads.insert(id.clone(), upload);
            xml(&format!(
                "<InitiateMultipartUploadResult><UploadId>{id}</UploadId>\
                 </InitiateMultipartUploadResult>"
            ))
        }
        ("PUT", Some(id)) => {
            let number = request.parameter("partNumber").unwrap().parse().unwrap();
            let Some(upload) = state.uploads.get_mut(&id) else {
                return refusal(404, "NoSuchUpload");
            };
            upload.parts.insert(number, request.body.clone());
            (200, format!("ETag: \"part{number}\"\r\n"), Vec::new())
        }
        ("POST", Some(id)) => {
            let Some(upload) = state.uploads.remove(&id) else {
                return refusal(404, "NoSuchUpload");
            };
            let body = String::from_utf8_lossy(&request.body).into_owned();
            let listed = body.matches("<PartNumber>").count();
            assert_eq!(listed, upload.parts.len(), "{body}");
            let bytes: Vec<u8> = upload.parts.into_values().flatten().collect();
            let mut object = object(bytes, &format!("-{listed}"));
            object.content_type = upload.content_type;
            let etag = object.etag.clone();
            state.objects.insert(key.to_owned(), object);
            xml(&format!(
                "<CompleteMultipartUploadResult><ETag>&quot;{etag}&quot;</ETag>\
                 </CompleteMultipartUploadResult>"
            ))
        }
        ("DELETE", Some(id)) => match state.uploads.remove(&id) {
            Some(_) => (204, String::new(), Vec::new()),
            None => refusal(404, "NoSuchUpload"),
        },
        ("PUT", None) => {
            let is_new = request.header("if-none-match") == Some("*") && !state.ignores_conditions;
            if is_new && state.objects.contains_key(key) {
                return refusal(412, "PreconditionFailed");
            }
            let mut object = object(request.body.clone(), "");
            object.content_type = request.header("content-type").map(str::to_owned);
            let etag = object.etag.clone();
            state.objects.insert(key.to_owned(), object);
            (200, format!("ETag: \"{etag}\"\r\n"), Vec::new())
        }
        ("DELETE", None) => {
            state.objects.remove(key);
            (204, String::new(), Vec::new())
        }
        _ => refusal(501, "NotImplemented"),
    }
}

fn content(state: &State, request: &Request) -> Answer {
    let Some(object) = state.objects.get(request.key()) else {
        return refusal(404, "NoSuchKey");
    };
    let quoted = format!("\"{}\"", object.etag);
    let wanted = request.header("if-match");
    if wanted.is_some_and(|wanted| wanted != quoted) {
        return refusal(412, "PreconditionFailed");
    }
    let date = "Mon, 01 Jan 2024 00:00:00 GMT";
    let mut headers = format!("ETag: {quoted}\r\nLast-Modified: {date}\r\n");
    let size = object.bytes.len();
    match request
        .range()
        .map(|(start, end)| (start as usize, end as usize))
    {
        None => (200, headers, object.bytes.to_vec()),
        Some((start, _)) if start >= size => (
            416,
            format!("Content-Range: bytes */{size}\r\n"),
            Vec::new(),
        ),
        Some((start, end)) => {
            let end = size.min(end);
            write!(
                headers,
                "Content-Range: bytes {start}-{}/{size}\r\n",
                end - 1
            )
            .unwrap();
            (206, headers, object.bytes[start..end].to_vec())
        }
    }
}

/// The maximum number of objects of an answer to a request for a listing.
const PAGE: usize = 7;

fn listing(state: &State, request: &Request) -> Answer {
    let prefix = request.parameter("prefix").unwrap_or_default();
    let after = request.parameter("continuation-token").unwrap_or_default();
    let all = state.objects.iter();
    let mut all = all
        .filter(|(key, _)| key.starts_with(&prefix) && **key > after)
        .peekable();
    let mut body = String::from("<ListBucketResult>");
    let mut last = String::new();
    for (key, object) in all.by_ref().take(PAGE) {
        let (size, etag) = (object.bytes.len(), &object.etag);
        // All times are in this hour.
        let second = object.modified.saturating_sub(state.start).min(3599);
        let modified = format!("2024-01-01T00:{:02}:{:02}.000Z", second / 60, second % 60);
        write!(
            body,
            "<Contents><Key>{key}</Key><LastModified>{modified}</LastModified>\
             <ETag>&quot;{etag}&quot;</ETag><Size>{size}</Size></Contents>"
        )
        .unwrap();
        last.clone_from(key);
    }
    if all.peek().is_some() {
        write!(
            body,
            "<IsTruncated>true</IsTruncated><NextContinuationToken>{last}</NextContinuationToken>"
        )
        .unwrap();
    }
    xml(&format!("{body}</ListBucketResult>"))
}

fn uploads(state: &State, request: &Request) -> Answer {
    let prefix = request.parameter("prefix").unwrap_or_default();
    let all = state.uploads.iter();
    let all = all.filter(|(_, upload)| upload.key.starts_with(&prefix));
    let all = all.map(|(id, Upload { key, .. })| {
        format!("<Upload><Key>{key}</Key><UploadId>{id}</UploadId></Upload>")
    });
    let body: String = all.collect();
    xml(&format!(
        "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>{body}\
         </ListMultipartUploadsResult>"
    ))
}

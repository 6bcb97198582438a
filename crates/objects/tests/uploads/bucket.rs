//! A server with a bucket of the S3 interface: objects can be written, in parts too, and removed. It
//! checks no signatures, and its tests decide which requests fail.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// A request that arrived.
#[derive(Clone, Debug)]
pub struct Request {
    pub number: usize,
    pub method: String,
    /// The name of the object.
    pub key: String,
    pub query: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    pub fn parameter(&self, name: &str) -> Option<String> {
        let pairs = self.query.split('&');
        let mut pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let (_, value) = pairs.find(|(own, _)| *own == name)?;
        Some(decoded(value))
    }

    /// Whether it changes the bucket.
    pub fn is_change(&self) -> bool {
        !matches!(self.method.as_str(), "GET" | "HEAD")
    }
}

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
    pub bytes: Arc<Vec<u8>>,
    pub etag: String,
    /// Seconds since 1970.
    pub modified: u64,
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
    pub fn start() -> Bucket {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let state = State {
            start: now(),
            ..State::default()
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            faults: Mutex::default(),
        });
        let own = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&own);
                thread::spawn(move || serve(&stream, &shared));
            }
        });
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

    pub fn set_faults(&self, faults: impl Fn(&Request) -> Option<Fault> + Send + Sync + 'static) {
        *self.shared.faults.lock().unwrap() = Some(Box::new(faults));
    }

    pub fn end_faults(&self) {
        *self.shared.faults.lock().unwrap() = None;
    }
}

fn object(bytes: Vec<u8>, suffix: &str) -> Object {
    let hash = bytes.iter().fold(7u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
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

fn serve(stream: &TcpStream, shared: &Shared) {
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream);
    while let Some(request) = receive(&mut reader, shared) {
        let faults = shared.faults.lock().unwrap();
        let fault = faults.as_ref().and_then(|faults| faults(&request));
        drop(faults);
        let answered = match fault {
            Some(Fault::Refuse) => break,
            Some(Fault::Status(status)) => {
                let body = "<Error><Code>Refused</Code><Message>a test</Message></Error>";
                answer(stream, &request, status, "", body.as_bytes())
            }
            Some(Fault::ErrorInSuccess) => {
                let body = "<Error><Code>InternalError</Code><Message>a test</Message></Error>";
                answer(stream, &request, 200, "", body.as_bytes())
            }
            Some(Fault::LoseAnswer) => {
                drop(act(shared, &request));
                break;
            }
            fault => {
                if let Some(Fault::Delay(time)) = fault {
                    thread::sleep(time);
                }
                let (status, headers, body) = act(shared, &request);
                answer(stream, &request, status, &headers, &body)
            }
        };
        if answered.is_err() {
            break;
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
}

fn receive(reader: &mut impl BufRead, shared: &Shared) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut parts = line.split_ascii_whitespace();
    let (method, target) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.insert(name.trim().to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length");
    let length = length.and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let path = decoded(path);
    let (bucket, key) = path[1..].split_once('/').unwrap_or((&path[1..], ""));
    assert_eq!(bucket, NAME, "{line}");
    let mut state = shared.state.lock().unwrap();
    state.requests += 1;
    Some(Request {
        number: state.requests - 1,
        method,
        key: key.to_owned(),
        query: query.to_owned(),
        headers,
        body,
    })
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
    let key = &request.key;
    match (request.method.as_str(), upload) {
        ("GET", None) if request.parameter("list-type").is_some() => listing(&state, request),
        ("GET", None) if request.parameter("uploads").is_some() => uploads(&state, request),
        ("GET" | "HEAD", None) => content(&state, request),
        ("POST", None) if request.parameter("uploads").is_some() => {
            state.begun += 1;
            let id = format!("upload {}", state.begun);
            let upload = Upload {
                key: key.clone(),
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
            state.objects.insert(key.clone(), object);
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
            state.objects.insert(key.clone(), object);
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
    let Some(object) = state.objects.get(&request.key) else {
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
    let range = request.header("range").and_then(|range| {
        let (start, last) = range.strip_prefix("bytes=")?.split_once('-')?;
        Some((start.parse::<usize>().ok()?, last.parse::<usize>().ok()?))
    });
    match range {
        None => (200, headers, object.bytes.to_vec()),
        Some((start, _)) if start >= size => (
            416,
            format!("Content-Range: bytes */{size}\r\n"),
            Vec::new(),
        ),
        Some((start, last)) => {
            let end = size.min(last + 1);
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

/// The most objects of an answer to a request for a listing.
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

fn answer(
    mut stream: &TcpStream,
    request: &Request,
    status: u16,
    headers: &str,
    body: &[u8],
) -> std::io::Result<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    match request.method.as_str() {
        "HEAD" => Ok(()),
        _ => stream.write_all(body),
    }
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        rest = behind;
        let digits = rest.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &rest[2..];
            }
            (b'+', _) => bytes.push(b' '),
            _ => bytes.push(first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

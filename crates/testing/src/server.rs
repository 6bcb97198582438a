//! A web server and object store for tests, which answers with faults on demand.
//!
//! It knows ranges, entity tags, `If-Match`, and the listings of S3 and Google, of Azure, and of the
//! Hugging Face hub.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::http::{self, decoded, send};

pub use crate::http::Request;

/// The commit that all revisions of the hub's data sets mean.
pub const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
/// The maximum number of entries of a page of a listing.
const PAGE: usize = 3;

/// What goes wrong with an answer.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Another status, with a header and a body.
    Status(u16, Option<(&'static str, String)>, String),
    /// The connection ends after so many bytes of the body.
    Truncate(usize),
    /// The body has fewer bytes than announced, and then the sending side is closed.
    HalfClose(usize),
    /// The body comes in pieces of 16 KiB with a wait before each.
    Slow(Duration),
    /// The body comes byte by byte with a wait before each.
    Drip(Duration),
    /// The answer waits.
    Delay(Duration),
    /// These bytes instead of an answer, and the end of the connection.
    Raw(String),
    /// A successful answer that begins with the first text and repeats the second one for ever.
    Endless(String, String),
    /// Fewer bytes are announced and sent than asked for.
    Short(u64),
    /// The whole file is sent, whatever the range.
    IgnoreRange,
    /// No answer.
    Close,
    /// Other bytes, and another entity tag; `If-Match` is ignored.
    Changed,
    /// Another range than asked for.
    WrongRange,
    /// A redirect to a path of the same server, or to a URL.
    Redirect(String),
}

impl Fault {
    /// A status without headers.
    pub fn status(status: u16) -> Fault {
        Fault::Status(status, None, String::new())
    }
}

/// The bytes of a file.
#[derive(Clone)]
pub enum Content {
    /// These bytes.
    Bytes(Arc<Vec<u8>>),
    /// So many bytes, made when they are sent.
    Lines(u64),
}

impl Content {
    fn len(&self) -> u64 {
        match self {
            Content::Bytes(bytes) => bytes.len() as u64,
            Content::Lines(bytes) => *bytes,
        }
    }

    fn part(&self, range: Range<u64>) -> Vec<u8> {
        match self {
            Content::Bytes(bytes) => bytes[range.start as usize..range.end as usize].to_vec(),
            Content::Lines(_) => range.map(generated).collect(),
        }
    }
}

/// Lines of JSON of 4096 bytes with different texts.
fn generated(offset: u64) -> u8 {
    const LINE: u64 = 4096;
    let (line, place) = (offset / LINE, offset % LINE);
    let (before, after) = (b"{\"text\":\"", b"\"}\n");
    let text_end = LINE - after.len() as u64;
    match place {
        place if place < before.len() as u64 => before[place as usize],
        place if place >= text_end => after[(place - text_end) as usize],
        place if place % 7 == 0 => b' ',
        place => {
            let mixed = (line * 0x9e37_79b9 + place / 7).wrapping_mul(0xff51_afd7_ed55_8ccd);
            b'a' + ((mixed >> (8 + place % 7 * 5)) % 26) as u8
        }
    }
}

struct File {
    content: Content,
    etag: Option<String>,
    modified: Option<String>,
}

type Faults = Box<dyn Fn(&Request) -> Option<Fault> + Send + Sync>;

struct State {
    files: Mutex<BTreeMap<String, File>>,
    faults: Mutex<Option<Faults>>,
    requests: Mutex<Vec<Request>>,
}

/// A running server; its thread ends with the process.
pub struct Server {
    /// Its host and port.
    pub address: String,
    state: Arc<State>,
}

impl Server {
    /// A server without files on a free port.
    pub fn start() -> Server {
        let state = Arc::new(State {
            files: Mutex::default(),
            faults: Mutex::default(),
            requests: Mutex::default(),
        });
        let own = Arc::clone(&state);
        let address = http::start(move |stream, request| answer(stream, &own, request));
        Server { address, state }
    }

    /// The URL of a file.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// Adds or replaces a file, with an entity tag of its bytes.
    pub fn add(&self, path: &str, bytes: &[u8]) {
        let tag = format!("\"{:x}\"", http::hash(bytes));
        self.add_with(
            path,
            Content::Bytes(Arc::new(bytes.to_vec())),
            Some(tag),
            None,
        );
    }

    /// Adds or replaces a file.
    pub fn add_with(
        &self,
        path: &str,
        content: Content,
        etag: Option<String>,
        modified: Option<String>,
    ) {
        let file = File {
            content,
            etag,
            modified,
        };
        self.state
            .files
            .lock()
            .unwrap()
            .insert(path.to_owned(), file);
    }

    /// What goes wrong from now on.
    pub fn set_faults(&self, faults: impl Fn(&Request) -> Option<Fault> + Send + Sync + 'static) {
        *self.state.faults.lock().unwrap() = Some(Box::new(faults));
    }

    /// The requests so far, which are forgotten.
    pub fn take_requests(&self) -> Vec<Request> {
        std::mem::take(&mut *self.state.requests.lock().unwrap())
    }
}

/// Answers a request. Returns whether the connection goes on.
fn answer(mut stream: &TcpStream, state: &State, mut request: Request) -> std::io::Result<bool> {
    {
        let mut requests = state.requests.lock().unwrap();
        request.number = requests.len();
        requests.push(request.clone());
    }
    let request = &request;
    let faults = state.faults.lock().unwrap();
    let fault = faults.as_ref().and_then(|faults| faults(request));
    drop(faults);
    match &fault {
        Some(Fault::Close) => return Ok(false),
        Some(Fault::Delay(time)) => thread::sleep(*time),
        Some(Fault::Raw(text)) => {
            stream.write_all(text.as_bytes())?;
            return Ok(false);
        }
        Some(Fault::Endless(start, text)) => {
            let head = "HTTP/1.1 200 X\r\nConnection: close\r\n\r\n";
            stream.write_all(head.as_bytes())?;
            stream.write_all(start.as_bytes())?;
            let many = text.repeat((64 << 10) / text.len() + 1);
            loop {
                stream.write_all(many.as_bytes())?;
            }
        }
        Some(Fault::Status(status, header, body)) => {
            let header = header
                .as_ref()
                .map(|(name, value)| format!("{name}: {value}\r\n"));
            let header = header.unwrap_or_default();
            return send(stream, request, *status, &header, body.as_bytes());
        }
        Some(Fault::Redirect(path)) => {
            return send(stream, request, 302, &format!("Location: {path}\r\n"), b"");
        }
        _ => {}
    }
    if let Some(listing) = listing(state, request) {
        return send(stream, request, 200, &listing.0, listing.1.as_bytes());
    }
    let path = hub_path(&request.path);
    let files = state.files.lock().unwrap();
    let Some(file) = files.get(path) else {
        drop(files);
        let body = "<Error><Code>NoSuchKey</Code><Message>No such key.</Message></Error>";
        return send(stream, request, 404, "", body.as_bytes());
    };
    let is_changed = matches!(fault, Some(Fault::Changed));
    let etag = match is_changed {
        true => Some("\"changed\"".to_owned()),
        false => file.etag.clone(),
    };
    let modified = file.modified.clone();
    let content = file.content.clone();
    drop(files);
    if let Some(wanted) = request.header("if-match")
        && !is_changed
        && Some(wanted) != etag.as_deref()
    {
        return send(stream, request, 412, "", b"");
    }
    let size = content.len();
    let mut headers = String::new();
    if let Some(etag) = etag {
        write!(headers, "ETag: {etag}\r\n").unwrap();
    }
    let modified = modified.unwrap_or_else(|| "Sun, 06 Nov 1994 08:49:37 GMT".to_owned());
    write!(headers, "Last-Modified: {modified}\r\n").unwrap();
    let wanted = request
        .range()
        .filter(|_| !matches!(fault, Some(Fault::IgnoreRange)));
    let (status, range) = match wanted {
        None => (200, 0..size),
        Some((start, _)) if start >= size => {
            let headers = format!("Content-Range: bytes */{size}\r\n");
            return send(stream, request, 416, &headers, b"");
        }
        Some((start, end)) => (206, start..end.min(size)),
    };
    let range = match fault {
        Some(Fault::Short(less)) => {
            range.start..range.end.saturating_sub(less).max(range.start + 1)
        }
        Some(Fault::WrongRange) => range.start + 1..range.end,
        _ => range,
    };
    if status == 206 {
        let (start, last) = (range.start, range.end - 1);
        write!(headers, "Content-Range: bytes {start}-{last}/{size}\r\n").unwrap();
    }
    let length = range.end - range.start;
    let head = format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    if request.method == "HEAD" {
        return Ok(true);
    }
    let cut = match fault {
        Some(Fault::Truncate(bytes) | Fault::HalfClose(bytes)) => bytes as u64,
        _ => u64::MAX,
    };
    let step = match fault {
        Some(Fault::Drip(_)) => 1,
        _ => 16 << 10,
    };
    let mut at = range.start;
    while at < range.end && at - range.start < cut {
        let end = range
            .end
            .min(at + step)
            .min(range.start.saturating_add(cut));
        if let Some(Fault::Slow(time) | Fault::Drip(time)) = fault {
            thread::sleep(time);
        }
        let mut piece = content.part(at..end);
        if is_changed {
            piece.iter_mut().for_each(|byte| *byte ^= 1);
        }
        stream.write_all(&piece)?;
        at = end;
    }
    if let Some(Fault::HalfClose(_)) = fault {
        stream.shutdown(Shutdown::Write)?;
        // The other side closes the connection.
        let _ = stream.read(&mut [0]);
        return Ok(false);
    }
    Ok(!matches!(fault, Some(Fault::Truncate(_))))
}

/// The file that a path of the hub means.
fn hub_path(path: &str) -> &str {
    let resolved = path.split_once(&format!("/resolve/{COMMIT}/"));
    resolved.map_or(path, |(_, file)| file)
}

/// The headers and the body of a listing, if the request is for one.
fn listing(state: &State, request: &Request) -> Option<(String, String)> {
    let files = state.files.lock().unwrap();
    let is_azure = request.parameter("comp").as_deref() == Some("list");
    if is_azure || request.parameter("list-type").is_some() {
        return Some((String::new(), store_listing(&files, request, is_azure)));
    }
    let rest = request.path.strip_prefix("api/datasets/")?;
    if rest.contains("/revision/") {
        return Some((String::new(), format!("{{\"sha\":\"{COMMIT}\"}}")));
    }
    let (_, folder) = rest.split_once(&format!("/tree/{COMMIT}"))?;
    let folder = folder.trim_start_matches('/');
    let after = request.parameter("cursor").unwrap_or_default();
    let names = files.iter().filter(|(path, _)| path.starts_with(folder));
    let mut names = names
        .filter(|(path, _)| path.as_str() > after.as_str())
        .peekable();
    let mut entries = Vec::new();
    let mut last = String::new();
    for (path, file) in names.by_ref().take(PAGE) {
        let (size, oid) = (file.content.len(), file.etag.as_deref().unwrap_or_default());
        let oid = oid.trim_matches('"');
        entries.push(format!(
            "{{\"type\":\"file\",\"path\":\"{path}\",\"size\":{size},\"oid\":\"{oid}\"}}"
        ));
        last.clone_from(path);
    }
    let next = match names.peek() {
        Some(_) => {
            let host = request.header("host").unwrap_or_default();
            let path = &request.path;
            format!("Link: <http://{host}/{path}?recursive=true&cursor={last}>; rel=\"next\"\r\n")
        }
        None => String::new(),
    };
    Some((next, format!("[{}]", entries.join(","))))
}

/// A page of the listing of a bucket. Tokens are encoded keys.
fn store_listing(files: &BTreeMap<String, File>, request: &Request, is_azure: bool) -> String {
    let bucket = request.path.trim_end_matches('/');
    let prefix = request.parameter("prefix").unwrap_or_default();
    let prefix = format!("{bucket}/{prefix}");
    let token = ["continuation-token", "marker"];
    let token = token.iter().find_map(|name| request.parameter(name));
    let after = decoded(&token.unwrap_or_default());
    let keys = files.iter().filter(|(path, _)| path.starts_with(&prefix));
    let keys = keys.map(|(path, file)| (&path[bucket.len() + 1..], file));
    let mut keys = keys.filter(|(key, _)| *key > after.as_str()).peekable();
    let is_encoded = request.parameter("encoding-type").as_deref() == Some("url");
    let (mut body, mut last) = (String::new(), String::new());
    for (key, file) in keys.by_ref().take(PAGE) {
        let (size, etag) = (file.content.len(), file.etag.as_deref().unwrap_or_default());
        let etag = etag.replace('"', "&quot;");
        let name = match is_encoded {
            true => encoded(key).replace("%20", "+"),
            false => escaped(key),
        };
        body += &match is_azure {
            true => format!(
                "<Blob><Name>{name}</Name><Properties><Content-Length>{size}</Content-Length>\
                 <Etag>{etag}</Etag></Properties></Blob>"
            ),
            false => format!(
                "<Contents><Key>{name}</Key><LastModified>2024-01-01T00:00:00.000Z</LastModified>\
                 <ETag>{etag}</ETag><Size>{size}</Size></Contents>"
            ),
        };
        last = encoded(key);
    }
    let is_truncated = keys.peek().is_some();
    let next = if is_truncated { last } else { String::new() };
    let header = "<?xml version=\"1.0\"?>";
    if is_azure {
        return format!(
            "{header}<EnumerationResults><Blobs>{body}</Blobs><NextMarker>{next}</NextMarker>\
             </EnumerationResults>"
        );
    }
    let encoding = match is_encoded {
        true => "<EncodingType>url</EncodingType>",
        false => "",
    };
    format!(
        "{header}<ListBucketResult><IsTruncated>{is_truncated}</IsTruncated>{body}{encoding}\
         <NextContinuationToken>{next}</NextContinuationToken></ListBucketResult>"
    )
}

/// A text in XML.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('\n', "&#10;").replace('\r', "&#13;")
}

/// A key in a URL.
fn encoded(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'-' | b'.' | b'_' | b'/' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

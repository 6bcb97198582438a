//! The requests and the connections of the test servers: HTTP/1.1 with connections that stay open.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Result, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

/// A request that arrived.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its number, from 0.
    pub number: usize,
    /// The method.
    pub method: String,
    /// The decoded path without its first slash and without the query.
    pub path: String,
    /// The path as it was sent, with its first slash.
    pub raw_path: String,
    /// What is behind the question mark.
    pub query: String,
    headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// The names of all headers, in lower case.
    pub fn header_names(&self) -> impl Iterator<Item = &str> {
        self.headers.keys().map(String::as_str)
    }

    /// The value of a header, whose name is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The start and the end of the range that it wants.
    pub fn range(&self) -> Option<(u64, u64)> {
        let range = self.header("range")?.strip_prefix("bytes=")?;
        let (start, last) = range.split_once('-')?;
        Some((start.parse().ok()?, last.parse::<u64>().ok()? + 1))
    }

    /// The decoded value of a parameter of the query.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let pairs = self.query.split('&');
        let mut pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let (_, value) = pairs.find(|(own, _)| *own == name)?;
        Some(decoded(&value.replace('+', " ")))
    }

    /// Whether it changes something.
    pub fn is_change(&self) -> bool {
        !matches!(self.method.as_str(), "GET" | "HEAD")
    }

    /// The next request of a connection; `None` at its end. Its number is 0.
    fn receive(reader: &mut impl BufRead) -> Option<Request> {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let mut parts = line.split_ascii_whitespace();
        let (method, target) = (parts.next()?.to_owned(), parts.next()?);
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
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Some(Request {
            number: 0,
            method,
            path: decoded(path.strip_prefix('/').unwrap_or(path)),
            raw_path: path.to_owned(),
            query: query.to_owned(),
            headers,
            body,
        })
    }
}

/// Starts a server on a free port, and returns its host and port. `handle` answers a request, and
/// says whether the connection goes on. The threads end with the process.
pub(crate) fn start(
    handle: impl Fn(&TcpStream, Request) -> Result<bool> + Clone + Send + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let handle = handle.clone();
            thread::spawn(move || {
                stream.set_nodelay(true).unwrap();
                let mut reader = BufReader::new(&stream);
                while let Some(request) = Request::receive(&mut reader) {
                    if !matches!(handle(&stream, request), Ok(true)) {
                        break;
                    }
                }
                let _ = stream.shutdown(Shutdown::Both);
            });
        }
    });
    address
}

/// Sends an answer; `headers` are whole lines. The connection goes on.
pub(crate) fn send(
    mut stream: &TcpStream,
    request: &Request,
    status: u16,
    headers: &str,
    body: &[u8],
) -> Result<bool> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    if request.method != "HEAD" {
        stream.write_all(body)?;
    }
    Ok(true)
}

/// An entity tag of some bytes.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(7, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The text that is written with percent signs.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        let digits = rest.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &rest[2..];
            }
            _ => bytes.push(first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

//! A running service and an HTTP/1.1 client that can send any bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

const SIMTOOL: &str = env!("CARGO_BIN_EXE_simtool");
/// The limits of time, in seconds: none of them is reached, however slow the machine is.
const NO_LIMITS: [&str; 3] = ["--header-timeout", "--request-timeout", "--grace"];
const LONGEST_SECONDS: &str = "3600";
/// The time after which a request without an answer fails its test.
const HANGS: Duration = Duration::from_secs(1800);

/// A service in its own directory; killed on drop.
pub struct Service {
    pub child: Child,
    pub address: String,
    pub directory: PathBuf,
    _temporary: Option<TempDir>,
}

/// An HTTP response.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{:?}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<String> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut found = lines.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.to_owned())
    }

    /// Checks that it is a problem of that status and code.
    pub fn problem(&self, status: u16, code: &str) {
        assert_eq!(self.status, status, "{}", self.text());
        let kind = self.header("content-type");
        assert_eq!(kind.as_deref(), Some("application/problem+json"));
        let problem = self.json();
        assert_eq!(
            (&problem["code"], &problem["status"]),
            (&json!(code), &json!(status))
        );
        assert!(problem["detail"].is_string() && problem["title"].is_string());
    }
}

impl Service {
    /// A service of a new index. Its time limits are an hour unless `flags` has others.
    pub fn start(flags: &str) -> Service {
        let temporary = tempfile::tempdir().unwrap();
        let mut service = Service::of(&temporary.path().join("seen"), flags);
        service._temporary = Some(temporary);
        service
    }

    /// A service of the index in `directory`.
    pub fn of(directory: &Path, flags: &str) -> Service {
        Service::under("unlimited", directory, flags)
    }

    /// The same with a limit on the size of the files that it writes, in KiB.
    pub fn under(file_size: &str, directory: &Path, flags: &str) -> Service {
        let script = "ulimit -S -f $0; exec env --default-signal=INT,HUP,TERM \"$@\"";
        let limits = NO_LIMITS.iter().filter(|limit| !flags.contains(*limit));
        let mut child = Command::new("bash")
            .args(["-c", script, file_size, SIMTOOL, "serve"])
            .arg(directory)
            .args(["--listen", "127.0.0.1:0"])
            .args(limits.flat_map(|limit| [*limit, LONGEST_SECONDS]))
            .args(flags.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let address = line.trim().split_once("://").map(|(_, rest)| rest);
        let Some(address) = address.map(|rest| rest.trim_end_matches('/').to_owned()) else {
            let mut message = String::new();
            child
                .stderr
                .take()
                .unwrap()
                .read_to_string(&mut message)
                .unwrap();
            panic!("no address: {line:?} {message}");
        };
        Service {
            child,
            address,
            directory: directory.to_owned(),
            _temporary: None,
        }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(HANGS)).unwrap();
        stream.set_write_timeout(Some(HANGS)).unwrap();
        stream
    }

    /// Sends the head of a request for /v1/seen with a body of `length` bytes. The request holds a
    /// permit when this returns: the service asks for the body of an admitted request only.
    pub fn hold_permit(&self, length: usize) -> BufReader<TcpStream> {
        let body = format!("Expect: 100-continue\r\nContent-Length: {length}");
        self.admitted("/v1/seen", &body, 100)
    }

    /// The same of a batch, whose answer begins before its body.
    pub fn hold_permit_of_addition(&self) -> BufReader<TcpStream> {
        self.admitted("/v1/seen/batch", "Transfer-Encoding: chunked", 200)
    }

    fn admitted(&self, path: &str, headers: &str, status: u16) -> BufReader<TcpStream> {
        let mut stream = self.connect();
        let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut answer = String::new();
        while !answer.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut answer).unwrap() > 0, "{answer}");
        }
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{answer}"
        );
        reader
    }

    /// Sends bytes unchanged; returns the answer.
    pub fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // The service may answer and close before it has read everything.
        let _ = stream.write_all(bytes);
        read_answer(&mut BufReader::new(stream)).unwrap()
    }

    /// A request with headers and a body.
    pub fn ask(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Answer {
        self.raw(&request(method, path, headers, body, "close"))
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "", b"")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path, "", body.to_string().as_bytes())
    }

    /// Sends a request and returns its answer.
    pub fn seen(&self, body: &Value) -> Value {
        let answer = self.post("/v1/seen", body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }

    pub fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        let done = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(done.success());
    }

    /// Stops it; returns its exit code and standard error.
    pub fn end(mut self) -> (Option<i32>, String) {
        self.signal("-TERM");
        let mut message = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        stderr.read_to_string(&mut message).unwrap();
        (self.child.wait().unwrap().code(), message)
    }

    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.kill();
    }
}

pub fn request(method: &str, path: &str, headers: &str, body: &[u8], connection: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: {connection}\r\n{headers}\
         Content-Length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// Reads an answer with any kind of body.
pub fn read_answer(stream: &mut impl BufRead) -> Option<Answer> {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        head += &line;
    }
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let mut answer = Answer {
        status,
        head,
        body: Vec::new(),
    };
    if let Some(length) = answer.header("content-length") {
        answer.body.resize(length.parse().ok()?, 0);
        stream.read_exact(&mut answer.body).ok()?;
    } else if answer.header("transfer-encoding").is_some() {
        while let Some(chunk) = read_chunk(stream) {
            answer.body.extend(chunk);
        }
    } else {
        stream.read_to_end(&mut answer.body).ok()?;
    }
    Some(answer)
}

/// The next chunk of a chunked body; `None` at its end.
pub fn read_chunk(stream: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = String::new();
    stream.read_line(&mut line).ok()?;
    let length = usize::from_str_radix(line.trim(), 16).ok()?;
    let mut chunk = vec![0; length + 2];
    stream.read_exact(&mut chunk).ok()?;
    chunk.truncate(length);
    (length > 0).then_some(chunk)
}

/// A text of pseudorandom words.
pub fn words(seed: u64, count: u64) -> String {
    let word = |index: u64| {
        let mixed = (seed * 1_000_003 + index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        format!("w{:x} ", mixed >> 50)
    };
    (0..count).map(word).collect()
}

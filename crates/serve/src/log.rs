//! The log: a line for each request and for each failed operation.

use std::io::Write;
use std::net::SocketAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use simtool_core::Error;

/// What is logged, and how.
#[derive(Clone, Copy, Debug)]
pub enum Log {
    /// Failed operations alone, a message each, given to this function.
    Failures(fn(&str)),
    /// Requests and failed operations, a JSON object a line on standard error.
    Json,
}

/// The line of an answered request.
#[derive(Serialize)]
pub struct RequestLine<'a> {
    /// Seconds since 1970.
    pub time: f64,
    pub peer: SocketAddr,
    pub method: &'a str,
    pub path: &'a str,
    pub status: u16,
    pub milliseconds: f64,
}

/// The line of a failed operation.
#[derive(Serialize)]
struct FailureLine<'a> {
    /// Seconds since 1970.
    time: f64,
    operation: &'a str,
    error: String,
}

impl Log {
    /// Writes why an operation failed, even if requests are not logged. The answer to the client
    /// lacks the text of the error, which contains paths of files.
    pub fn failed(self, operation: &str, error: &Error) {
        let error = error.to_string();
        match self {
            Log::Failures(say) => say(&format!("{operation}: {error}")),
            Log::Json => write(&FailureLine {
                time: seconds_since_1970(),
                operation,
                error,
            }),
        }
    }

    /// Writes the line of a request.
    pub fn answered(self, peer: SocketAddr, method: &str, path: &str, status: u16, took: Duration) {
        if matches!(self, Log::Failures(_)) {
            return;
        }
        write(&RequestLine {
            time: seconds_since_1970(),
            peer,
            method,
            path,
            status,
            milliseconds: took.as_secs_f64() * 1e3,
        });
    }
}

fn seconds_since_1970() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0.0, |since| since.as_secs_f64())
}

fn write(line: &impl Serialize) {
    let mut line = serde_json::to_vec(line).unwrap_or_default();
    line.push(b'\n');
    // Errors of standard error cannot be reported.
    let _ = std::io::stderr().write_all(&line);
}

//! A line for each request.

use std::io::Write;
use std::net::SocketAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

/// What is told of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Log {
    /// Nothing.
    Quiet,
    /// A JSON object a line, on standard error.
    Json,
}

/// A request that was answered.
#[derive(Serialize)]
pub struct Answered<'a> {
    /// Seconds since 1970.
    pub time: f64,
    pub peer: SocketAddr,
    pub method: &'a str,
    pub path: &'a str,
    pub status: u16,
    pub milliseconds: f64,
}

impl Log {
    /// Tells of a request.
    pub fn answered(self, peer: SocketAddr, method: &str, path: &str, status: u16, took: Duration) {
        if self == Log::Quiet {
            return;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let answered = Answered {
            time: now.map_or(0.0, |since| since.as_secs_f64()),
            peer,
            method,
            path,
            status,
            milliseconds: took.as_secs_f64() * 1e3,
        };
        let mut line = serde_json::to_vec(&answered).unwrap_or_default();
        line.push(b'\n');
        // Where nobody listens, there is nobody to tell.
        let _ = std::io::stderr().write_all(&line);
    }
}

//! The configuration of a service.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::log::Log;

/// The limits of a service.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a body, or of a line of a batch.
    pub body_bytes: usize,
    /// Memory reserved for bodies until they are answered. Answers get a quarter of it in addition.
    pub memory_bytes: usize,
    /// Requests at once; further ones are refused as busy.
    pub requests: usize,
    /// Open connections; further ones wait.
    pub connections: usize,
    /// Time for the head of a request, and for the TLS handshake.
    pub header: Duration,
    /// Time for a body, for an answer, for a line of a batch, and for the client to read the next
    /// bytes of an answer.
    pub request: Duration,
    /// Time for the text of a document.
    pub document: Duration,
    /// Time for requests to complete when the service ends.
    pub grace: Duration,
}

/// How the service runs.
pub struct Config {
    /// The address to listen on; port 0 for any free port.
    pub listen: SocketAddr,
    /// The limits.
    pub limits: Limits,
    /// The token that clients have to send.
    pub token: Option<Vec<u8>>,
    /// Threads that make sketches and search.
    pub threads: usize,
    /// The log of requests.
    pub log: Log,
    /// Certificate and key, for HTTPS.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// The directory for copies of the index.
    pub copies: Option<PathBuf>,
    /// The label of the dump that documents are added to.
    pub dump: String,
}

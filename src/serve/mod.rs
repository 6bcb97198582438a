//! `simtool serve`: has this been seen? Asked over HTTP.
//!
//! ```text
//! connection ─► Gate: token, origin, limits ─► route ─► Pool: text ─► sketch ─► answer
//!                                                 └──► Writer: many adds, one commit ─► answer
//!                                                      Merger: segments become fewer meanwhile
//! ```
//!
//! What waits for the network is asynchronous; what computes or writes is done by threads of their
//! own. An add is answered when it is durable. Deliberately absent: flags and signals.

mod answer;
mod ask;
mod batch;
mod copies;
mod desk;
mod drain;
mod frames;
mod gate;
mod lines;
mod listen;
mod log;
mod memory;
mod merger;
mod metrics;
mod patient;
mod pool;
mod problem;
mod routes;
#[cfg(test)]
mod slow;
#[cfg(feature = "tls")]
mod tls;
#[cfg(test)]
mod trial;
mod writer;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use simtool::run::Progress;
use simtool::run::seen::Seen;
use simtool::{Error, ErrorKind, Result};
use tokio::sync::Semaphore;

use listen::Door;
use memory::Memory;
use merger::Merger;
use metrics::Metrics;
use pool::Pool;
use writer::Writer;

pub use log::Log;

/// The time that threads have to end, after the requests.
const END: Duration = Duration::from_secs(1);

/// What nobody may exceed.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a body, or of a line of a batch.
    pub body_bytes: usize,
    /// Bytes of all bodies that are in memory at once, until they are answered.
    pub memory_bytes: usize,
    /// Requests at once; more are told to come back.
    pub requests: usize,
    /// Open connections; more wait.
    pub connections: usize,
    /// Time to send the head of a request.
    pub header: Duration,
    /// Time for a body, for an answer, for the text of a document, for a line of a batch, and for
    /// the next bytes of an answer to be taken.
    pub request: Duration,
    /// Time that requests have to end when the service ends.
    pub grace: Duration,
}

/// How the service runs.
pub struct Config {
    /// Where it listens; port 0 for any that is free.
    pub listen: SocketAddr,
    /// What nobody may exceed.
    pub limits: Limits,
    /// What callers have to know.
    pub token: Option<Vec<u8>>,
    /// Threads that make sketches and search.
    pub threads: usize,
    /// What is told of each request.
    pub log: Log,
    /// Certificate and key, for HTTPS.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// The directory that gets copies of the index.
    pub copies: Option<PathBuf>,
}

/// All that requests share.
struct Service {
    seen: Arc<Seen>,
    config: Config,
    pool: Pool,
    writer: Writer,
    _merger: Merger,
    metrics: Metrics,
    requests: Arc<Semaphore>,
    /// Of these, what may take long.
    slow: Arc<Semaphore>,
    /// One copy is made at a time.
    copying: Arc<Semaphore>,
    memory: Memory,
    begin: Instant,
}

impl Service {
    fn start(seen: Seen, config: Config) -> Result<Service> {
        let seen = Arc::new(seen);
        let limits = config.limits;
        Ok(Service {
            pool: Pool::start(&seen, config.threads, limits.request)?,
            writer: Writer::start(&seen)?,
            _merger: Merger::start(&seen)?,
            metrics: Metrics::default(),
            requests: Arc::new(Semaphore::new(limits.requests)),
            slow: Arc::new(Semaphore::new((limits.requests / 2).max(1))),
            copying: Arc::new(Semaphore::new(1)),
            memory: Memory::new(limits.memory_bytes, seen.method()),
            begin: Instant::now(),
            config,
            seen,
        })
    }

    /// Ends its threads, when what they have begun is done, or at the deadline.
    fn end(self, deadline: Instant) {
        self.pool.end(deadline);
        self.writer.end(deadline);
    }
}

/// Serves until `progress` is told to stop; then ends what it has begun. `ready` hears the address.
/// The index is opened, or made, when everything else is in place.
///
/// # Errors
/// [`ErrorKind::Parameter`] if it cannot listen there, or for a certificate that is none; those of
/// `open`.
pub fn run(
    open: impl FnOnce() -> Result<Seen>,
    config: Config,
    progress: &Progress,
    ready: impl FnOnce(SocketAddr) -> Result<()>,
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(config.threads.clamp(1, 4))
        .enable_all()
        .build()
        .map_err(|cause| Error::new(ErrorKind::Memory, "cannot start threads").caused_by(cause))?;
    let door = runtime.block_on(Door::open(&config))?;
    let service = Arc::new(Service::start(open()?, config)?);
    let served = runtime.block_on(door.serve(&service, progress, ready));
    // What did not end in time ends with the process: no change that it made was acknowledged.
    runtime.shutdown_timeout(END);
    if let Some(service) = Arc::into_inner(service) {
        service.end(Instant::now() + END);
    }
    served
}

//! The service from its start to its end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use simtool_batch::seen::Seen;
use simtool_core::Result;
use simtool_core::threads::start_shared_pool;
use simtool_engine::Progress;

use crate::config::Config;
use crate::listener::Listener;
use crate::service::Service;
use crate::workers::threads::{ConnectionThreads, runtime};

/// The maximum number of threads for connections; the work of requests is done by others.
const MAX_THREADS: usize = 4;
/// The time that threads have to end after the requests.
const SHUTDOWN: Duration = Duration::from_secs(1);

/// Serves until `progress` is stopped or SIGTERM arrives; then the requests under way have the
/// grace time to complete. `open` opens or creates the index after the address is bound; then
/// `ready` gets the address.
pub fn run(
    open: impl FnOnce() -> Result<Seen>,
    config: Config,
    progress: &Progress,
    ready: impl FnOnce(SocketAddr) -> Result<()>,
) -> Result<()> {
    // Some searches use the pool of the process.
    start_shared_pool(config.threads)?;
    let runtime = runtime()?;
    let connections = ConnectionThreads::start(config.threads.clamp(1, MAX_THREADS))?;
    let listener = runtime.block_on(Listener::open(&config))?;
    let service = Arc::new(Service::start(open()?, config)?);
    let served = runtime.block_on(listener.serve(&service, &connections, progress, ready));
    // Requests that are still running end with the process: their changes are not acknowledged.
    connections.end(Instant::now() + SHUTDOWN);
    if let Some(service) = Arc::into_inner(service) {
        service.end(Instant::now() + SHUTDOWN);
    }
    served
}

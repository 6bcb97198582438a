//! The service from its start to its end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use simtool::Result;
use simtool::engine::Progress;
use simtool::jobs::seen::Seen;

use super::config::Config;
use super::listener::Listener;
use super::service::Service;
use super::threads::not_started;

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
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(config.threads.clamp(1, 4))
        .enable_all()
        .build()
        .map_err(not_started)?;
    let listener = runtime.block_on(Listener::open(&config))?;
    let service = Arc::new(Service::start(open()?, config)?);
    let served = runtime.block_on(listener.serve(&service, progress, ready));
    // Requests that are still running end with the process: their changes are not acknowledged.
    runtime.shutdown_timeout(SHUTDOWN);
    if let Some(service) = Arc::into_inner(service) {
        service.end(Instant::now() + SHUTDOWN);
    }
    served
}

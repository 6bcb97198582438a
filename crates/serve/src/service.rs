//! The state of a service.

use std::sync::Arc;
use std::time::Instant;

use simtool_batch::seen::Seen;
use simtool_core::Result;

use crate::config::Config;
use crate::limits::memory::Memory;
use crate::limits::permits::Permits;
use crate::metrics::Metrics;
use crate::workers::merger::Merger;
use crate::workers::pool::Pool;
use crate::workers::writer::Writer;

/// The shared state of all requests.
pub struct Service {
    pub seen: Arc<Seen>,
    pub config: Config,
    pub pool: Pool,
    pub writer: Writer,
    _merger: Merger,
    pub metrics: Metrics,
    pub permits: Permits,
    pub memory: Memory,
    pub begin: Instant,
}

impl Service {
    pub fn start(seen: Seen, config: Config) -> Result<Service> {
        let seen = Arc::new(seen);
        let limits = config.limits;
        Ok(Service {
            pool: Pool::start(&seen, &config)?,
            writer: Writer::start(&seen, config.dump.clone(), config.log)?,
            _merger: Merger::start(&seen)?,
            metrics: Metrics::default(),
            permits: Permits::new(limits.requests),
            memory: Memory::new(limits.memory_bytes, seen.method()),
            begin: Instant::now(),
            config,
            seen,
        })
    }

    /// Waits until the pool and the writer have done their work, at most until the deadline.
    pub fn end(self, deadline: Instant) {
        self.pool.end(deadline);
        self.writer.end(deadline);
    }
}

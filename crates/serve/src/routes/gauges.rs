//! Single values of the metrics, read from the parts of the service.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::metrics::Gauge;
use crate::service::Service;

/// The values as of now.
pub fn of(service: &Service) -> Vec<Gauge> {
    let info = service.seen.index().info();
    let commits = service.writer.counts();
    let segment_bytes: u64 = info.segments.iter().map(|(_, _, bytes)| bytes).sum();
    let free = service.permits.requests.available_permits();
    let in_flight = service.config.limits.requests.saturating_sub(free) as u64;
    let gauge = |name, help, value| Gauge(name, "gauge", help, value);
    let counter =
        |name, help, count: &AtomicU64| Gauge(name, "counter", help, count.load(Ordering::Relaxed));
    let reserved = service.memory.reserved() as u64;
    let trouble = u64::from(info.trouble.is_some());
    vec![
        gauge("requests_in_flight", "Requests under way.", in_flight),
        gauge(
            "lent_bytes",
            "Memory that bodies have until they are answered.",
            reserved,
        ),
        gauge("documents", "Documents in the index.", info.documents),
        gauge(
            "documents_removed",
            "Removed documents that still take space.",
            info.removed,
        ),
        gauge("documents_recent", "Documents not sealed yet.", info.recent),
        gauge(
            "segments",
            "Segments of the index.",
            info.segments.len() as u64,
        ),
        gauge("segment_bytes", "Bytes of the segments.", segment_bytes),
        gauge(
            "trouble",
            "1 if sealing or merging segments failed last.",
            trouble,
        ),
        counter("commits_total", "Commits of additions.", &commits.commits),
        counter(
            "commits_failed_total",
            "Commits that failed, of which nothing is there.",
            &commits.failed,
        ),
        counter("added_total", "Documents added.", &commits.documents),
        counter("removed_total", "Documents removed.", &commits.removed),
        gauge(
            "uptime_seconds",
            "Seconds since the start.",
            service.begin.elapsed().as_secs(),
        ),
    ]
}

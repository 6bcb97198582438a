//! Counts for Prometheus, in its text format.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::Service;

/// Upper bounds of the times that are told apart, in seconds.
const BOUNDS: [f64; 11] = [
    0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2.0, 10.0,
];

/// What was counted. Routes, statuses and verdicts are few, whatever callers send.
#[derive(Default)]
pub struct Metrics(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    /// By route and status.
    requests: BTreeMap<(&'static str, u16), u64>,
    /// By route.
    times: BTreeMap<&'static str, Times>,
    /// Of single questions, and of lines of batches.
    said: BTreeMap<&'static str, u64>,
    lines: BTreeMap<&'static str, u64>,
}

#[derive(Default)]
struct Times {
    within: [u64; BOUNDS.len()],
    count: u64,
    seconds: f64,
}

impl Metrics {
    fn counts(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request was answered; a batch, when its first answers could be sent.
    pub fn answered(&self, route: &'static str, status: u16, took: Duration) {
        let mut counts = self.counts();
        *counts.requests.entry((route, status)).or_default() += 1;
        let times = counts.times.entry(route).or_default();
        let seconds = took.as_secs_f64();
        for (within, bound) in times.within.iter_mut().zip(BOUNDS) {
            *within += u64::from(seconds <= bound);
        }
        times.count += 1;
        times.seconds += seconds;
    }

    /// A single question had this verdict.
    pub fn said(&self, verdict: &'static str) {
        *self.counts().said.entry(verdict).or_default() += 1;
    }

    /// A line of a batch had this verdict, or was a problem.
    pub fn line(&self, verdict: &'static str) {
        *self.counts().lines.entry(verdict).or_default() += 1;
    }

    /// All of it.
    pub fn text(&self, service: &Service) -> String {
        let mut text = String::new();
        let counts = self.counts();
        head(&mut text, "requests_total", "counter", "Requests answered.");
        for ((route, status), count) in &counts.requests {
            let labels = format!("{{route=\"{route}\",status=\"{status}\"}}");
            line(&mut text, "requests_total", &labels, count);
        }
        head(
            &mut text,
            "request_seconds",
            "histogram",
            "Time to the answer.",
        );
        for (route, times) in &counts.times {
            for (within, bound) in times.within.iter().zip(BOUNDS) {
                let labels = format!("{{route=\"{route}\",le=\"{bound}\"}}");
                line(&mut text, "request_seconds_bucket", &labels, within);
            }
            let labels = format!("{{route=\"{route}\",le=\"+Inf\"}}");
            line(&mut text, "request_seconds_bucket", &labels, &times.count);
            let labels = format!("{{route=\"{route}\"}}");
            line(&mut text, "request_seconds_sum", &labels, &times.seconds);
            line(&mut text, "request_seconds_count", &labels, &times.count);
        }
        for (name, help, said) in [
            (
                "verdicts_total",
                "Verdicts of single questions.",
                &counts.said,
            ),
            (
                "batch_lines_total",
                "Verdicts of lines of batches.",
                &counts.lines,
            ),
        ] {
            head(&mut text, name, "counter", help);
            for (verdict, count) in said {
                line(
                    &mut text,
                    name,
                    &format!("{{verdict=\"{verdict}\"}}"),
                    count,
                );
            }
        }
        drop(counts);
        index(&mut text, service);
        text
    }
}

fn index(text: &mut String, service: &Service) {
    let info = service.seen.index().info();
    let counts = service.writer.counts();
    let bytes: u64 = info.segments.iter().map(|(_, _, bytes)| bytes).sum();
    let free = service.requests.available_permits();
    let in_flight = service.config.limits.requests.saturating_sub(free) as u64;
    let load = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
    for (name, kind, help, value) in [
        (
            "requests_in_flight",
            "gauge",
            "Requests under way.",
            in_flight,
        ),
        (
            "lent_bytes",
            "gauge",
            "Memory that bodies have until they are answered.",
            service.memory.lent() as u64,
        ),
        (
            "documents",
            "gauge",
            "Documents in the index.",
            info.documents,
        ),
        (
            "documents_removed",
            "gauge",
            "Removed documents that still take space.",
            info.removed,
        ),
        (
            "documents_recent",
            "gauge",
            "Documents not sealed yet.",
            info.recent,
        ),
        (
            "segments",
            "gauge",
            "Segments of the index.",
            info.segments.len() as u64,
        ),
        ("segment_bytes", "gauge", "Bytes of the segments.", bytes),
        (
            "trouble",
            "gauge",
            "1 if sealing or merging segments failed last.",
            u64::from(info.trouble.is_some()),
        ),
        (
            "commits_total",
            "counter",
            "Commits of additions.",
            load(&counts.commits),
        ),
        (
            "commits_failed_total",
            "counter",
            "Commits that failed, of which nothing is there.",
            load(&counts.failed),
        ),
        (
            "added_total",
            "counter",
            "Documents added.",
            load(&counts.documents),
        ),
        (
            "removed_total",
            "counter",
            "Documents removed.",
            load(&counts.removed),
        ),
        (
            "uptime_seconds",
            "gauge",
            "Seconds since the start.",
            service.begin.elapsed().as_secs(),
        ),
    ] {
        head(text, name, kind, help);
        line(text, name, "", &value);
    }
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "# HELP simtool_{name} {help}\n# TYPE simtool_{name} {kind}"
    );
}

fn line(text: &mut String, name: &str, labels: &str, value: &impl std::fmt::Display) {
    let _ = writeln!(text, "simtool_{name}{labels} {value}");
}

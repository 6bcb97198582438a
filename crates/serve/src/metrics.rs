//! Metrics in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Upper bounds of the histogram of times, in seconds.
const BOUNDS: [f64; 11] = [
    0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2.0, 10.0,
];

/// Counts by route, status and verdict, all of which are few whatever clients send.
#[derive(Default)]
pub struct Metrics(Mutex<MetricCounts>);

/// The name of a single value, its kind, its description, and the value.
pub struct Gauge(
    pub &'static str,
    pub &'static str,
    pub &'static str,
    pub u64,
);

#[derive(Default)]
struct MetricCounts {
    /// By route and status.
    requests: BTreeMap<(&'static str, u16), u64>,
    /// By route.
    times: BTreeMap<&'static str, Histogram>,
    /// Verdicts of single questions.
    verdicts: BTreeMap<&'static str, u64>,
    /// Verdicts of lines of batches.
    lines: BTreeMap<&'static str, u64>,
}

#[derive(Default)]
struct Histogram {
    within: [u64; BOUNDS.len()],
    count: u64,
    seconds: f64,
}

impl Metrics {
    fn counts(&self) -> MutexGuard<'_, MetricCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an answered request; a batch counts when its response begins.
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

    /// Counts the verdict of a single question.
    pub fn verdict(&self, verdict: &'static str) {
        *self.counts().verdicts.entry(verdict).or_default() += 1;
    }

    /// Counts the verdict of a line of a batch, or a problem.
    pub fn line(&self, verdict: &'static str) {
        *self.counts().lines.entry(verdict).or_default() += 1;
    }

    /// All metrics as text.
    pub fn text(&self, gauges: &[Gauge]) -> String {
        let mut text = String::new();
        let counts = self.counts();
        head(&mut text, "requests_total", "counter", "Requests answered.");
        for ((route, status), count) in &counts.requests {
            let labels = format!("{{route=\"{route}\",status=\"{status}\"}}");
            line(&mut text, "requests_total", &labels, count);
        }
        let help = "Time to the answer.";
        head(&mut text, "request_seconds", "histogram", help);
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
        let (single, lines) = (&counts.verdicts, &counts.lines);
        for (name, help, verdicts) in [
            ("verdicts_total", "Verdicts of single questions.", single),
            ("batch_lines_total", "Verdicts of lines of batches.", lines),
        ] {
            head(&mut text, name, "counter", help);
            for (verdict, count) in verdicts {
                let labels = format!("{{verdict=\"{verdict}\"}}");
                line(&mut text, name, &labels, count);
            }
        }
        drop(counts);
        for Gauge(name, kind, help, value) in gauges {
            head(&mut text, name, kind, help);
            line(&mut text, name, "", value);
        }
        text
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

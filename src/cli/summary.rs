//! What a run saw and did, in one line.

use std::time::Duration;

use serde_json::{Value, json};
use simtool::io::usage::Usage;
use simtool::run::WorkUnit;
use simtool::run::matching::Summary;

use super::log::rate;
use super::plan::Plan;

/// The line for people.
pub fn text(seen: &Summary, time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let memory = Usage::now().map_or("unknown".to_owned(), |usage| {
        format!("{} MB", usage.peak_resident_bytes / 1_000_000)
    });
    format!(
        "simtool: {} pages seen ({} articles, {} samples), 0 skipped; {} samples matched, \
         {} matches; {seconds:.3} s, {}, peak memory {memory}\n",
        seen.articles + seen.samples,
        seen.articles,
        seen.samples,
        seen.matched_samples,
        seen.matches,
        rate(seen.input_bytes as f64 / seconds, WorkUnit::Bytes),
    )
}

/// The object for programs, on one line. Fields are added, never renamed.
pub fn json(seen: &Summary, plan: &Plan, time: Duration) -> String {
    format!("{}\n", fields(seen, plan, time))
}

/// Its fields.
pub fn fields(seen: &Summary, plan: &Plan, time: Duration) -> Value {
    let seconds = time.as_secs_f64();
    json!({
        "seen": seen.articles + seen.samples,
        "articles": seen.articles,
        "samples": seen.samples,
        "matched_samples": seen.matched_samples,
        "unmatched_samples": seen.samples - seen.matched_samples,
        "matches": seen.matches,
        // Every page of this job is read, so these two are there for readers of other summaries.
        "skipped": 0,
        "skipped_by_reason": {},
        "features": seen.features,
        "input_bytes": seen.input_bytes,
        "output_bytes": seen.output_bytes,
        "suspect_buckets": seen.ranking.suspect_buckets,
        "ranking_passes": seen.ranking.passes,
        "bytes_read_again": seen.ranking.bytes_read_again,
        "seconds": seconds,
        "bytes_per_second": seen.input_bytes as f64 / seconds,
        "peak_memory_bytes": Usage::now().map(|usage| usage.peak_resident_bytes),
        "threads": plan.resources.threads,
        "memory_bytes": plan.resources.memory_bytes,
        "simd": plan.resources.level.to_string(),
        "version": env!("CARGO_PKG_VERSION"),
    })
}

//! The summary of the main job, in one line.

use std::time::Duration;

use serde_json::{Value, json};
use simtool::engine::WorkUnit;
use simtool::io::usage::Usage;
use simtool::jobs::main_job::MainJobSummary;

use super::plan::MainJobPlan;
use crate::cli::screen::log::rate;

/// The line as text.
pub fn text(seen: &MainJobSummary, time: Duration) -> String {
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

/// The object on one line. Fields are added, never renamed.
pub fn json(seen: &MainJobSummary, plan: &MainJobPlan, time: Duration) -> String {
    format!("{}\n", fields(seen, plan, time))
}

/// The fields of the object.
pub fn fields(seen: &MainJobSummary, plan: &MainJobPlan, time: Duration) -> Value {
    let seconds = time.as_secs_f64();
    json!({
        "seen": seen.articles + seen.samples,
        "articles": seen.articles,
        "samples": seen.samples,
        "matched_samples": seen.matched_samples,
        "unmatched_samples": seen.samples - seen.matched_samples,
        "matches": seen.matches,
        // This job skips no pages; these two fields are for readers of all summaries.
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

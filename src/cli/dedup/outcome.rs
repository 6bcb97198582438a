//! The result of a deduplication, in one line.

use std::time::Duration;

use serde_json::{Value, json};
use simtool::jobs::dedup::{DedupSummary, LargestCluster};

use crate::cli::batch::{left_out, unwritten};
use crate::cli::screen::amount::counted;
use crate::cli::screen::visible::visible;

/// The most clusters that are shown.
const SHOWN: usize = 5;

/// The largest clusters, a line each; nothing if there are none.
pub fn largest(summary: &DedupSummary) -> String {
    let mut text = String::new();
    for cluster in summary.largest.iter().take(SHOWN) {
        if text.is_empty() {
            text += "largest clusters:\n";
        }
        let LargestCluster {
            size,
            same_text,
            same_words,
            same_url,
            near,
            ..
        } = cluster;
        let least = cluster.least_similarity.map_or(String::new(), |least| {
            format!(", at least {least:.3} similar")
        });
        let counts = [
            (*same_text, "with the same text"),
            (*same_words, "with the same words"),
            (*same_url, "with the same URL as a newer one"),
            (*near, "near"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let beginning = match &cluster.kept.beginning {
            Some(beginning) => format!(": {beginning}"),
            None => String::new(),
        };
        let id = cluster
            .kept
            .id
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        text += &format!(
            "  {size} documents ({}{least}) of {}{beginning}\n",
            counts.join(", "),
            id,
        );
    }
    visible(text.as_bytes())
}

/// The counts of documents and of files that were not read.
pub fn counts(summary: &DedupSummary, files_left_out: usize) -> String {
    let references = match summary.skipped_references() {
        0 => String::new(),
        skipped => format!(
            "; {skipped} of {} documents of --against skipped",
            summary.references()
        ),
    };
    let listed = match summary.skipped() {
        0 => "",
        _ => " (listed in skipped.jsonl)",
    };
    let unwritten = unwritten(summary.unwritten);
    format!(
        "{} seen = {} kept + {} dropped + {} skipped{listed}; {}, {} refused\
         {unwritten}{references}{}",
        counted(summary.seen(), "document"),
        summary.kept(),
        summary.dropped(),
        summary.skipped(),
        counted(summary.clusters(), "cluster"),
        counted(summary.refused, "candidate pair"),
        left_out(files_left_out),
    )
}

/// The fields of the event `result`, besides the time.
pub fn json(summary: &DedupSummary, left_out: usize, planned: Option<Duration>) -> Value {
    json!({
        "left_out": left_out,
        "seen": summary.seen(),
        "kept": summary.kept(),
        "dropped": summary.dropped(),
        "skipped": summary.skipped(),
        "skipped_against": summary.skipped_references(),
        "clusters": summary.clusters(),
        "refused": summary.refused,
        "unwritten_files": summary.unwritten,
        "largest_clusters": summary.largest,
        "text_bytes": summary.text_bytes(),
        "planned": planned.map(|planned| planned.as_secs_f64()),
    })
}

//! What `summary.json` and `timings.json` have in common for all jobs.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::Xxh3;

use crate::table::segment::ChunkEntry;
use simtool_corpus::{LeftOut, Source};
use simtool_engine::StageTime;
use simtool_files::usage::Usage;

const INPUTS: &str = "inputs";
/// The most unread files that are named for each reason.
const MOST_LEFT_OUT: u64 = 100;

/// The text of a summary with these fields, and with `inputs` described one after another: there may
/// be millions, and all descriptions together take a kilobyte for each.
pub fn summary_text(fields: Value, inputs: impl Iterator<Item = Value> + Clone) -> String {
    let Value::Object(mut fields) = fields else {
        return String::new();
    };
    fields.insert(INPUTS.to_owned(), Value::Null);
    // JSON values have text.
    let text = serde_json::to_string_pretty(&SummaryText { fields, inputs });
    text.unwrap_or_default() + "\n"
}

/// What is said of an input with this digest, whatever was found in it.
pub fn described_source((source, digest): (&Source, &u128)) -> Value {
    json!({
        "file": source.path.to_string_lossy(),
        "bytes": source.bytes,
        "format": source.format.name(),
        "compression": source.compression.name(),
        "xxh3_128": format!("{digest:032x}"),
    })
}

struct SummaryText<I> {
    fields: Map<String, Value>,
    inputs: I,
}

impl<I: Iterator<Item = Value> + Clone> Serialize for SummaryText<I> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.fields.len()))?;
        for (name, value) in &self.fields {
            match name.as_str() {
                INPUTS => map.serialize_entry(name, &InputDescriptions(self.inputs.clone()))?,
                _ => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}

struct InputDescriptions<I>(I);

impl<I: Iterator<Item = Value> + Clone> Serialize for InputDescriptions<I> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.clone())
    }
}

/// The number of unread files by reason, and the first of each.
pub fn left_out_json(files: &[LeftOut]) -> Value {
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    let mut first = Vec::new();
    for file in files {
        let reason = file.reason.name();
        let count = reasons.entry(reason).or_default();
        *count += 1;
        if *count <= MOST_LEFT_OUT {
            let path = file.path.to_string_lossy();
            first.push(json!({"file": path, "reason": reason, "why": file.why}));
        }
    }
    json!({"files": files.len(), "reasons": reasons, "first": first})
}

/// For each source, xxh3-128 of the digests of its chunks.
pub fn digests(chunks: &[ChunkEntry], sources: usize) -> Vec<u128> {
    let mut digests = Vec::with_capacity(sources);
    let mut rest = chunks.iter().peekable();
    for source in 0..sources as u32 {
        let mut hasher = Xxh3::new();
        while let Some(chunk) = rest.next_if(|chunk| chunk.source == source) {
            let [low, high] = chunk.digest;
            hasher.update(&low.to_le_bytes());
            hasher.update(&high.to_le_bytes());
        }
        digests.push(hasher.digest128());
    }
    digests
}

/// The contents of `timings.json`: seconds, processor time and rates by stage, and the peak of memory.
pub fn timings(stages: &[StageTime], threads: usize, total: Duration) -> Map<String, Value> {
    let stages: Vec<Value> = stages
        .iter()
        .map(|stage| {
            let seconds = stage.time.as_secs_f64();
            json!({
                "stage": stage.stage.name(),
                "seconds": in_microseconds(seconds),
                "processor_seconds": in_microseconds(stage.processor.as_secs_f64()),
                "one_thread_seconds": in_microseconds(stage.alone.as_secs_f64()),
                "bytes": stage.bytes,
                "bytes_per_second": (stage.bytes as f64 / seconds.max(1e-9)) as u64,
            })
        })
        .collect();
    let peak = Usage::now().map(|usage| usage.peak_resident_bytes);
    let timings = [
        ("seconds", in_microseconds(total.as_secs_f64()).into()),
        ("threads", threads.into()),
        ("peak_resident_bytes", peak.into()),
        ("stages", stages.into()),
    ];
    timings
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

/// Rounded to microseconds, so that a number that is parsed is the one that was written.
fn in_microseconds(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

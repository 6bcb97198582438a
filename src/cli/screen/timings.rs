//! The report of `--timings`: the time of a run by stage.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};
use simtool::engine::StageTime;
use simtool::io::usage::Usage;

use super::log::Form;
use super::message::{self, event_object};

/// Writes the times of the stages: an object with the event `timings` in a log of JSON objects,
/// otherwise a table.
pub fn write(stages: &[StageTime], total: Duration, form: Form) {
    message::write(&match form {
        Form::Json => format!("{}\n", event_object("timings", &fields(stages, total))),
        _ => table(stages, total),
    });
}

/// The fields of the event `timings`.
fn fields(stages: &[StageTime], total: Duration) -> Value {
    let stage = |stage: &StageTime| {
        json!({
            "stage": stage.stage.name(),
            "seconds": stage.time.as_secs_f64(),
            "processor_seconds": stage.processor.as_secs_f64(),
            "one_thread_seconds": stage.alone.as_secs_f64(),
            "bytes": stage.bytes,
        })
    };
    json!({
        "stages": stages.iter().map(stage).collect::<Vec<_>>(),
        "files": outside(stages, total).as_secs_f64(),
        "total": total.as_secs_f64(),
        "peak_memory_bytes": Usage::now().map(|usage| usage.peak_resident_bytes),
    })
}

/// The time outside the stages: opening, checking and publishing files.
fn outside(stages: &[StageTime], total: Duration) -> Duration {
    total.saturating_sub(stages.iter().map(|stage| stage.time).sum())
}

/// A table of stages, of the time outside them, of the total and of the peak memory.
fn table(stages: &[StageTime], total: Duration) -> String {
    let mut table = format!(
        "{:<12} {:>10} {:>16} {:>10} {:>10} {:>8} {:>11}\n",
        "stage", "seconds", "bytes", "MB/s", "processor", "threads", "one thread"
    );
    for stage in stages {
        let seconds = stage.time.as_secs_f64().max(1e-9);
        let processor = stage.processor.as_secs_f64();
        let _ = writeln!(
            table,
            "{} {processor:>10.4} {:>8.1} {:>11.4}",
            row(stage.stage.name(), stage.time, stage.bytes),
            processor / seconds,
            stage.alone.as_secs_f64(),
        );
    }
    let _ = writeln!(table, "{}", row("files", outside(stages, total), 0));
    let _ = writeln!(table, "{}", row("total", total, 0));
    if let Some(usage) = Usage::now() {
        let _ = writeln!(
            table,
            "peak memory  {:>10} bytes",
            usage.peak_resident_bytes
        );
    }
    table
}

fn row(name: &str, time: Duration, bytes: u64) -> String {
    let seconds = time.as_secs_f64();
    match bytes {
        0 => format!("{name:<12} {seconds:>10.4} {:>16} {:>10}", "-", "-"),
        _ => {
            let rate = bytes as f64 / 1e6 / seconds;
            format!("{name:<12} {seconds:>10.4} {bytes:>16} {rate:>10.1}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool::engine::Stage;

    #[test]
    fn rows_add_up_to_the_total() {
        let stages = [StageTime {
            stage: Stage::Count,
            time: Duration::from_secs(2),
            processor: Duration::from_secs(3),
            alone: Duration::from_millis(200),
            bytes: 3_000_000_000,
            number: None,
        }];
        let total = Duration::from_millis(2500);
        let table = table(&stages, total);
        assert_eq!(fields(&stages, total)["files"], 0.5);
        for row in [
            "count            2.0000       3000000000     1500.0     3.0000      1.5      0.2000\n",
            "files            0.5000                -          -\n",
            "total            2.5000                -          -\n",
        ] {
            assert!(table.contains(row), "{table}");
        }
    }
}

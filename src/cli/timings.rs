//! The table of `--timings`: the time of a run by stage.

use std::fmt::Write;
use std::time::Duration;

use simtool::engine::StageTime;
use simtool::io::usage::Usage;

/// A table of stages, of the remaining time (opening, checking and publishing files), of the total
/// and of the peak memory.
pub fn table(stages: &[StageTime], total: Duration) -> String {
    let mut table = format!(
        "{:<12} {:>10} {:>16} {:>10}\n",
        "stage", "seconds", "bytes", "MB/s"
    );
    for stage in stages {
        let _ = writeln!(
            table,
            "{}",
            row(stage.stage.name(), stage.time, stage.bytes)
        );
    }
    let spent: Duration = stages.iter().map(|stage| stage.time).sum();
    let _ = writeln!(table, "{}", row("files", total.saturating_sub(spent), 0));
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
            bytes: 3_000_000_000,
            number: None,
        }];
        let table = table(&stages, Duration::from_millis(2500));
        for row in [
            "count            2.0000       3000000000     1500.0\n",
            "files            0.5000                -          -\n",
            "total            2.5000                -          -\n",
        ] {
            assert!(table.contains(row), "{table}");
        }
    }
}

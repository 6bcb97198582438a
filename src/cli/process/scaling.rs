//! `--scaling`: the speed-up with more threads, by stage, and a check that the result is the same.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use simtool::{Error, ErrorKind, Result};
use tempfile::TempDir;

use super::session::Session;
use crate::cli::screen::amount::counted;
use crate::cli::screen::{self, message};
use crate::cli::values::number;

/// The most runs with each number of threads.
pub const MAX_RUNS: usize = 1000;

/// The flag `--scaling` of commands with `--quiet` and `--log`.
#[derive(Args, Clone, Copy, Debug)]
pub struct ScalingArgs {
    /// Measure instead: run with 1, 2, 4 ... threads, leave no output, print time, speed-up and
    /// efficiency of each stage as medians of this many runs
    #[arg(
        long,
        value_name = "RUNS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1",
        value_parser = number::within(1, MAX_RUNS),
        conflicts_with_all = ["quiet", "log"],
        help_heading = "Reports"
    )]
    pub scaling: Option<usize>,
}

/// One measured run: the time of each stage by name, `total` last, and the hash of the output.
pub struct Measured {
    pub times: Vec<(String, Duration)>,
    pub output: u128,
}

impl Measured {
    /// The stages that a session has finished, the time outside them, and all since its start.
    pub fn of(session: &Session, output: u128) -> Measured {
        let total = session.elapsed();
        let finished = session.progress.finished();
        let staged: Duration = finished.iter().map(|stage| stage.time).sum();
        let stages = finished.into_iter();
        let times = stages.map(|stage| (stage.stage.name().to_owned(), stage.time));
        let others = [("rest", total.saturating_sub(staged)), ("total", total)];
        let others = others.map(|(name, time)| (name.to_owned(), time));
        Measured {
            times: times.chain(others).collect(),
            output,
        }
    }
}

/// Measures with 1, 2, 4 ... threads up to `most`, `runs` times each, and prints the medians. A first
/// run, which does not count, loads the inputs into the page cache.
///
/// # Errors
/// Errors of `measure`; [`ErrorKind::Content`] if two outputs differ.
pub fn compare(
    most: usize,
    runs: usize,
    mut measure: impl FnMut(usize) -> Result<Measured>,
) -> Result<()> {
    let expected = measure(most)?.output;
    let mut table = format!(
        "{:>7}  {:<12} {:>10} {:>9} {:>11} {:>11}\n",
        "threads", "stage", "seconds", "speed-up", "efficiency", "one thread"
    );
    let mut single: Vec<(String, Duration)> = Vec::new();
    for threads in thread_counts(most) {
        let mut measured = Vec::with_capacity(runs);
        for _ in 0..runs {
            let run = measure(threads)?;
            let seconds = run.times.last().map_or(0.0, |(_, time)| time.as_secs_f64());
            let of = counted(threads as u64, "thread");
            message::say(&format!("{of}: {seconds:.2} seconds"));
            if run.output != expected {
                let message = format!(
                    "internal error, please report it: the result with {threads} threads is not \
                     that with {most}"
                );
                return Err(Error::new(ErrorKind::Content, message));
            }
            measured.push(numbered(run.times));
        }
        let medians = medians(&measured);
        if single.is_empty() {
            single.clone_from(&medians);
        }
        for (stage, time) in medians {
            // With other buffers, a run may need another stage.
            let single = single.iter().find(|(name, _)| *name == stage);
            let single = single.map(|(_, time)| *time);
            let _ = writeln!(table, "{}", row(threads, &stage, time, single));
        }
    }
    let _ = writeln!(
        table,
        "medians of {runs}; all results are equal (xxh3 {expected:032x})\n\
         one thread: the share of the work that more threads do not shorten, by Amdahl's law"
    );
    screen::print(table.as_bytes())
}

/// A directory in `beside` for the output of a measured run. It is removed when dropped.
///
/// # Errors
/// [`ErrorKind::Write`].
pub fn temporary_directory(beside: &Path) -> Result<TempDir> {
    let made = tempfile::Builder::new()
        .prefix(".simtool-scaling-")
        .tempdir_in(beside);
    made.map_err(|cause| {
        let message = format!("cannot make a directory in {}", beside.display());
        Error::new(ErrorKind::Write, message).caused_by(cause)
    })
}

/// The times with different names: a stage that occurs again has a number.
fn numbered(times: Vec<(String, Duration)>) -> Vec<(String, Duration)> {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let name = |(stage, time): (String, Duration)| {
        let count = seen.entry(stage.clone()).or_default();
        *count += 1;
        match *count {
            1 => (stage, time),
            count => (format!("{stage} {count}"), time),
        }
    };
    times.into_iter().map(name).collect()
}

/// 1, 2, 4 ... and `most`.
fn thread_counts(most: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1), |threads| Some(threads * 2));
    let mut counts: Vec<usize> = powers.take_while(|&threads| threads < most).collect();
    counts.push(most);
    counts
}

/// The median time of each stage of the first run; of an even number, the longer of the two middle
/// times.
fn medians(runs: &[Vec<(String, Duration)>]) -> Vec<(String, Duration)> {
    let median = |(stage, _): &(String, Duration)| {
        let times = runs.iter().flatten().filter(|(name, _)| name == stage);
        let mut times: Vec<Duration> = times.map(|(_, time)| *time).collect();
        times.sort_unstable();
        (stage.clone(), times[times.len() / 2])
    };
    runs.first().into_iter().flatten().map(median).collect()
}

fn row(threads: usize, stage: &str, time: Duration, single: Option<Duration>) -> String {
    let seconds = time.as_secs_f64();
    let Some(single) = single else {
        return format!("{threads:>7}  {stage:<12} {seconds:>10.4}");
    };
    let speed_up = single.as_secs_f64() / seconds.max(1e-9);
    let alone = serial_share(speed_up, threads)
        .map_or(String::new(), |share| format!(" {:>9.1} %", 100.0 * share));
    format!(
        "{threads:>7}  {stage:<12} {seconds:>10.4} {speed_up:>9.2} {:>9.0} %{alone}",
        speed_up / threads as f64 * 100.0
    )
}

/// The share of the work that one thread does alone, if `threads` threads are `speed_up` times as fast.
fn serial_share(speed_up: f64, threads: usize) -> Option<f64> {
    let threads = threads as f64;
    let share = (threads / speed_up.max(1e-9) - 1.0) / (threads - 1.0);
    (threads > 1.0).then(|| share.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_double_and_end_with_all() {
        assert_eq!(thread_counts(1), [1]);
        assert_eq!(thread_counts(2), [1, 2]);
        assert_eq!(thread_counts(6), [1, 2, 4, 6]);
        assert_eq!(thread_counts(8), [1, 2, 4, 8]);
    }

    #[test]
    fn stages_that_occur_again_have_numbers() {
        let times = ["count", "gather", "count"].map(|stage| (stage.to_owned(), Duration::ZERO));
        let names: Vec<String> = numbered(times.into())
            .into_iter()
            .map(|time| time.0)
            .collect();
        assert_eq!(names, ["count", "gather", "count 2"]);
    }

    #[test]
    fn medians_are_by_stage() {
        let seconds = Duration::from_secs;
        let run = |a, b| vec![("a".to_owned(), seconds(a)), ("b".to_owned(), seconds(b))];
        let found = medians(&[run(9, 1), run(2, 5), run(4, 3)]);
        assert_eq!(found, run(4, 3));
    }

    #[test]
    fn efficiency_is_speed_up_by_thread() {
        let row = row(
            4,
            "count",
            Duration::from_secs(1),
            Some(Duration::from_secs(3)),
        );
        assert_eq!(
            row,
            "      4  count            1.0000      3.00        75 %      11.1 %"
        );
        assert_eq!(serial_share(16.0, 16), Some(0.0));
        assert_eq!(serial_share(0.5, 2), Some(1.0));
        assert_eq!(serial_share(1.0, 1), None);
    }
}

//! `--scaling`: the speed-up with more threads, and a check that the result is the same.

use std::fmt::Write;
use std::time::Duration;

use simtool::engine::Resources;
use simtool::io::remote::Client;
use simtool::{Error, ErrorKind, Result};
use xxhash_rust::xxh3::Xxh3;

use super::inputs::Inputs;
use super::plan::MainJobPlan;
use crate::cli::process::session::Session;
use crate::cli::screen;
use crate::cli::screen::log::Log;

/// One measured run: the time of each stage by name, `total` last, and the hash of the output.
struct Measured {
    times: Vec<(&'static str, Duration)>,
    output: u128,
}

/// Runs the job with 1, 2, 4 ... threads up to those of the plan, `runs` times each, and prints the
/// medians. The outputs are compared by hash and discarded. A first run, which does not count,
/// loads the inputs into the page cache.
///
/// # Errors
/// Errors of the run; [`ErrorKind::Content`] if two outputs differ.
pub fn run(plan: &MainJobPlan, inputs: &Inputs, runs: usize, client: &Client) -> Result<()> {
    let expected = measure(plan, inputs, plan.resources.threads, client)?.output;
    let mut table = format!(
        "{:>7}  {:<12} {:>10} {:>9} {:>11}\n",
        "threads", "stage", "seconds", "speed-up", "efficiency"
    );
    let mut single: Vec<Duration> = Vec::new();
    for threads in thread_counts(plan.resources.threads) {
        let mut measured = Vec::with_capacity(runs);
        for _ in 0..runs {
            let run = measure(plan, inputs, threads, client)?;
            if run.output != expected {
                let message = format!(
                    "internal error, please report it: the result with {threads} threads is not \
                     that with {}",
                    plan.resources.threads
                );
                return Err(Error::new(ErrorKind::Content, message));
            }
            measured.push(run.times);
        }
        let medians = medians(&measured);
        if single.is_empty() {
            single = medians.iter().map(|&(_, time)| time).collect();
        }
        for ((stage, time), single) in medians.into_iter().zip(&single) {
            let _ = writeln!(table, "{}", row(threads, stage, time, *single));
        }
    }
    let _ = writeln!(
        table,
        "medians of {runs}; all results are equal (xxh3 {expected:032x})"
    );
    screen::print(table.as_bytes())
}

fn measure(
    plan: &MainJobPlan,
    inputs: &Inputs,
    threads: usize,
    client: &Client,
) -> Result<Measured> {
    let resources = Resources {
        threads,
        ..plan.resources.clone()
    };
    let session = Session::new(Log::SILENT, client);
    let mut hash = Xxh3::new();
    let mut total = Duration::ZERO;
    session.run(|progress| {
        inputs.confirm(progress, || {
            let sink = &mut |bytes: &[u8]| {
                hash.update(bytes);
                Ok(())
            };
            let outcome = plan.job.run(&inputs.bytes(), &resources, progress, sink);
            total = session.elapsed();
            outcome
        })
    })?;
    let stages = session.progress.finished().into_iter();
    let mut times: Vec<_> = stages
        .map(|stage| (stage.stage.name(), stage.time))
        .collect();
    times.push(("total", total));
    Ok(Measured {
        times,
        output: hash.digest128(),
    })
}

/// 1, 2, 4 ... and `most`.
fn thread_counts(most: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1), |threads| Some(threads * 2));
    let mut counts: Vec<usize> = powers.take_while(|&threads| threads < most).collect();
    counts.push(most);
    counts
}

/// The median time of each stage; of an even number, the longer of the two middle times.
fn medians(runs: &[Vec<(&'static str, Duration)>]) -> Vec<(&'static str, Duration)> {
    let stages = runs.first().map_or(0, Vec::len);
    let median = |stage: usize| {
        let mut times: Vec<_> = runs.iter().map(|run| run[stage]).collect();
        times.sort_by_key(|&(_, time)| time);
        times[times.len() / 2]
    };
    (0..stages).map(median).collect()
}

fn row(threads: usize, stage: &str, time: Duration, single: Duration) -> String {
    let speed_up = single.as_secs_f64() / time.as_secs_f64().max(1e-9);
    format!(
        "{threads:>7}  {stage:<12} {:>10.4} {speed_up:>9.2} {:>9.0} %",
        time.as_secs_f64(),
        speed_up / threads as f64 * 100.0
    )
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
    fn medians_are_by_stage() {
        let seconds = Duration::from_secs;
        let run = |a, b| vec![("a", seconds(a)), ("b", seconds(b))];
        let found = medians(&[run(9, 1), run(2, 5), run(4, 3)]);
        assert_eq!(found, run(4, 3));
    }

    #[test]
    fn efficiency_is_speed_up_by_thread() {
        let row = row(4, "count", Duration::from_secs(1), Duration::from_secs(3));
        assert_eq!(
            row,
            "      4  count            1.0000      3.00        75 %"
        );
    }
}

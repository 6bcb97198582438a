//! A progress bar for runs that take longer than people like to wait.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use simtool::run::{Progress, Stage};

use super::matching::PATIENCE;

/// How often the bar is drawn.
const INTERVAL: Duration = Duration::from_millis(100);

const BYTES: &str = "{prefix:11} [{bar:30}] {bytes}/{total_bytes} {msg}";
const SAMPLES: &str = "{prefix:11} [{bar:30}] {pos}/{len} samples {msg}";
const UNKNOWN: &str = "{prefix:11} {spinner} {msg}";

/// Shows the progress of a run until dropped; then the line is cleared.
pub struct Watch(Option<(Sender<()>, JoinHandle<()>)>);

impl Watch {
    /// Watches from a thread that sleeps for the first second. Does nothing if `quiet`, or where
    /// standard error is no terminal.
    pub fn start(progress: &Arc<Progress>, quiet: bool) -> Watch {
        if quiet || !std::io::stderr().is_terminal() {
            return Watch(None);
        }
        let progress = Arc::clone(progress);
        let (end, ended) = mpsc::channel();
        // A run is not worth less because nobody can watch it.
        let thread = Builder::new().spawn(move || draw(&progress, &ended)).ok();
        Watch(thread.map(|thread| (end, thread)))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.0.take() {
            drop(end);
            let _ = thread.join();
        }
    }
}

fn draw(progress: &Progress, ended: &Receiver<()>) {
    let mut bar: Option<(Stage, ProgressBar)> = None;
    let mut wait = PATIENCE;
    while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        wait = INTERVAL;
        let Some((stage, done, total, elapsed)) = progress.current() else {
            continue;
        };
        if bar.as_ref().is_none_or(|(drawn, _)| *drawn != stage) {
            bar.take().inspect(|(_, bar)| bar.finish_and_clear());
        }
        let (_, bar) = bar.get_or_insert_with(|| (stage, new_bar(stage, total)));
        bar.set_position(done);
        bar.set_message(pace(stage, done, total, elapsed.as_secs_f64()));
        bar.tick();
    }
    bar.inspect(|(_, bar)| bar.finish_and_clear());
}

fn new_bar(stage: Stage, total: u64) -> ProgressBar {
    let (template, length) = match (stage, total) {
        (_, 0) => (UNKNOWN, None),
        (Stage::Search, _) => (SAMPLES, Some(total)),
        _ => (BYTES, Some(total)),
    };
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.with_prefix(stage.name())
}

/// Rate and time left, from the beginning of the stage. (The bar's own estimate begins when the bar
/// does, and would take what was done before for done in no time.)
fn pace(stage: Stage, done: u64, total: u64, seconds: f64) -> String {
    if done == 0 || seconds <= 0.0 {
        return format!("{seconds:.0} s");
    }
    let rate = done as f64 / seconds;
    let left = total.saturating_sub(done) as f64 / rate;
    match stage {
        Stage::Search => format!("{rate:.0}/s ETA {left:.0} s"),
        _ => format!("{:.2} GB/s ETA {left:.0} s", rate / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_is_that_of_the_stage() {
        let gigabyte = 1_000_000_000;
        assert_eq!(
            pace(Stage::Count, gigabyte, 3 * gigabyte, 2.0),
            "0.50 GB/s ETA 4 s"
        );
        assert_eq!(pace(Stage::Search, 50, 250, 0.5), "100/s ETA 2 s");
        assert_eq!(pace(Stage::Rank, 0, 0, 7.2), "7 s");
    }

    #[test]
    fn templates_are_valid() {
        for template in [BYTES, SAMPLES, UNKNOWN] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}

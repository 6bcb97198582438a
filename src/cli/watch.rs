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

const BYTES: &str = "{msg:11} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec} ETA {eta}";
const SAMPLES: &str = "{msg:11} [{bar:30}] {pos}/{len} samples {per_sec} ETA {eta}";
const UNKNOWN: &str = "{msg:11} {spinner} {elapsed}";

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
        let Some((stage, done, total)) = progress.current() else {
            continue;
        };
        if bar.as_ref().is_none_or(|(drawn, _)| *drawn != stage) {
            bar.take().inspect(|(_, bar)| bar.finish_and_clear());
        }
        let (_, bar) = bar.get_or_insert_with(|| (stage, new_bar(stage, total)));
        bar.set_position(done);
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
    bar.with_message(stage.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_valid() {
        for template in [BYTES, SAMPLES, UNKNOWN] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}

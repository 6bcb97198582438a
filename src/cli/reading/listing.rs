//! Progress while inputs are listed and examined, before a run begins.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use simtool::corpus::DiscoveryProgress;
use simtool::{Result, threads};

use crate::cli::screen::amount::duration;
use crate::cli::screen::log::{Form, Log};
use crate::cli::screen::message::{self, event_object};

/// The time before the first report on a terminal or in a requested log.
const SHORT_DELAY: Duration = Duration::from_secs(1);
/// The interval of lines.
const LINE_INTERVAL: Duration = Duration::from_secs(60);
/// The interval of updates on a terminal.
const BAR_INTERVAL: Duration = Duration::from_millis(100);

/// Does `work`, which lists and examines files, and shows how far it is in the form of `log`: on a
/// terminal after a second; in lines after a second if they were requested, otherwise after ten, and
/// then each minute.
///
/// # Errors
/// Errors of `work` and of [`threads::start`].
pub fn showing<T>(log: Log, work: impl FnOnce(&DiscoveryProgress) -> Result<T>) -> Result<T> {
    let found = Arc::new(DiscoveryProgress::default());
    if matches!(log.form, Form::Silent | Form::None) {
        return work(&found);
    }
    let (end, ended) = mpsc::channel();
    let shown = Arc::clone(&found);
    let thread = threads::start("listing", move || match log.form {
        Form::Bar => draw(&shown, &ended),
        _ => write(&shown, &ended, log),
    })?;
    let result = work(&found);
    drop(end);
    let _ = thread.join();
    result
}

/// Draws a line that is removed at the end.
fn draw(found: &DiscoveryProgress, ended: &Receiver<()>) {
    if !is_due(ended, SHORT_DELAY) {
        return;
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{msg}") {
        bar.set_style(style);
    }
    let begin = Instant::now();
    loop {
        bar.set_message(text(found, begin.elapsed() + SHORT_DELAY));
        bar.tick();
        if !is_due(ended, BAR_INTERVAL) {
            break;
        }
    }
    bar.finish_and_clear();
}

/// Writes lines.
fn write(found: &DiscoveryProgress, ended: &Receiver<()>, log: Log) {
    let begin = Instant::now();
    let mut wait = log.delay.max(SHORT_DELAY);
    while is_due(ended, wait) {
        wait = LINE_INTERVAL;
        let elapsed = begin.elapsed();
        message::write(&match log.form {
            Form::Json => format!("{}\n", event_object("listing", &fields(found, elapsed))),
            _ => format!("simtool: {}\n", text(found, elapsed)),
        });
    }
}

/// Whether the work has not ended after `time`.
fn is_due(ended: &Receiver<()>, time: Duration) -> bool {
    ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
}

fn text(found: &DiscoveryProgress, elapsed: Duration) -> String {
    format!(
        "listing inputs: {}, {} files found, {} examined",
        duration(elapsed),
        found.found.load(Ordering::Relaxed),
        found.opened.load(Ordering::Relaxed),
    )
}

fn fields(found: &DiscoveryProgress, elapsed: Duration) -> serde_json::Value {
    json!({
        "found": found.found.load(Ordering::Relaxed),
        "examined": found.opened.load(Ordering::Relaxed),
        "elapsed": elapsed.as_secs_f64(),
    })
}

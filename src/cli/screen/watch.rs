//! Progress of long runs: a bar or lines.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use simtool::engine::{Progress, Snapshot};
use simtool::io::remote::Client;
use simtool::{Result, threads};

use super::amount::short_duration;
use super::log::{Form, Lines, Log, heading, rate};
use super::message;
use crate::cli::reading::server_waits::Waits;

/// The interval between updates.
const INTERVAL: Duration = Duration::from_millis(100);

/// The text takes at most 49 columns, the bar the rest of the line.
const BAR: &str = "{msg} {wide_bar}";
const NO_BAR: &str = "{msg}";

/// Shows the progress of a run until it is dropped.
pub struct Watch(Option<(Sender<()>, JoinHandle<()>)>);

impl Watch {
    /// Starts a thread that shows the progress of a run, and the waits of its client, in the form
    /// of `log`. A log of lines begins with `plan`; a progress bar ignores it.
    ///
    /// # Errors
    /// Errors of [`threads::start`].
    pub fn start(
        progress: &Arc<Progress>,
        client: &Client,
        log: Log,
        plan: Option<String>,
    ) -> Result<Watch> {
        if matches!(log.form, Form::Silent | Form::None) {
            return Ok(Watch(None));
        }
        let (progress, client) = (Arc::clone(progress), client.clone());
        let (end, ended) = mpsc::channel();
        let thread = threads::start("progress", move || match log.form {
            Form::Bar => draw(&progress, &client, &ended, log.delay),
            _ => write(&progress, &client, &ended, log, plan),
        })?;
        Ok(Watch(Some((end, thread))))
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

/// Writes lines.
fn write(
    progress: &Progress,
    client: &Client,
    ended: &Receiver<()>,
    log: Log,
    plan: Option<String>,
) {
    let begin = Instant::now();
    if !log.delay.is_zero() && ended.recv_timeout(log.delay) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    plan.inspect(|plan| message::write(plan));
    let mut lines = Lines::new(log.form);
    let mut tell = |current: Option<Snapshot>| {
        let (finished, uploads) = (progress.finished(), client.uploads());
        for line in lines.due(begin.elapsed(), &finished, current.as_ref(), uploads) {
            message::write(&format!("{line}\n"));
        }
    };
    let mut waits = Waits::default();
    while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
        tell(progress.current());
        waits.tell(client);
    }
    tell(None);
}

/// Draws a bar.
fn draw(progress: &Progress, client: &Client, ended: &Receiver<()>, delay: Duration) {
    let mut bar: Option<((&str, bool), ProgressBar)> = None;
    let mut wait = delay;
    while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        wait = INTERVAL;
        let Some(current) = progress.current() else {
            continue;
        };
        let key = (current.stage.name(), current.total > 0);
        if bar.as_ref().is_none_or(|(drawn, _)| *drawn != key) {
            bar.take().inspect(|(_, bar)| bar.finish_and_clear());
        }
        let (_, bar) = bar.get_or_insert_with(|| (key, new_bar(current.total)));
        bar.set_position(current.done);
        let waiting = client.waits().into_iter().next();
        let waiting = waiting.map(|text| text.chars().take(MAX_COLUMNS).collect());
        bar.set_message(waiting.unwrap_or_else(|| text(&current, client.uploads())));
        bar.tick();
    }
    bar.inspect(|(_, bar)| bar.finish_and_clear());
}

fn new_bar(total: u64) -> ProgressBar {
    let (template, length) = match total {
        0 => (NO_BAR, None),
        _ => (BAR, Some(total)),
    };
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

/// The most columns of the text.
const MAX_COLUMNS: usize = 49;

/// Stage, share, rate (or the number of `uploads` under way) and the time until the run
/// ends, or the stage if that is unknown. The rate is left out if there is no space.
fn text(current: &Snapshot, uploads: usize) -> String {
    let heading = heading(current.stage.name(), current.number);
    let left = current.run_left.or(current.stage_left);
    let left = left.map_or(String::new(), |left| {
        format!(" ETA {}", short_duration(left))
    });
    if current.total == 0 || current.done == 0 {
        return format!("{heading} {}{left}", short_duration(current.elapsed));
    }
    let percent = 100.0 * (current.done as f64 / current.total as f64).min(1.0);
    let each_second = current.done as f64 / current.elapsed.as_secs_f64().max(1e-9);
    let rate = match uploads {
        0 => rate(each_second, current.stage.unit()),
        files => format!("uploading {files}"),
    };
    let whole = format!("{heading} {percent:.0}% {rate}{left}");
    match whole.len() > MAX_COLUMNS {
        true => format!("{heading} {percent:.0}%{left}"),
        false => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool::engine::Stage;

    fn snapshot(stage: Stage, done: u64, total: u64) -> Snapshot {
        Snapshot {
            stage,
            number: Some((3, 7)),
            done,
            total,
            elapsed: Duration::from_secs(2),
            stage_left: Some(Duration::from_secs(4)),
            run_left: Some(Duration::from_secs(250)),
        }
    }

    #[test]
    fn the_time_left_is_that_of_the_run() {
        let gigabyte = 1_000_000_000;
        let current = snapshot(Stage::Sketch, gigabyte, 3 * gigabyte);
        assert_eq!(
            text(&current, 0),
            "stage 3 of 7 sketch 33% 500 MB/s ETA 4 min"
        );
        let unplanned = Snapshot {
            number: None,
            run_left: None,
            ..current
        };
        assert_eq!(text(&unplanned, 0), "stage sketch 33% 500 MB/s ETA 4 s");
        let marking = snapshot(Stage::Mark, 50, 250);
        assert_eq!(text(&marking, 0), "stage 3 of 7 mark 20% 25/s ETA 4 min");
        assert_eq!(
            text(&snapshot(Stage::Rank, 0, 0), 0),
            "stage 3 of 7 rank 2 s ETA 4 min"
        );
    }

    #[test]
    fn the_longest_text_fits_into_50_columns() {
        let longest = Snapshot {
            number: Some((5, 9)),
            run_left: Some(Duration::from_secs(5999)),
            ..snapshot(Stage::Fingerprint, 19_998_000_000, 19_998_000_000)
        };
        let longest = text(&longest, 0);
        assert_eq!(longest, "stage 5 of 9 fingerprint 100% ETA 100 min");
        assert!(longest.len() <= MAX_COLUMNS);
        for template in [BAR, NO_BAR] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}

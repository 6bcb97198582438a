//! The flag `--log`: progress and results on standard error.

use std::io::IsTerminal;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use simtool::engine::{Snapshot, StageTime, WorkUnit};

use super::amount::{duration, megabytes};
use super::message::{self, event_object};

/// The longest time without a line.
const INTERVAL: Duration = Duration::from_secs(60);

/// Progress on standard error.
#[derive(Args, Clone, Copy, Debug)]
pub struct LogArgs {
    /// Progress on standard error: lines of text or JSON, one per stage and one per minute, or none
    /// [default: a progress bar on a terminal; elsewhere text, after ten seconds]
    #[arg(
        long,
        value_name = "FORM",
        help_heading = "Reports",
        conflicts_with = "quiet"
    )]
    pub log: Option<LogForm>,
}

/// The values of --log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogForm {
    /// Lines for people
    Text,
    /// A JSON object per line
    Json,
    /// No progress, but the result
    None,
}

/// The values of --summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SummaryForm {
    /// Lines for people
    Text,
    /// One JSON object for programs
    Json,
}

/// How a command reports its progress and its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Log {
    /// The form of the progress.
    pub form: Form,
    /// The time before the first report.
    pub delay: Duration,
}

/// The forms of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Nothing, and no result either.
    Silent,
    /// No progress.
    None,
    /// A progress bar.
    Bar,
    /// Lines of text.
    Text,
    /// JSON objects.
    Json,
}

/// The time after which a run on a terminal shows progress and a summary.
const BAR_DELAY: Duration = Duration::from_secs(1);
/// The time after which other runs write lines.
const LINE_DELAY: Duration = Duration::from_secs(10);

impl LogArgs {
    /// The log that these flags and `--quiet` choose.
    pub fn log(self, quiet: bool) -> Log {
        Log::new(self.log, quiet, std::io::stderr().is_terminal())
    }
}

impl Log {
    /// No report, only errors.
    pub const SILENT: Log = Log {
        form: Form::Silent,
        delay: Duration::MAX,
    };

    fn new(asked: Option<LogForm>, quiet: bool, on_terminal: bool) -> Log {
        let (form, delay) = match asked {
            _ if quiet => return Log::SILENT,
            Some(LogForm::Text) => (Form::Text, Duration::ZERO),
            Some(LogForm::Json) => (Form::Json, Duration::ZERO),
            Some(LogForm::None) => (Form::None, Duration::MAX),
            None if on_terminal => (Form::Bar, BAR_DELAY),
            None => (Form::Text, LINE_DELAY),
        };
        Log { form, delay }
    }

    /// The log of a command without the flag.
    pub fn usual() -> Log {
        Log::new(None, false, std::io::stderr().is_terminal())
    }

    /// Writes the result in one line.
    pub fn result(self, text: &str, fields: &Value) {
        self.summary(false, text, fields);
    }

    /// Writes the result in one line, even of a silent command if a summary is `asked` for.
    pub fn summary(self, asked: bool, text: &str, fields: &Value) {
        match self.form {
            Form::Silent if !asked => {}
            Form::Json => write_json("result", fields),
            Form::Silent | Form::None | Form::Bar | Form::Text => {
                message::write(&format!("{}\n", text.trim_end()))
            }
        }
    }
}

/// Writes an object with `event` and `fields`.
fn write_json(event: &str, fields: &Value) {
    message::write(&format!("{}\n", event_object(event, fields)));
}

/// Chooses the lines that are due.
#[derive(Debug)]
pub struct Lines {
    is_json: bool,
    reported: usize,
    last: Duration,
}

impl Lines {
    /// The state before the first line.
    pub fn new(form: Form) -> Lines {
        Lines {
            is_json: form == Form::Json,
            reported: 0,
            last: Duration::ZERO,
        }
    }

    /// The lines that are due after `elapsed`: one for each stage that ended since the last call,
    /// or one for the current stage, during which there are `uploads`, if there was no line for a
    /// minute.
    pub fn due(
        &mut self,
        elapsed: Duration,
        finished: &[StageTime],
        current: Option<&Snapshot>,
        uploads: usize,
    ) -> Vec<String> {
        let left = current.and_then(|current| current.run_left);
        let mut lines: Vec<String> = finished
            .iter()
            .skip(self.reported)
            .map(|stage| self.ended(stage, elapsed))
            .collect();
        self.reported = self.reported.max(finished.len());
        if let (Some(last), Some(left), false) = (lines.last_mut(), left, self.is_json) {
            *last += &format!("; about {} left", duration(left));
        }
        let is_due = elapsed.saturating_sub(self.last) >= INTERVAL;
        if let (Some(current), true, true) = (current, is_due, lines.is_empty()) {
            lines.push(self.under_way(current, elapsed, uploads));
        }
        if !lines.is_empty() {
            self.last = elapsed;
        }
        lines
    }

    fn ended(&self, stage: &StageTime, elapsed: Duration) -> String {
        let seconds = stage.time.as_secs_f64();
        if self.is_json {
            let fields = json!({
                "stage": stage.stage.name(),
                "number": stage.number.map(|(number, _)| number),
                "of": stage.number.map(|(_, of)| of),
                "bytes": stage.bytes,
                "seconds": seconds,
                "elapsed": elapsed.as_secs_f64(),
            });
            return event_object("stage", &fields).to_string();
        }
        let mut line = format!(
            "simtool: {} took {}",
            heading(stage.stage.name(), stage.number),
            duration(stage.time)
        );
        if stage.bytes > 0 && seconds > 0.0 {
            let rate = rate(stage.bytes as f64 / seconds, WorkUnit::Bytes);
            line += &format!(": {}, {rate}", megabytes(stage.bytes));
        }
        line
    }

    fn under_way(&self, current: &Snapshot, elapsed: Duration, uploads: usize) -> String {
        let seconds = current.elapsed.as_secs_f64();
        if self.is_json {
            let left = |left: Option<Duration>| left.map(|left| left.as_secs_f64());
            let fields = json!({
                "stage": current.stage.name(),
                "number": current.number.map(|(number, _)| number),
                "of": current.number.map(|(_, of)| of),
                "done": current.done,
                "total": current.total,
                "unit": match current.stage.unit() {
                    WorkUnit::Bytes => "bytes",
                    WorkUnit::Documents => "documents",
                },
                "seconds": seconds,
                "stage_left": left(current.stage_left),
                "run_left": left(current.run_left),
                "elapsed": elapsed.as_secs_f64(),
            });
            return event_object("progress", &fields).to_string();
        }
        let mut line = format!(
            "simtool: {}: {}",
            heading(current.stage.name(), current.number),
            duration(current.elapsed)
        );
        if current.total > 0 && current.done > 0 {
            let percent = 100.0 * current.done as f64 / current.total as f64;
            let rate = rate(
                current.done as f64 / seconds.max(1e-9),
                current.stage.unit(),
            );
            line += &format!(", {percent:.0}%, {rate}");
        }
        if uploads > 0 {
            line += &format!(", uploading {uploads}");
        }
        match (current.run_left, current.stage_left) {
            (Some(left), _) => line += &format!("; about {} left", duration(left)),
            (None, Some(left)) => line += &format!("; about {} left of this stage", duration(left)),
            (None, None) => {}
        }
        line
    }
}

/// The number and name of a stage.
pub fn heading(name: &str, number: Option<(usize, usize)>) -> String {
    match number {
        Some((number, of)) => format!("stage {number} of {of} {name}"),
        None => format!("stage {name}"),
    }
}

/// Work per second.
pub fn rate(each_second: f64, unit: WorkUnit) -> String {
    match unit {
        WorkUnit::Bytes if each_second < 9.95e6 => format!("{:.1} MB/s", each_second / 1e6),
        WorkUnit::Bytes => format!("{:.0} MB/s", each_second / 1e6),
        WorkUnit::Documents => format!("{each_second:.0}/s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool::engine::Stage;

    const SECOND: Duration = Duration::from_secs(1);

    fn sketched() -> StageTime {
        StageTime {
            stage: Stage::Sketch,
            time: 20 * SECOND,
            processor: 30 * SECOND,
            alone: SECOND,
            bytes: 1_000_000_000,
            number: Some((1, 7)),
        }
    }

    fn verifying() -> Snapshot {
        Snapshot {
            stage: Stage::Verify,
            number: Some((5, 7)),
            done: 250_000_000,
            total: 1_000_000_000,
            elapsed: 5 * SECOND,
            stage_left: Some(15 * SECOND),
            run_left: Some(45 * SECOND),
        }
    }

    /// Promise (Deduplication): A long run reports its progress …
    #[test]
    fn there_is_a_line_per_stage_and_per_minute() {
        let mut lines = Lines::new(Form::Text);
        let mut due = |seconds, finished: &[StageTime]| {
            lines.due(seconds * SECOND, finished, Some(&verifying()), 0)
        };
        assert_eq!(due(1, &[]), Vec::<String>::new());
        let ended = "simtool: stage 1 of 7 sketch took 20 seconds: 1000 MB, 50 MB/s; \
                     about 45 seconds left";
        assert_eq!(due(21, &[sketched()]), [ended]);
        assert_eq!(due(80, &[sketched()]), Vec::<String>::new());
        let going = "simtool: stage 5 of 7 verify: 5.0 seconds, 25%, 50 MB/s; \
                     about 45 seconds left";
        assert_eq!(due(81, &[sketched()]), [going]);
        assert_eq!(due(82, &[sketched()]), Vec::<String>::new());
        assert_eq!(due(141, &[sketched()]), [going]);
    }

    #[test]
    fn objects_have_the_documented_fields() {
        let mut lines = Lines::new(Form::Json);
        let mut fields = |seconds, finished: &[StageTime]| {
            let due = lines.due(seconds * SECOND, finished, Some(&verifying()), 0);
            let object: Value = serde_json::from_str(&due[0]).unwrap();
            let object = object.as_object().unwrap().clone();
            let mut names: Vec<String> = object.keys().cloned().collect();
            names.sort();
            (
                object["event"].as_str().unwrap().to_owned(),
                names.join(" "),
            )
        };
        let stage = "bytes elapsed event number of seconds stage".to_owned();
        assert_eq!(fields(21, &[sketched()]), ("stage".to_owned(), stage));
        let progress = "done elapsed event number of run_left seconds stage stage_left total unit";
        assert_eq!(
            fields(90, &[sketched()]),
            ("progress".to_owned(), progress.to_owned())
        );
    }

    #[test]
    fn requested_progress_begins_immediately() {
        let log = |asked, quiet, on_terminal| {
            let Log { form, delay } = Log::new(asked, quiet, on_terminal);
            (form, delay.as_secs())
        };
        assert_eq!(log(None, false, true), (Form::Bar, 1));
        assert_eq!(log(None, false, false), (Form::Text, 10));
        assert_eq!(log(Some(LogForm::Text), false, true), (Form::Text, 0));
        assert_eq!(log(Some(LogForm::Json), false, false), (Form::Json, 0));
        assert_eq!(log(Some(LogForm::None), false, true).0, Form::None);
        assert_eq!(log(None, true, true).0, Form::Silent);
    }
}

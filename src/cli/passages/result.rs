//! What a command reports at its end.

use std::time::Duration;

use serde_json::{Value, json};
use simtool::Result;
use simtool::jobs::Warning;
use simtool::jobs::passages::{Action, Names, Summary};

use super::flags::OutputArgs;
use crate::cli::amount::{counted, duration, megabytes};
use crate::cli::log::{Log, SummaryForm};
use crate::cli::message;
use crate::cli::outcome::{left_out, unwritten};
use crate::cli::output_place::OutputPlace;
use crate::cli::visible::visible_path;

/// Reports the end of a command.
pub struct Reporter<'a> {
    /// The output directory.
    pub place: &'a OutputPlace,
    /// The number of files that were found and not read.
    pub left_out: usize,
    /// What is reported.
    pub output: &'a OutputArgs,
    /// Where.
    pub log: Log,
    /// The names that reports use.
    pub names: Names,
    /// What was found, as a part of a sentence.
    pub found: &'a dyn Fn(&Summary, Action) -> String,
    /// What happens to it.
    pub action: Action,
}

impl Reporter<'_> {
    /// Reports a finished run.
    ///
    /// # Errors
    /// Errors of reading the summary again.
    pub fn result(&self, summary: &Summary, time: Duration) -> Result<()> {
        match self.output.summary {
            Some(SummaryForm::Json) => message::write(&self.place.published()?),
            _ => {
                let seconds = time.as_secs_f64().max(1e-9);
                let text = format!(
                    "{}; {}, {:.0} MB of text/s\n",
                    self.counts(summary),
                    duration(time),
                    summary.bytes.seen as f64 / 1e6 / seconds,
                );
                self.log.result(&text, &self.fields(summary, time));
            }
        }
        Ok(())
    }

    /// Reports output that was complete already, like the run that wrote it.
    ///
    /// # Errors
    /// Errors of reading the summary again.
    pub fn complete(&self, summary: &Summary, time: Duration) -> Result<()> {
        warn(summary);
        match self.output.summary {
            Some(SummaryForm::Json) => message::write(&self.place.published()?),
            _ => {
                message::say(&format!(
                    "already complete: {} was made by this command from these inputs",
                    visible_path(&self.place.given)
                ));
                let text = format!("{}\n", self.counts(summary));
                self.log.result(&text, &self.fields(summary, time));
            }
        }
        Ok(())
    }

    /// The counts of documents and of what was found.
    fn counts(&self, summary: &Summary) -> String {
        let documents = summary.documents;
        let listed = match documents.skipped {
            0 => "",
            _ => " (listed in skipped.jsonl)",
        };
        let references = match summary.references {
            (_, 0) => String::new(),
            (all, skipped) => {
                let against = self.names.against;
                format!("; {skipped} of {all} documents of --{against} skipped")
            }
        };
        let unwritten = unwritten(summary.unwritten.unwrap_or_default());
        format!(
            "{} seen = {} kept + {} dropped + {} skipped{listed}; {}, {} of {}, in \
             {}{unwritten}{references}{}",
            counted(documents.seen, "document"),
            documents.kept,
            documents.dropped,
            documents.skipped,
            (self.found)(summary, self.action),
            megabytes(summary.repeated_bytes),
            megabytes(summary.bytes.seen),
            counted(summary.changed, "document"),
            left_out(self.left_out),
        )
    }

    /// The fields of the event `result`.
    fn fields(&self, summary: &Summary, time: Duration) -> Value {
        let documents = summary.documents;
        let [different, removed] = self.names.counts;
        json!({
            "left_out": self.left_out,
            "seen": documents.seen,
            "kept": documents.kept,
            "dropped": documents.dropped,
            "skipped": documents.skipped,
            "skipped_against": summary.references.1,
            "changed": summary.changed,
            "unwritten_files": summary.unwritten,
            "units": summary.units,
            different: summary.different,
            removed: summary.removed,
            "repeated_bytes": summary.repeated_bytes,
            "bytes": summary.bytes.seen,
            "elapsed": time.as_secs_f64(),
        })
    }
}

/// Writes the warnings, with flags where the library names settings.
pub fn warn(summary: &Summary) {
    for Warning {
        setting, message, ..
    } in &summary.warnings
    {
        let flag = format!("--{}", setting.replace('_', "-"));
        match message.strip_prefix(setting.as_str()) {
            Some(what) => message::warn(&format!("{flag}{what}")),
            None => message::warn(message),
        }
    }
}

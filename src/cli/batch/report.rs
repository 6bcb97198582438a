//! What a command reports at its end.

use serde_json::Value;
use simtool::Result;
use simtool::jobs::Warning;

use super::flags::RunArgs;
use super::run::Ended;
use crate::cli::output::output_place::OutputPlace;
use crate::cli::process::session::Session;
use crate::cli::screen::amount::{counted, duration};
use crate::cli::screen::log::{Log, SummaryForm};
use crate::cli::screen::message;
use crate::cli::screen::visible::visible_path;

/// The report of a complete output.
pub struct Report<'a> {
    /// The warnings of the run.
    pub warnings: &'a [Warning],
    /// The counts, in a line without its end.
    pub counts: String,
    /// The bytes of text of all documents.
    pub text_bytes: u64,
    /// The counts for programs.
    pub fields: Value,
}

impl Report<'_> {
    /// Writes the warnings, the timings, and the result or the summary that the flags ask for.
    ///
    /// # Errors
    /// Errors of reading the summary again.
    pub fn write<S>(
        &self,
        ended: &Ended<S>,
        place: &OutputPlace,
        run: &RunArgs,
        (session, log): (&Session, Log),
    ) -> Result<()> {
        let time = session.elapsed();
        self.warnings.iter().for_each(warn);
        if ended.is_new {
            session.report_timings(run.timings);
        }
        if run.summary == Some(SummaryForm::Json) {
            message::write(&place.published()?);
            return Ok(());
        }
        let text = match ended.is_new {
            true => {
                let planned = ended.planned.map_or(String::new(), |planned| {
                    format!(" (planned: {})", duration(planned))
                });
                let rate = self.text_bytes as f64 / 1e6 / time.as_secs_f64().max(1e-9);
                let (counts, time) = (&self.counts, duration(time));
                format!("{counts}; {time}{planned}, {rate:.0} MB of text/s")
            }
            false => {
                message::say(&format!(
                    "already complete: {} was made by this command from these inputs",
                    visible_path(&place.given)
                ));
                self.counts.clone()
            }
        };
        let mut fields = self.fields.clone();
        fields["elapsed"] = time.as_secs_f64().into();
        log.result(&text, &fields);
        Ok(())
    }
}

/// Writes a warning, with a flag where the library names a setting.
fn warn(warning: &Warning) {
    let Warning {
        setting, message, ..
    } = warning;
    let flag = format!("--{}", setting.replace('_', "-"));
    match message.strip_prefix(setting.as_str()) {
        Some(what) => message::warn(&format!("{flag}{what}")),
        None => message::warn(message),
    }
}

/// The number of files that were found and not read, as the end of a sentence.
pub fn left_out(files: usize) -> String {
    match files {
        0 => String::new(),
        _ => format!(
            "; {} left out (summary.json says why)",
            counted(files as u64, "file")
        ),
    }
}

/// A part of a sentence about inputs that have no file; nothing if each has one.
pub fn unwritten(files: u64) -> String {
    match files {
        0 => String::new(),
        files => format!(
            "; {} without a file, as all documents of each were dropped",
            counted(files, "input")
        ),
    }
}

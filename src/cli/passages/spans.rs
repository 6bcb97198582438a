//! `simtool spans`: finds and removes the repeated stretches of a dump.

use std::path::PathBuf;

use serde_json::Value;
use simtool::Result;
use simtool::jobs::passages::spans::SpansJob;
use simtool::jobs::passages::{Action, PassageSummary};

use super::spans_flags::SpansArgs;
use super::{ActionArgs, OutputArgs, PassageCommand, text_of};
use crate::cli::batch::InputArgs;
use crate::cli::reading::reading_flags::DocumentReadingArgs;
use crate::cli::screen::amount::counted;

impl PassageCommand for SpansArgs {
    type Search = SpansJob;

    fn flags(&self) -> (&InputArgs, &DocumentReadingArgs, &ActionArgs, &OutputArgs) {
        (&self.input, &self.reading, &self.action, &self.output)
    }

    fn running(&self, threads: usize, output: PathBuf) -> Self {
        let mut args = self.clone();
        args.input.output = output;
        args.output.run.resources.threads = Some(threads);
        args
    }

    fn against(&self) -> &[PathBuf] {
        &self.against
    }

    fn lists(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn search(&self, _: u64) -> Result<SpansJob> {
        Ok(SpansJob {
            least: self.min,
            tokenizer: self.tokenizer,
            keep: self.keep,
            snap: self.snap,
            listed: self.list,
            common: self.common(Some(self.tokenizer))?,
        })
    }

    fn rule(settings: &Value) -> String {
        let which = match settings["keep"].as_str() {
            Some("none") => "elsewhere, also the first copy",
            _ => "earlier",
        };
        format!(
            "removed   stretches of at least {} that occur {which}; borders: {}\n",
            text_of(&settings["min"]),
            text_of(&settings["snap"])
        )
    }

    fn found(&self, summary: &PassageSummary, action: Action) -> String {
        format!(
            "{} {}, which repeat {}",
            counted(summary.removed, "range"),
            action.participle(),
            counted(summary.different, "passage")
        )
    }
}

//! `simtool lines`: finds and removes the repeated units of a dump.

use std::path::PathBuf;

use serde_json::Value;
use simtool::Result;
use simtool::jobs::passages::lines::{LinesJob, ListedUnits, Rule};
use simtool::jobs::passages::{Action, PassageSummary};
use simtool::text::units::UnitKind;

use super::lines_flags::LinesArgs;
use super::{ActionArgs, OutputArgs, PassageCommand, text_of};
use crate::cli::batch::InputArgs;
use crate::cli::reading::reading_flags::DocumentReadingArgs;
use crate::cli::screen::amount::counted;

impl PassageCommand for LinesArgs {
    type Search = LinesJob;

    fn flags(&self) -> (&InputArgs, &DocumentReadingArgs, &ActionArgs, &OutputArgs) {
        (&self.input, &self.reading, &self.action, &self.output)
    }

    fn against(&self) -> &[PathBuf] {
        &self.against
    }

    fn lists(&self) -> Vec<PathBuf> {
        self.remove_listed.iter().cloned().collect()
    }

    fn search(&self, memory_bytes: u64) -> Result<LinesJob> {
        let rule = match &self.remove_listed {
            None => Rule::Repeated {
                above: self.above,
                per: self.within,
                keep: self.keep,
            },
            Some(list) => {
                let bytes = LinesJob::list_bytes(memory_bytes);
                let listed = ListedUnits::read(list, self.unit, self.normalize, bytes)?;
                Rule::Listed(listed)
            }
        };
        Ok(LinesJob {
            kind: self.unit,
            normal: self.normalize,
            rule,
            listed: self.list,
            common: self.common(self.tokenizer)?,
        })
    }

    fn rule(settings: &Value) -> String {
        let rule = match &settings["rule"] {
            rule if rule["above"].is_null() => format!(
                "the {} listed units, wherever they occur",
                rule["listed_units"]
            ),
            rule => format!(
                "what occurs more than {} times, within: {}; kept: {}",
                rule["above"],
                text_of(&rule["within"]),
                text_of(&rule["keep"]),
            ),
        };
        format!(
            "units     {}, equal but for: {}\nremoved   {rule}\n",
            text_of(&settings["unit"]),
            text_of(&settings["normalize"])
        )
    }

    fn found(&self, summary: &PassageSummary, action: Action) -> String {
        let (all, unit) = (summary.units, |name| counted(summary.units, name));
        let units = match self.unit {
            UnitKind::Line => unit("line"),
            UnitKind::Paragraph => unit("paragraph"),
            UnitKind::Sentences(1) => unit("sentence"),
            UnitKind::Sentences(count) => format!("{all} runs of {count} sentences"),
        };
        format!("{} of {units} {}", summary.removed, action.participle())
    }
}

//! `simtool lines`: finds and removes the repeated units of a dump.

use std::path::PathBuf;

use serde_json::Value;
use simtool::jobs::passages::lines::{LinesJob, ListedUnits, Rule, Threshold};
use simtool::jobs::passages::{Action, PassageSummary};
use simtool::text::units::{UnitKind, UnitReader};
use simtool::{Error, ErrorKind, Result};

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
        self.remove_listed.iter().cloned().collect()
    }

    fn search(&self, memory_bytes: u64) -> Result<LinesJob> {
        let common = self.common(self.tokenizer)?;
        let has_words = matches!(self.unit, UnitKind::Run(_)) || common.remains.words > 0;
        if self.tokenizer.is_some() && !has_words {
            let message = "--tokenizer has an effect only on words that are counted: add --unit \
                           run:N or --min-words";
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        let rule = match &self.remove_listed {
            None => Rule::Repeated {
                threshold: self.threshold(),
                per: self.within,
                keep: self.keep,
            },
            Some(list) => {
                let bytes = LinesJob::list_bytes(memory_bytes);
                let words = common.remains.tokenizer;
                let mut units = UnitReader::new(self.unit, self.normalize, words);
                Rule::Listed(ListedUnits::read(list, &mut units, bytes)?)
            }
        };
        Ok(LinesJob {
            kind: self.unit,
            normal: self.normalize,
            rule,
            listed: self.list,
            common,
        })
    }

    fn rule(settings: &Value) -> String {
        let rule = match &settings["rule"] {
            rule if !rule["listed_units"].is_null() => format!(
                "the {} listed units, wherever they occur",
                rule["listed_units"]
            ),
            rule => {
                let often = match &rule["in_documents"] {
                    Value::Null => format!("more than {} times", rule["above"]),
                    documents => format!("in at least {documents} documents"),
                };
                format!(
                    "what occurs {often}, within: {}; kept: {}",
                    text_of(&rule["within"]),
                    text_of(&rule["keep"]),
                )
            }
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
            UnitKind::Run(_) => format!("{all} runs of lines"),
            UnitKind::Paragraph => unit("paragraph"),
            UnitKind::Sentences(1) => unit("sentence"),
            UnitKind::Sentences(count) => format!("{all} runs of {count} sentences"),
        };
        format!("{} of {units} {}", summary.removed, action.participle())
    }
}

impl LinesArgs {
    /// How often removed units occur.
    fn threshold(&self) -> Threshold {
        let above = self.above.map(Threshold::Above);
        let in_documents = self.in_documents.map(Threshold::InDocuments);
        let given = above.or(in_documents);
        given.unwrap_or_else(|| Threshold::usual(self.unit))
    }
}

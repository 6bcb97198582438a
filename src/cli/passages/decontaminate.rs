//! `simtool decontaminate`: finds and removes parts of evaluation sets in a dump.

use std::path::PathBuf;

use serde_json::Value;
use simtool::Result;
use simtool::corpus::Reading;
use simtool::jobs::passages::decontaminate::DecontaminateJob;
use simtool::jobs::passages::{Action, PassageSummary};

use super::decontaminate_flags::DecontaminateArgs;
use super::{ActionArgs, OutputArgs, PassageCommand, text_of};
use crate::cli::batch::InputArgs;
use crate::cli::reading::reading_flags::DocumentReadingArgs;
use crate::cli::screen::amount::counted;

impl PassageCommand for DecontaminateArgs {
    type Search = DecontaminateJob;

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
        &self.reference
    }

    fn reference_reading(&self) -> (Reading, &'static str) {
        let mut reading = self.reading.reading();
        if let Some((first, others)) = self.reference_field.split_first() {
            reading.text_field.clone_from(first);
            reading.fields = others.to_vec();
        }
        if let Some(id) = &self.reference_id_field {
            reading.id_field.clone_from(id);
        }
        reading.fields.extend(self.answer_field.clone());
        reading.joins_lists = true;
        (reading, "--reference-field")
    }

    fn lists(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn search(&self, _: u64) -> Result<DecontaminateJob> {
        self.check_effect()?;
        let rule = self.rule();
        let (reference_reading, _) = self.reference_reading();
        Ok(DecontaminateJob {
            least: rule.min,
            least_item: rule.min_item,
            tokenizer: self.tokenizer,
            clusters: rule.clusters,
            edited: rule.edited,
            has_answers: self.answer_field.is_some(),
            most_documents: rule.max_documents,
            widening: rule.widening,
            most_pieces: rule
                .max_pieces
                .filter(|_| self.action.action == Action::Cut),
            reference_reading,
            common: self.common(Some(self.tokenizer))?,
        })
    }

    fn rule(settings: &Value) -> String {
        let ignored = match &settings["max_documents"] {
            Value::Null => String::new(),
            most => format!(", but for those of more than {most} documents"),
        };
        let around = match settings["around"].as_u64() {
            Some(1..) => format!("; {} characters around", settings["around"]),
            _ => String::new(),
        };
        let clusters = match &settings["clusters"] {
            Value::Null => String::new(),
            rule => format!(", clusters with a share of at least {}", rule["min_share"]),
        };
        let edited = match &settings["edited"] {
            Value::Null => String::new(),
            rule => format!(", and {} of edited items", rule["min_share"]),
        };
        format!(
            "searched  n-grams of {} of the reference{clusters}{ignored}{edited}{around}\n",
            text_of(&settings["min"])
        )
    }

    fn found(&self, summary: &PassageSummary, action: Action) -> String {
        format!(
            "{} {}, with parts of {}",
            counted(summary.removed, "range"),
            action.participle(),
            counted(summary.different, "reference item")
        )
    }
}

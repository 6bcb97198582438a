//! The search for repeated units: its settings, and what reports say of it.

use serde_json::{Value, json};

use super::decide::decide;
use super::estimate::estimate;
use super::job::{LinesJob, Rule, Threshold};
use super::memory;
use super::per::Per;
use super::warnings;
use crate::passages::decisions::item::ReferenceTotals;
use crate::passages::estimate::cost::PassageEstimate;
use crate::passages::report::totals::SearchTotals;
use crate::passages::{Names, PassageSearch, PassageSettings};
use crate::skeleton::context::RunContext;
use crate::skeleton::warning::Warning;
use crate::{Error, ErrorKind, Result};
use simtool_core::text::units::UnitKind;
use simtool_corpus::Source;
use simtool_engine::Resources;

impl PassageSearch for LinesJob {
    const NAMES: Names = Names {
        list: "boilerplate.jsonl",
        noun: ["unit", "units"],
        found: "repeated",
        counts: ["repeated_units", "removed_units"],
        count: "count",
        origin: "first_at",
        against: "against",
    };

    fn noun(&self) -> [&'static str; 2] {
        match self.kind {
            UnitKind::Line => ["line", "lines"],
            UnitKind::Run(_) => ["run of lines", "runs of lines"],
            UnitKind::Paragraph => ["paragraph", "paragraphs"],
            UnitKind::Sentences(1) => ["sentence", "sentences"],
            UnitKind::Sentences(_) => ["run of sentences", "runs of sentences"],
        }
    }

    fn common(&self) -> &PassageSettings {
        &self.common
    }

    fn own_settings(&self) -> Value {
        let rule = match &self.rule {
            Rule::Repeated {
                threshold,
                per,
                keep,
            } => {
                let (name, number) = match threshold {
                    Threshold::Above(most) => ("above", most),
                    Threshold::InDocuments(least) => ("in_documents", least),
                };
                json!({
                    name: number,
                    "within": per.to_string(),
                    "keep": keep.name(),
                })
            }
            Rule::Listed(listed) => json!({
                "listed_units": listed.len(),
                "listed_xxh3_128": format!("{:032x}", listed.digest()),
            }),
        };
        let mut settings = json!({
            "command": "lines",
            "unit": self.kind.to_string(),
            "normalize": self.normal.to_string(),
            "rule": rule,
            "list": self.listed,
        });
        if let UnitKind::Run(_) = self.kind {
            settings["tokenizer"] = self.common.remains.tokenizer.name().into();
        }
        settings
    }

    fn check(&self) -> Result<()> {
        let Rule::Repeated { threshold, per, .. } = self.rule else {
            return Ok(());
        };
        let message = match (threshold, per) {
            (Threshold::Above(0), _) => {
                "above 0: expected at least 1 (every unit occurs once)".to_owned()
            }
            (Threshold::InDocuments(0 | 1), _) => {
                "in-documents: expected at least 2 (every unit is in one document)".to_owned()
            }
            (Threshold::InDocuments(least), Per::Documents(all)) if u64::from(all) < least => {
                format!("within {per}: no unit is in {least} of {all} documents (in-documents)")
            }
            _ => return Ok(()),
        };
        Err(Error::new(ErrorKind::Parameter, message))
    }

    fn check_references(&self) -> Result<()> {
        if !self.is_by_list() && self.per() == Per::All {
            return Ok(());
        }
        let message = "documents to compare with are counted together with all of the input, so \
                       they cannot be combined with a list of units or with groups (within)";
        Err(Error::new(ErrorKind::Parameter, message))
    }

    fn search_memory_bytes(&self, threads: usize) -> u64 {
        memory::least_bytes(threads, self.kind, &self.common.reading)
    }

    fn removes_blank_lines(&self) -> bool {
        self.kind == UnitKind::Paragraph
    }

    fn estimate(
        &self,
        sources: &[Source],
        references: usize,
        resources: &Resources,
    ) -> Result<PassageEstimate> {
        estimate(self, sources, references, resources)
    }

    fn decide(&self, run: RunContext<'_>) -> Result<()> {
        decide(self, run)
    }

    fn hash_of(&self) -> impl FnMut(&[u8]) -> Option<u128> {
        let mut reader = self.units();
        move |text| reader.hash_of(text)
    }

    fn list_fields(&self) -> Vec<(&'static str, String)> {
        vec![
            ("unit", self.kind.to_string()),
            ("normalize", self.normal.to_string()),
        ]
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let rule = match &self.rule {
            Rule::Repeated {
                threshold,
                per,
                keep,
            } => format!(
                "what occurs {threshold}{}; kept: {}",
                match per {
                    Per::All => String::new(),
                    per => format!(", within {per}"),
                },
                keep.name()
            ),
            Rule::Listed(listed) => format!("{} listed units", listed.len()),
        };
        vec![
            ("Unit", self.kind.to_string()),
            ("Equal but for", self.normal.to_string()),
            ("Removed", rule),
        ]
    }

    fn counts_units(&self) -> bool {
        true
    }

    fn warnings(&self, totals: &SearchTotals, _: &[ReferenceTotals]) -> Vec<Warning> {
        warnings::warnings(self, totals)
    }
}

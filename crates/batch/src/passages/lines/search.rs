//! The search for repeated units: its settings, and what reports say of it.

use serde_json::{Value, json};

use super::decide::decide;
use super::estimate::estimate;
use super::job::{LinesJob, Rule};
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
use simtool_core::text::units::{UnitKind, UnitReader};
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
            Rule::Repeated { above, per, keep } => json!({
                "above": above,
                "within": per.to_string(),
                "keep": keep.name(),
            }),
            Rule::Listed(listed) => json!({
                "listed_units": listed.len(),
                "listed_xxh3_128": format!("{:032x}", listed.digest()),
            }),
        };
        json!({
            "command": "lines",
            "unit": self.kind.to_string(),
            "normalize": self.normal.to_string(),
            "rule": rule,
            "list": self.listed,
        })
    }

    fn check(&self) -> Result<()> {
        match self.rule {
            Rule::Repeated { above: 0, .. } => {
                let message = "above 0: expected at least 1 (every unit occurs once)";
                Err(Error::new(ErrorKind::Parameter, message))
            }
            _ => Ok(()),
        }
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
        memory::least_bytes(threads, &self.common.reading)
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
        let mut reader = UnitReader::new(self.kind, self.normal);
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
            Rule::Repeated { above, per, keep } => format!(
                "what occurs more often than {above} times{}; kept: {}",
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

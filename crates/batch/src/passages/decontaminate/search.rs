//! The search for parts of reference items: its settings, and what reports say of it.

use serde_json::{Value, json};

use super::decide::decide;
use super::estimate::estimate;
use super::job::{DecontaminateJob, LeastWords};
use super::memory;
use crate::passages::decisions::item::ReferenceTotals;
use crate::passages::estimate::cost::PassageEstimate;
use crate::passages::report::totals::SearchTotals;
use crate::passages::{Names, PassageSearch, PassageSettings};
use crate::skeleton::context::RunContext;
use crate::skeleton::warning::Warning;
use crate::{Error, ErrorKind, Result};
use simtool_corpus::{Reading, Source};
use simtool_engine::Resources;

impl PassageSearch for DecontaminateJob {
    const NAMES: Names = Names {
        list: "items.jsonl",
        noun: ["passage", "passages"],
        found: "contaminated",
        counts: ["found_items", "ranges"],
        count: "ngrams",
        origin: "reference",
        against: "reference",
    };

    fn common(&self) -> &PassageSettings {
        &self.common
    }

    fn reference_reading(&self) -> &Reading {
        &self.reference_reading
    }

    fn own_settings(&self) -> Value {
        json!({
            "command": "decontaminate",
            "min": self.least.to_string(),
            "min_item": self.least_item.to_string(),
            "tokenizer": self.tokenizer.name(),
            "words": self.tokenizer.definition(),
            "clusters": self.clusters.map(|rule| json!({
                "max_gap": rule.most_gap,
                "min_share": f64::from(rule.thousandths) / 1000.0,
                "answer_within": rule.answer_within,
                "answers": self.has_answers,
            })),
            "edited": self.edited.map(|rule| json!({
                "min": rule.least.to_string(),
                "min_item": rule.least_item.to_string(),
                "max_gap": rule.clusters.most_gap,
                "min_share": f64::from(rule.clusters.thousandths) / 1000.0,
            })),
            "max_documents": self.most_documents,
            "around": self.widening.around,
            "min_piece": self.widening.least_piece,
            "max_pieces": self.most_pieces,
            "reference_reading": self.reference_reading,
        })
    }

    fn check(&self) -> Result<()> {
        LeastWords::parse(&self.least.to_string())?;
        LeastWords::parse(&self.least_item.to_string())?;
        if self.edited.is_some() && (self.clusters.is_some() || self.most_documents.is_some()) {
            let message = "edited items cannot be searched together with clusters or with a most \
                           number of documents of an n-gram";
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        self.reference_reading.check()
    }

    fn needs_references(&self) -> bool {
        true
    }

    fn search_memory_bytes(&self, threads: usize) -> u64 {
        memory::least_bytes(threads, &self.common.reading)
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
        |_| None
    }

    fn list_fields(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![
            (
                "N-grams",
                format!("{} words ({})", self.least.0, self.tokenizer),
            ),
            (
                "Shorter items",
                format!("as a whole, from {} words on", self.least_item.0),
            ),
        ];
        if let Some(rule) = self.clusters {
            let share = f64::from(rule.thousandths) / 10.0;
            let value = format!(
                "at least {share} % of an item, gaps of at most {} words",
                rule.most_gap
            );
            facts.push(("Clusters", value));
        }
        if let Some(rule) = self.edited {
            let share = f64::from(rule.clusters.thousandths) / 10.0;
            let value = format!(
                "at least {share} % of the runs of {} words of an item of {} or more",
                rule.least.0, rule.least_item.0
            );
            facts.push(("Edited items", value));
        }
        if let Some(most) = self.most_documents {
            facts.push(("Ignored", format!("n-grams in more than {most} documents")));
        }
        if self.widening.around > 0 {
            facts.push(("Around", format!("{} characters", self.widening.around)));
        }
        facts
    }

    fn counts_units(&self) -> bool {
        false
    }

    fn warnings(&self, _: &SearchTotals, references: &[ReferenceTotals]) -> Vec<Warning> {
        let all: u64 = references.iter().map(|file| file.items).sum();
        let short: u64 = references.iter().map(|file| file.too_short).sum();
        let mut warnings = Vec::new();
        if all == 0 {
            let message = "reference: it holds no items".to_owned();
            warnings.push(Warning::new("reference", 0, message));
        }
        if short > 0 {
            let message = format!(
                "min_item {}: {short} of {all} reference items have fewer words and are not looked \
                 for (items.jsonl lists them as too_short)",
                self.least_item.min(self.least)
            );
            warnings.push(Warning::new("min_item", short, message));
        }
        warnings
    }
}

//! The search for repeated stretches: its settings, and what reports say of it.

use serde_json::{Value, json};

use super::decide::decide;
use super::estimate::estimate;
use super::job::{Least, SpansJob};
use super::memory;
use crate::Result;
use crate::passages::decisions::item::ReferenceTotals;
use crate::passages::estimate::cost::PassageEstimate;
use crate::passages::report::totals::SearchTotals;
use crate::passages::settings::kept_occurrence::KeptOccurrence;
use crate::passages::{Names, PassageSearch, PassageSettings};
use crate::skeleton::context::RunContext;
use crate::skeleton::warning::Warning;
use simtool_corpus::Source;
use simtool_engine::Resources;
use xxhash_rust::xxh3::xxh3_128;

impl PassageSearch for SpansJob {
    const NAMES: Names = Names {
        list: "repeated.jsonl",
        noun: ["passage", "passages"],
        found: "repeated",
        counts: ["repeated_passages", "removed_ranges"],
        count: "copies",
        origin: "kept_at",
        against: "against",
    };

    fn common(&self) -> &PassageSettings {
        &self.common
    }

    fn own_settings(&self) -> Value {
        json!({
            "command": "spans",
            "min": self.least.to_string(),
            "tokenizer": self.tokenizer.name(),
            "words": self.tokenizer.definition(),
            "keep": self.keep.name(),
            "snap": self.snap.name(),
            "list": self.listed,
        })
    }

    fn check(&self) -> Result<()> {
        Least::parse(&self.least.to_string()).map(drop)
    }

    fn search_memory_bytes(&self, threads: usize) -> u64 {
        memory::least_bytes(threads, &self.common.reading, self.least)
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
        |text| Some(xxh3_128(text))
    }

    fn list_fields(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let kept = match self.keep {
            KeptOccurrence::First => "the first copy",
            KeptOccurrence::None => "none",
        };
        let least = match self.least {
            Least::Words(words) => format!("{words} words ({})", self.tokenizer),
            Least::Bytes(bytes) => format!("{bytes} bytes"),
        };
        vec![
            ("At least", least),
            ("Borders of", self.snap.name().to_owned()),
            ("Kept", kept.to_owned()),
        ]
    }

    fn counts_units(&self) -> bool {
        false
    }

    fn warnings(&self, totals: &SearchTotals, _: &[ReferenceTotals]) -> Vec<Warning> {
        let documents = totals.all.documents;
        let read = documents.seen - documents.skipped;
        let mut warnings = Vec::new();
        if read > 0 && totals.all.units < self.least.units() as u64 {
            let message = format!(
                "min {}: all documents that were read are shorter",
                self.least
            );
            warnings.push(Warning::new("min", read, message));
        }
        warnings
    }
}

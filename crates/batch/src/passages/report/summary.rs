//! The summary of a finished run.

use serde::Deserialize;
use serde_json::{Value, json};

use super::totals::{OutcomeTotals, SearchTotals, SourceTotals};
use crate::passages::decisions::item::ReferenceTotals;
use crate::passages::decisions::repeated::RepeatedTotals;
use crate::passages::search::{Names, PassageSearch};
use crate::skeleton::job::BatchJob;
use crate::skeleton::summary::{described_source, left_out_json, summary_text};
use crate::skeleton::warning::Warning;
use simtool_corpus::{LeftOut, Source};

/// Counts that add up: seen = kept + dropped + skipped, in documents and in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct PassageSummary {
    /// Documents of the input.
    pub documents: OutcomeTotals,
    /// Bytes of their texts, and of the records that could not be read.
    pub bytes: OutcomeTotals,
    /// Documents with removed passages.
    pub changed: u64,
    /// Bytes of removed passages.
    pub repeated_bytes: u64,
    /// Units of the input, with repetitions.
    pub units: u64,
    /// Different passages that are removed.
    pub different: u64,
    /// Their occurrences that are removed.
    pub removed: u64,
    /// Documents to compare with, and how many of them could not be read.
    pub references: (u64, u64),
    /// If inputs are written again, how many have no file, as all their documents were dropped.
    pub unwritten: Option<u64>,
    /// What the user should know.
    pub warnings: Vec<Warning>,
}

/// What the text of a summary states besides its counts.
pub struct PassageSummaryInputs<'a, S> {
    /// The search.
    pub search: &'a S,
    /// All sources, those to compare with first.
    pub sources: &'a [Source],
    /// How many of them are compared with.
    pub references: usize,
    /// Files that were not read.
    pub left_out: &'a [LeftOut],
    /// A digest of each source.
    pub digests: &'a [u128],
    /// What was found of each file to compare with, if its documents are items; otherwise empty.
    pub by_reference: &'a [ReferenceTotals],
    /// The shards of the written documents, if they are written as shards.
    pub written: Option<Value>,
}

impl PassageSummary {
    /// The summary of a run with these totals.
    pub fn new(
        totals: &SearchTotals,
        passages: RepeatedTotals,
        warnings: Vec<Warning>,
    ) -> PassageSummary {
        let all = &totals.all;
        PassageSummary {
            documents: all.documents,
            bytes: all.bytes,
            changed: all.changed,
            repeated_bytes: all.repeated_bytes,
            units: all.units,
            different: passages.different,
            removed: passages.removed,
            references: (
                totals.references + totals.skipped_references,
                totals.skipped_references,
            ),
            unwritten: None,
            warnings,
        }
    }

    /// The text of `summary.json`, which depends neither on threads nor on memory or time.
    pub(crate) fn json<S: PassageSearch>(
        &self,
        totals: &SearchTotals,
        inputs: &PassageSummaryInputs<'_, S>,
    ) -> String {
        let described = || {
            inputs
                .sources
                .iter()
                .zip(inputs.digests)
                .map(described_source)
        };
        let mut against: Vec<Value> = described().take(inputs.references).collect();
        for (file, totals) in against.iter_mut().zip(inputs.by_reference) {
            file["items"] = totals.items.into();
            file["found_items"] = totals.found.into();
            file["too_short"] = totals.too_short.into();
        }
        let own = described().skip(inputs.references).zip(&totals.sources);
        let mut text = counts(&totals.all);
        let [different, removed] = S::NAMES.counts;
        text[different] = self.different.into();
        text[removed] = self.removed.into();
        let further = json!({
            "shares": totals.shares,
            "warnings": self.warnings,
            "against": {
                "documents": self.references.0 - self.references.1,
                "skipped": self.references.1,
                "inputs": against,
            },
            "unwritten_files": self.unwritten,
            "written": inputs.written,
            "settings": inputs.search.settings(),
            "left_out": left_out_json(inputs.left_out),
            "version": env!("CARGO_PKG_VERSION"),
        });
        if let (Value::Object(text), Value::Object(further)) = (&mut text, further) {
            text.extend(further);
        }
        summary_text(text, own.map(|(input, counts)| with_counts(input, counts)))
    }

    /// The counts of a parsed summary; `None` if one is missing, or if they do not add up.
    pub(crate) fn parse(text: &Value, names: &Names) -> Option<PassageSummary> {
        let number = |name: &str| text[name].as_u64();
        let outcome = |value: &Value| {
            let outcome = OutcomeTotals {
                seen: value["seen"].as_u64()?,
                kept: value["kept"].as_u64()?,
                dropped: value["dropped"].as_u64()?,
                skipped: value["skipped"].as_u64()?,
            };
            let parts = outcome.kept.checked_add(outcome.dropped)?;
            (parts.checked_add(outcome.skipped)? == outcome.seen).then_some(outcome)
        };
        let [different, removed] = names.counts;
        let against = &text["against"];
        let skipped = against["skipped"].as_u64()?;
        Some(PassageSummary {
            documents: outcome(text)?,
            bytes: outcome(&text["bytes"])?,
            changed: number("changed")?,
            repeated_bytes: number("repeated_bytes")?,
            units: number("units")?,
            different: number(different)?,
            removed: number(removed)?,
            references: (
                against["documents"].as_u64()?.checked_add(skipped)?,
                skipped,
            ),
            unwritten: number("unwritten_files"),
            warnings: Vec::deserialize(&text["warnings"]).ok()?,
        })
    }
}

fn with_counts(mut input: Value, totals: &SourceTotals) -> Value {
    if let (Value::Object(input), Value::Object(counts)) = (&mut input, counts(totals)) {
        input.extend(counts);
    }
    input
}

fn counts(totals: &SourceTotals) -> Value {
    let outcome = |outcome: &OutcomeTotals| {
        json!({
            "seen": outcome.seen,
            "kept": outcome.kept,
            "dropped": outcome.dropped,
            "skipped": outcome.skipped,
        })
    };
    let mut counts = outcome(&totals.documents);
    counts["bytes"] = outcome(&totals.bytes);
    counts["changed"] = totals.changed.into();
    counts["repeated_bytes"] = totals.repeated_bytes.into();
    counts["units"] = totals.units.into();
    counts
}

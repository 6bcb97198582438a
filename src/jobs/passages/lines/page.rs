//! `page.html`: what goes, the most frequent units, and the documents that lose most.

use std::cmp::Reverse;
use std::ops::Range;

use super::decided::{Decided, ranges_of};
use super::job::{Job, Rule};
use super::per::Per;
use super::texts::{Texts, UnitText};
use super::totals::{Outcome, SourceTotals, Totals};
use crate::Result;
use crate::corpus::Source;
use crate::jobs::dedup::Warning;
use crate::report::passages::{
    Page, SourceRow, TEXT_BYTES, Totals as PageTotals, UNIT_BYTES, UnitRow, WorstDocument,
};
use crate::text::units::{UnitKind, cut};

/// The most files and units that are shown.
const MOST_SOURCES: usize = 20;
const MOST_UNITS: usize = 30;

/// What the page is made from.
pub struct PageMaker<'a> {
    /// The job.
    pub job: &'a Job,
    /// The sources of the input.
    pub inputs: &'a [Source],
    /// The totals.
    pub totals: &'a Totals,
    /// The decisions.
    pub decided: &'a Decided,
    /// Reads documents again.
    pub texts: &'a Texts<'a>,
    /// What the user should know.
    pub warnings: &'a [Warning],
}

impl PageMaker<'_> {
    /// The page, with the texts `units` of the most frequent units.
    ///
    /// # Errors
    /// Those of reading documents again.
    pub fn html(&self, units: &[UnitText]) -> Result<Vec<u8>> {
        let totals = self.totals;
        let mut sources: Vec<(&Source, &SourceTotals)> =
            self.inputs.iter().zip(&totals.sources).collect();
        sources.sort_by_key(|(_, totals)| Reverse(totals.repeated_bytes));
        let shown = sources.iter().take(MOST_SOURCES);
        let page = Page {
            facts: self.facts(),
            action: self.job.action.to_string(),
            totals: page_totals(&totals.all),
            units: totals.all.units,
            removed: [self.decided.totals.units, self.decided.totals.removed],
            sources: shown
                .map(|(source, totals)| SourceRow {
                    name: source.path.to_string_lossy().into_owned(),
                    totals: page_totals(totals),
                })
                .collect(),
            other_sources: sources.len().saturating_sub(MOST_SOURCES) as u64,
            shares: totals.shares.to_vec(),
            most_frequent: self.units(units),
            worst: self.worst()?,
            warnings: self
                .warnings
                .iter()
                .map(|warning| warning.message.clone())
                .collect(),
        };
        Ok(page.html())
    }

    fn facts(&self) -> Vec<(String, String)> {
        let fact = |name: &str, value: String| (name.to_owned(), value);
        let rule = match &self.job.rule {
            Rule::Repeated { above, per, keep } => format!(
                "what occurs more often than {above} times{}; kept: {}",
                match per {
                    Per::All => String::new(),
                    per => format!(", counted per {per}"),
                },
                keep.name()
            ),
            Rule::Listed(listed) => format!("{} listed units", listed.len()),
        };
        vec![
            fact("Unit", self.job.kind.to_string()),
            fact("Equal but for", self.job.normal.to_string()),
            fact("Removed", rule),
            fact("Files", self.inputs.len().to_string()),
        ]
    }

    fn units(&self, texts: &[UnitText]) -> Vec<UnitRow> {
        let units = self.decided.most_frequent.iter().zip(texts);
        let row = |(unit, text): (&super::counting::RepeatedUnit, &UnitText)| UnitRow {
            text: text.text[..text.text.len().min(UNIT_BYTES)].to_vec(),
            counts: [unit.count, unit.removed],
            places: [unit.documents, unit.sites],
            bytes: unit.removed_bytes,
        };
        units.take(MOST_UNITS).map(row).collect()
    }

    fn worst(&self) -> Result<Vec<WorstDocument>> {
        let numbers: Vec<u32> = (self.totals.worst.iter())
            .map(|(_, number)| *number)
            .collect();
        let texts = self.texts.of_documents(&numbers, TEXT_BYTES)?;
        let mut cursor = self.texts.table.cursor();
        let mut all = Vec::with_capacity(texts.len());
        for ((removed, number), text) in self.totals.worst.iter().zip(texts) {
            let row = cursor.row(*number)?;
            let ranges = ranges_of(&self.decided.ranges, *number..number.saturating_add(1))?;
            let ranges: Vec<Range<usize>> = ranges.of(*number).collect();
            all.push(WorstDocument {
                id: cursor.label(&row)?.id,
                rest: cut(&text, &ranges, self.job.kind == UnitKind::Paragraph),
                text,
                bytes: [row.text_bytes, *removed],
            });
        }
        Ok(all)
    }
}

fn page_totals(totals: &SourceTotals) -> PageTotals {
    let four = |outcome: &Outcome| [outcome.seen, outcome.kept, outcome.dropped, outcome.skipped];
    PageTotals {
        documents: four(&totals.documents),
        bytes: four(&totals.bytes),
        changed: totals.changed,
        repeated_bytes: totals.repeated_bytes,
    }
}

//! `page.html`: what goes, the most frequent passages, and the documents that lose most.

use std::ops::Range;

use super::texts::{PassageText, Texts};
use super::totals::{OutcomeTotals, SearchTotals, SourceTotals};
use crate::Result;
use crate::passages::decisions::decided::PassageDecisions;
use crate::passages::decisions::item::{ItemRecord, ReferenceTotals};
use crate::passages::decisions::ranges::RangesOfDocuments;
use crate::passages::decisions::repeated::Repeated;
use crate::passages::search::PassageSearch;
use crate::skeleton::warning::Warning;
use simtool_core::text::units::cut;
use simtool_corpus::Source;
use simtool_report::passages::{
    ItemRow, Items, PASSAGE_BYTES, PassageRow, PassageTotals, PassagesPage, TEXT_BYTES,
    WorstDocument,
};
use simtool_report::places::Places;

/// The most passages that are shown.
const MOST_PASSAGES: usize = 30;
/// The most items that are shown.
const MOST_ITEMS: usize = 12;

/// What the page is made from.
pub struct PassagesPageMaker<'a, S> {
    /// The search.
    pub search: &'a S,
    /// The sources of the input.
    pub inputs: &'a [Source],
    /// The totals.
    pub totals: &'a SearchTotals,
    /// The decisions.
    pub decided: &'a PassageDecisions,
    /// The items, sorted, and their totals by file.
    pub items: Option<(&'a [ItemRecord], &'a [ReferenceTotals])>,
    /// Reads documents again.
    pub texts: &'a Texts<'a>,
    /// What the user should know.
    pub warnings: &'a [Warning],
}

impl<S: PassageSearch> PassagesPageMaker<'_, S> {
    /// The page, with the `texts` of the most frequent passages.
    ///
    /// # Errors
    /// Errors of reading documents again.
    pub fn html(&self, texts: &[PassageText]) -> Result<Vec<u8>> {
        let totals = self.totals;
        let sources: Vec<(&[u8], PassageTotals)> = (self.inputs.iter().zip(&totals.sources))
            .map(|(source, totals)| (path(source), page_totals(totals)))
            .collect();
        let page = PassagesPage {
            facts: self.facts(),
            noun: self.search.noun(),
            found: S::NAMES.found,
            list: S::NAMES.list,
            action: self.search.common().action.to_string(),
            done: self.search.common().action.participle(),
            totals: page_totals(&totals.all),
            units: self.search.counts_units().then_some(totals.all.units),
            removed: [self.decided.totals.different, self.decided.totals.removed],
            sources: Places::largest(
                &sources,
                |totals| totals.documents[0],
                |totals| totals.repeated_bytes,
                PassageTotals::add,
            ),
            shares: totals.shares.to_vec(),
            most_frequent: self.passages(texts),
            items: self.items()?,
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
        let facts = self.search.facts().into_iter();
        let files = ("Files", self.inputs.len().to_string());
        facts
            .chain([files])
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    fn passages(&self, texts: &[PassageText]) -> Vec<PassageRow> {
        let passages = self.decided.most_frequent.iter().zip(texts);
        let row = |(passage, text): (&Repeated, &PassageText)| PassageRow {
            text: text.text[..text.text.len().min(PASSAGE_BYTES)].to_vec(),
            counts: [passage.count, passage.removed],
            places: [passage.documents, passage.sites],
            bytes: passage.removed_bytes,
        };
        passages.take(MOST_PASSAGES).map(row).collect()
    }

    /// The items of which most was found.
    fn items(&self) -> Result<Option<Items>> {
        let Some((items, totals)) = self.items else {
            return Ok(None);
        };
        let found = items.iter().filter(|item| item.best_found > 0);
        let shown: Vec<&ItemRecord> = found.take(MOST_ITEMS).collect();
        let places = |place: fn(&ItemRecord) -> (u32, Range<usize>)| {
            shown.iter().map(|item| place(item)).collect::<Vec<_>>()
        };
        let own = places(|item| (item.document, 0..usize::MAX));
        let best = places(|item| (item.best, item.best_start as usize..item.best_end as usize));
        let own = self.texts.parts(&own, TEXT_BYTES)?;
        let best = self.texts.parts(&best, TEXT_BYTES)?;
        let mut rows = Vec::with_capacity(shown.len());
        for ((item, own), best) in shown.into_iter().zip(own).zip(best) {
            let id = |number: u32| {
                let mut cursor = self.texts.table.cursor();
                let row = cursor.row(number)?;
                Ok(cursor.label(&row)?.id)
            };
            rows.push(ItemRow {
                ids: [id(item.document)?, id(item.best)?],
                texts: [own, best],
                grams: [item.grams.into(), item.found.into()],
                is_edited: item.is_edited > 0,
                documents: item.documents.into(),
            });
        }
        let files: Vec<(&[u8], [u64; 3])> = (self.texts.sources.iter().zip(totals))
            .map(|(source, totals)| {
                let counts = [totals.items, totals.found, totals.too_short];
                (path(source), counts)
            })
            .collect();
        let add = |sums: &mut [u64; 3], more: &[u64; 3]| {
            let pairs = sums.iter_mut().zip(more);
            pairs.for_each(|(sum, more)| *sum += more);
        };
        let files = Places::largest(&files, |[items, ..]| *items, |[_, found, _]| *found, add);
        Ok(Some(Items { files, rows }))
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
            let numbers = *number..number.saturating_add(1);
            let ranges = RangesOfDocuments::read(&self.decided.ranges, numbers)?;
            let ranges: Vec<Range<usize>> = ranges.bytes_of(*number).collect();
            all.push(WorstDocument {
                id: cursor.label(&row)?.id,
                rest: cut(&text, &ranges, self.search.removes_blank_lines()),
                text,
                bytes: [row.text_bytes, *removed],
            });
        }
        Ok(all)
    }
}

fn path(source: &Source) -> &[u8] {
    source.path.as_os_str().as_encoded_bytes()
}

fn page_totals(totals: &SourceTotals) -> PassageTotals {
    let four =
        |outcome: &OutcomeTotals| [outcome.seen, outcome.kept, outcome.dropped, outcome.skipped];
    PassageTotals {
        documents: four(&totals.documents),
        bytes: four(&totals.bytes),
        changed: totals.changed,
        repeated_bytes: totals.repeated_bytes,
    }
}

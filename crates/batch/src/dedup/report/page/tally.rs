//! Counts of documents by source, method, similarity, site and reason.

use std::collections::BTreeMap;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::Result;
use crate::dedup::decision::Decision;
use crate::table::document_table::{DocumentTable, lost_documents};
use crate::table::row::{Flags, Label, Row};
use simtool_core::dedup::keep;
use simtool_engine::Progress;
use simtool_engine::spill_space::SpillSpace;
use simtool_report::dedup::{Similarities, Totals};

use super::shown_pairs::{Order, ShownPairs};
use super::sites::{LargestSites, Sites};
use simtool_corpus::Source;

/// Rows that are read at a time.
const ROWS: usize = 1 << 14;
/// The fewest rows whose labels a thread reads.
const LEAST_PIECE: usize = 256;
/// Labels that are longer are read one at a time.
const LABEL_BYTES: usize = 64 << 10;
/// The number of least similar removals that are shown.
const LEAST_SIMILAR: usize = 20;

/// The counts of a run.
pub struct Tally {
    /// The documents of each source; those of the reference have none.
    pub sources: Vec<Totals>,
    /// Dropped documents and bytes of their texts, by [`Decision::evidence`].
    pub evidence: [(u64, u64); EVIDENCE],
    /// The similarities of dropped documents to the kept ones.
    pub similarities: Similarities,
    /// The dropped documents that are the least similar to the kept ones.
    pub least_similar: ShownPairs,
    /// The sites with the most dropped documents.
    pub sites: Option<LargestSites>,
    /// Skipped documents by the name of the reason.
    pub skipped: BTreeMap<Vec<u8>, u64>,
    /// Whether similarities to documents of an index are estimates.
    estimates: bool,
}

/// The number of kinds of evidence.
pub const EVIDENCE: usize = 7;

/// What is needed of a label.
enum LabelPart {
    Nothing,
    Reason(Vec<u8>),
    /// The site of the URL.
    Site(Option<u64>),
    /// The label is too long to be read beside others.
    Long,
}

impl Tally {
    /// Counts all documents; `decisions` are those about dropped documents, by document. Reads all
    /// rows, and the labels of documents that have a URL or were skipped.
    ///
    /// # Errors
    /// Errors of reading and of temporary files; interruption.
    pub fn count(
        table: &DocumentTable,
        sources: &[Source],
        decisions: impl Iterator<Item = Result<Decision>>,
        (threshold, estimates): (Option<u32>, bool),
        space: &SpillSpace<'_>,
        progress: &Progress,
    ) -> Result<Tally> {
        let mut tally = Tally {
            estimates,
            sources: vec![Totals::default(); sources.len()],
            evidence: [(0, 0); EVIDENCE],
            similarities: Similarities::new(threshold),
            least_similar: ShownPairs::new(LEAST_SIMILAR, Order::LeastSimilar),
            sites: None,
            skipped: BTreeMap::new(),
        };
        let mut sites = Sites::new(space);
        let mut decisions = decisions.peekable();
        table.rows.for_each_block(ROWS, |first, rows| {
            progress.check()?;
            let parts: Vec<Result<LabelPart>> = rows
                .par_iter()
                .with_min_len(LEAST_PIECE)
                .map(|row| LabelPart::of(table, row, LABEL_BYTES))
                .collect();
            for ((number, row), part) in (first as u32..).zip(rows).zip(parts) {
                if row.flags.has(Flags::REFERENCE) {
                    continue;
                }
                let part = match part? {
                    LabelPart::Long => LabelPart::of(table, row, usize::MAX)?,
                    part => part,
                };
                let source = tally.sources.get_mut(row.place.source as usize);
                let source = source.ok_or_else(missing_source)?;
                if row.flags.has(Flags::SKIPPED) {
                    let documents = lost_documents(&row.place, sources);
                    source.seen += documents;
                    source.skipped += documents;
                    if let LabelPart::Reason(reason) = part {
                        *tally.skipped.entry(reason).or_default() += documents;
                    }
                    continue;
                }
                // An error is due, too.
                let is_due = |next: &Result<Decision>| {
                    next.as_ref().map_or(true, |next| next.document <= number)
                };
                // The first one counts, as in the list of pairs.
                let mut decision = None;
                while let Some(next) = decisions.next_if(is_due) {
                    decision = decision.or(Some(next?));
                }
                let is_dropped = decision.is_some();
                source.add_document(row.text_bytes, is_dropped);
                let site = match part {
                    LabelPart::Site(site) => site,
                    _ => None,
                };
                sites.add(number, site, row.text_bytes, is_dropped)?;
                if let Some(decision) = decision {
                    tally.dropped(&decision, row.text_bytes);
                }
            }
            Ok(())
        })?;
        tally.sites = sites.finish()?;
        Ok(tally)
    }

    fn dropped(&mut self, decision: &Decision, text_bytes: u64) {
        let kind = (decision.evidence as usize).min(EVIDENCE - 1);
        let (documents, bytes) = &mut self.evidence[kind];
        *documents += 1;
        *bytes += text_bytes;
        let is_equal = [Decision::SAME_TEXT, Decision::SAME_WORDS].contains(&decision.evidence);
        if [Decision::FEW_SOURCES, Decision::ALONE].contains(&decision.evidence) {
            self.similarities.few_sources += 1;
        } else if decision.kept == decision.document {
            self.similarities.alone += 1;
        } else if is_equal {
            self.similarities.equal += 1;
        } else if decision.evidence == Decision::SAME_URL {
            self.similarities.same_url += 1;
        } else {
            let is_estimated = decision.evidence == Decision::KNOWN && self.estimates;
            self.similarities.add(decision.verified, is_estimated);
            self.least_similar.add(decision);
        }
    }
}

impl LabelPart {
    fn of(table: &DocumentTable, row: &Row, most: usize) -> Result<LabelPart> {
        let is_skipped = row.flags.has(Flags::SKIPPED);
        if row.flags.has(Flags::REFERENCE) || (!is_skipped && row.flags.has(Flags::NO_URL)) {
            return Ok(LabelPart::Nothing);
        }
        Ok(match table.label_within(row, most)? {
            None => LabelPart::Long,
            Some(Label { reason, .. }) if is_skipped => LabelPart::Reason(reason),
            Some(Label { url, .. }) => LabelPart::Site(keep::site(&url)),
        })
    }
}

/// The error for a document of no source.
fn missing_source() -> crate::Error {
    let message = "the work files are damaged: a document is in no input (start again with \
                   --restart)";
    crate::Error::new(crate::ErrorKind::Content, message)
}

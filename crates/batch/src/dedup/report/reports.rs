//! The report files in the output directory.

use std::path::Path;

use crate::{Error, Result};
use simtool_core::dedup::keep;
use simtool_corpus::{Place, Source};
use simtool_engine::Progress;
use simtool_engine::documents::name_of;
use simtool_engine::spill_space::SpillSpace;
use simtool_files::{AtomicFile, Sorted, Sorter};
use simtool_report::json_lines::{self, At};
use simtool_report::pairs::{ClusterCounts, Kept, Nearness, Pair, Verified};

use super::pair_tables::PairTables;
use crate::dedup::decision::Decision;
use crate::dedup::decisions::clusters::{Clusters, damaged};
use crate::dedup::decisions::known::KnownIds;
use crate::dedup::memory;
use crate::dedup::settings::job::{DedupJob, EXACT, FEW_SOURCES, NORMALIZED};
use crate::dedup::settings::url_rule::URL;
use crate::report_lines::{ReportLines, failed};
use crate::table::bits::Bits;
use crate::table::document_table::{DocumentCursor, DocumentTable};
use crate::table::row::{Flags, Row};
use crate::workdir::Outputs;

/// Decisions, rows or members that are processed at a time.
pub const BATCH: usize = 1 << 14;

/// Writes the reports.
pub struct DedupReports<'a> {
    /// The job.
    pub job: &'a DedupJob,
    /// All documents.
    pub table: &'a DocumentTable,
    /// Known documents, if the input was compared with an index.
    pub known: Option<&'a KnownIds>,
    /// Whether similarities to known documents are estimates.
    pub estimates: bool,
    /// The clusters.
    pub clusters: &'a Clusters,
    /// The number of documents of the reference, which come first.
    pub references: u32,
    /// All sources.
    pub sources: &'a [Source],
    /// Whether the method measures distances.
    pub has_distances: bool,
    /// The record of output files.
    pub outputs: &'a Outputs,
    /// Notified of progress; stops the job.
    pub progress: &'a Progress,
}

/// Counts of the list of pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairTotals {
    /// Dropped documents.
    pub dropped: u64,
    /// Dropped documents with the same text as the kept one.
    pub same_text: u64,
    /// Dropped documents with another text, but the same words in the same order.
    pub same_words: u64,
    /// Dropped documents that a newer one with the same URL replaces.
    pub same_url: u64,
    /// Dropped documents whose cluster comes from too few sources, and that would be kept otherwise.
    pub few_sources: u64,
    /// Other dropped documents: the method proposed the pair and verification confirmed it, or a
    /// chain of such pairs connects the two; or an index knows a near one.
    pub near: u64,
    /// Dropped documents whose kept document is in the reference or in an index.
    pub against: u64,
    /// Clusters of two or more documents.
    pub clusters: u64,
    /// Documents of the largest cluster.
    pub largest_cluster: u64,
}

/// The number of a cluster's kept document, and that of a member. Sorts by cluster.
pub type Member = [u32; 2];

/// Readers of documents: of those that a list is about, and of those for which they are dropped or
/// that they are together with. The numbers ascend more or less in each.
pub struct Cursors<'a>(pub [DocumentCursor<'a>; 2]);

impl DedupReports<'_> {
    /// Writes `duplicates.jsonl`, and the same list as CSV or Parquet if the job asks for it.
    ///
    /// # Errors
    /// Errors of reading and writing; interruption.
    pub fn duplicates(
        &self,
        decisions: impl Iterator<Item = Result<Decision>>,
        path: &Path,
        space: &SpillSpace<'_>,
    ) -> Result<(PairTotals, Sorted<Member>)> {
        let mut file = self.outputs.create(path)?;
        let out = path.parent().unwrap_or(Path::new("."));
        let mut tables = PairTables::create(self.job.pairs, out, self.outputs)?;
        let mut cursors = self.cursors();
        let mut members: Sorter<Member> = space.sorter(memory::MEMBERS);
        let mut totals = PairTotals::default();
        let copies = &self.clusters.copies;
        let decisions = decisions.filter_map(|decision| {
            let pushed = decision.and_then(|decision| {
                if decision.evidence != Decision::ALONE {
                    members.push([decision.kept, decision.document])?;
                }
                Ok(decision)
            });
            let is_kept = |decision: &Decision| copies.contains(decision.document);
            (!pushed.as_ref().is_ok_and(is_kept)).then_some(pushed)
        });
        self.lines(decisions, true, &mut file, |decision| {
            if !tables.is_empty() {
                let add = |pair: &Pair<'_>| tables.add(pair);
                self.with_pair(decision, true, usize::MAX, &mut cursors, add)?;
            }
            totals.dropped += 1;
            let is_known = self.is_known(decision.kept);
            totals.against += u64::from(is_known || decision.kept < self.references);
            match decision.evidence {
                Decision::SAME_TEXT => totals.same_text += 1,
                Decision::SAME_WORDS => totals.same_words += 1,
                Decision::SAME_URL => totals.same_url += 1,
                Decision::FEW_SOURCES | Decision::ALONE => totals.few_sources += 1,
                _ => totals.near += 1,
            }
            Ok(())
        })?;
        file.publish()?;
        tables.publish()?;
        Ok((totals, members.finish()?))
    }

    /// Writes `refused.jsonl`: pairs that the method proposed and verification did not confirm.
    ///
    /// Returns the number of listed pairs.
    ///
    /// # Errors
    /// Errors of reading and writing; interruption.
    pub fn refused(
        &self,
        refused: impl Iterator<Item = Result<Decision>>,
        path: &Path,
    ) -> Result<u64> {
        let mut file = self.outputs.create(path)?;
        let mut listed = 0;
        self.lines(refused, false, &mut file, |_| {
            listed += 1;
            Ok(())
        })?;
        file.publish()?;
        Ok(listed)
    }

    /// Writes `kept.jsonl`: the ids and places of the kept documents, in input order.
    ///
    /// # Errors
    /// Errors of reading and writing; interruption.
    pub fn kept_ids(&self, dropped: &Bits, path: &Path) -> Result<()> {
        let mut file = self.outputs.create(path)?;
        let mut lines = ReportLines::new();
        self.table.rows.for_each_block(BATCH, |first, rows| {
            self.progress.check()?;
            let excluded = [Flags::SKIPPED, Flags::REFERENCE];
            let is_kept = |(number, row): &(u32, &Row)| {
                !excluded.iter().any(|flag| row.flags.has(*flag)) && !dropped.contains(*number)
            };
            let kept: Vec<(u32, &Row)> = (first as u32..).zip(rows).filter(is_kept).collect();
            let start = || self.table.cursor();
            lines.write(&kept, &mut file, start, |cursor, (_, row), most, out| {
                let Some(label) = cursor.label_within(row, most)? else {
                    return Ok(false);
                };
                let name = name_of(self.sources, row.place)?;
                json_lines::id(&label.id, At::new(&name, row.place), out).map_err(failed)?;
                Ok(true)
            })
        })?;
        file.publish()
    }

    /// Writes the lines of decisions; those about pairs of one cluster have its size.
    fn lines(
        &self,
        mut decisions: impl Iterator<Item = Result<Decision>>,
        has_clusters: bool,
        file: &mut AtomicFile,
        mut note: impl FnMut(&Decision) -> Result<()>,
    ) -> Result<()> {
        let mut lines = ReportLines::new();
        let mut batch: Vec<Decision> = Vec::new();
        loop {
            self.progress.check()?;
            batch.clear();
            for decision in decisions.by_ref().take(BATCH) {
                batch.push(decision?);
            }
            if batch.is_empty() {
                return Ok(());
            }
            batch.iter().try_for_each(&mut note)?;
            let start = || self.cursors();
            lines.write(&batch, file, start, |cursors, decision, most, out| {
                let write = |pair: &Pair<'_>| json_lines::pair(pair, out).map_err(failed);
                self.with_pair(decision, has_clusters, most, cursors, write)
            })?;
        }
    }

    /// Passes the pair of a decision to `take` and returns true, unless the label of one of its
    /// documents has more than `most` bytes.
    fn with_pair(
        &self,
        decision: &Decision,
        has_cluster: bool,
        most: usize,
        Cursors([documents, others]): &mut Cursors<'_>,
        take: impl FnOnce(&Pair<'_>) -> Result<()>,
    ) -> Result<bool> {
        let Some(document) = self.document(decision.document, most, documents)? else {
            return Ok(false);
        };
        // A document that is dropped although it is the best copy has no kept document.
        let is_alone = decision.kept == decision.document;
        let kept = match is_alone {
            true => None,
            false => match self.document(decision.kept, most, others)? {
                Some(kept) => Some(kept),
                None => return Ok(false),
            },
        };
        let is_same_url = decision.evidence == Decision::SAME_URL;
        // The newest document with the URL, if it is dropped in turn.
        let newest = match is_same_url && decision.score[0] != decision.kept {
            true => match self.document(decision.score[0], most, others)? {
                Some(newest) => Some(newest.id),
                None => return Ok(false),
            },
            false => None,
        };
        let is_near = [Decision::NEAR, Decision::KNOWN].contains(&decision.evidence);
        let is_distance = match is_near {
            true => decision.score[1] == 0,
            false => self.has_distances,
        };
        let nearness = match (is_distance, is_near) {
            (true, _) => Nearness::Distance(decision.score[0]),
            (false, true) => Nearness::Estimate(decision.score),
            (false, false) => Nearness::Estimate([1, 1]),
        };
        let verified = match decision.evidence {
            Decision::SAME_TEXT | Decision::SAME_WORDS => Some(Verified::Equal),
            Decision::SAME_URL => None,
            Decision::KNOWN if decision.verified[1] == 0 => None,
            Decision::KNOWN if self.estimates => Some(Verified::Estimate(decision.verified)),
            _ => Some(Verified::Shingles(decision.verified)),
        };
        let name = self.job.method.name();
        let pair = Pair {
            id: &document.id,
            url: &document.url,
            at: document.at().ok_or_else(missing_place)?,
            kept: kept.as_ref().map(|kept| Kept {
                id: &kept.id,
                url: &kept.url,
                at: kept.at(),
            }),
            cluster: decision.kept.into(),
            counts: match has_cluster {
                true => Some(self.counts(decision, &document)?),
                false => None,
            },
            method: match decision.evidence {
                Decision::SAME_TEXT => EXACT,
                Decision::SAME_WORDS => NORMALIZED,
                Decision::SAME_URL => URL,
                Decision::FEW_SOURCES | Decision::ALONE => FEW_SOURCES,
                _ => &name,
            },
            nearness: (!is_alone && !is_same_url).then_some(nearness),
            verified: verified.filter(|_| !is_alone),
            newest: newest.as_deref(),
        };
        take(&pair)?;
        Ok(true)
    }

    /// The counts of the cluster of a dropped document.
    fn counts(&self, decision: &Decision, document: &NamedDocument) -> Result<ClusterCounts> {
        if decision.evidence == Decision::ALONE {
            return Ok(ClusterCounts {
                size: 1,
                sources: 1,
                sites: u32::from(keep::site(&document.url).is_some()),
            });
        }
        self.clusters.counts(decision.kept)
    }

    fn is_known(&self, number: u32) -> bool {
        self.known.is_some_and(|known| number >= known.first)
    }

    /// Whether the first document of a cluster is kept.
    pub fn keeps(&self, cluster: ClusterCounts) -> bool {
        !self.job.drop_all && cluster.sources >= self.job.min_sources
    }

    /// A document as the reports show it.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn named(&self, number: u32) -> Result<NamedDocument> {
        let document = self.document(number, usize::MAX, &mut self.table.cursor())?;
        document.ok_or_else(missing_place)
    }

    /// A document as the reports show it; `None` if its label has more than `most` bytes.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn document(
        &self,
        number: u32,
        most: usize,
        cursor: &mut DocumentCursor<'_>,
    ) -> Result<Option<NamedDocument>> {
        let known = self.known.map_or(Ok(None), |known| known.get(number))?;
        if let Some(id) = known {
            return Ok(Some(NamedDocument {
                id,
                url: Vec::new(),
                place: None,
            }));
        }
        let row = cursor.row(number)?;
        let Some(label) = cursor.label_within(&row, most)? else {
            return Ok(None);
        };
        Ok(Some(NamedDocument {
            id: label.id,
            url: label.url,
            place: Some((name_of(self.sources, row.place)?.into_owned(), row.place)),
        }))
    }

    /// Readers at the first document.
    pub fn cursors(&self) -> Cursors<'_> {
        Cursors([self.table.cursor(), self.table.cursor()])
    }
}

/// A document as the reports show it.
pub struct NamedDocument {
    /// The id; without one, the file and the place.
    pub id: Vec<u8>,
    /// The URL, or nothing.
    pub url: Vec<u8>,
    /// The document's file and place; `None` if only an index knows it.
    pub place: Option<(String, Place)>,
}

impl NamedDocument {
    fn at(&self) -> Option<At<'_>> {
        let place = self.place.as_ref();
        place.map(|(file, place)| At::new(file, *place))
    }

    /// It as a member of a cluster.
    pub fn member(&self, stays: bool) -> json_lines::Member<'_> {
        json_lines::Member {
            stays,
            id: &self.id,
            url: &self.url,
            at: self.at(),
        }
    }
}

/// The error for a document of the input without a place.
fn missing_place() -> Error {
    damaged("a document has no place in the input")
}

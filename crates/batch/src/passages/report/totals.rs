//! Totals of a run: by source, and by the share of a document that is repeated.

use crate::passages::first_reading::documents::PassageRow;
use crate::passages::settings::action::Action;
use crate::table::row::TableRow;
use simtool_corpus::Source;
use simtool_engine::doubts::Doubts;

/// The bins of [`SearchTotals::shares`].
pub const BINS: usize = 12;
/// The most documents that are shown.
const MOST_SHOWN: usize = 6;

/// Documents or bytes: seen = kept + dropped + skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutcomeTotals {
    /// All of the input.
    pub seen: u64,
    /// What stays.
    pub kept: u64,
    /// What the action drops.
    pub dropped: u64,
    /// What could not be read.
    pub skipped: u64,
}

/// Totals of a source, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceTotals {
    /// Documents.
    pub documents: OutcomeTotals,
    /// Bytes of texts, and of the records that could not be read.
    pub bytes: OutcomeTotals,
    /// Documents with removed passages.
    pub changed: u64,
    /// Bytes of removed passages, which the action may only report.
    pub repeated_bytes: u64,
    /// Units, with repetitions.
    pub units: u64,
}

/// Totals of a run.
#[derive(Clone, Debug, Default)]
pub struct SearchTotals {
    /// The totals of the input.
    pub all: SourceTotals,
    /// The totals of each source of the input.
    pub sources: Vec<SourceTotals>,
    /// Documents to compare with that were read, and others.
    pub references: u64,
    /// Documents to compare with that could not be read.
    pub skipped_references: u64,
    /// Documents by the share of their text that is repeated: none; more than 0 and at most a tenth;
    /// and so on; the last bin has those with nothing else than repeated passages.
    pub shares: [u64; BINS],
    /// Documents of the input without a site.
    pub without_site: u64,
    /// Texts whose characters may be wrong.
    pub doubts: Doubts,
    /// The documents with the most repeated bytes: these bytes and their numbers.
    pub worst: Vec<(u64, u32)>,
}

impl OutcomeTotals {
    fn add(&mut self, more: OutcomeTotals) {
        self.seen += more.seen;
        self.kept += more.kept;
        self.dropped += more.dropped;
        self.skipped += more.skipped;
    }
}

impl SourceTotals {
    fn add(&mut self, more: &SourceTotals) {
        self.documents.add(more.documents);
        self.bytes.add(more.bytes);
        self.changed += more.changed;
        self.repeated_bytes += more.repeated_bytes;
        self.units += more.units;
    }

    /// The totals of a document with `removed` bytes of removed passages.
    fn of(
        row: &PassageRow,
        removed: u64,
        is_dropped: bool,
        action: Action,
        lost: u64,
    ) -> SourceTotals {
        let bytes = row.bytes();
        if row.is_skipped() {
            let outcome = |count| OutcomeTotals {
                seen: count,
                skipped: count,
                ..OutcomeTotals::default()
            };
            return SourceTotals {
                documents: outcome(lost),
                bytes: outcome(bytes),
                ..SourceTotals::default()
            };
        }
        let dropped_bytes = match (action, is_dropped) {
            (_, true) => bytes,
            (Action::Cut, false) => removed,
            (Action::Mark | Action::Mask | Action::DropDocument(_), false) => 0,
        };
        SourceTotals {
            documents: OutcomeTotals {
                seen: 1,
                kept: u64::from(!is_dropped),
                dropped: u64::from(is_dropped),
                skipped: 0,
            },
            bytes: OutcomeTotals {
                seen: bytes,
                kept: bytes.saturating_sub(dropped_bytes),
                dropped: dropped_bytes,
                skipped: 0,
            },
            changed: u64::from(removed > 0),
            repeated_bytes: removed,
            units: row.units.into(),
        }
    }
}

impl SearchTotals {
    /// Totals without documents, for `sources`, the first `references` of which are compared with.
    pub fn new(sources: usize, references: usize) -> SearchTotals {
        SearchTotals {
            sources: vec![SourceTotals::default(); sources.saturating_sub(references)],
            ..SearchTotals::default()
        }
    }

    /// Adds a document to compare with.
    pub fn add_reference(&mut self, row: &PassageRow, sources: &[Source]) {
        self.doubts.note(row.doubt(), row.place);
        match row.is_skipped() {
            true => self.skipped_references += row.documents(sources),
            false => self.references += 1,
        }
    }

    /// Adds a document of the input, with `removed` bytes of removed passages.
    pub fn add(
        &mut self,
        number: u32,
        row: &PassageRow,
        (removed, is_dropped): (u64, bool),
        action: Action,
        (sources, references): (&[Source], usize),
    ) {
        let more = SourceTotals::of(row, removed, is_dropped, action, row.documents(sources));
        self.all.add(&more);
        let source = (row.place.source as usize).checked_sub(references);
        if let Some(totals) = source.and_then(|source| self.sources.get_mut(source)) {
            totals.add(&more);
        }
        self.doubts.note(row.doubt(), row.place);
        if row.is_skipped() {
            return;
        }
        self.without_site += u64::from(row.site == 0);
        let bin = match removed {
            0 => 0,
            _ if removed >= row.unit_bytes => BINS - 1,
            // Less than the whole text, so at most 10.
            _ => (10 * u128::from(removed)).div_ceil(row.text_bytes.max(1).into()) as usize,
        };
        self.shares[bin.min(BINS - 1)] += 1;
        if removed > 0 {
            self.note_worst(removed, number);
        }
    }

    fn note_worst(&mut self, removed: u64, number: u32) {
        let is_full = self.worst.len() == MOST_SHOWN;
        if is_full
            && self
                .worst
                .last()
                .is_some_and(|(least, _)| removed <= *least)
        {
            return;
        }
        let place = self.worst.partition_point(|(bytes, _)| *bytes >= removed);
        self.worst.insert(place, (removed, number));
        self.worst.truncate(MOST_SHOWN);
    }
}

//! `spans.jsonl`: the removed ranges of each document.

use std::borrow::Cow;
use std::io::Write;
use std::ops::Range;

use serde::Serialize;

use super::reports::{Fields, PassageReports, append_json};
use super::totals::SearchTotals;
use crate::Result;
use crate::passages::decisions::decided::Origin;
use crate::passages::decisions::ranges::{RangeCursor, RemovedRange};
use crate::passages::first_reading::documents::PassageRow;
use crate::passages::search::PassageSearch;
use crate::report_lines::{ReportLines, failed};
use crate::table::document_table::DocumentCursor;
use simtool_engine::documents::name_of;
use simtool_files::RecordCursor;
use simtool_report::json_lines::{At, base64_if_needed};

/// The list of removed ranges, in the output directory.
pub const SPANS: &str = "spans.jsonl";
/// Rows that are read at a time.
const BLOCK: usize = 1 << 14;
/// The bytes of a line that are held. A longer line is written in parts, not by several threads.
const LINE_BYTES: usize = 256 << 10;

/// The beginning of a line of `spans.jsonl`. The ranges follow, which may be too many for the
/// memory, and their sum.
#[derive(Serialize)]
struct Spans<'a> {
    id: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_base64: Option<String>,
    #[serde(flatten)]
    at: At<'a>,
    text_bytes: u64,
}

/// A removed range of a text.
#[derive(Serialize)]
struct Span<'a> {
    start: usize,
    end: usize,
    #[serde(flatten)]
    count: Fields<'a, u64>,
    why: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<u32>,
    #[serde(flatten)]
    origin: Fields<'a, Kept<'a>>,
}

/// The place that a range repeats.
#[derive(Serialize)]
struct Kept<'a> {
    id: Cow<'a, str>,
    #[serde(flatten)]
    at: At<'a>,
    text_start: u32,
    text_end: u32,
}

/// A document with removed ranges.
struct ChangedDocument<'a> {
    row: &'a PassageRow,
    /// The numbers of its ranges.
    ranges: Range<u64>,
    /// Their bytes.
    removed: u64,
    is_dropped: bool,
}

/// What a thread reads for lines, and the line that it makes.
struct SpanLine<'a> {
    ranges: RecordCursor<'a, RemovedRange>,
    origins: Option<RecordCursor<'a, Origin>>,
    documents: DocumentCursor<'a, PassageRow>,
    kept: DocumentCursor<'a, PassageRow>,
    line: Vec<u8>,
}

/// The totals; writes `spans.jsonl`, unless it is complete.
///
/// # Errors
/// Errors of reading and writing; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
pub fn write_spans<S: PassageSearch>(reports: &PassageReports<'_, S>) -> Result<SearchTotals> {
    let (table, decided) = (reports.table, reports.decided);
    let path = reports.out.join(SPANS);
    let mut file = match reports.outputs.is_written(&path) {
        true => None,
        false => Some(reports.outputs.create(&path)?),
    };
    let mut totals = SearchTotals::new(reports.sources.len(), reports.references);
    let mut ranges = RangeCursor::new(&decided.ranges);
    let mut next = 0;
    let mut lines = ReportLines::new();
    let start = || SpanLine {
        ranges: RecordCursor::new(&decided.ranges),
        origins: decided.origins.as_ref().map(RecordCursor::new),
        documents: table.cursor(),
        kept: table.cursor(),
        line: Vec::new(),
    };
    table.rows.for_each_block(BLOCK, |first, rows| {
        reports.progress.check()?;
        let mut changed = Vec::new();
        for (number, row) in (first as u32..).zip(rows) {
            if (row.place.source as usize) < reports.references {
                totals.add_reference(row, reports.sources);
                continue;
            }
            let (begin, mut removed) = (next, 0);
            ranges.for_each_of(number, |range| {
                next += 1;
                removed += u64::from(range.length);
                Ok(())
            })?;
            let is_dropped = decided.dropped.contains(number);
            if removed > 0 {
                changed.push(ChangedDocument {
                    row,
                    ranges: begin..next,
                    removed,
                    is_dropped,
                });
            }
            let sources = (reports.sources, reports.references);
            let action = reports.search.common().action;
            totals.add(number, row, (removed, is_dropped), action, sources);
        }
        match &mut file {
            Some(file) => lines.write(&changed, file, start, |line, document, most, out| {
                line.write(reports, document, most, out)
            }),
            None => Ok(()),
        }
    })?;
    if let Some(file) = file {
        file.publish()?;
    }
    Ok(totals)
}

impl SpanLine<'_> {
    /// Writes the line of a document and returns true, unless a label has more than `most` bytes or
    /// the line is too long; whatever the length if `most` is the largest number.
    fn write<S: PassageSearch>(
        &mut self,
        reports: &PassageReports<'_, S>,
        document: &ChangedDocument<'_>,
        most: usize,
        out: &mut dyn Write,
    ) -> Result<bool> {
        let row = document.row;
        let Some(label) = self.documents.label_within(row, most)? else {
            return Ok(false);
        };
        let name = name_of(reports.sources, row.place)?;
        self.line.clear();
        let spans = Spans {
            id: String::from_utf8_lossy(&label.id),
            id_base64: base64_if_needed(&label.id),
            at: At::new(&name, row.place),
            text_bytes: row.text_bytes,
        };
        append_json(&mut self.line, &spans);
        self.line.pop();
        self.line.extend_from_slice(b",\"ranges\":[");
        for number in document.ranges.clone() {
            if number > document.ranges.start {
                self.line.push(b',');
            }
            if !self.span(reports, number, most)? {
                return Ok(false);
            }
            if self.line.len() > LINE_BYTES {
                if most < usize::MAX {
                    return Ok(false);
                }
                out.write_all(&self.line).map_err(failed)?;
                self.line.clear();
            }
        }
        let (removed, is_dropped) = (document.removed, document.is_dropped);
        let end = format!("],\"repeated_bytes\":{removed},\"dropped\":{is_dropped}}}\n");
        self.line.extend_from_slice(end.as_bytes());
        out.write_all(&self.line).map_err(failed)?;
        Ok(true)
    }

    /// Appends a range to the line, unless the label of what it repeats has more than `most` bytes.
    fn span<S: PassageSearch>(
        &mut self,
        reports: &PassageReports<'_, S>,
        number: u64,
        most: usize,
    ) -> Result<bool> {
        let range = self.ranges.get(number)?;
        let origin = self.origins.as_mut();
        let origin = origin.map(|origins| origins.get(number)).transpose()?;
        let place = match origin {
            Some(origin) if origin.length > 0 => {
                let row = self.kept.row(origin.document)?;
                let Some(label) = self.kept.label_within(&row, most)? else {
                    return Ok(false);
                };
                let name = name_of(reports.sources, row.place)?;
                Some((origin, label.id, name, row))
            }
            _ => None,
        };
        let place = place.as_ref().map(|(origin, id, name, row)| {
            let kept = Kept {
                id: String::from_utf8_lossy(id),
                at: At::new(name, row.place),
                text_start: origin.start,
                text_end: origin.start.saturating_add(origin.length),
            };
            (S::NAMES.origin, kept)
        });
        let bytes = range.bytes();
        let span = Span {
            start: bytes.start,
            end: bytes.end,
            count: Fields(&[(S::NAMES.count, range.count)]),
            why: range.why(),
            words: origin.map(|origin| origin.words),
            origin: Fields(place.as_slice()),
        };
        append_json(&mut self.line, &span);
        Ok(true)
    }
}

//! `spans.jsonl` and the list of the most frequent passages.

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use serde::{Serialize, Serializer};

use super::texts::PassageText;
use super::totals::SearchTotals;
use crate::Result;
use crate::passages::decisions::decided::{Origin, PassageDecisions};
use crate::passages::decisions::ranges::{RangeCursor, RemovedRange};
use crate::passages::decisions::repeated::Repeated;
use crate::passages::first_reading::documents::{PassageRow, PassageTable};
use crate::passages::search::PassageSearch;
use crate::table::document_table::DocumentCursor;
use crate::workdir::Outputs;
use simtool_corpus::Source;
use simtool_engine::Progress;
use simtool_engine::documents::name_of;
use simtool_files::{AtomicFile, RecordCursor};
use simtool_report::json_lines::{At, base64_if_needed};

/// The list of removed ranges, in the output directory.
pub const SPANS: &str = "spans.jsonl";
/// Rows that are read at a time.
const BLOCK: usize = 4096;

/// What reports are made from.
pub struct PassageReports<'a, S> {
    /// The search.
    pub search: &'a S,
    /// All sources, those to compare with first.
    pub sources: &'a [Source],
    /// How many of them are compared with.
    pub references: usize,
    /// All documents.
    pub table: &'a PassageTable,
    /// The decisions.
    pub decided: &'a PassageDecisions,
    /// Creates output files and records them.
    pub outputs: &'a Outputs,
    /// The output directory.
    pub out: &'a Path,
    /// Stops the run.
    pub progress: &'a Progress,
}

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

/// Fields whose names are not known to the compiler.
struct Fields<'a, T>(&'a [(&'static str, T)]);

impl<T: Serialize> Serialize for Fields<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// A line of the list.
#[derive(Serialize)]
struct PassageLine<'a> {
    text: Cow<'a, str>,
    shortened: bool,
    count: u64,
    removed: u64,
    documents: u64,
    sites: u64,
    bytes: u64,
    share: f64,
    #[serde(flatten)]
    settings: Fields<'a, String>,
    xxh3_128: String,
    first: FirstOccurrence<'a>,
}

/// The document of the first occurrence of a passage.
#[derive(Serialize)]
struct FirstOccurrence<'a> {
    id: Cow<'a, str>,
    #[serde(flatten)]
    at: At<'a>,
    text_start: u32,
}

impl<S: PassageSearch> PassageReports<'_, S> {
    /// The totals; writes `spans.jsonl`, unless it is complete.
    ///
    /// # Errors
    /// Errors of reading and writing; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub fn spans(&self) -> Result<SearchTotals> {
        let path = self.out.join(SPANS);
        let mut file = match self.outputs.is_written(&path) {
            true => None,
            false => Some(self.outputs.create(&path)?),
        };
        let mut totals = SearchTotals::new(self.sources.len(), self.references);
        let mut ranges = RangeCursor::new(&self.decided.ranges);
        let mut origins = self.decided.origins.as_ref().map(RecordCursor::new);
        let (mut next, mut kept) = (0, self.table.cursor());
        let mut cursor = self.table.cursor();
        self.table.rows.for_each_block(BLOCK, |first, rows| {
            self.progress.check()?;
            for (number, row) in (first as u32..).zip(rows) {
                if (row.place.source as usize) < self.references {
                    totals.add_reference(row, self.sources);
                    continue;
                }
                let mut removed = 0;
                ranges.for_each_of(number, |range| {
                    if let Some(file) = &mut file {
                        match removed {
                            0 => self.begin_spans(file, row, &cursor.label(row)?.id)?,
                            _ => write(file, b",")?,
                        }
                        let origin = match &mut origins {
                            Some(origins) => Some(origins.get(next)?),
                            None => None,
                        };
                        self.span(file, range, origin, &mut kept)?;
                    }
                    next += 1;
                    removed += u64::from(range.length);
                    Ok(())
                })?;
                let is_dropped = self.decided.dropped.contains(number);
                if let (Some(file), 1..) = (&mut file, removed) {
                    let end =
                        format!("],\"repeated_bytes\":{removed},\"dropped\":{is_dropped}}}\n");
                    write(file, end.as_bytes())?;
                }
                let sources = (self.sources, self.references);
                let action = self.search.common().action;
                totals.add(number, row, (removed, is_dropped), action, sources);
            }
            Ok(())
        })?;
        if let Some(file) = file {
            file.publish()?;
        }
        Ok(totals)
    }

    /// Writes the line of a document up to `[` before its ranges.
    fn begin_spans(&self, file: &mut AtomicFile, row: &PassageRow, id: &[u8]) -> Result<()> {
        let name = name_of(self.sources, row.place)?;
        let mut line = json(&Spans {
            id: String::from_utf8_lossy(id),
            id_base64: base64_if_needed(id),
            at: At::new(&name, row.place),
            text_bytes: row.text_bytes,
        });
        line.pop();
        line.extend_from_slice(b",\"ranges\":[");
        write(file, &line)
    }

    /// Writes a range of a document.
    fn span(
        &self,
        file: &mut AtomicFile,
        range: &RemovedRange,
        origin: Option<Origin>,
        kept: &mut DocumentCursor<'_, PassageRow>,
    ) -> Result<()> {
        let place = match origin {
            Some(origin) if origin.length > 0 => {
                let row = kept.row(origin.document)?;
                Some((
                    origin,
                    kept.label(&row)?.id,
                    name_of(self.sources, row.place)?,
                    row,
                ))
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
        write(file, &json(&span))
    }

    /// Writes the list of the most frequent passages, whose `texts` are in the same order.
    ///
    /// # Errors
    /// Errors of reading and writing.
    pub fn list(&self, texts: &[PassageText], text_bytes: u64) -> Result<()> {
        let mut file = self.outputs.create(&self.out.join(S::NAMES.list))?;
        let mut cursor = self.table.cursor();
        let settings = self.search.list_fields();
        for (passage, text) in self.decided.most_frequent.iter().zip(texts) {
            self.progress.check()?;
            let Repeated {
                count,
                removed,
                removed_bytes,
                documents,
                sites,
                ..
            } = *passage;
            let row = cursor.row(passage.document)?;
            let label = cursor.label(&row)?;
            let name = name_of(self.sources, row.place)?;
            let line = PassageLine {
                text: String::from_utf8_lossy(&text.text),
                shortened: text.is_shortened,
                count,
                removed,
                documents,
                sites,
                bytes: removed_bytes,
                share: removed_bytes as f64 / text_bytes.max(1) as f64,
                settings: Fields(&settings),
                xxh3_128: format!("{:032x}", text.hash),
                first: FirstOccurrence {
                    id: String::from_utf8_lossy(&label.id),
                    at: At::new(&name, row.place),
                    text_start: passage.start,
                },
            };
            write(&mut file, &json(&line))?;
            write(&mut file, b"\n")?;
        }
        file.publish()
    }
}

/// The value as JSON.
pub(crate) fn json(value: &impl Serialize) -> Vec<u8> {
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(&mut text, value);
    text
}

/// Appends to a report.
pub(crate) fn write(file: &mut AtomicFile, bytes: &[u8]) -> Result<()> {
    file.write_all(bytes).map_err(|cause| file.error(cause))
}

//! `spans.jsonl`, `boilerplate.jsonl` and `skipped.jsonl`.

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use serde::Serialize;

use super::counting::RepeatedUnit;
use super::decided::Decided;
use super::job::{BOILERPLATE, Job, SKIPPED, SPANS};
use super::texts::UnitText;
use super::totals::Totals;
use crate::Result;
use crate::corpus::Source;
use crate::engine::Progress;
use crate::engine::documents::source_of;
use crate::io::AtomicFile;
use crate::jobs::dedup::Outputs;
use crate::jobs::passages::documents::{DocumentTable, Row};
use crate::jobs::passages::ranges::{RangeCursor, RemovedRange};
use crate::report::json_lines::{self, At, base64_if_needed};

/// Rows that are read at a time.
const BLOCK: usize = 4096;

/// What reports are made from.
pub struct Reports<'a> {
    /// The job.
    pub job: &'a Job,
    /// All sources, those to compare with first.
    pub sources: &'a [Source],
    /// How many of them are compared with.
    pub references: usize,
    /// All documents.
    pub table: &'a DocumentTable,
    /// The decisions.
    pub decided: &'a Decided,
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
struct Span {
    start: usize,
    end: usize,
    count: u64,
    why: &'static str,
}

/// A line of `boilerplate.jsonl`.
#[derive(Serialize)]
struct Boilerplate<'a> {
    text: Cow<'a, str>,
    shortened: bool,
    count: u64,
    removed: u64,
    documents: u64,
    sites: u64,
    bytes: u64,
    share: f64,
    unit: String,
    normalize: String,
    xxh3_128: String,
    first: First<'a>,
}

/// The document of the first occurrence of a unit.
#[derive(Serialize)]
struct First<'a> {
    id: Cow<'a, str>,
    #[serde(flatten)]
    at: At<'a>,
    text_start: u32,
}

impl Reports<'_> {
    /// The totals; writes `spans.jsonl`, unless it is complete.
    ///
    /// # Errors
    /// Those of reading and writing; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub fn spans(&self) -> Result<Totals> {
        let path = self.out.join(SPANS);
        let mut file = match self.outputs.is_written(&path) {
            true => None,
            false => Some(self.outputs.create(&path)?),
        };
        let mut totals = Totals::new(self.sources.len(), self.references);
        let mut ranges = RangeCursor::new(&self.decided.ranges);
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
                        write(file, &json(&Span::new(range)))?;
                    }
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
                totals.add(number, row, (removed, is_dropped), self.job.action, sources);
            }
            Ok(())
        })?;
        if let Some(file) = file {
            file.publish()?;
        }
        Ok(totals)
    }

    /// Writes the line of a document up to `[` before its ranges.
    fn begin_spans(&self, file: &mut AtomicFile, row: &Row, id: &[u8]) -> Result<()> {
        let name = self.file_name(row)?;
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

    /// Writes `skipped.jsonl`.
    ///
    /// # Errors
    /// Those of reading and writing.
    pub fn skipped(&self) -> Result<()> {
        let mut file = self.outputs.create(&self.out.join(SKIPPED))?;
        let mut cursor = self.table.cursor();
        self.table.rows.for_each_block(BLOCK, |_, rows| {
            self.progress.check()?;
            for row in rows.iter().filter(|row| row.is_skipped()) {
                let label = cursor.label(row)?;
                let name = self.file_name(row)?;
                let skipped = json_lines::Skipped {
                    id: &label.id,
                    at: At::new(&name, row.place),
                    reason: &label.reason,
                    detail: &label.detail,
                };
                let written = json_lines::skipped(&skipped, &mut file);
                written.map_err(|cause| file.error(cause))?;
            }
            Ok(())
        })?;
        file.publish()
    }

    /// Writes `boilerplate.jsonl`: the most frequent units, whose `texts` are in the same order.
    ///
    /// # Errors
    /// Those of reading and writing.
    pub fn boilerplate(&self, texts: &[UnitText], text_bytes: u64) -> Result<()> {
        let mut file = self.outputs.create(&self.out.join(BOILERPLATE))?;
        let mut cursor = self.table.cursor();
        for (unit, text) in self.decided.most_frequent.iter().zip(texts) {
            self.progress.check()?;
            let RepeatedUnit {
                count,
                removed,
                removed_bytes,
                documents,
                sites,
                ..
            } = *unit;
            let row = cursor.row(unit.document)?;
            let label = cursor.label(&row)?;
            let name = self.file_name(&row)?;
            let line = Boilerplate {
                text: String::from_utf8_lossy(&text.text),
                shortened: text.is_shortened,
                count,
                removed,
                documents,
                sites,
                bytes: removed_bytes,
                share: removed_bytes as f64 / text_bytes.max(1) as f64,
                unit: self.job.kind.to_string(),
                normalize: self.job.normal.to_string(),
                xxh3_128: format!("{:032x}", text.hash),
                first: First {
                    id: String::from_utf8_lossy(&label.id),
                    at: At::new(&name, row.place),
                    text_start: unit.start,
                },
            };
            write(&mut file, &json(&line))?;
            write(&mut file, b"\n")?;
        }
        file.publish()
    }

    fn file_name(&self, row: &Row) -> Result<String> {
        let source = source_of(self.sources, row.place.source)?;
        Ok(source.path.to_string_lossy().into_owned())
    }
}

impl Span {
    fn new(range: &RemovedRange) -> Span {
        Span {
            start: range.bytes().start,
            end: range.bytes().end,
            count: range.count,
            why: range.why(),
        }
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(&mut text, value);
    text
}

fn write(file: &mut AtomicFile, bytes: &[u8]) -> Result<()> {
    file.write_all(bytes).map_err(|cause| file.error(cause))
}

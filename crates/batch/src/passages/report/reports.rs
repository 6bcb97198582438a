//! The list of the most frequent passages, and what all reports are made from.

use std::borrow::Cow;
use std::path::Path;

use serde::{Serialize, Serializer};

use super::texts::PassageText;
use crate::Result;
use crate::passages::decisions::decided::PassageDecisions;
use crate::passages::decisions::repeated::Repeated;
use crate::passages::first_reading::documents::PassageTable;
use crate::passages::search::PassageSearch;
use crate::report_lines;
use crate::workdir::Outputs;
use simtool_corpus::Source;
use simtool_engine::Progress;
use simtool_engine::documents::name_of;
use simtool_files::AtomicFile;
use simtool_report::json_lines::At;

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

/// Fields whose names are not known to the compiler.
pub struct Fields<'a, T>(pub &'a [(&'static str, T)]);

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
            write_line(&mut file, &line)?;
        }
        file.publish()
    }
}

/// Appends a line with the value as JSON to a report.
///
/// # Errors
/// [`ErrorKind::Write`](crate::ErrorKind::Write).
pub fn write_line(file: &mut AtomicFile, value: &impl Serialize) -> Result<()> {
    let mut line = Vec::new();
    append_json(&mut line, value);
    line.push(b'\n');
    report_lines::write(file, &line)
}

/// Appends the value as JSON.
pub fn append_json(text: &mut Vec<u8>, value: &impl Serialize) {
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(text, value);
}

//! The documents of the files of a task, as record batches.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use ahash::RandomState;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use simtool_batch::dedup::{DedupJob, Scope};
use simtool_core::{Error, ErrorKind, Result};
use simtool_corpus::{Chunk, Document, Parsed, Parser, Place, Reading, Source};
use simtool_engine::documents::source_of;
use simtool_engine::naming;

use crate::plan::Plan;
use crate::stored_job::StoredJob;
use crate::task_chunks::TaskChunks;
use crate::tasks::{Gone, gone};
use crate::work::Inbox;

/// The documents of the files of a task: the columns `id`, `url`, `date`, `text`, `skipped` (why a
/// document could not be read), `file` and `language` (what a header or field says). All are texts.
pub struct Documents {
    sources: Vec<Source>,
    chunks: TaskChunks,
    reading: Reading,
    parser: Parser,
    gone: HashSet<Gone, RandomState>,
}

#[derive(Default)]
struct DocumentRows {
    ids: Vec<String>,
    urls: Vec<Option<String>>,
    dates: Vec<Option<String>>,
    texts: Vec<Option<String>>,
    reasons: Vec<Option<String>>,
    languages: Vec<Option<String>>,
}

impl Documents {
    /// All documents of the files of a task.
    ///
    /// # Errors
    /// Errors of opening files.
    pub fn of_task(plan: &Plan, job: &DedupJob, task: usize) -> Result<Documents> {
        let mut reading = job.reading.clone();
        for field in Scope::Language.fields() {
            if !reading.fields.contains(&field) {
                reading.fields.push(field);
            }
        }
        reading.check()?;
        Ok(Documents {
            sources: plan.sources(job, task)?,
            chunks: TaskChunks::of(plan, task),
            parser: Parser::new(&reading),
            reading,
            gone: HashSet::default(),
        })
    }

    /// The documents of a task that a finished job keeps.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn kept(stored: &StoredJob, job: &DedupJob, task: usize) -> Result<Documents> {
        let plan = stored.plan();
        let mut documents = Documents::of_task(plan, job, task)?;
        let reports = Inbox::new(stored.work(), "reports", plan.tasks.len());
        documents.gone = gone(&reports, task)?.into_iter().collect();
        Ok(documents)
    }

    /// The next documents; `None` at the end.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn take(&mut self) -> Result<Option<RecordBatch>> {
        let chunk = self.chunks.next(&self.sources, &self.reading, Vec::new())?;
        chunk.map(|chunk| self.documents(&chunk)).transpose()
    }

    fn documents(&mut self, chunk: &Chunk) -> Result<RecordBatch> {
        let mut rows = DocumentRows::default();
        let (source, gone) = (source_of(&self.sources, chunk.source)?, &self.gone);
        let is_gone = |place: &Place| {
            let found = [u64::from(place.source), place.member, place.offset];
            !gone.is_empty() && gone.contains(&found)
        };
        let mut visit = |_, parsed: Parsed<'_>| match parsed {
            Parsed::Document(document) if !is_gone(&document.place) => {
                rows.document(source, &document);
            }
            Parsed::Skipped(skip) => {
                let id = naming::name(source, &skip.id, skip.place);
                rows.ids.push(lossy(&id));
                rows.urls.push(None);
                rows.dates.push(None);
                rows.texts.push(None);
                rows.languages.push(None);
                rows.reasons.push(Some(skip.reason.name().to_owned()));
            }
            Parsed::Document(_) | Parsed::Unwanted => {}
        };
        self.parser
            .for_each(source.format, chunk, &|_| true, &mut visit);
        rows.batch(&source.path.to_string_lossy())
    }
}

impl DocumentRows {
    fn document(&mut self, source: &Source, document: &Document<'_>) {
        let some = |bytes: &[u8]| (!bytes.is_empty()).then(|| lossy(bytes));
        let id = naming::name(source, document.id, document.place);
        self.ids.push(lossy(&id));
        self.urls.push(some(document.url));
        self.dates.push(some(document.date));
        self.texts.push(Some(lossy(document.text)));
        self.reasons.push(None);
        self.languages.push(language(document));
    }

    fn batch(self, file: &str) -> Result<RecordBatch> {
        let files = StringArray::from_iter_values(std::iter::repeat_n(file, self.ids.len()));
        let columns: [(&str, ArrayRef); 7] = [
            ("id", Arc::new(StringArray::from(self.ids))),
            ("url", Arc::new(StringArray::from(self.urls))),
            ("date", Arc::new(StringArray::from(self.dates))),
            ("text", Arc::new(StringArray::from(self.texts))),
            ("skipped", Arc::new(StringArray::from(self.reasons))),
            ("file", Arc::new(files)),
            ("language", Arc::new(StringArray::from(self.languages))),
        ];
        let columns = columns.map(|(name, column)| (name, column, true));
        RecordBatch::try_from_iter_with_nullable(columns)
            .map_err(|cause| Error::new(ErrorKind::Content, cause.to_string()))
    }
}

/// What a field or header says about the language of a document, if it names one.
fn language(document: &Document<'_>) -> Option<String> {
    let values = document.fields.iter().flatten().map(|value| value.text);
    let mut values = values.filter(|text| !text.is_empty());
    let group = |text| Scope::Language.group_of(Path::new(""), b"", std::iter::once(text), b"");
    values.find(|text| group(text).is_some()).map(lossy)
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

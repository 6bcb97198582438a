//! An open index: its state, and the questions that it answers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::answer::{Answer, Entry, Evidence, Limit};
use super::decide::{Addition, evidence};
use super::form::Form;
use super::known::Search;
use super::options::{Layout, Options};
use super::record::{Document, Record};
use super::snapshot::{Snapshot, sketch_of};
use crate::sketch::Compare;
use crate::storage::database::Database;
use crate::storage::lock::IndexLock;
use crate::storage::manifest::Manifest;
use crate::{Error, ErrorKind, Result};

/// An open index.
pub struct Index {
    pub(super) directory: PathBuf,
    pub(super) method: Arc<dyn Compare>,
    pub(super) form: Form,
    pub(super) manifest: Manifest,
    pub(super) options: Options,
    /// The published state; locked only to clone or to replace it.
    pub(super) current: RwLock<Arc<Snapshot>>,
    pub(super) writer: Mutex<IndexWriter>,
    /// The last errors of sealing and of merging.
    pub(super) trouble: Mutex<[Option<String>; 2]>,
}

/// The state that belongs to the thread that changes the index.
pub struct IndexWriter {
    /// Whether the manifest is not there yet.
    pub(super) is_building: bool,
    /// None after a failure, until it is opened again.
    pub(super) database: Option<Database>,
    /// The number of the next segment.
    pub(super) next: u64,
    /// Segments that are being replaced, and the segments that are being written in their place.
    pub(super) taken: Vec<u64>,
    /// Merges that failed since the last sealing: the segments of each.
    pub(super) failed: Vec<Vec<u64>>,
    /// The number of recent documents at which sealing is tried again.
    pub(super) seal_from: u32,
    pub(super) lock: IndexLock,
}

/// Description of an open index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// The method, with its parameters.
    pub spec: String,
    /// The tables of its segments.
    pub layout: Layout,
    /// Documents, without removed ones.
    pub documents: u64,
    /// Removed documents, of which some bytes are left.
    pub removed: u64,
    /// The labels of the dumps, in the order of their first documents.
    pub dumps: Vec<String>,
    /// Documents that are not sealed yet.
    pub recent: u64,
    /// Documents, distinct fingerprints and bytes of each segment, the oldest first.
    pub segments: Vec<(u32, u64, u64)>,
    /// Whether the index is open for reading only.
    pub read_only: bool,
    /// The last error of sealing or merging, unless a later attempt succeeded.
    pub trouble: Option<String>,
}

impl Index {
    /// Answers `queries` independently of each other: of what each would be a copy if it were added
    /// now. `limit` is the most matches of each, or a [`Limit`] with further bounds; one match is the
    /// cheapest.
    ///
    /// All of them see the same state of the index; changes go on meanwhile. Many queries are
    /// answered by the threads of the current rayon pool. Time: up to a few microseconds for each
    /// segment and query, and a fraction of that in a batch of a million, which reads the index
    /// once, in order. Memory: for each query its answer, and if sketches are found by keys, some
    /// 40 bytes for each key and more for each list of documents with it: ask 65 536 at a time.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a sketch that is not one of the method, [`ErrorKind::Content`]
    /// if a segment is damaged, [`ErrorKind::Changed`] if one was truncated meanwhile.
    pub fn seen(&self, queries: &[Entry<'_>], limit: impl Into<Limit>) -> Result<Vec<Answer>> {
        let limit = limit.into().checked();
        for query in queries {
            self.check_sketch(query.sketch)?;
        }
        let snapshot = self.snapshot();
        let search = self.search(None, &limit);
        let mut left = limit.all_id_bytes;
        let keys = search.keys(queries, snapshot.seed);
        let known = search.of_all(&snapshot, queries, &keys)?;
        let mut nothing = Addition::new(&snapshot, search, 0);
        let answer = |(query, known)| nothing.answer_query(query, known, (&limit, &mut left));
        queries.iter().zip(known).map(answer).collect()
    }

    pub(super) fn search(&self, dump: Option<u32>, limit: &Limit) -> Search<'_> {
        Search {
            method: &*self.method,
            form: self.form,
            dump,
            limit: limit.matches,
        }
    }

    /// The newest document called `id`.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if a segment is damaged, [`ErrorKind::Changed`] if one was truncated.
    pub fn document(&self, id: &[u8]) -> Result<Option<Document>> {
        let snapshot = self.snapshot();
        let Some(newest) = snapshot.find(id)?.pop() else {
            return Ok(None);
        };
        Ok(match snapshot.get(newest)? {
            Some(record) => {
                let get = |ordinal| snapshot.get(ordinal);
                Some(Document::of(&record, sketch_of(&record, &get)?))
            }
            None => None,
        })
    }

    /// Calls `visit` with the ordinal and the record of every document of the current state, oldest
    /// first. Queries and changes go on meanwhile. Memory: recent documents that are sealed or
    /// removed meanwhile.
    ///
    /// # Errors
    /// Errors of `visit` and of [`document`](Self::document).
    pub fn for_each(&self, visit: impl FnMut(u64, &Record<'_>) -> Result<()>) -> Result<()> {
        self.view().for_each(visit)
    }

    /// The documents of the current state.
    pub fn view(&self) -> IndexView {
        IndexView(self.snapshot())
    }

    /// Describes the current state; does not wait for changes.
    pub fn info(&self) -> Info {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        let trouble: Vec<String> = trouble.iter().flatten().cloned().collect();
        let trouble = (!trouble.is_empty()).then(|| trouble.join("; "));
        let read_only = self.options.read_only;
        let snapshot = self.snapshot();
        let segments = snapshot.parts.iter().map(|part| {
            let segment = &part.segment;
            (segment.documents(), segment.distinct(), segment.bytes())
        });
        Info {
            spec: self.manifest.spec.clone(),
            layout: self.manifest.layout,
            documents: snapshot.documents(),
            removed: snapshot.next_ordinal() - snapshot.documents(),
            dumps: snapshot.dumps.to_vec(),
            recent: snapshot.recent.len().into(),
            segments: segments.collect(),
            read_only,
            trouble,
        }
    }

    /// The directory of the index.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The current state of the index. It never changes, and does not block changes of the index.
    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current)
    }

    /// Publishes a changed state; snapshots in use stay as they are. The caller has the writer.
    pub(super) fn update<T>(&self, change: impl FnOnce(&mut Snapshot) -> T) -> T {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut current))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, IndexWriter> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails unless `sketch` is empty or has the form of the method.
    pub(super) fn check_sketch(&self, sketch: &[u8]) -> Result<()> {
        match sketch.is_empty() {
            true => Ok(()),
            false => self.form.check(sketch, &*self.method),
        }
    }

    pub(super) fn refuse_if_read_only(&self) -> Result<()> {
        if !self.options.read_only {
            return Ok(());
        }
        let message = "is open for reading only (open it for writing to change it)";
        Err(Error::new(ErrorKind::Write, message).in_file(&self.directory))
    }
}

/// The documents of one state of an index, which changes of the index do not change.
pub struct IndexView(Arc<Snapshot>);

impl IndexView {
    /// Calls `visit` with the ordinal and the record of every document, oldest first.
    ///
    /// # Errors
    /// Errors of `visit` and of [`Index::document`].
    pub fn for_each(&self, visit: impl FnMut(u64, &Record<'_>) -> Result<()>) -> Result<()> {
        self.0.for_each(0, visit)
    }

    /// The document with this ordinal; `None` if it was removed.
    ///
    /// # Errors
    /// Errors of [`Index::document`].
    pub fn get(&self, ordinal: u64) -> Result<Option<Record<'_>>> {
        self.0.get(ordinal)
    }

    /// The ordinal of the document of which one with this record is a copy, and why; `None` if it is
    /// none, or if that document was removed since.
    ///
    /// # Errors
    /// Errors of [`Index::document`].
    pub fn copied(&self, record: &Record<'_>) -> Result<Option<(u64, Evidence)>> {
        match evidence(&|ordinal| self.0.get(ordinal), record.standing)? {
            Some((kept, evidence)) if self.0.get(kept)?.is_some() => Ok(Some((kept, evidence))),
            _ => Ok(None),
        }
    }

    /// The labels of the dumps, by number.
    pub fn dumps(&self) -> &[String] {
        &self.0.dumps
    }
}

//! An open index: its state, and the questions that it answers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::answer::{Answer, Document, Entry, Limit, MatchList, Query, judge};
use super::form::Form;
use super::options::{Layout, Options};
use super::snapshot::Snapshot;
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
    /// Removed documents that still take space.
    pub removed: u64,
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
    /// Answers `queries` independently of each other. `limit` is the most matches of each, or a
    /// [`Limit`] with further bounds.
    ///
    /// All of them see the same state of the index; changes go on meanwhile. Time: up to a few
    /// microseconds for each segment and query, and a fraction of that in a batch of a million,
    /// which reads the index once, in order. Memory: some 100 bytes for each query, and its answer.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a sketch that is not one of the method, [`ErrorKind::Content`]
    /// if a segment is damaged, [`ErrorKind::Changed`] if one was truncated meanwhile.
    pub fn seen(&self, queries: &[Query<'_>], limit: impl Into<Limit>) -> Result<Vec<Answer>> {
        let limit = limit.into().checked();
        for query in queries {
            self.check_sketch(query.sketch)?;
        }
        let snapshot = self.snapshot();
        let has_sketch = |query: &&Query<'_>| !query.sketch.is_empty();
        let asked: Vec<&Query<'_>> = queries.iter().filter(has_sketch).collect();
        let sketches: Vec<&[u8]> = asked.iter().map(|query| query.sketch).collect();
        let method = &*self.method;
        let mut found =
            snapshot.search(method, self.form, &sketches, limit.matches + 1, &|_| true)?;
        let mut lists = vec![MatchList::default(); asked.len()];
        let mut left = limit.all_id_bytes;
        snapshot.for_each_found(&mut found, |query, found, entry| {
            if asked[query].id != Some(entry.id) {
                lists[query].push(&limit, &mut left, entry.id, found);
            }
            Ok(())
        })?;
        let mut lists = lists.into_iter();
        let answer = |query: &Query<'_>| {
            let own = (!query.sketch.is_empty()).then(|| lists.next());
            let listed = own.flatten().unwrap_or_default();
            let known = match query.id {
                Some(id) => snapshot.find(id)?,
                None => None,
            };
            let known = known
                .map(|location| snapshot.document(location))
                .transpose()?;
            let known = known.map(|entry| entry.sketch);
            let verdict = judge(method, query.sketch, known, listed.has_any());
            Ok(Answer {
                verdict,
                matches: listed.matches,
                added: false,
                truncated: listed.truncated,
            })
        };
        queries.iter().map(answer).collect()
    }

    /// The document called `id`.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if a segment is damaged, [`ErrorKind::Changed`] if one was truncated.
    pub fn document(&self, id: &[u8]) -> Result<Option<Document>> {
        let snapshot = self.snapshot();
        let Some(location) = snapshot.find(id)? else {
            return Ok(None);
        };
        Ok(Some(Document::of(&snapshot.document(location)?)))
    }

    /// Calls `visit` with every document of the current state, oldest first. Queries and changes go
    /// on meanwhile. Memory: recent documents that are sealed or removed meanwhile.
    ///
    /// # Errors
    /// Errors of `visit` and of [`document`](Self::document).
    pub fn for_each(&self, mut visit: impl FnMut(&Entry<'_>) -> Result<()>) -> Result<()> {
        self.snapshot().for_each(|entry| visit(entry))
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
            removed: snapshot
                .removed
                .values()
                .map(|removed| removed.len() as u64)
                .sum(),
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

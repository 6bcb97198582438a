//! Has this been seen? A persistent index of sketches.
//!
//! An index is a directory: immutable, checksummed segments of sealed documents, and a small
//! database (redb) for whatever changes: the list of segments, the documents that are not sealed
//! yet, and which ones were removed. `docs/FORMAT.md` draws every byte.
//!
//! # Guarantees
//!
//! * A method's answers are complete: every document that its score accepts is found (for methods
//!   found by keys: every one that shares a key).
//! * What [`Index::add`] or [`Index::remove`] acknowledged survives a killed process and a power
//!   loss. What was not acknowledged is there as a whole, or not at all.
//! * [`Index::add`] looks and adds in one step: of two callers with the same new document, one
//!   hears that it is new.
//! * Answers depend on what was added and removed, in which order; not on segments, memory, or
//!   threads.
//! * Damage is found before it can make an answer wrong, and named.
//!
//! One process at a time has an index open for writing; the system releases its lock when it ends.
//! Within it, threads share an [`Index`]: questions run side by side, changes one after another.
//!
//! ```
//! use simtool::index::{Entry, Index, Options, Query, Verdict};
//! use simtool::kernel::Level;
//! use simtool::sketch::{Compare, hashed};
//! use std::sync::Arc;
//!
//! let method = hashed::SimHashSettings::default().method(64, Level::best())?;
//! let method: Arc<dyn Compare> = Arc::from(method as Box<dyn Compare>);
//! # let temporary = tempfile::tempdir().unwrap();
//! # let directory = temporary.path().join("seen");
//! let index = Index::create(&directory, method, "simhash, 64 bits", &Options::default())?;
//!
//! let page = Entry { id: b"http://a/", sketch: &7_u64.to_le_bytes(), payload: b"" };
//! assert_eq!(index.add(&[page], 10)?[0].verdict, Verdict::New);
//!
//! let answers = index.seen(&[Query { id: None, sketch: &5_u64.to_le_bytes() }], 10)?;
//! assert_eq!(answers[0].verdict, Verdict::Duplicate);
//! assert_eq!(answers[0].matches[0].id, b"http://a/");
//! # Ok::<(), simtool::Error>(())
//! ```

mod add;
mod answer;
mod build;
mod check;
mod copy;
mod database;
mod due;
mod form;
mod lock;
mod maintain;
mod manifest;
mod nearest;
mod open;
mod permutation;
mod plan;
mod recent;
mod record;
mod segment;
mod view;

pub use add::{MOST_ID_BYTES, MOST_PAYLOAD_BYTES, MOST_SKETCH_BYTES};
pub use answer::{Answer, Document, Entry, Limit, Match, Query, Verdict};
pub use build::{Build, Built};
pub use check::{Check, Problem};
pub use copy::{Rescued, rescue};
pub use database::NAME as DATABASE;
pub use manifest::NAME as MANIFEST;
pub use open::{BESIDE, Frozen, enclosing, frozen, is_unused, vacant};

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use serde::{Deserialize, Serialize};

use crate::io::Faults;
use crate::sketch::Compare;
use crate::{Error, ErrorKind, Result};
use add::check_entry;
use answer::Listed;
use database::Database;
use form::Form;
use lock::IndexLock;
use manifest::Manifest;
use view::View;

/// Which tables a segment of fingerprints gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// The fastest of at most 72 bytes for each different fingerprint of 64 bits; uniform ones take
    /// no more than compact ones do.
    #[default]
    Fast,
    /// At most 26 bytes for each different fingerprint of 64 bits, and 4 (8 if some are equal) for
    /// the number of its document; in proportion for other widths.
    Compact,
}

/// How an index is opened; decides no answer.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which tables a new index gets; an existing one keeps its own.
    pub layout: Layout,
    /// Bytes that each segment may hold while it is written; recent documents come on top. With
    /// [`merge_apart`](Self::merge_apart), as many segments are written at once as threads merge,
    /// and one more.
    pub memory_bytes: usize,
    /// So many recent documents become a segment.
    pub seal_documents: u32,
    /// Leave merging to threads that call [`Index::merge`], so that additions do not wait for it.
    pub merge_apart: bool,
    /// Open without writing anything, for example on a read-only file system.
    pub read_only: bool,
    /// Failures on demand, for tests.
    pub faults: Faults,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            layout: Layout::Fast,
            memory_bytes: 256 << 20,
            seal_documents: 1 << 16,
            merge_apart: false,
            read_only: false,
            faults: Faults::default(),
        }
    }
}

/// An open index.
pub struct Index {
    directory: PathBuf,
    method: Arc<dyn Compare>,
    form: Form,
    manifest: Manifest,
    options: Options,
    view: RwLock<View>,
    writer: Mutex<Writer>,
    /// Why sealing, and why merging failed last.
    trouble: Mutex<[Option<String>; 2]>,
}

/// So few questions are answered before a change is made; more have a view of their own.
const FEW: usize = 64;

/// Nobody has room for more matches of one query.
const MOST_MATCHES: usize = u32::MAX as usize;

/// What only one thread at a time has.
struct Writer {
    /// None after a failure, until it was opened again.
    database: Option<Database>,
    /// The number of the next segment.
    next: u64,
    /// Segments that are being replaced, and those that are being written for them.
    taken: Vec<u64>,
    /// Those that could not be merged since something was sealed.
    failed: Vec<Vec<u64>>,
    /// So many recent documents there have to be before sealing is tried again.
    seal_from: u32,
    lock: IndexLock,
}

/// What is known of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// The method it was made for.
    pub spec: String,
    /// The tables that its segments get.
    pub layout: Layout,
    /// Documents, without removed ones.
    pub documents: u64,
    /// Documents that were removed and still take space.
    pub removed: u64,
    /// Documents that are not sealed yet.
    pub recent: u64,
    /// Of each segment, the oldest first: its documents, its distinct fingerprints, its bytes.
    pub segments: Vec<(u32, u64, u64)>,
    /// Whether additions are possible.
    pub read_only: bool,
    /// Why sealing or merging failed last, if it did.
    pub trouble: Option<String>,
}

impl Index {
    /// What is asked by `queries`, each seen by itself; at most `limit` matches each.
    ///
    /// A question that comes while documents are added sees them or does not, in the order in
    /// which they were added. Up to a few microseconds for each segment and query, and for each of a million
    /// at once a fraction of it: large batches read the index once, in order. Memory: some 100
    /// bytes for each query of a batch, and its answer.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a fingerprint of another length, [`ErrorKind::Content`] if a
    /// segment is damaged, [`ErrorKind::Changed`] if one was truncated meanwhile.
    pub fn seen(&self, queries: &[Query<'_>], limit: usize) -> Result<Vec<Answer>> {
        self.seen_within(queries, limit.into())
    }

    /// The same, where what answers list is bounded in other ways, too: an answer that lacks
    /// matches for that is [truncated](Answer::truncated).
    ///
    /// # Errors
    /// Those of [`seen`](Self::seen).
    pub fn seen_within(&self, queries: &[Query<'_>], limit: Limit) -> Result<Vec<Answer>> {
        let limit = limit.checked();
        for query in queries {
            self.check_sketch(query.sketch)?;
        }
        let view = self.view();
        if queries.len() <= FEW {
            return self.answer(&view, queries, limit);
        }
        // A lock that is held for long would keep out a change, and behind it all other questions.
        let own = view.clone();
        drop(view);
        self.answer(&own, queries, limit)
    }

    fn answer(&self, view: &View, queries: &[Query<'_>], limit: Limit) -> Result<Vec<Answer>> {
        let asking = |query: &&Query<'_>| !query.sketch.is_empty();
        let asked: Vec<&Query<'_>> = queries.iter().filter(asking).collect();
        let sketches: Vec<&[u8]> = asked.iter().map(|query| query.sketch).collect();
        let method = &*self.method;
        let mut found = view.search(method, self.form, &sketches, limit.matches + 1, &|_| true)?;
        let mut lists = vec![Listed::default(); asked.len()];
        let mut left = limit.all_id_bytes;
        view.for_each_found(&mut found, |query, score, entry| {
            if asked[query].id != Some(entry.id) {
                lists[query].push(&limit, &mut left, entry.id, score);
            }
            Ok(())
        })?;
        let mut lists = lists.into_iter();
        let answer = |query: &Query<'_>| {
            let own = (!query.sketch.is_empty()).then(|| lists.next());
            let listed = own.flatten().unwrap_or_default();
            let known = match query.id {
                Some(id) => view.find(id)?,
                None => None,
            };
            let known = known.map(|place| view.document(place)).transpose()?;
            let known = known.map(|entry| entry.sketch);
            let verdict = answer::judge(method, query.sketch, known, listed.has_any());
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
    /// [`ErrorKind::Content`] or [`ErrorKind::Changed`] if its segment is damaged.
    pub fn document(&self, id: &[u8]) -> Result<Option<Document>> {
        let view = self.view();
        let Some(place) = view.find(id)? else {
            return Ok(None);
        };
        Ok(Some(Document::of(&view.document(place)?)))
    }

    /// Calls `visit` with every document that is there now, oldest first. Everything else goes on
    /// meanwhile. Memory: a copy of the recent documents, if some are added meanwhile.
    ///
    /// # Errors
    /// Those of `visit`; [`ErrorKind::Content`] if a segment is damaged.
    pub fn for_each(&self, mut visit: impl FnMut(&Entry<'_>) -> Result<()>) -> Result<()> {
        let view = self.view().clone();
        view.for_each(|entry| visit(entry))
    }

    /// What is known of the index; does not wait for changes.
    pub fn info(&self) -> Info {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        let trouble: Vec<String> = trouble.iter().flatten().cloned().collect();
        let trouble = (!trouble.is_empty()).then(|| trouble.join("; "));
        let read_only = self.options.read_only;
        let view = self.view();
        let segments = view.parts.iter().map(|part| {
            let segment = &part.segment;
            (segment.documents(), segment.distinct(), segment.bytes())
        });
        Info {
            spec: self.manifest.spec.clone(),
            layout: self.manifest.layout,
            documents: view.documents(),
            removed: view
                .removed
                .values()
                .map(|removed| removed.len() as u64)
                .sum(),
            recent: view.recent.len().into(),
            segments: segments.collect(),
            read_only,
            trouble,
        }
    }

    /// The directory of the index.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn view(&self) -> RwLockReadGuard<'_, View> {
        self.view.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails unless `sketch` is empty or may be one of the method's.
    fn check_sketch(&self, sketch: &[u8]) -> Result<()> {
        if sketch.is_empty() {
            Ok(())
        } else {
            self.form.check(sketch, &*self.method)
        }
    }

    fn refuse_if_read_only(&self) -> Result<()> {
        if !self.options.read_only {
            return Ok(());
        }
        let message = "is open for reading only (open it for writing to change it)";
        Err(Error::new(ErrorKind::Write, message).in_file(&self.directory))
    }
}

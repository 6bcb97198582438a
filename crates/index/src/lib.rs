//! A persistent index of sketches.
//!
//! An index is a directory: immutable, checksummed segments of sealed documents, and a small
//! database (redb) for everything that changes: the list of segments, the documents that are not
//! sealed yet, and the removals. `docs/reference/index-format.md` defines every byte.
//!
//! Internal to simtool, without a promise of stability; `simtool` is the library for users.
//!
//! # Guarantees
//!
//! * Answers are those of one deduplication of all documents, in the order of their addition, that
//!   keeps the first of the copies: a document is a copy of the first one with its words, or else
//!   of the oldest kept one that is near and, if sketches tell, similar (for methods that search by
//!   keys: that shares a key). However documents are divided into calls, the decisions are the same.
//! * An acknowledged [`Index::add`] or [`Index::remove`] survives a killed process and a power
//!   loss. A change without acknowledgement is there completely or not at all.
//! * [`Index::add`] looks up and adds in one step: if two callers add the same new document, one
//!   of them is told that it is new.
//! * Answers depend on the additions and removals and their order; not on segments, memory or
//!   threads.
//! * Damage is detected before it can make an answer wrong, and the error names the file.
//!
//! One process at a time has an index open for writing; the system releases its lock when it ends.
//! Threads share an [`Index`]. Queries run in parallel, each on a snapshot; changes run one after
//! another, and publish new snapshots.
//!
//! ```
//! use simtool_index::{Entry, Index, Options, Verdict};
//! use simtool_core::kernel::Level;
//! use simtool_core::sketch::{Compare, hashed};
//! use std::sync::Arc;
//!
//! let method = hashed::SimHashSettings::default().method(64, Level::best())?;
//! let method: Arc<dyn Compare> = Arc::from(method as Box<dyn Compare>);
//! # let temporary = tempfile::tempdir().unwrap();
//! # let directory = temporary.path().join("seen");
//! let index = Index::create(&directory, method, "simhash, 64 bits", &Options::default())?;
//!
//! let sketch = 7_u64.to_le_bytes();
//! let page = Entry { id: b"http://a/", sketch: &sketch, ..Entry::default() };
//! assert_eq!(index.add(&[page], "", 10)?[0].verdict, Verdict::New);
//!
//! let sketch = 5_u64.to_le_bytes();
//! let answers = index.seen(&[Entry { sketch: &sketch, ..Entry::default() }], 10)?;
//! assert_eq!(answers[0].verdict, Verdict::Duplicate);
//! assert_eq!(answers[0].matches[0].id, b"http://a/");
//! # Ok::<(), simtool_core::Error>(())
//! ```

mod answer;
mod decide;
mod entries;
mod form;
mod found;
mod handle;
mod known;
mod operations;
mod options;
mod permutation;
mod recent;
mod record;

mod segment;
mod snapshot;
mod storage;

pub use answer::{Answer, Entry, Evidence, Limit, Match, SeenBefore, Verdict};
pub use handle::{Index, IndexView, Info};
pub use operations::add::{MAX_ID_BYTES, MAX_PAYLOAD_BYTES, MAX_SKETCH_BYTES};
pub use operations::build::Build;
pub use operations::check::{Check, Problem};
pub use operations::copy::{Rescued, rescue};
pub use operations::open::{Parameters, check_creatable, is_index, parameters};
pub use operations::replay::RemovedDump;
pub use options::{Layout, Options};
pub use record::{Document, NearCopy, Record, Standing};
pub use storage::database::NAME as DATABASE;
pub use storage::manifest::NAME as MANIFEST;
pub use storage::paths::{BESIDE, enclosing, is_unused};

use simtool_core::{Error, ErrorKind, Result, kernel, search, sketch};
use simtool_files as io;

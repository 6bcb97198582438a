//! A persistent index of sketches.
//!
//! An index is a directory: immutable, checksummed segments of sealed documents, and a small
//! database (redb) for everything that changes: the list of segments, the documents that are not
//! sealed yet, and the removals. `docs/FORMAT.md` defines every byte.
//!
//! Internal to simtool, without a promise of stability; `simtool` is the library for users.
//!
//! # Guarantees
//!
//! * Answers are complete: every document that the method's score accepts is found (for methods
//!   that search by keys: every such document that shares a key).
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
//! use simtool_index::{Entry, Index, Options, Query, Verdict};
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
//! let page = Entry { id: b"http://a/", sketch: &7_u64.to_le_bytes(), payload: b"" };
//! assert_eq!(index.add(&[page], 10)?[0].verdict, Verdict::New);
//!
//! let answers = index.seen(&[Query { id: None, sketch: &5_u64.to_le_bytes() }], 10)?;
//! assert_eq!(answers[0].verdict, Verdict::Duplicate);
//! assert_eq!(answers[0].matches[0].id, b"http://a/");
//! # Ok::<(), simtool_core::Error>(())
//! ```

mod answer;
mod form;
mod handle;
mod nearest;
mod operations;
mod options;
mod permutation;
mod recent;
mod record;
mod segment;
mod snapshot;
mod storage;

pub use answer::{Answer, Document, Entry, Limit, Match, Query, Verdict};
pub use handle::{Index, Info};
pub use operations::add::{MAX_ID_BYTES, MAX_PAYLOAD_BYTES, MAX_SKETCH_BYTES};
pub use operations::build::{Build, Built};
pub use operations::check::{Check, Problem};
pub use operations::copy::{Rescued, rescue};
pub use operations::open::{Parameters, check_creatable, parameters};
pub use options::{Layout, Options};
pub use storage::database::NAME as DATABASE;
pub use storage::manifest::NAME as MANIFEST;
pub use storage::paths::{BESIDE, enclosing, is_unused};

use simtool_core::{Error, ErrorKind, Result, kernel, search, sketch};
use simtool_files as io;

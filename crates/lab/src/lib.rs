//! Evaluation of methods on documents with known near-duplicates.
//!
//! Internal to simtool, without a promise of stability; `simtool` is the library for users.
//!
//! ```text
//! inputs ─► collection: all methods in one pass ─► scores of the listed pairs ─► evaluate
//!                         │                   └─► all pairs that each method finds ─┘
//!                         └─ planted copies, if there is no truth
//! ```
//!
//! [`Tuning`] recommends a tokenizer, a method and a threshold by the same scores and by a judgement
//! of the pairs that they propose.

mod grid;
mod hard;
mod job;
mod join;
mod judge;
mod planted;
mod prepared;
mod proposals;
mod source;
mod trial;
mod trials;
mod tuning;

pub use grid::{Question, Setting, grid};
pub use job::{Job, Report};
pub use judge::{Alignment, MAX_ALIGNED};
pub use planted::Planting;
pub use source::{NamedFile, TruthSource};
pub use trial::{Proposed, Rejection, Trial};
pub use tuning::{Measured, Tuned, Tuning};

use simtool_core::{Error, ErrorKind, Result};

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
//! [`Tuning`] recommends a method and a threshold by the same scores and by a judgement of the pairs
//! that a method proposes.

mod hard;
mod job;
mod join;
mod judge;
mod planted;
mod prepared;
mod proposals;
mod settings;
mod source;
mod tuning;

pub use job::{Job, Report};
pub use planted::Planting;
pub use settings::candidates;
pub use source::{NamedFile, TruthSource};
pub use tuning::{MAX_WRONG, Proposed, Rejection, Trial, Tuned, Tuning};

use simtool_core::{Error, ErrorKind, Result};

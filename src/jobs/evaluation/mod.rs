//! Evaluation of methods on documents with known near-duplicates.
//!
//! ```text
//! inputs ─► collection: all methods in one pass ─► scores of the listed pairs ─► evaluate
//!                         │                   └─► all pairs that each method finds ─┘
//!                         └─ planted copies, if there is no truth
//! ```

mod bit_means;
mod job;
mod join;
mod planted;
mod prepared;
mod tuning;

pub use bit_means::BitMeans;
pub use job::{Job, NamedFile, Report, TruthSource};
pub use planted::Planting;
pub use tuning::{CANDIDATES, Recommendation, Rejection, Tuning, recommend};

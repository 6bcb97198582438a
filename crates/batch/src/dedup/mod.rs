//! Deduplication: finds duplicates, reports them, and writes the inputs without them.
//!
//! ```text
//! inputs ─► first_reading ─► decisions ───────────────────────────────► report ─► write
//!  chunks    rows and          groups ─► near ──────────► resolve         OUT/      files,
//!            sketches          same      mark, shingle    decisions,      summary   shards
//!                              words     sets, stars      clusters
//! ```
//!
//! An interrupted run resumes: finished segments of the first reading, decisions, reports and files
//! of the dump are kept.

mod batch;
mod decision;
mod decisions;
mod estimate;
mod first_reading;
mod groups;
mod job_context;
mod lower;
mod marks;
mod memory;
mod near;
mod report;
mod run;
mod settings;

pub use crate::estimate::run_cost::{RunCost, Shortage};
pub use crate::scope::Scope;
pub use crate::table::columns::Columns;
pub use crate::table::row::{Flags, Label, Row};
pub use crate::table::segment::Segment;
pub use crate::write::settings::{DumpSettings, SkippedRecords};
pub use estimate::job_estimate::DedupEstimate;
pub use estimate::lower::{LowerEstimate, LowerRate};
#[cfg(feature = "index")]
pub(crate) use first_reading::sketching::keep_facts;
pub use first_reading::sketching::{RowSketcher, RunInputs};
pub use near::neighbours::{Pool, build_index, have_neighbours};
pub use report::largest::{LargestCluster, ShownDocument};
pub use report::summary::DedupSummary;
pub use settings::containment::CONTAINMENT_METHOD;
pub use settings::job::{
    ClusterRule, DEFAULT_METHOD, DEFAULT_THOUSANDTHS, DedupJob, EXACT, MOST_SHINGLE, NORMALIZED,
    PairForms, WriteMode, spec_for_verification, with_similarity,
};
pub use settings::loss_limit::LossLimit;
pub use settings::source_code::source_code;
pub use settings::url_rule::{URL, UrlRule};
pub use settings::verification::Verification;

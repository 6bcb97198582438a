//! Deduplication: finds duplicates, reports them, and writes the inputs without them.
//!
//! ```text
//! inputs ─► sketching ─► gathered ─► groups ─► near ──────────► resolve ─► reports ─► summary
//!  chunks    rows and     by number   same     mark, shingle    decisions   OUT/
//!            sketches                 words    sets, stars                  dump
//! ```
//!
//! An interrupted run resumes: finished segments of the first reading, decisions, reports and files
//! of the dump are kept.

mod batch;
mod beginnings;
mod clusters;
mod containment;
mod decided;
mod decision;
mod dump;
mod estimate;
mod frequencies;
mod groups;
mod guard;
mod job;
mod keep_ranks;
mod known;
mod largest;
mod leaders;
mod lines;
mod loss_limit;
mod marking;
mod marking_rate;
mod marks;
mod memory;
mod near;
mod neighbours;
mod page;
mod pair_tables;
mod refused;
mod reported;
mod reports;
mod resolve;
mod run;
mod same_url;
mod sample;
mod scope_search;
mod second_reading;
mod shard_documents;
mod shingle_sets;
mod sketching;
mod summary;
#[cfg(feature = "parquet")]
mod table_dump;
mod url_rule;
mod verification;
mod warnings;

pub use crate::estimate::run_cost::{RunCost, Shortage};
pub use crate::scope::Scope;
pub use crate::write::settings::{DumpSettings, SkippedRecords};
pub use containment::CONTAINMENT_METHOD;
pub use estimate::Estimate;
pub use job::{
    ClusterRule, DEFAULT_METHOD, DEFAULT_THOUSANDTHS, EXACT, Job, MOST_SHINGLE, NORMALIZED,
    PairForms, WriteMode, spec_for_verification, with_similarity,
};
pub use largest::{LargestCluster, ShownDocument};
pub use loss_limit::LossLimit;
pub use neighbours::{Pool, build_index, have_neighbours};
pub use summary::Summary;
pub use url_rule::{URL, UrlRule};
pub use verification::Verification;

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

mod begin;
mod bits;
mod copying;
mod decided;
mod decision;
mod dump;
mod estimate;
mod frequencies;
mod gathered;
mod groups;
mod identity;
mod invocation;
mod job;
mod known;
mod leaders;
mod lines;
mod mark;
mod memory;
mod near;
mod neighbours;
mod numbering;
mod packing;
mod page;
mod pair_tables;
mod refused;
mod related;
mod reported;
mod reports;
mod resolve;
mod row;
mod run;
mod sample;
mod segment;
mod shingle_sets;
mod sketching;
mod summary;
#[cfg(feature = "parquet")]
mod table_dump;
mod targets;
mod warnings;
mod work;

pub use begin::{BeginOutcome, UnfinishedRun};
pub use estimate::{Estimate, Shortage};
#[cfg(feature = "index")]
pub(crate) use identity::modified;
pub use invocation::{Against, Invocation};
pub use job::{
    ClusterRule, DEFAULT_METHOD, DEFAULT_THOUSANDTHS, DumpSettings, EXACT, Job, MOST_SHINGLE,
    NORMALIZED, PairForms, SkippedRecords, Verification, WriteMode, spec_for_verification,
};
pub use known::{KnownDocuments, Nearest};
pub use memory::least_memory_bytes;
pub(crate) use neighbours::{Pool, build_index, have_neighbours};
pub use summary::Summary;
pub use warnings::Warning;

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
mod beginnings;
mod bits;
mod by_number;
mod candidates;
mod clusters;
mod columns;
mod compared;
mod containment;
mod copying;
mod decided;
mod decision;
mod dump;
mod edited_copies;
mod estimate;
mod frequencies;
mod gathered;
mod groups;
mod guard;
mod identity;
mod input_costs;
mod invocation;
mod job;
mod keep_ranks;
mod known;
mod largest;
mod leaders;
mod lines;
mod loss_limit;
mod mark;
mod marking;
mod marks;
mod memory;
mod near;
mod neighbours;
mod numbering;
mod other_methods;
mod packing;
mod page;
mod pair_tables;
mod refused;
mod related;
mod reported;
mod reports;
mod resolve;
mod rewritten;
mod row;
mod run;
mod run_cost;
mod same_url;
mod sample;
mod sampled_output;
mod sampling;
mod scope;
mod scope_search;
mod search_form;
mod second_reading;
mod segment;
mod segment_store;
mod shard_documents;
mod shingle_sets;
mod sketching;
mod spooled_records;
mod stamp;
mod start;
mod summary;
mod summary_text;
#[cfg(feature = "parquet")]
mod table_dump;
mod targets;
mod url_rule;
mod verification;
mod warnings;
mod work;

pub use begin::{BeginOutcome, UnfinishedRun};
pub(crate) use bits::Bits;
pub use compared::ScopeCounts;
pub use containment::CONTAINMENT_METHOD;
pub(crate) use dump::check as check_dump;
pub use edited_copies::FoundCopies;
pub use estimate::Estimate;
pub(crate) use identity::described_inputs;
#[cfg(feature = "index")]
pub(crate) use identity::modified;
pub(crate) use input_costs::{InputCosts, described_bytes};
pub use invocation::{Against, Invocation};
pub use job::{
    ClusterRule, DEFAULT_METHOD, DEFAULT_THOUSANDTHS, DumpSettings, EXACT, Job, MOST_SHINGLE,
    NORMALIZED, PairForms, SkippedRecords, WriteMode, spec_for_verification, with_similarity,
};
pub use known::{KnownDocuments, Nearest};
pub use largest::{LargestCluster, ShownDocument};
pub use loss_limit::LossLimit;
pub use memory::least_memory_bytes;
pub(crate) use memory::readers;
#[cfg(feature = "parquet")]
pub(crate) use memory::spare_bytes;
pub use neighbours::{Pool, build_index, have_neighbours};
pub(crate) use numbering::Numbering;
pub use other_methods::OtherMethod;
pub(crate) use packing::{compress, levels};
pub(crate) use related::RelatedCounts;
pub(crate) use rewritten::{
    Changes, Content, Finished as FinishedSources, Replaced, RewrittenFiles,
};
pub(crate) use row::Label;
pub use run_cost::{RunCost, Shortage};
pub(crate) use sampled_output::OutputForm;
pub(crate) use sampling::{Measure, Measured, Sampler, since};
pub use scope::Scope;
pub(crate) use scope::{Grouper, LANGUAGE_FIELDS, path_of};
pub use search_form::SearchForm;
pub(crate) use segment::ChunkEntry;
pub(crate) use sketching::too_many;
pub(crate) use stamp::{Stamp, changed};
pub(crate) use start::{CheckedJob, first_stream, spooled_sources};
pub use summary::Summary;
pub(crate) use summary::{describe_left_out, digests, timings};
pub(crate) use summary_text::{described_source, summary_text};
#[cfg(feature = "parquet")]
pub(crate) use table_dump::check as check_tables;
pub(crate) use targets::{check as check_targets, of_sources as targets_of};
pub use url_rule::{URL, UrlRule};
pub use verification::Verification;
pub use warnings::Warning;
pub(crate) use work::{
    Finished, Opened, OutputGroup, Outputs, SUMMARY, TIMINGS, Work, WorkFile, checksummed_text,
    describe, digest_value, entries, fields, parsed_summary,
};

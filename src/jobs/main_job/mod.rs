//! The main job: the articles near each sample.
//!
//! ```text
//! articles ─► count ─► rank ─► features ─► fingerprints ─┐
//!                └─ kept words ───────────────┘           ├─► search ─► blocks, in sample order
//! samples ─────────────────────────────────► fingerprints┘
//! ```

mod blocks;
mod count;
mod fingerprints;
mod guess;
mod job;
mod kept;
mod rank;
mod search;
mod sorted_counts;
mod stop_terms;
mod units;

pub use blocks::Sink;
pub use job::{Inputs, Job, Summary};
pub use rank::Evidence;

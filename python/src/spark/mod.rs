//! Deduplication in steps that any engine for data frames can distribute.
//!
//! A [`SparkTask`] is one step of one task: it takes record batches and gives record batches, and
//! knows no engine. Steps that need rows in an order check it.
//!
//! ```text
//! texts ─► sketch ─► leaders ─► number ─► keys ─► near ─► sets ─► prefix ─► pairs ─► first ─► verify
//!           map      by digest   by rank   map    by key   map      map    by element by rank  by rank
//!                                                  └──────► listed (map) ─────────────┘
//!
//!          settle or union (one task) ─► next pairs, or refusals (by key) ─► reports by joins
//! ```

mod batch;
mod bits;
mod elements;
mod first;
mod groups;
mod keys;
mod leaders;
mod listed;
mod near;
mod number;
mod packed;
mod pairs;
mod prefix;
mod read;
mod refusals;
mod sets;
mod settings;
mod settle;
mod sketch;
mod stage;
mod union;
mod verify;

pub use read::{FileDocuments, read_file};
pub use stage::{SparkTask, describe};

//! Deduplication in steps that any engine for data frames can distribute.
//!
//! A [`Task`] is one step on the rows of one partition: it takes record batches and gives record
//! batches, and knows no engine. Steps that need rows in an order check it. [`FileDocuments`] reads
//! the documents of a file.
//!
//! ```text
//! texts ─► sketch ─► leaders ─► number ─► keys ─► near ─► sets ─► prefix ─► pairs ─► first ─► verify
//!           map      by digest   by rank   map    by key   map      map    by element by rank  by rank
//!                                                  └──────► listed (map) ─────────────┘
//!
//!          settle or union (one task) ─► next pairs, or refusals (by key) ─► reports by joins
//! ```

mod candidates;
mod columns;
mod decisions;
mod documents;
mod groups;
mod numbers;
mod settings;
mod sketches;
mod step;
mod task;

pub use columns::Texts;
pub use documents::{FileDocuments, ReadSettings};
pub use settings::Settings;
pub use task::Task;

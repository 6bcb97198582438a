//! Jobs: what simtool does with documents.
//!
//! A job has validated settings, and a function that runs it with [`crate::engine::Resources`].
//! Jobs do not depend on each other, except that [`explain`] and [`evaluation`] use parts of
//! others.

pub mod dedup;
pub mod evaluation;
pub mod explain;
pub mod main_job;
pub mod matching;
#[cfg(feature = "index")]
pub mod seen;

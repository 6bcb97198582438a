//! Jobs: what simtool does with documents.
//!
//! A job has validated settings, and a function that runs it with [`crate::engine::Resources`].
//! Jobs do not depend on each other, except that [`explain`], [`evaluation`] and [`passages`]
//! use parts of others. [`shards`] is a form of output of [`dedup`] and [`passages`].

pub mod dedup;
pub mod evaluation;
pub mod explain;
pub mod main_job;
pub mod matching;
pub mod passages;
#[cfg(feature = "index")]
pub mod seen;
pub mod shards;

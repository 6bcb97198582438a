//! Jobs: what simtool does with documents.
//!
//! Internal to simtool, without a promise of stability; `simtool` is the library for users.
//!
//! A job has validated settings, and a function that runs it with [`simtool_engine::Resources`].
//! Jobs do not depend on each other, except that [`explain`] and [`passages`] use parts of others.
//! [`shards`] is a form of output of [`dedup`] and [`passages`].

pub mod dedup;
pub mod explain;
pub mod main_job;
pub mod matching;
pub mod passages;
#[cfg(feature = "index")]
pub mod seen;
pub mod shards;

use simtool_core::{Error, ErrorKind, Result};

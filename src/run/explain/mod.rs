//! Why are two documents near, or not?
//!
//! [`Lookup`] finds documents by place or by id, [`compare`] asks every method about two of them.
//! Both read as a deduplication with the same settings does, so that their answers are its own.

mod compare;
mod lookup;

pub use compare::{Comparison, Evidence, Outcome, Settings, Verdict, compare};
pub use lookup::{Found, Lookup};

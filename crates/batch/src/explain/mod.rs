//! Explanation of why two documents are near or not.
//!
//! [`Lookup`] finds documents by place or by id, [`compare`] applies every method to two of them.
//! Both read as a deduplication with the same settings does, so that their results agree with it.

mod compare;
mod lookup;

pub use compare::{Comparison, Evidence, ExplainSettings, Outcome, Verdict, compare};
pub use lookup::{FoundDocument, Lookup};

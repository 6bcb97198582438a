//! Parts of documents that are repeated elsewhere: [`lines`] finds repeated units.
//!
//! ```text
//! inputs ─► first reading ─► second reading ─► counting ─► reports ─► summary
//!  chunks   documents, table   units that may    removed     OUT/
//!           of units           be repeated       ranges      rewritten inputs
//! ```

mod action;
mod documents;
mod ranges;
mod seen_twice;

pub mod lines;

pub use action::{Action, DropShare};

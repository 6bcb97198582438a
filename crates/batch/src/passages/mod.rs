//! Parts of documents that are repeated elsewhere: [`lines`] finds repeated units, [`spans`] repeated
//! stretches of any length, and [`decontaminate`] parts of evaluation sets.
//!
//! A [`Search`] decides which ranges of texts go. What it has in common with others is done for it:
//! the start and the resuming of a run, reports, and the writing of inputs.
//!
//! ```text
//! inputs ─► first reading ─► decide ───────► reports ─► documents ─► summary
//!  chunks   documents, and   the search:     OUT/       cut, masked
//!           what the search  removed ranges             or dropped
//!           finds in them    and documents
//! ```

mod action;
mod batch;
mod costs;
mod decided;
mod documents;
mod estimate;
mod first_reading;
mod item;
mod items_list;
mod new_texts;
mod page;
mod ranges;
mod remains;
mod repeated;
mod reports;
mod run;
mod search;
mod seen_twice;
mod summary;
mod texts;
mod too_little;
mod totals;
mod warnings;

pub mod decontaminate;
pub mod lines;
pub mod spans;

pub use action::{Action, DropShare};
pub use estimate::{Estimate, IndexSize, KeptPlaces, Readings};
pub use remains::Remains;
#[cfg(feature = "parquet")]
pub(crate) use reports::SPANS;
pub use search::{Common, Names, Search};
pub use summary::Summary;
pub use totals::Outcome;

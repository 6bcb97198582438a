//! Parts of documents that are repeated elsewhere: [`lines`] finds repeated units, [`spans`] repeated
//! stretches of any length, and [`decontaminate`] parts of evaluation sets.
//!
//! A [`PassageSearch`] decides which ranges of texts go. What it has in common with others is done for it:
//! the start and the resuming of a run, reports, and the writing of inputs.
//!
//! ```text
//! inputs ─► first reading ─► decide ───────► reports ─► documents ─► summary
//!  chunks   documents, and   the search:     OUT/       cut, masked
//!           what the search  removed ranges             or dropped
//!           finds in them    and documents
//! ```

mod batch;
mod decisions;
mod estimate;
mod first_reading;
mod report;
mod run;
mod search;
mod settings;

pub mod decontaminate;
pub mod lines;
pub mod spans;

pub use estimate::cost::{IndexSize, KeptPlaces, PassageEstimate, Readings};
#[cfg(feature = "parquet")]
pub(crate) use report::spans::SPANS;
pub use report::summary::PassageSummary;
pub use report::totals::OutcomeTotals;
pub use search::{Names, PassageSearch};
pub use settings::action::{Action, DropShare};
pub use settings::kept_occurrence::KeptOccurrence;
pub use settings::passage_settings::PassageSettings;
pub use settings::remains::Remains;

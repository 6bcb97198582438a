//! Helpers: jobs.

use simtool::jobs::passages::KeptOccurrence;
use simtool::jobs::passages::spans::{Least, SpansJob};
use simtool::text::Choice;
use simtool::text::units::Snap;

use crate::passages;
pub use crate::passages::resources;

/// A job that marks stretches of three words that occur earlier.
pub fn job() -> SpansJob {
    SpansJob {
        least: Least::Words(3),
        tokenizer: Choice::Auto,
        keep: KeptOccurrence::First,
        snap: Snap::None,
        listed: 50,
        common: passages::marking(),
    }
}

/// A job that cuts what it finds, and drops documents of which less than three words remain.
pub fn cutting() -> SpansJob {
    SpansJob {
        common: passages::cutting(),
        ..job()
    }
}

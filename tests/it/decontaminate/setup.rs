//! Helpers: jobs.

use simtool::jobs::passages::decontaminate::{DecontaminateJob, LeastWords, Widening};
use simtool::text::Choice;

use crate::passages;
pub use crate::passages::resources;

/// A job that marks n-grams of three words, and shorter items of two.
pub fn job() -> DecontaminateJob {
    DecontaminateJob {
        least: LeastWords(3),
        least_item: LeastWords(2),
        tokenizer: Choice::Auto,
        clusters: None,
        edited: None,
        has_answers: false,
        most_documents: None,
        widening: Widening::default(),
        most_pieces: None,
        reference_reading: passages::marking().reading,
        common: passages::marking(),
    }
}

/// A job that cuts what it finds, and drops documents of which less than three words remain.
pub fn cutting() -> DecontaminateJob {
    DecontaminateJob {
        most_documents: Some(40),
        common: passages::cutting(),
        ..job()
    }
}

//! Which segments are to be merged?
//!
//! Segments of about the same size are merged four at a time, so that a document is copied about
//! log₄(n / 65 536) times, and a question looks into few of them. Only neighbours in age are
//! merged: documents stay in the order in which they were added. A segment of which a good part was removed is written anew by itself.

use std::ops::Range;

use super::Options;
use super::maintain::SEAL_BYTES;
use super::segment::MOST_DOCUMENTS;
use super::view::{Part, View};

/// So many segments of a size become one.
const FAN_IN: usize = 4;
/// More segments than that are too many: each is looked into by every question.
const OVERDUE: usize = 64;

/// What is left alone.
pub struct Avoided<'a> {
    /// Segments that are being replaced.
    pub taken: &'a [u64],
    /// Segments that could not be replaced by one.
    pub failed: &'a [Vec<u64>],
    /// More documents together than this.
    pub most_documents: u64,
}

/// Neighbours that should become one segment: the smallest that there are.
pub fn due(view: &View, options: &Options, avoided: &Avoided<'_>) -> Option<Range<usize>> {
    let parts = &view.parts;
    let is_free = |part: &Part| !avoided.taken.contains(&part.number);
    let most_documents = avoided.most_documents.min(MOST_DOCUMENTS.into());
    let has_failed = |range: &Range<usize>| {
        let numbers = parts[range.clone()].iter().map(|part| part.number);
        let is_it = |failed: &Vec<u64>| numbers.clone().eq(failed.iter().copied());
        avoided.failed.iter().any(is_it)
    };
    let fits = |range: &Range<usize>| {
        let documents = parts[range.clone()]
            .iter()
            .map(|part| u64::from(part.segment.documents()));
        documents.sum::<u64>() <= most_documents && !has_failed(range)
    };
    let untidy = |at: &usize| is_free(&parts[*at]) && is_untidy(view, &parts[*at], options);
    let untidy = (0..parts.len())
        .filter(untidy)
        .map(|at| at..at + 1)
        .find(fits);
    if untidy.is_some() {
        return untidy;
    }
    let tiers: Vec<u32> = parts.iter().map(|part| tier(part, options)).collect();
    let largest = tiers.iter().copied().max()?;
    for tier in 0..=largest {
        let mut end = parts.len();
        while end > 0 {
            let belongs = |at: &usize| tiers[*at] <= tier && is_free(&parts[*at]);
            let start = end - (0..end).rev().take_while(belongs).count();
            let run = start..end;
            let of_the_tier = tiers[run.clone()].iter().filter(|of| **of == tier).count();
            let many = of_the_tier >= FAN_IN || is_overdue(view) && run.len() >= FAN_IN;
            if many && fits(&run) {
                return Some(run);
            }
            end = start.min(end - 1);
        }
    }
    None
}

/// Whether there are more segments than questions should have to look into.
pub fn is_overdue(view: &View) -> bool {
    view.parts.len() > OVERDUE
}

/// About how often the documents of a segment were merged, if four of a size are at a time.
fn tier(part: &Part, options: &Options) -> u32 {
    let documents = part.segment.documents() / options.seal_documents.max(1);
    let bytes = part.segment.bytes() / SEAL_BYTES as u64;
    u64::from(documents).max(bytes).max(1).ilog2() / 2
}

/// Whether so much of a segment was removed that it is worth while to write it anew.
fn is_untidy(view: &View, part: &Part, options: &Options) -> bool {
    let removed = view
        .removed
        .get(&part.number)
        .map_or(0, |removed| removed.len());
    let documents = part.segment.documents() as usize;
    removed > documents / 3 && removed >= options.seal_documents as usize / 4
}

//! The merge policy: which segments are merged next.
//!
//! Recent documents are *sealed*: written to a segment of their own. Four or more segments of about
//! the same size are merged into one. So a document is copied about log₄(n / 65 536) times, and a
//! query searches few segments. Only segments that are adjacent in age are merged, which keeps
//! documents in the order of their addition. A segment with many removed documents is rewritten
//! alone.

use std::ops::Range;

use crate::options::Options;
use crate::segment::MAX_DOCUMENTS;
use crate::snapshot::{Part, Snapshot};

/// Recent documents are sealed when their records take this number of bytes, however few they are.
pub const SEAL_BYTES: usize = 64 << 20;
/// The least number of segments of a size that are merged.
const FAN_IN: usize = 4;
/// More segments than this are too many, since every query searches each of them.
const OVERDUE: usize = 64;

/// What a merge must not contain.
pub struct Exclusions<'a> {
    /// Numbers of segments that are being merged.
    pub taken: &'a [u64],
    /// Merges that failed, each as the numbers of its segments.
    pub failed: &'a [Vec<u64>],
    /// The maximum number of documents of a merge.
    pub most_documents: u64,
}

/// The next merge: a segment to rewrite, or else adjacent segments of the smallest size of which
/// there are enough. `None` if nothing is to be merged.
pub fn next_merge(
    snapshot: &Snapshot,
    options: &Options,
    exclusions: &Exclusions<'_>,
) -> Option<Range<usize>> {
    let parts = &snapshot.parts;
    let is_free = |part: &Part| !exclusions.taken.contains(&part.number);
    let most_documents = exclusions.most_documents.min(MAX_DOCUMENTS.into());
    let has_failed = |range: &Range<usize>| {
        let numbers = parts[range.clone()].iter().map(|part| part.number);
        let is_same = |failed: &Vec<u64>| numbers.clone().eq(failed.iter().copied());
        exclusions.failed.iter().any(is_same)
    };
    let fits = |range: &Range<usize>| {
        let documents = parts[range.clone()]
            .iter()
            .map(|part| u64::from(part.segment.documents()));
        documents.sum::<u64>() <= most_documents && !has_failed(range)
    };
    let is_rewritten =
        |at: &usize| is_free(&parts[*at]) && has_many_removed(snapshot, &parts[*at], options);
    let rewritten = (0..parts.len())
        .filter(is_rewritten)
        .map(|at| at..at + 1)
        .find(fits);
    if rewritten.is_some() {
        return rewritten;
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
            let many = of_the_tier >= FAN_IN || is_overdue(snapshot) && run.len() >= FAN_IN;
            if many && fits(&run) {
                return Some(run);
            }
            end = start.min(end - 1);
        }
    }
    None
}

/// Whether there are more segments than a query should search.
pub fn is_overdue(snapshot: &Snapshot) -> bool {
    snapshot.parts.len() > OVERDUE
}

/// About how often the documents of a segment were merged, with four segments at a time.
fn tier(part: &Part, options: &Options) -> u32 {
    let documents = part.segment.documents() / options.seal_documents.max(1);
    let bytes = part.segment.bytes() / SEAL_BYTES as u64;
    u64::from(documents).max(bytes).max(1).ilog2() / 2
}

/// Whether a segment should be rewritten because of the number of its removed documents.
fn has_many_removed(snapshot: &Snapshot, part: &Part, options: &Options) -> bool {
    let removed = snapshot
        .removed
        .get(&part.number)
        .map_or(0, |removed| removed.len());
    let documents = (part.segment.documents() - part.segment.removed()) as usize;
    removed > documents / 3 && removed >= options.seal_documents as usize / 4
}

//! Warnings: settings without effect, and text that may be misread.

use super::totals::SearchTotals;
use crate::passages::decisions::item::ReferenceTotals;
use crate::passages::search::PassageSearch;
use crate::skeleton::warning::Warning;
use simtool_corpus::{Compression, Source};

/// The warnings of a run with these `totals` over the input `sources`.
pub fn warnings<S: PassageSearch>(
    search: &S,
    totals: &SearchTotals,
    references: &[ReferenceTotals],
    sources: &[Source],
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if totals.all.documents.seen == 0 {
        let message = "the inputs hold no documents".to_owned();
        warnings.push(Warning::new("inputs", 0, message));
    }
    warnings.extend(search.warnings(totals, references));
    if totals.skipped_references > 0 {
        let against = S::NAMES.against;
        let message = format!(
            "{against}: {} of {} documents could not be read, so nothing is compared with them",
            totals.skipped_references,
            totals.references + totals.skipped_references
        );
        warnings.push(Warning::new(against, totals.skipped_references, message));
    }
    let is_compressed = |source: &Source| source.compression != Compression::None;
    let level = search.common().dump.compression_level;
    if level.is_some() && !sources.iter().any(is_compressed) {
        let message = "compression_level: no input is compressed, so nothing is".to_owned();
        warnings.push(Warning::new("compression_level", 0, message));
    }
    for (documents, message) in totals.doubts.messages(sources) {
        warnings.push(Warning::new("text", documents, message));
    }
    warnings
}

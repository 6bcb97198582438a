//! Which pairs a job needs.

use crate::settings::Settings;

/// Which pairs a job needs.
pub struct PairFilter {
    /// Whether documents are connected by chains, so that all pairs count.
    pub components: bool,
    against_only: bool,
    /// The number of documents of the other collection, which have the first ranks.
    references: i64,
}

impl PairFilter {
    /// The pairs that the settings need.
    pub fn new(settings: &Settings) -> PairFilter {
        PairFilter {
            components: settings.components,
            against_only: settings.against_only,
            references: settings.references,
        }
    }

    /// Whether a document may be dropped, or joined with another one.
    pub fn has_any(&self, member: i64) -> bool {
        self.components || member >= self.references
    }

    /// Whether a document may be dropped for an earlier one, or joined with it.
    pub fn has(&self, member: i64, earlier: i64) -> bool {
        self.has_any(member) && (self.components || !self.against_only || earlier < self.references)
    }
}

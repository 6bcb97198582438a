//! Which pairs a job needs.

use crate::context::Context;

/// Which pairs a job needs.
#[derive(Clone, Copy)]
pub struct PairFilter {
    /// Whether documents are connected by chains, so that all pairs count.
    pub components: bool,
    against_only: bool,
    /// The rank of the first document that is not of the other collection.
    references: i64,
}

impl PairFilter {
    /// The pairs that a job needs.
    pub fn new(context: &Context<'_>) -> PairFilter {
        PairFilter {
            components: context.has_components(),
            against_only: context.job.against_only,
            references: context.references(),
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

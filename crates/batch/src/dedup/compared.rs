//! Counts of a run for several scopes, side by side.

use serde::{Deserialize, Serialize};

use super::clusters::Clusters;
use crate::scope::Scope;
use crate::table::gathered::Counts;

/// What a scope keeps and drops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScopeCounts {
    /// The scope, as flags name it.
    pub scope: String,
    /// Kept documents.
    pub kept: u64,
    /// Dropped documents.
    pub dropped: u64,
    /// Bytes of text of the kept documents.
    pub kept_text_bytes: u64,
    /// Clusters of two or more documents.
    pub clusters: u64,
    /// Documents of the largest cluster.
    pub largest_cluster: u64,
    /// Pairs that the method proposed and verification did not confirm.
    pub refused: u64,
    /// Documents whose group is unknown; `None` if the scope has no groups.
    pub without_group: Option<u64>,
}

impl ScopeCounts {
    /// The counts of a scope of a run over `counts` documents.
    pub(super) fn new(
        scope: &Scope,
        counts: &Counts,
        clusters: &Clusters,
        refused: u64,
        without_group: u64,
    ) -> ScopeCounts {
        let largest = clusters.largest.first();
        ScopeCounts {
            scope: scope.to_string(),
            kept: counts.seen - counts.skipped - clusters.dropped,
            dropped: clusters.dropped,
            kept_text_bytes: counts.text_bytes - clusters.dropped_bytes,
            clusters: clusters.count,
            largest_cluster: largest.map_or(0, |cluster| cluster.size),
            refused,
            without_group: (*scope != Scope::Global).then_some(without_group),
        }
    }
}

//! The page of a deduplication.

mod contents;
mod page;
mod similarities;
mod sizes;

pub use contents::{
    Cluster, ClusterMember, ComparedPair, DedupPage, LowerThreshold, LowerThresholds, MethodRow,
    Refused, ShownDocument, ShownSites, ShownText, Totals,
};
pub(crate) use page::ASSETS;
pub use page::shortened;
pub use page::{BEGINNING_BYTES, PAIR_BYTES};
pub use similarities::Similarities;
pub use sizes::Sizes;

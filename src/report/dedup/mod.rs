//! The page of a deduplication.

mod contents;
mod page;
mod similarities;
mod sizes;

pub(crate) use contents::{
    Cluster, ClusterMember, MethodRow, Page, Pair, Refused, ShownDocument, ShownSites, ShownText,
    Totals,
};
pub(in crate::report) use page::{ASSETS, shortened};
pub(crate) use page::{BEGINNING_BYTES, PAIR_BYTES};
pub(crate) use similarities::Similarities;
pub(crate) use sizes::Sizes;

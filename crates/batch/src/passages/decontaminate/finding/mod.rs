//! The search in documents: hits, clusters and stretches of a document, and counts by item.

pub mod clusters;
pub mod common;
pub mod counts;
pub mod edited;
pub mod grams;
pub mod reading;
pub mod records;
pub mod stretches;
pub mod tables;
pub mod widen;

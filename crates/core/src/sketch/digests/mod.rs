//! Methods whose sketches are digests: documents are near if a digest of theirs is equal.

pub mod digest;
mod equality;
pub mod exact;
pub mod i_match;
pub mod mirror;
pub mod text_profile;

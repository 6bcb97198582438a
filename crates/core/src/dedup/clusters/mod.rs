//! Clusters of copies: the two rules, stars and connected components, and their steps.

pub mod components;
mod context;
mod gather;
pub mod naive;
pub(super) mod standing;
pub mod star;
mod sweep;
mod union_find;
mod verify_pairs;

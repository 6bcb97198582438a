//! Which documents are removed, and which pairs are refused.

mod refusals;
mod settle;
mod union;

pub use refusals::RefusalSearch;
pub use settle::Stars;
pub use union::Components;

//! Which documents are removed, and why.

mod refusals;
mod settle;
mod union;
mod verify;

pub use refusals::Refusals;
pub use settle::Settle;
pub use union::Union;
pub use verify::Verify;

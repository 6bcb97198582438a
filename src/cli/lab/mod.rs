//! Commands that compare methods, and those that serve this.

pub mod evaluate;
pub mod generate;
pub mod methods;
mod recommendation;
pub mod tune;
pub mod tune_flags;

//! Commands that compare methods, and those that serve this.

pub mod evaluate;
pub mod generate;
pub mod methods;
pub mod tune;

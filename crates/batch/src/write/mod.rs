//! Inputs that are written again, with some documents removed or changed.

pub mod annotation;
pub mod check;
pub mod copying;
pub mod packing;
pub mod related;
pub mod rewritten;
pub mod settings;
pub mod targets;

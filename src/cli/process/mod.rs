//! The process: its run, its end, its resources and its machine.

pub mod exit;
pub mod interrupt;
pub mod machine;
pub mod resource_flags;
pub mod scaling;
pub mod session;

//! Memory and temporary space of a run: the resources, budgets, and what is reserved of them.

pub(super) mod arena;
pub(super) mod budget;
pub mod memory_account;
pub(super) mod resources;
pub mod spill_space;

//! Near documents: candidates by sketch, and their verification.

pub(super) mod leaders;
pub(super) mod marking;
pub(super) mod neighbours;
pub(super) mod refused;
pub(super) mod search;
pub(super) mod second_reading;
pub(super) mod shingle_sets;

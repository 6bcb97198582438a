//! What is evaluated: the truth, the pairs and clusters that methods report, and their ids.

pub(super) mod clustering;
pub(super) mod found;
pub(super) mod ids;
mod lines;
pub(super) mod outcome;
mod score_text;
pub(super) mod truth;

//! Methods whose sketches are sets or vectors of features, compared by what they share.

pub mod characters;
pub mod feature_code;
pub mod shingle_sets;
pub mod spot_signatures;
pub mod structure;

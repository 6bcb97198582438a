//! Planted copies: edited copies of known strength, as a ground truth.
//!
//! A copy differs from its text by one [`Kind`] of edit to a known proportion of its words. Pairs
//! of texts and copies have labels such as `substitute-05`, so that recall by class is recall by
//! kind and strength. Far pairs have to come from elsewhere, such as [`random_pairs`] of texts that
//! are not copies of each other.

mod boilerplate;
mod copy;
mod edit;
mod pieces;
mod plant;

pub use copy::{Kind, PERCENTS, Planted};
pub use plant::{plant, random_pairs};

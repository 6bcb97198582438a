//! What is a document's essence?
//!
//! One small file per method. Deliberately absent: files, threads, other documents.

pub mod accidental;
mod bands;
pub mod characters;
pub mod digest;
pub mod feature_code;
mod features;
pub mod hash_table;
pub mod hashed;
mod method;
pub mod minhash;
pub mod mirror;
pub mod registry;
mod sets;
pub mod simhash;
pub mod structure;
mod weights;

pub use bands::{Bands, MAX_PERMUTATIONS};
pub use features::Features;
pub use method::{Compare, Method, Needs, Score, Scratch, Shape, View};
pub use weights::Weights;

//! What is a document's essence?
//!
//! One small file per method. Deliberately absent: files, threads, other documents.

pub mod accidental;
mod bands;
pub mod digest;
mod features;
pub mod hash_table;
pub mod hashed;
mod method;
pub mod minhash;
pub mod simhash;
mod weights;
mod word_set;

pub use bands::{Bands, MAX_PERMUTATIONS};
pub use features::Features;
pub use method::{Compare, Method, Score, Scratch, Shape, Words};
pub use weights::Weights;
pub use word_set::WordSet;

//! Sketching methods: a small representation of a document, and the comparison of two.
//!
//! Each method, or family of methods, has a file. Deliberately absent: files, threads, other
//! documents.

pub mod accidental;
mod bands;
mod blocks;
mod character_runs;
pub mod characters;
mod combined;
pub mod content_seen;
#[cfg(test)]
mod contract;
pub mod digest;
mod entry;
mod equality;
pub mod exact;
pub mod feature_code;
mod features;
mod fingerprinter;
pub mod hash_table;
pub mod hashed;
pub mod i_match;
pub mod lexicon_simhash;
mod method;
pub mod minhash;
mod minima;
pub mod mirror;
mod parameter;
pub mod registry;
pub mod set_signature;
mod sets;
pub mod shingle_sets;
mod signed;
pub mod simhash;
mod sketches;
pub mod spot_signatures;
pub mod structure;
pub mod super_shingles;
#[cfg(test)]
mod testing;
pub mod text_profile;
mod vectors;
mod weights;

pub use bands::{Bands, MAX_PERMUTATIONS};
pub use features::Features;
pub use method::{
    Combination, Compare, Method, Needs, Score, Scorer, Shape, SketchScratch, TokenizedDocument,
    Verification, Verifier,
};
pub use signed::{SignatureSettings, SignedMethod};
pub use sketches::{SketchList, Sketches};
pub use vectors::{Feature, SimilarityRule, VectorMeasure, Vectors};
pub use weights::Weights;

//! Sketching methods: a small representation of a document, and the comparison of two.
//!
//! Each method has a file, in the folder of its family. Deliberately absent: files, threads, other
//! documents.

mod combined;
#[cfg(test)]
mod contract;
mod digests;
mod feature_vectors;
mod features;
mod fingerprints;
mod method;
pub mod minhash;
pub mod registry;
mod signed;
#[cfg(test)]
mod testing;

pub use digests::{digest, exact, i_match, mirror, text_profile};
pub use feature_vectors::{characters, feature_code, shingle_sets, spot_signatures, structure};
pub use features::Features;
pub use features::vectors::{Feature, SimilarityRule, VectorMeasure, Vectors};
pub use features::weights::Weights;
pub use fingerprints::{accidental, content_seen, hash_table, hashed, lexicon_simhash, simhash};
pub use method::sketches::{SketchList, Sketches, append_borders};
pub use method::{
    Combination, Compare, Method, Needs, Score, Scorer, Shape, SketchScratch, TokenizedDocument,
    Verification, Verifier,
};
pub use minhash::bands::{Bands, MAX_PERMUTATIONS};
pub use minhash::super_shingles;
pub use signed::{SetForm, SignatureSettings, SignedMethod, set_signature, shingle_list};

//! The list of all methods.

use crate::sketch::digests::{exact, i_match, mirror, text_profile};
use crate::sketch::feature_vectors::{
    characters, feature_code, shingle_sets, spot_signatures, structure,
};
use crate::sketch::fingerprints::{content_seen, hashed, lexicon_simhash};
use crate::sketch::method::entry::Entry;
use crate::sketch::minhash;
use crate::sketch::minhash::super_shingles;

/// Every method.
pub const METHODS: &[&Entry] = &[
    &hashed::ENTRY,
    &minhash::ENTRY,
    &characters::DICTIONARY,
    &characters::CODES,
    &mirror::ONE,
    &mirror::TWO,
    &mirror::THREE,
    &mirror::FOUR,
    &mirror::FIVE,
    &structure::ENTRY,
    &feature_code::ENTRY,
    &hashed::SHINGLE_ENTRY,
    &exact::ENTRY,
    &exact::NORMALIZED_ENTRY,
    &content_seen::ENTRY,
    &text_profile::ENTRY,
    &i_match::ENTRY,
    &i_match::RANDOM_ENTRY,
    &lexicon_simhash::ENTRY,
    &lexicon_simhash::FUSION_ENTRY,
    &super_shingles::ENTRY,
    &shingle_sets::ENTRY,
    &spot_signatures::ENTRY,
];

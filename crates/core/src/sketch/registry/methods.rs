//! The list of all methods.

use crate::sketch::entry::Entry;
use crate::sketch::{
    characters, content_seen, exact, feature_code, hashed, i_match, lexicon_simhash, minhash,
    mirror, shingle_sets, spot_signatures, structure, super_shingles, text_profile,
};

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

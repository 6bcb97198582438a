//! SimHash and its relatives: fingerprints of bits, near if few of them differ;
//! their search keys, and the probability of accidental matches.

pub mod accidental;
mod blocks;
pub mod content_seen;
mod fingerprinter;
pub mod hash_table;
pub mod hashed;
pub mod lexicon_simhash;
pub mod simhash;

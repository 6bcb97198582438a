//! What a round is.

use std::sync::LazyLock;

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The most bins of the kernel.
pub const BINS: usize = 256;
/// A bin that got no number yet: larger than all others.
pub const EMPTY: u64 = u64::MAX;
/// The multiplier of the hash of a value; odd, with random bits.
pub(super) const MULTIPLIER: u64 = 0x9e6c_63d0_876a_46ad;
/// The seed of the hash from the number of a round to its key.
const ROUND_SEED: u64 = 3;

/// The keys of the rounds that nearly all sets need.
static KEYS: LazyLock<[u64; BINS]> = LazyLock::new(|| std::array::from_fn(computed));

/// The key of a round, with which values are combined.
pub fn key(round: usize) -> u64 {
    KEYS.get(round).copied().unwrap_or_else(|| computed(round))
}

fn computed(round: usize) -> u64 {
    xxh3_64_with_seed(&(round as u64).to_le_bytes(), ROUND_SEED)
}

/// Both halves of a product of 128 bits.
pub fn hash(value: u64) -> u64 {
    let product = u128::from(value) * u128::from(MULTIPLIER);
    (product >> 64) as u64 ^ product as u64
}

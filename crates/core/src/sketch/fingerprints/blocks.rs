//! Search keys of a fingerprint: hashes of blocks of its bits.
//!
//! The bits are divided into at least `distance + 1` blocks, so that two fingerprints within the
//! distance agree in at least one block. Source: Manku, Jain and Das Sarma, "Detecting
//! Near-Duplicates for Web Crawling", WWW 2007.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A fingerprint of up to 256 bits, the lower 128 bits first.
pub(super) type Bits = [u128; 2];

/// The maximum number of bits of a block.
const MAX_BITS: u32 = 128;

/// Calls `emit` with a key for each block of the `width` lowest bits: a hash of the block, its
/// position and `slot`, so that equal blocks of different positions or slots have different keys.
/// If `distance` allows every bit to differ, emits one constant key for the slot. `slot` is the
/// number of the fingerprint in its sketch.
pub(super) fn keys(bits: Bits, width: u32, distance: u32, slot: u32, emit: &mut dyn FnMut(u64)) {
    let seed = |block: u32| u64::from(slot) << 32 | u64::from(block);
    if distance >= width {
        return emit(seed(0));
    }
    let blocks = (distance + 1).max(width.div_ceil(MAX_BITS));
    let boundary = |block| (u64::from(width) * u64::from(block) / u64::from(blocks)) as u32;
    for block in 0..blocks {
        let value = between(bits, boundary(block), boundary(block + 1));
        emit(xxh3_64_with_seed(&value.to_le_bytes(), seed(block)));
    }
}

/// The bits `start..end`, of which there must be 1 to 128.
fn between([low, high]: Bits, start: u32, end: u32) -> u128 {
    let from_start = match start {
        0 => low,
        1..MAX_BITS => low >> start | high << (MAX_BITS - start),
        _ => high >> (start - MAX_BITS),
    };
    from_start & (u128::MAX >> (MAX_BITS - (end - start)))
}

/// The Hamming distance.
pub(super) fn distance(a: Bits, b: Bits) -> u32 {
    (a[0] ^ b[0]).count_ones() + (a[1] ^ b[1]).count_ones()
}

/// Reads a fingerprint from the bytes that [`write`] appended; missing high bits are zero.
pub(super) fn read(sketch: &[u8]) -> Bits {
    let mut bytes = [0; 32];
    bytes[..sketch.len()].copy_from_slice(sketch);
    let (halves, _) = bytes.as_chunks();
    [0, 1].map(|half| u128::from_le_bytes(halves[half]))
}

/// Appends the `width` lowest bits, little-endian. `width` is a multiple of 8.
pub(super) fn write(bits: Bits, width: u32, out: &mut Vec<u8>) {
    let bytes = bits.map(u128::to_le_bytes).concat();
    out.extend_from_slice(&bytes[..width as usize / 8]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn all(bits: Bits, width: u32, distance: u32, slot: u32) -> Vec<u64> {
        let mut found = Vec::new();
        keys(bits, width, distance, slot, &mut |key| found.push(key));
        found
    }

    /// A fingerprint with only these bits set.
    fn bits(places: &[u32]) -> Bits {
        let mut bits = [0; 2];
        for place in places {
            bits[*place as usize / 128] |= 1 << (place % 128);
        }
        bits
    }

    proptest! {
        #[test]
        fn near_fingerprints_share_a_key(
            a in prop::array::uniform2(any::<u128>()),
            flips in prop::collection::vec(0u32..256, 0..40),
            distance_allowed in 0u32..40,
        ) {
            for width in [32, 64, 128, 256] {
                let flips: Vec<u32> = flips.iter().map(|place| place % width).collect();
                let flips = bits(&flips);
                let b = [a[0] ^ flips[0], a[1] ^ flips[1]];
                let shared = all(a, width, distance_allowed, 0).iter()
                    .zip(all(b, width, distance_allowed, 0))
                    .any(|(a, b)| *a == b);
                prop_assert!(shared || distance(a, b) > distance_allowed);
            }
        }

        #[test]
        fn every_bit_is_in_one_block(
            a in prop::array::uniform2(any::<u128>()),
            place in 0u32..256,
            distance in 0u32..40,
        ) {
            for width in [32, 64, 128, 256].into_iter().filter(|width| distance < *width) {
                let flip = bits(&[place]);
                let b = [a[0] ^ flip[0], a[1] ^ flip[1]];
                let (a, b) = (all(a, width, distance, 3), all(b, width, distance, 3));
                let differing = a.iter().zip(&b).filter(|(a, b)| a != b).count();
                prop_assert_eq!(differing, usize::from(place < width));
            }
        }

        #[test]
        fn sketches_are_read_back(bits in prop::array::uniform2(any::<u128>())) {
            for width in [32, 64, 128, 256] {
                let mut out = vec![9];
                write(bits, width, &mut out);
                prop_assert_eq!(out.len() as u32, 1 + width / 8);
                let kept = |half: u32| match width.saturating_sub(128 * half).min(128) {
                    0 => 0,
                    width => bits[half as usize] & (u128::MAX >> (128 - width)),
                };
                prop_assert_eq!(read(&out[1..]), [kept(0), kept(1)]);
            }
        }
    }

    #[test]
    fn blocks_and_slots_have_different_keys() {
        let keys: Vec<u64> = (0..10).flat_map(|slot| all([0; 2], 64, 7, slot)).collect();
        assert_eq!(keys.len(), 80);
        assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), 80);
    }

    #[test]
    fn one_key_if_every_bit_may_differ() {
        assert_eq!(all([1; 2], 64, 64, 0), [0]);
        assert_eq!(all([2; 2], 64, u32::MAX, 1), [1 << 32]);
        assert_eq!(all([2; 2], 256, 0, 0).len(), 2);
    }
}

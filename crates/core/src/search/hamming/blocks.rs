//! Division of the bits of fingerprints into blocks, whose unions are the keys of tables.
//!
//! Two fingerprints within distance k differ in at most k of m disjoint blocks. So for m > k they
//! agree in all bits of some union of m - k blocks. The searches in memory and the segments of an
//! index both have a table for each of these unions.

use super::Fingerprint;

/// The collision entropy (Rényi, order two) of each of the lowest `width` bits of a sample, in
/// bits. If the bits were independent, 2^-sum would be the probability that two fingerprints agree.
pub fn entropies<F: Fingerprint>(sample: &[F], width: u32) -> Vec<f64> {
    let mut ones = vec![0u32; width as usize];
    for value in sample {
        let words = value.limbs();
        for (bit, count) in ones.iter_mut().enumerate() {
            *count += (words[bit / 64] >> (bit % 64)) as u32 & 1;
        }
    }
    let entropy = |count: &u32| {
        // Laplace smoothing keeps the entropy of a constant bit above zero.
        let one = (f64::from(*count) + 1.0) / (sample.len() as f64 + 2.0);
        -(one * one + (1.0 - one) * (1.0 - one)).log2()
    };
    ones.iter().map(entropy).collect()
}

/// Sorts bits by descending entropy.
pub fn sort_by_entropy(bits: &mut [u8], entropies: &[f64]) {
    let entropy = |bit: u8| entropies[usize::from(bit)];
    bits.sort_by(|a, b| entropy(*b).total_cmp(&entropy(*a)));
}

/// Divides the bits into `count` disjoint blocks of nearly equal entropy: in order of descending
/// entropy, each to the block with the least so far.
pub fn divide(entropies: &[f64], count: u32) -> Vec<Vec<u8>> {
    let mut bits: Vec<u8> = (0..entropies.len()).map(|bit| bit as u8).collect();
    sort_by_entropy(&mut bits, entropies);
    let mut blocks = vec![(0f64, Vec::new()); count as usize];
    for bit in bits {
        if let Some(least) = blocks.iter_mut().min_by(|a, b| a.0.total_cmp(&b.0)) {
            least.0 += entropies[usize::from(bit)];
            least.1.push(bit);
        }
    }
    blocks.into_iter().map(|(_, bits)| bits).collect()
}

/// The bits of every union of `blocks.len() - k` of the blocks, in lexicographic order of the
/// blocks chosen; there are [`choose`]`(blocks.len(), k)`.
pub fn unions(blocks: &[Vec<u8>], k: u32) -> Vec<Vec<u8>> {
    fn extend(blocks: &[Vec<u8>], count: usize, with: &[u8], out: &mut Vec<Vec<u8>>) {
        if count == 0 {
            out.push(with.to_vec());
            return;
        }
        for (i, block) in blocks.iter().enumerate().take(blocks.len() + 1 - count) {
            extend(&blocks[i + 1..], count - 1, &[with, block].concat(), out);
        }
    }
    let mut unions = Vec::new();
    extend(blocks, blocks.len() - k as usize, &[], &mut unions);
    unions
}

/// The binomial coefficient of `n` and `k <= n`; at least `u64::MAX / k` if a product overflows.
pub fn choose(n: u32, k: u32) -> u64 {
    let k = k.min(n - k);
    (1..=k).fold(1u64, |ways, i| {
        ways.saturating_mul((n - k + i).into()) / u64::from(i)
    })
}

/// The count of numbers of `bits` bits that differ from a given one in at most `radius` bits.
pub fn ball(bits: u32, radius: u32) -> f64 {
    let (mut ways, mut sum) = (1.0, 0.0);
    for errors in 0..=radius.min(bits) {
        sum += ways;
        ways *= f64::from(bits - errors) / f64::from(errors + 1);
    }
    sum
}

/// The key of every table, as a mask: each union of `blocks - k` of `blocks` blocks.
///
/// With more blocks than bits, some blocks are empty. If a union has no bits, every pair agrees in
/// it: the result is then this one empty key.
pub(super) fn keys<F: Fingerprint>(entropies: &[f64], k: u32, blocks: u32) -> Vec<F> {
    let unions = unions(&divide(entropies, blocks), k);
    let keys: Vec<F> = unions.iter().map(|bits| mask(bits)).collect();
    if keys.contains(&F::default()) {
        return vec![F::default()];
    }
    keys
}

/// The fingerprint in which only `bits` are set.
pub(super) fn mask<F: Fingerprint>(bits: &[u8]) -> F {
    let bit = |mask, bit: &u8| mask | F::bit(u32::from(*bit));
    bits.iter().fold(F::default(), bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_disjoint_complete_and_balanced() {
        let entropies: Vec<f64> = (0..100).map(|bit| f64::from(bit % 10 + 1) / 10.0).collect();
        let blocks: Vec<u128> = divide(&entropies, 7)
            .iter()
            .map(|bits| mask(bits))
            .collect();
        let union = blocks.iter().fold(0, |union, block| {
            assert_eq!(union & block, 0);
            union | block
        });
        assert_eq!(union, u128::low_bits(100));
        for block in blocks {
            let bits = (0..100).filter(|bit| block >> bit & 1 == 1);
            let entropy: f64 = bits.map(|bit| entropies[bit]).sum();
            assert!((entropy - 55.0 / 7.0).abs() < 0.2, "{entropy}");
        }
    }

    /// Every choice of at most k flipped bits leaves some key unchanged.
    #[test]
    fn some_key_survives_any_k_errors() {
        let entropies = entropies(&[1u64, 2, 3], 9);
        for k in 0..=9 {
            for blocks in k + 1..=k + 4 {
                let keys: Vec<u64> = keys(&entropies, k, blocks);
                assert!(keys.len() as u64 <= choose(blocks, k));
                for errors in (0..1u64 << 9).filter(|errors| errors.count_ones() <= k) {
                    assert!(
                        keys.iter().any(|key| key & errors == 0),
                        "{blocks} {k} {errors:b}"
                    );
                }
            }
        }
    }

    #[test]
    fn combinations_are_counted() {
        assert_eq!(
            [choose(4, 3), choose(6, 3), choose(129, 128), choose(5, 0)],
            [4, 20, 129, 1]
        );
        assert!(choose(128, 64) > u64::MAX / 128);
    }
}

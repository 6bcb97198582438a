//! Choice of the bits that form the key of each table.

use super::Fingerprint;
use super::sample::Sample;

/// The key of every table, as a mask: each union of `blocks - k` of `blocks` disjoint blocks.
///
/// Two fingerprints within distance `k` agree in all bits of at least one key. If there are more
/// blocks than bits, a block is empty and every pair agrees in it: the result is then one empty
/// key.
pub(super) fn keys<F: Fingerprint>(sample: &Sample<F>, width: u32, k: u32, blocks: u32) -> Vec<F> {
    let blocks = balanced(&sample.entropies(width), blocks);
    let mut keys = Vec::new();
    unions(&blocks, blocks.len() - k as usize, F::default(), &mut keys);
    if keys.contains(&F::default()) {
        return vec![F::default()];
    }
    keys
}

/// Distributes the bits over `count` blocks of nearly equal entropy: in order of descending
/// entropy, each to the block with the least so far.
fn balanced<F: Fingerprint>(entropies: &[f64], count: u32) -> Vec<F> {
    let mut order: Vec<usize> = (0..entropies.len()).collect();
    order.sort_by(|a, b| entropies[*b].total_cmp(&entropies[*a]));
    let mut blocks = vec![(0f64, F::default()); count as usize];
    for bit in order {
        if let Some(least) = blocks.iter_mut().min_by(|a, b| a.0.total_cmp(&b.0)) {
            *least = (least.0 + entropies[bit], least.1 | F::truncate(1 << bit));
        }
    }
    blocks.into_iter().map(|(_, mask)| mask).collect()
}

/// Appends every union of `with` and `count` of `blocks`.
fn unions<F: Fingerprint>(blocks: &[F], count: usize, with: F, out: &mut Vec<F>) {
    if count == 0 {
        out.push(with);
        return;
    }
    for (i, block) in blocks.iter().enumerate().take(blocks.len() + 1 - count) {
        unions(&blocks[i + 1..], count - 1, with | *block, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::hamming::Threshold;
    use crate::search::hamming::limits::choose;

    #[test]
    fn blocks_are_disjoint_complete_and_balanced() {
        let entropies: Vec<f64> = (0..100).map(|bit| f64::from(bit % 10 + 1) / 10.0).collect();
        let blocks = balanced::<u128>(&entropies, 7);
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
        let sample = Sample::of(
            &[1u64, 2, 3],
            Threshold {
                mask: u64::low_bits(9),
                k: 9,
            },
        );
        for k in 0..=9 {
            for blocks in k + 1..=k + 4 {
                let keys = keys(&sample, 9, k, blocks);
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
}

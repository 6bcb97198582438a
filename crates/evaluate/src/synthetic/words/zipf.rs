//! The frequencies of words: Zipf's law in integers.

use crate::random::SplitMix64;
use crate::synthetic::millionths::Millionths;

/// The number of ranks with individual weights; higher ranks are grouped.
const SINGLE_RANKS: u64 = 4096;
/// The number of groups per doubling of the rank; adjacent weights differ by about 1 %.
const GROUPS_PER_DOUBLING: u32 = 64;
/// Mandelbrot's shift of the rank, in tenths; it flattens the law for the most frequent words.
const SHIFT_TENTHS: u64 = 27;

/// Draws ranks 0, 1, 2, … with weights falling as (rank + 3.7)^−exponent.
///
/// Ranks from 4096 on are in groups of equal weight, 64 per doubling, so the table has fewer than
/// 6000 entries (90 KB) for any vocabulary. A draw takes one or two random numbers and one table
/// lookup: Walker's alias method (1974), with Vose's construction (1991). Weights are computed from
/// fixed-point logarithms and are the same on every machine.
#[derive(Debug)]
pub(crate) struct Zipf {
    slots: Vec<Slot>,
    /// The first rank of each group, followed by the size of the vocabulary.
    borders: Vec<u64>,
}

/// A slot of the alias table: its own group if 32 random bits are below `threshold`, else `alias`.
#[derive(Clone, Copy, Debug)]
struct Slot {
    threshold: u32,
    alias: u32,
}

impl Zipf {
    /// The law for `vocabulary` ranks (1 to 2^36) and an exponent of at most 3.
    pub(crate) fn new(vocabulary: u64, exponent: Millionths) -> Self {
        let borders = borders(vocabulary);
        let roots = half_powers();
        let scale = log2(10 + SHIFT_TENTHS);
        let weights: Vec<u128> = borders
            .windows(2)
            .map(|group| {
                let middle = (group[0] + group[1] - 1) / 2;
                let fall = log2(10 * (middle + 1) + SHIFT_TENTHS) - scale;
                let power = u128::from(fall) * u128::from(exponent.0) / 1_000_000;
                u128::from(power_of_half(power as u64, &roots)) * u128::from(group[1] - group[0])
            })
            .collect();
        Zipf {
            slots: alias_slots(&weights),
            borders,
        }
    }

    /// The number of ranks.
    pub(crate) fn vocabulary(&self) -> u64 {
        self.borders[self.borders.len() - 1]
    }

    /// A random rank.
    pub(crate) fn draw(&self, random: &mut SplitMix64) -> u64 {
        let bits = random.next();
        let slot = (((bits >> 32) * self.slots.len() as u64) >> 32) as usize;
        let Slot { threshold, alias } = self.slots[slot];
        let group = if (bits as u32) < threshold {
            slot
        } else {
            alias as usize
        };
        let (first, end) = (self.borders[group], self.borders[group + 1]);
        if end - first == 1 {
            first
        } else {
            first + random.below(end - first)
        }
    }
}

/// The borders of the groups of equal weight.
fn borders(vocabulary: u64) -> Vec<u64> {
    let mut borders: Vec<u64> = (0..vocabulary.min(SINGLE_RANKS)).collect();
    let mut first = SINGLE_RANKS;
    while first < vocabulary {
        borders.push(first);
        first += (1 << first.ilog2()) / u64::from(GROUPS_PER_DOUBLING);
    }
    borders.push(vocabulary);
    borders
}

/// The alias table by Vose's construction: each small slot is filled up from one large one.
fn alias_slots(weights: &[u128]) -> Vec<Slot> {
    // Dropping low bits keeps weight · slots · 2^32 within 128 bits.
    let excess = weights.iter().sum::<u128>().ilog2().saturating_sub(80);
    let mut left: Vec<u128> = weights
        .iter()
        .map(|weight| (weight >> excess) * weights.len() as u128)
        .collect();
    let full = weights.iter().map(|weight| weight >> excess).sum::<u128>();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) =
        (0..left.len()).partition(|&group| left[group] < full);
    let own = |group| Slot {
        threshold: u32::MAX,
        alias: group as u32,
    };
    let mut slots: Vec<Slot> = (0..left.len()).map(own).collect();
    while let (Some(&giver), Some(taker)) = (large.last(), small.pop()) {
        let threshold = ((left[taker] << 32) / full) as u32;
        slots[taker] = Slot {
            threshold,
            alias: giver as u32,
        };
        left[giver] -= full - left[taker];
        if left[giver] < full {
            large.pop();
            small.push(giver);
        }
    }
    slots
}

/// The binary logarithm of `number` (at least 1), with 32 fractional bits, rounded down.
fn log2(number: u64) -> u64 {
    let whole = number.ilog2();
    let mut mantissa = u128::from(number) << (63 - whole);
    let mut result = u64::from(whole);
    for _ in 0..32 {
        mantissa = (mantissa * mantissa) >> 63;
        let bit = mantissa >> 64;
        mantissa >>= bit;
        result = (result << 1) | bit as u64;
    }
    result
}

/// 2^−1, 2^−½, 2^−¼, …, 2^−2^−32, with 63 fractional bits.
fn half_powers() -> [u64; 33] {
    let mut powers = [1 << 62; 33];
    for index in 1..powers.len() {
        powers[index] = (u128::from(powers[index - 1]) << 63).isqrt() as u64;
    }
    powers
}

/// 2^−`exponent` (32 fractional bits in `exponent`), with 62 fractional bits.
fn power_of_half(exponent: u64, half_powers: &[u64; 33]) -> u64 {
    let whole = exponent >> 32;
    let fraction = (1..=32).filter(|bit| (exponent >> (32 - bit)) & 1 == 1);
    let power = fraction.fold(1_u64 << 62, |power, bit| {
        ((u128::from(power) * u128::from(half_powers[bit as usize])) >> 63) as u64
    });
    if whole < 64 { power >> whole } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm_and_power_agree_with_floating_point() {
        let roots = half_powers();
        for number in [1_u64, 2, 3, 37, 1000, 4096, 123_456_789, 10 << 36] {
            let expected = (number as f64).log2();
            assert!(
                (log2(number) as f64 / 2f64.powi(32) - expected).abs() < 1e-8,
                "{number}"
            );
            let back = power_of_half(log2(number), &roots) as f64 / 2f64.powi(62);
            assert!(
                (back * number as f64 - 1.0).abs() < 1e-6,
                "{number}: {back}"
            );
        }
        assert_eq!(power_of_half(70 << 32, &roots), 0);
    }

    #[test]
    fn draws_follow_the_law() {
        let (vocabulary, exponent) = (20_000, 1.1);
        let zipf = Zipf::new(vocabulary, Millionths(1_100_000));
        let weight = |rank: u64| (rank as f64 + 3.7).powf(-exponent);
        let total: f64 = (0..vocabulary).map(weight).sum();
        let draws = 4_000_000;
        let mut counts = vec![0_u32; vocabulary as usize];
        let mut random = SplitMix64::new(7);
        for _ in 0..draws {
            counts[zipf.draw(&mut random) as usize] += 1;
        }
        for (first, end) in [
            (0, 1),
            (1, 2),
            (9, 10),
            (100, 110),
            (1000, 1100),
            (4000, 4200),
        ]
        .into_iter()
        .chain([(4096, 5000), (10_000, 20_000)])
        {
            let expected = (first..end).map(weight).sum::<f64>() / total * f64::from(draws);
            let found: u32 = counts[first as usize..end as usize].iter().sum();
            let deviation = (f64::from(found) - expected).abs() / expected.sqrt();
            assert!(
                deviation < 5.0,
                "ranks {first}..{end}: {found}, expected {expected}"
            );
        }
    }

    #[test]
    fn extreme_vocabularies_and_exponents_stay_in_range() {
        let mut random = SplitMix64::new(3);
        for vocabulary in [1, 2, 4095, 4096, 4097, 4160, 1 << 36] {
            for exponent in [0, 1_000_000, 3_000_000] {
                let zipf = Zipf::new(vocabulary, Millionths(exponent));
                assert_eq!(zipf.vocabulary(), vocabulary);
                assert!(zipf.borders.is_sorted_by(|left, right| left < right));
                assert!((0..1000).all(|_| zipf.draw(&mut random) < vocabulary));
            }
        }
    }
}

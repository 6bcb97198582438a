//! Hard pairs: the nearest pairs of documents that are not copies.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::Result;
use simtool_core::text::LeastSimilarity;
use simtool_core::text::shingles::jaccard;
use simtool_engine::Progress;
use simtool_evaluate::Pair;

/// Copies share at least this many thousandths of their shingles, as duplicates do for `dedup`.
pub const COPIES: u64 = 800;
/// The maximum number of documents among which the nearest is searched.
pub const MAX_DOCUMENTS: usize = 4096;
/// The maximum number of bytes of their texts.
pub const MAX_BYTES: u64 = 64 << 20;

/// For each of the first `count` documents of `compared`, the nearest other one of these that is not
/// a copy, with the shared and all shingles. Uses the current rayon pool.
///
/// # Errors
/// Interruption.
///
/// # Panics
/// If a document has no set.
pub fn hard_pairs(
    compared: &[u32],
    count: usize,
    sets: &BTreeMap<u32, Vec<u64>>,
    progress: &Progress,
) -> Result<BTreeMap<Pair, (u64, u64)>> {
    let compared: Vec<(u32, &[u64])> = (compared.iter())
        .map(|number| (*number, &sets[number][..]))
        .collect();
    let nearest = |(number, set): &(u32, &[u64])| {
        progress.check()?;
        let mut best: Option<(Pair, (u64, u64))> = None;
        for (other, others) in &compared {
            let Some(pair) = Pair::new(*number, *other) else {
                continue;
            };
            let (shared, all) = best.map_or((0, 1), |(_, found)| found);
            let least = LeastSimilarity::resemblance((1000 * shared / all) as u32);
            let Some(found) = least.reached(set, others) else {
                continue;
            };
            let is_nearer = compare(found, (shared, all)) == Ordering::Greater;
            if is_nearer && 1000 * found.0 < COPIES * found.1 {
                best = Some((pair, found));
            }
        }
        Ok(best)
    };
    let chosen = &compared[..count.min(compared.len())];
    let found = chosen.par_iter().map(nearest);
    found.filter_map(Result::transpose).collect()
}

/// The pairs of `drawn` whose documents share at most 1 / `related` of their shingles.
pub fn unrelated(drawn: &[Pair], sets: &BTreeMap<u32, Vec<u64>>, related: u64) -> Vec<Pair> {
    let set = |number: u32| sets.get(&number).map_or(&[][..], Vec::as_slice);
    let far = |pair: &&Pair| {
        let [a, b] = pair.documents().map(set);
        let (shared, all) = jaccard(a, b);
        related * shared <= all
    };
    drawn.iter().filter(far).copied().collect()
}

/// The order of two similarities: shared shingles, and all of them.
fn compare(a: (u64, u64), b: (u64, u64)) -> Ordering {
    let product = |x: u64, y: u64| u128::from(x) * u128::from(y);
    product(a.0, b.1).cmp(&product(b.0, a.1))
}

/// The median similarity of hard pairs.
pub fn median(pairs: &BTreeMap<Pair, (u64, u64)>) -> Option<f64> {
    let mut found: Vec<(u64, u64)> = pairs.values().copied().collect();
    found.sort_unstable_by(|a, b| compare(*a, *b));
    let (shared, all) = *found.get(found.len() / 2)?;
    Some(shared as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_nearest_that_is_no_copy_by_all_pairs(
            sets in prop::collection::vec(prop::collection::btree_set(0..40u64, 0..20), 0..12),
        ) {
            let sets: BTreeMap<u32, Vec<u64>> = (0..)
                .zip(sets.iter().map(|set| set.iter().copied().collect()))
                .collect();
            let compared: Vec<u32> = sets.keys().rev().copied().collect();
            let chosen = &compared[..compared.len() / 2];
            let found = hard_pairs(&compared, chosen.len(), &sets, &Progress::new()).unwrap();
            let share = |a: u32, b: u32| {
                let (shared, all) = jaccard(&sets[&a], &sets[&b]);
                (5 * shared < 4 * all && shared > 0).then(|| shared as f64 / all as f64)
            };
            for &number in chosen {
                let others = sets.keys().filter(|other| **other != number);
                let best = others.filter_map(|other| share(number, *other)).fold(0.0, f64::max);
                let mine = found.keys().filter(|pair| pair.documents().contains(&number));
                let mine = mine.filter_map(|pair| share(pair.documents()[0], pair.documents()[1]));
                prop_assert_eq!(mine.fold(0.0, f64::max), best);
            }
            prop_assert!(found.len() <= chosen.len());
        }
    }
}

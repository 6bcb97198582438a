//! Shingles: runs of words as a set of hashes, and how alike two such sets are.
//!
//! Source: Broder, "On the resemblance and containment of documents", 1997. The hash of a shingle is
//! the XXH3-64 of the hashes of its words, each as eight little-endian bytes. Sets are sorted
//! slices without repetition.

use std::borrow::Cow;

use bytemuck::Pod;
use xxhash_rust::xxh3::xxh3_64;

/// Replaces `out` by the hash of each run of `width` words, in text order.
///
/// Fewer words than `width` make one shingle of all; none make none; a width of 0 counts as 1.
pub fn shingles(words: &[u64], width: usize, out: &mut Vec<u64>) {
    out.clear();
    match width.max(1) {
        _ if words.is_empty() => {}
        width if words.len() <= width => out.push(hash(words)),
        // A length known to the compiler leaves of the hash a few multiplications.
        3 => out.extend(words.windows(3).map(|run| hash(&run[..3]))),
        5 => out.extend(words.windows(5).map(|run| hash(&run[..5]))),
        9 => out.extend(words.windows(9).map(|run| hash(&run[..9]))),
        width => out.extend(words.windows(width).map(hash)),
    }
}

#[inline(always)]
fn hash(words: &[u64]) -> u64 {
    xxh3_64(&little_endian(words))
}

/// The bytes of the numbers, lowest first, on every machine.
#[inline(always)]
pub(crate) fn little_endian<T: Pod>(numbers: &[T]) -> Cow<'_, [u8]> {
    let bytes = bytemuck::cast_slice(numbers);
    if cfg!(target_endian = "little") {
        return Cow::Borrowed(bytes);
    }
    let numbers = bytes.chunks_exact(size_of::<T>());
    Cow::Owned(
        numbers
            .flat_map(|bytes| bytes.iter().rev().copied())
            .collect(),
    )
}

/// Sorts hashes and removes repetitions.
pub fn sort_to_set(hashes: &mut Vec<u64>) {
    hashes.sort_unstable();
    hashes.dedup();
}

/// How many elements two sets share; O(sum of the lengths).
///
/// A merge waits at each step for the one before. Hashes are spread evenly, so the sets are cut
/// at the same values into four parts of about the same size, which are merged side by side.
pub fn overlap(a: &[u64], b: &[u64]) -> usize {
    let cut = |part: usize| part * a.len() / PARTS;
    let mut merges = [(); PARTS].map(|()| Merge::default());
    let mut begin = 0;
    for (part, merge) in merges.iter_mut().enumerate() {
        let end = match a.get(cut(part + 1)) {
            Some(next) => begin + b[begin..].partition_point(|x| x < next),
            None => b.len(),
        };
        (merge.a, merge.b) = (&a[cut(part)..cut(part + 1)], &b[begin..end]);
        begin = end;
    }
    loop {
        let steps = merges.iter().map(Merge::sure_steps).min().unwrap_or(0);
        if steps == 0 {
            break;
        }
        for _ in 0..steps {
            merges.iter_mut().for_each(Merge::step);
        }
    }
    for merge in &mut merges {
        while merge.sure_steps() > 0 {
            merge.step();
        }
    }
    merges.iter().map(|merge| merge.shared).sum()
}

/// Merges that go on side by side.
const PARTS: usize = 4;

/// Two sorted lists, as far as they were compared.
#[derive(Default)]
struct Merge<'s> {
    a: &'s [u64],
    b: &'s [u64],
    i: usize,
    j: usize,
    shared: usize,
}

impl Merge<'_> {
    /// So many steps can be taken before either list ends.
    fn sure_steps(&self) -> usize {
        (self.a.len() - self.i).min(self.b.len() - self.j)
    }

    #[inline]
    fn step(&mut self) {
        let (x, y) = (self.a[self.i], self.b[self.j]);
        self.shared += usize::from(x == y);
        self.i += usize::from(x <= y);
        self.j += usize::from(y <= x);
    }
}

/// The Jaccard similarity of two sets: the sizes of their intersection and of their union.
pub fn jaccard(a: &[u64], b: &[u64]) -> (u64, u64) {
    let shared = overlap(a, b) as u64;
    (shared, a.len() as u64 + b.len() as u64 - shared)
}

/// The [`jaccard`] similarity of two sets if it is at least the fraction `least`, exactly.
///
/// Two empty sets are not alike. Stops as soon as too few elements are left: for sets that share
/// nothing after a few steps, and at once for those whose sizes differ too much.
pub fn jaccard_at_least(a: &[u64], b: &[u64], least: (u64, u64)) -> Option<(u64, u64)> {
    let both = a.len() + b.len();
    let needed = least_overlap(both, least)?;
    if both == 0 || needed > a.len().min(b.len()) {
        return None;
    }
    // So many elements of each set may be without a partner.
    let (spare_a, spare_b) = (a.len() - needed, b.len() - needed);
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        for _ in 0..STEPS.min(a.len() - i).min(b.len() - j) {
            let (x, y) = (a[i], b[j]);
            shared += usize::from(x == y);
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
        if i - shared > spare_a || j - shared > spare_b {
            return None;
        }
    }
    (shared >= needed).then_some((shared as u64, (both - shared) as u64))
}

/// The steps of a merge between two looks at whether it is worth going on.
const STEPS: usize = 16;

/// The least overlap of two sets of `both` elements together at which their similarity reaches
/// `least`: from s / (both - s) >= n / d. Nothing reaches a fraction over zero.
fn least_overlap(both: usize, (n, d): (u64, u64)) -> Option<usize> {
    let (n, d) = (u128::from(n), u128::from(d));
    let needed = (d > 0).then(|| (n * both as u128).div_ceil(n + d))?;
    usize::try_from(needed).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Hashes of which many are equal, so that sets overlap.
    fn hashes() -> impl Strategy<Value = Vec<u64>> {
        let hash = prop_oneof![
            0..40u64,
            any::<u64>(),
            Just(u64::MAX),
            (0..40u64).prop_map(|hash| hash << 56)
        ];
        prop::collection::vec(hash, 0..200)
    }

    fn set(hashes: &[u64]) -> Vec<u64> {
        let mut set = hashes.to_vec();
        sort_to_set(&mut set);
        set
    }

    /// The definition, by the standard library.
    fn oracle(a: &[u64], b: &[u64]) -> (u64, u64) {
        let (a, b): (BTreeSet<_>, BTreeSet<_>) = (a.iter().collect(), b.iter().collect());
        (
            a.intersection(&b).count() as u64,
            a.union(&b).count() as u64,
        )
    }

    proptest! {
        #[test]
        fn sets_are_sorted_and_without_repetition(hashes in hashes(), large in prop::collection::vec(any::<u64>(), 0..3000)) {
            for hashes in [hashes, large.iter().map(|hash| hash % 1000).collect(), large] {
                let expected: Vec<u64> = hashes.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
                prop_assert_eq!(set(&hashes), expected);
            }
        }

        #[test]
        fn similarity_is_the_definition(a in hashes(), b in hashes(), n in 0..12u64, d in 0..12u64) {
            let (shared, union) = oracle(&a, &b);
            let (a, b) = (set(&a), set(&b));
            prop_assert_eq!(overlap(&a, &b) as u64, shared);
            prop_assert_eq!(jaccard(&a, &b), (shared, union));
            let alike = d > 0 && union > 0 && shared * d >= n * union;
            prop_assert_eq!(jaccard_at_least(&a, &b, (n, d)), alike.then_some((shared, union)));
            // The threshold that is just reached, and one just above it.
            if union > 0 {
                prop_assert_eq!(jaccard_at_least(&a, &b, (shared, union)), Some((shared, union)));
                prop_assert_eq!(jaccard_at_least(&a, &b, (shared * 1000 + 1, union * 1000)), None);
            }
        }

        #[test]
        fn nearly_equal_sets(hashes in hashes(), removed in 0..20usize, added in 0..20u64) {
            let a = set(&hashes);
            let mut b = a[removed.min(a.len())..].to_vec();
            b.extend((0..added).map(|hash| hash.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            sort_to_set(&mut b);
            let (shared, union) = oracle(&a, &b);
            let alike = union > 0 && shared * 5 >= 4 * union;
            prop_assert_eq!(jaccard_at_least(&a, &b, (4, 5)), alike.then_some((shared, union)));
            prop_assert_eq!(jaccard_at_least(&b, &a, (4, 5)), alike.then_some((shared, union)));
        }

        #[test]
        fn shingles_are_hashes_of_runs(words in prop::collection::vec(any::<u64>(), 0..40), width in 0..14usize) {
            let bytes: Vec<[u8; 8]> = words.iter().map(|word| word.to_le_bytes()).collect();
            let hash = |run: &[[u8; 8]]| xxh3_64(run.as_flattened());
            let expected: Vec<u64> = match width.max(1) {
                _ if words.is_empty() => vec![],
                width if words.len() < width => vec![hash(&bytes)],
                width => bytes.windows(width).map(hash).collect(),
            };
            let mut found = vec![7];
            shingles(&words, width, &mut found);
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn absurd_fractions() {
        let set: Vec<u64> = (0..9).collect();
        for least in [
            (u64::MAX, 1),
            (1, 0),
            (0, 0),
            (2, 1),
            (u64::MAX, u64::MAX - 1),
        ] {
            assert_eq!(jaccard_at_least(&set, &set, least), None);
        }
        assert_eq!(
            jaccard_at_least(&set, &set, (u64::MAX, u64::MAX)),
            Some((9, 9))
        );
        assert_eq!(jaccard_at_least(&set, &[], (0, 1)), Some((0, 9)));
        assert_eq!(jaccard_at_least(&[], &[], (0, 1)), None);
    }
}

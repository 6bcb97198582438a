//! Shingles: sets of hashes of word n-grams, and the similarity of two such sets.
//!
//! Source: Broder, "On the resemblance and containment of documents", 1997. The hash of a shingle
//! is the XXH3-64 of the hashes of its words, each as eight little-endian bytes. Sets are sorted
//! slices without repetition.

use std::borrow::Cow;

use bytemuck::Pod;
use xxhash_rust::xxh3::xxh3_64;

/// Replaces `out` by the hash of each n-gram of `width` words, in text order.
///
/// Fewer words than `width` make one shingle of all words; no words make none. A width of 0 counts
/// as 1.
pub fn shingles(words: &[u64], width: usize, out: &mut Vec<u64>) {
    out.clear();
    match width.max(1) {
        _ if words.is_empty() => {}
        width if words.len() <= width => out.push(hash(words)),
        // A constant length reduces the hash to a few multiplications.
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

/// The little-endian bytes of the numbers, on every machine.
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

/// Sorts hashes and removes duplicates.
pub fn sort_to_set(hashes: &mut Vec<u64>) {
    hashes.sort_unstable();
    hashes.dedup();
}

/// The size of the intersection of two sets; O(sum of the lengths).
pub fn overlap(a: &[u64], b: &[u64]) -> usize {
    // With a minimum of 0 the result is never `None`.
    overlap_of_at_least(a, b, 0).unwrap_or_default()
}

/// The size of the intersection of two sets if it is at least `least`, else `None`. Usually stops
/// early if `least` is out of reach.
///
/// Each step of a merge depends on the one before. Hashes are uniformly distributed, so the sets
/// are split at the same values into four parts of about equal size, whose merges are interleaved.
/// If one set is many times as large, the elements of the other are looked up in it instead.
pub fn overlap_of_at_least(a: &[u64], b: &[u64], least: usize) -> Option<usize> {
    let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if large.len() / LOOKED_UP >= small.len() {
        return found_of_at_least(small, large, least);
    }
    let mut merges = split(a, b);
    loop {
        let most: usize = merges.iter().map(Merge::most).sum();
        if most < least {
            return None;
        }
        let steps = merges.iter().map(Merge::sure_steps).min().unwrap_or(0);
        if steps == 0 {
            break;
        }
        for _ in 0..steps.min(STEPS) {
            merges.iter_mut().for_each(Merge::step);
        }
    }
    for merge in &mut merges {
        while merge.sure_steps() > 0 {
            merge.step();
        }
    }
    let shared = merges.iter().map(|merge| merge.shared).sum();
    (shared >= least).then_some(shared)
}

/// Like [`overlap_of_at_least`], by a look-up of each element of `small`; O(s log(l / s)) for sets
/// of s and l elements.
///
/// Source: Bentley and Yao, "An almost optimal algorithm for unbounded searching", Information
/// Processing Letters 5, 1976.
fn found_of_at_least(small: &[u64], large: &[u64], least: usize) -> Option<usize> {
    let (mut shared, mut rest) = (0, large);
    for (place, wanted) in small.iter().enumerate() {
        if shared + small.len() - place < least {
            return None;
        }
        let mut end = 1;
        while rest.get(end).is_some_and(|next| next < wanted) {
            end *= 2;
        }
        let begin = end / 2;
        let found = rest[begin..rest.len().min(end + 1)].partition_point(|next| next < wanted);
        rest = &rest[begin + found..];
        shared += usize::from(rest.first() == Some(wanted));
    }
    (shared >= least).then_some(shared)
}

fn split<'s>(a: &'s [u64], b: &'s [u64]) -> [Merge<'s>; PARTS] {
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
    merges
}

/// The number of interleaved merges.
const PARTS: usize = 4;
/// How many times as large a set is whose elements are looked up instead of merged.
const LOOKED_UP: usize = 16;
/// The number of steps of each merge between two checks of the bound.
const STEPS: usize = 32;

/// A merge of two sorted lists in progress.
#[derive(Default)]
struct Merge<'s> {
    a: &'s [u64],
    b: &'s [u64],
    i: usize,
    j: usize,
    shared: usize,
}

impl Merge<'_> {
    /// A number of steps that can be taken before either list ends.
    fn sure_steps(&self) -> usize {
        (self.a.len() - self.i).min(self.b.len() - self.j)
    }

    /// An upper bound on the number of shared elements.
    fn most(&self) -> usize {
        self.shared + self.sure_steps()
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Hashes with many equal ones, so that sets overlap.
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
        fn similarity_is_the_definition(a in hashes(), b in hashes()) {
            let (shared, union) = oracle(&a, &b);
            let (a, b) = (set(&a), set(&b));
            prop_assert_eq!(overlap(&a, &b) as u64, shared);
            prop_assert_eq!(jaccard(&a, &b), (shared, union));
            for least in 0..=a.len().max(b.len()) + 1 {
                let expected = (shared >= least as u64).then_some(shared as usize);
                prop_assert_eq!(overlap_of_at_least(&a, &b, least), expected);
            }
        }

        #[test]
        fn elements_of_a_small_set_are_found(
            large in prop::collection::vec(any::<u64>(), 0..600),
            places in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
            own in hashes(),
            own_count in 0..20usize,
            around in 0..5usize,
        ) {
            let large = set(&large);
            let taken = places.iter().filter(|_| !large.is_empty()).map(|place| *place.get(&large));
            let small = set(&taken.chain(own.into_iter().take(own_count)).collect::<Vec<_>>());
            let shared = oracle(&small, &large).0 as usize;
            let least = (shared + around).saturating_sub(2);
            let expected = (shared >= least).then_some(shared);
            prop_assert_eq!(found_of_at_least(&small, &large, least), expected);
            prop_assert_eq!(found_of_at_least(&large, &small, least), expected);
            prop_assert_eq!(overlap_of_at_least(&large, &small, least), expected);
        }

        #[test]
        fn merges_stop_where_too_little_is_left(
            common in prop::collection::vec(any::<u64>(), 0..400),
            own in prop::collection::vec(any::<(u64, u8)>(), 0..400),
            around in 0..7usize,
        ) {
            // Pages of a template.
            let of = |page: u8| own.iter().filter(move |own| own.1 % 3 == page).map(|own| own.0);
            let page = |page| set(&common.iter().copied().chain(of(page)).collect::<Vec<_>>());
            let (a, b) = (page(0), page(1));
            let shared = oracle(&a, &b).0 as usize;
            let least = (shared + around).saturating_sub(3);
            let expected = (shared >= least).then_some(shared);
            prop_assert_eq!(overlap_of_at_least(&a, &b, least), expected);
            prop_assert_eq!(overlap_of_at_least(&b, &a, least), expected);
        }

        #[test]
        fn nearly_equal_sets(hashes in hashes(), removed in 0..20usize, added in 0..20u64) {
            let a = set(&hashes);
            let mut b = a[removed.min(a.len())..].to_vec();
            b.extend((0..added).map(|hash| hash.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            sort_to_set(&mut b);
            prop_assert_eq!(jaccard(&a, &b), oracle(&a, &b));
            prop_assert_eq!(jaccard(&b, &a), oracle(&a, &b));
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
}

//! Search of sets and multisets by prefix filtering.

use std::ops::Range;

use super::fold::{CHECKED, EqualSketches};
use super::prefix::{RankedFeature, SimilarityBounds, Size, for_each_key, parts, rank};
use crate::search::join::lists::PositionLists;
use crate::search::join::rarity::Rarity;
use crate::search::join::table::Multimap;
use crate::sketch::{Sketches, Vectors};
use crate::{Error, ErrorKind, Result};

/// Index over sets and multisets, found by the rare features that they share.
///
/// The number of the vector of part `p` of group `g` is `g * parts + p`.
pub(super) struct FeatureSets<'a> {
    vectors: Vectors<'a>,
    bounds: SimilarityBounds,
    rarity: Rarity,
    table: Multimap,
    /// The sizes of each vector.
    sizes: Vec<Size>,
}

/// A query, and buffers to search with.
#[derive(Debug, Default)]
pub(super) struct Query {
    ranked: Vec<RankedFeature>,
    /// The range of vectors under each key of the query, and the query's weight of that key.
    keys: Vec<(Range<usize>, u32)>,
    /// The sizes of each part.
    sizes: Vec<Size>,
    lists: PositionLists,
    sums: OverlapSums,
}

/// The keys of consecutive vectors.
#[derive(Default)]
struct VectorKeys {
    sizes: Vec<Size>,
    /// The end of the keys of each vector.
    ends: Vec<usize>,
    keys: Vec<u64>,
}

/// The overlap with each vector of a window. Windows bound the memory of a search.
#[derive(Debug, Default)]
struct OverlapSums {
    first: u32,
    /// All zero between windows.
    shared: Vec<u32>,
    /// The offsets where it is not zero.
    touched: Vec<u32>,
}

/// Number of vectors of a window, whose sums fit in the cache.
const WINDOW: u32 = 1 << 16;
/// Number of list entries between checks for an early end.
const STRIDE: usize = 1024;
/// Number of list entries before the best candidate is tried the first time.
const MIN_SCANNED: usize = 64;
/// Distinguishes keys of features after a prefix from others.
const REST: u64 = 0x5bd1_e995_5bd1_e995;

impl<'a> FeatureSets<'a> {
    /// Memory for a sketch: counters, the keys from which the table is built, the table, and for
    /// each vector its sizes and the end of its keys.
    pub(super) fn bytes_for(vectors: &Vectors<'_>, sketch: &[u8]) -> usize {
        let bounds = SimilarityBounds::new(vectors.rule);
        let (features, keys) = max_keys(vectors, &bounds, sketch, &mut Vec::new());
        let of_vector = size_of::<Size>() + size_of::<u64>();
        features * Rarity::BYTES
            + keys * size_of::<u64>()
            + Multimap::bytes_for(keys)
            + of_vector * bounds.parts as usize
    }

    /// Builds the index; rarity counts each group once.
    pub(super) fn build(
        vectors: Vectors<'a>,
        sketches: Sketches<'_>,
        fold: &EqualSketches,
        memory_bytes: usize,
        check: &(dyn Fn() -> Result<()> + Sync),
    ) -> Result<FeatureSets<'a>> {
        let bounds = SimilarityBounds::new(vectors.rule);
        let count = fold.count().checked_mul(bounds.parts).ok_or_else(|| {
            let message = format!("{} sketches of {} parts", fold.count(), bounds.parts);
            Error::new(ErrorKind::Parameter, message + ": too many for one block")
        })?;
        let features = fold.map_ranges(check, |groups| {
            let mut features = 0;
            fold.for_each_of(groups, sketches, |_, sketch| {
                for_each_key(&vectors, sketch, &mut |_, _, _| features += 1);
            });
            features
        })?;
        let rarity = Rarity::new(features.into_iter().sum());
        fold.map_ranges(check, |groups| {
            fold.for_each_of(groups, sketches, |_, sketch| {
                for_each_key(&vectors, sketch, &mut |_, key, _| rarity.count(key));
            });
        })?;
        let ranges = fold.map_ranges(check, |groups| {
            let mut range = VectorKeys::default();
            let mut ranked = Vec::new();
            fold.for_each_of(groups, sketches, |_, sketch| {
                rank(&vectors, sketch, &rarity, &mut ranked);
                range.push(&ranked, &bounds);
            });
            range.keys.shrink_to_fit();
            range
        })?;
        let of_range = CHECKED * bounds.parts as usize;
        let each = |range: Range<u32>, visit: &mut dyn FnMut(u64, u32)| {
            for vector in range {
                let (range, place) = (vector as usize / of_range, vector as usize % of_range);
                let keys = ranges[range].of_vector(place).iter();
                keys.for_each(|key| visit(*key, vector));
            }
        };
        let of_keys = |range: &VectorKeys| size_of_val(&range.keys[..]);
        let keys: usize = ranges.iter().map(of_keys).sum();
        let taken = rarity.bytes() + keys + count as usize * size_of::<Size>();
        let table = Multimap::build(count, each, memory_bytes.saturating_sub(taken), check)?;
        let sizes = ranges.into_iter().flat_map(|range| range.sizes).collect();
        Ok(FeatureSets {
            vectors,
            bounds,
            rarity,
            table,
            sizes,
        })
    }

    /// Prepares `query` for `sketch`.
    pub(super) fn prepare(&self, sketch: &[u8], query: &mut Query) {
        let Query {
            ranked,
            keys,
            sizes,
            ..
        } = query;
        rank(&self.vectors, sketch, &self.rarity, ranked);
        sizes.clear();
        sizes.resize(self.bounds.parts as usize, Size::default());
        keys.clear();
        let mut add = |key, weight| {
            let list = self.table.list(key);
            if !list.is_empty() {
                keys.push((list, weight));
            }
        };
        for (part, ranked) in parts(ranked) {
            let (prefix, size) = self
                .bounds
                .prefix(ranked.iter().map(|ranked| ranked.weight));
            let Some(of_part) = sizes.get_mut(part as usize) else {
                continue;
            };
            *of_part = size;
            let all = if self.bounds.rests_count() {
                ranked.len()
            } else {
                prefix
            };
            for (place, ranked) in ranked[..all].iter().enumerate() {
                add(ranked.key, ranked.weight);
                if self.bounds.rests_count() && place < prefix {
                    add(ranked.key ^ REST, ranked.weight);
                }
            }
        }
        let most = self.sizes.len().min(self.window() as usize);
        if query.sums.shared.len() < most {
            query.sums.shared.resize(most, 0);
        }
    }

    /// The number of vectors of a window, a multiple of the parts.
    fn window(&self) -> u32 {
        (WINDOW / self.bounds.parts).max(1) * self.bounds.parts
    }

    /// Starts a window at the group of `vector`; returns its end.
    fn start_window(&self, vector: u32, sums: &mut OverlapSums) -> u32 {
        sums.first = vector - vector % self.bounds.parts;
        let end = sums.first.saturating_add(self.window());
        end.min(self.sizes.len() as u32)
    }

    /// Appends the groups among `groups` that may be near the query, ascending. Returns the group
    /// at which it stopped: the end, or after more than `limit` groups, or after `max_entries`
    /// list entries; and the number of vectors with a feature in common.
    pub(super) fn find(
        &self,
        query: &mut Query,
        groups: Range<u32>,
        (limit, max_entries): (usize, usize),
        found: &mut Vec<u32>,
    ) -> (u32, u64) {
        let numbers = self.table.numbers();
        let Query {
            keys,
            sizes,
            lists,
            sums,
            ..
        } = query;
        let parts = self.bounds.parts;
        let vectors = groups.start * parts..groups.end * parts;
        let fill = |lists: &mut PositionLists, vectors: &Range<u32>| {
            lists.clear();
            for (list, weight) in &*keys {
                lists.add(numbers, list.clone(), vectors, *weight);
            }
        };
        fill(lists, &vectors);
        let stop = lists.cut(numbers, &vectors, max_entries);
        // A portion has whole groups, and at least one.
        let mut end = (stop / parts).max(groups.start + 1);
        if end * parts != stop {
            fill(lists, &(vectors.start..end * parts));
        }
        let (first, mut compared) = (found.len(), 0);
        while let Some(vector) = lists.first(numbers) {
            if found.len() - first > limit {
                end = vector / parts;
                break;
            }
            let border = self.start_window(vector, sums);
            lists.take_before(numbers, border, |vectors, weight| {
                for &vector in vectors {
                    sums.add(vector, weight);
                }
            });
            let of_window = found.len();
            compared += sums.touched.len() as u64;
            sums.drain(|vector, shared| {
                if self.admits(sizes, vector, shared) {
                    found.push(vector / parts);
                }
            });
            found[of_window..].sort_unstable();
        }
        if parts > 1 {
            found.dedup();
        }
        (end, compared)
    }

    /// Whether `is_near` accepts any group that may be near the query, other than `except`.
    ///
    /// The group with the largest overlap is the likeliest. It is tried early, each time the number
    /// of entries read from a window has doubled.
    pub(super) fn any(
        &self,
        query: &mut Query,
        except: Option<u32>,
        is_near: &mut dyn FnMut(u32) -> bool,
    ) -> bool {
        let numbers = self.table.numbers();
        let Query {
            keys,
            sizes,
            lists,
            sums,
            ..
        } = query;
        let parts = self.bounds.parts;
        lists.clear();
        let all = 0..self.sizes.len() as u32;
        for (list, weight) in keys {
            lists.add(numbers, list.clone(), &all, *weight);
        }
        let mut is_found = false;
        while let Some(vector) = lists.first(numbers) {
            if is_found {
                break;
            }
            let border = self.start_window(vector, sums);
            let (mut scanned, mut pause) = (0, MIN_SCANNED);
            let (mut best, mut most, mut tried) = (None, 0, None);
            lists.take_before(numbers, border, |vectors, weight| {
                for vectors in vectors.chunks(STRIDE) {
                    if is_found {
                        return;
                    }
                    for &vector in vectors {
                        let sum = sums.add(vector, weight);
                        if sum > most && Some(vector / parts) != except {
                            (best, most) = (Some(vector / parts), sum);
                        }
                    }
                    scanned += vectors.len();
                    if scanned >= pause && best != tried {
                        pause = 2 * scanned;
                        tried = best;
                        is_found = best.is_some_and(&mut *is_near);
                    }
                }
            });
            sums.drain(|vector, shared| {
                let group = vector / parts;
                is_found = is_found
                    || Some(group) != except
                        && self.admits(sizes, vector, shared)
                        && is_near(group);
            });
        }
        is_found
    }

    fn admits(&self, sizes: &[Size], vector: u32, shared: u32) -> bool {
        let of_query = sizes[(vector % self.bounds.parts) as usize];
        self.bounds
            .admits(of_query, self.sizes[vector as usize], shared)
    }

    pub(super) fn bytes(&self) -> usize {
        self.rarity.bytes() + self.table.bytes() + size_of_val(&self.sizes[..])
    }
}

impl VectorKeys {
    /// Appends the vectors of a sketch.
    fn push(&mut self, ranked: &[RankedFeature], bounds: &SimilarityBounds) {
        let mut parts = parts(ranked).peekable();
        for part in 0..bounds.parts {
            let mut size = Size::default();
            if let Some((_, ranked)) = parts.next_if(|found| found.0 == part) {
                let prefix;
                (prefix, size) = bounds.prefix(ranked.iter().map(|ranked| ranked.weight));
                let first = ranked[..prefix].iter().map(|ranked| ranked.key);
                self.keys.extend(first);
                if bounds.rests_count() {
                    let rest = ranked[prefix..].iter().map(|ranked| ranked.key ^ REST);
                    self.keys.extend(rest);
                }
            }
            self.sizes.push(size);
            self.ends.push(self.keys.len());
        }
    }

    fn of_vector(&self, place: usize) -> &[u64] {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.keys[start..self.ends[place]]
    }
}

impl OverlapSums {
    /// Adds to the overlap with a vector; returns the sum.
    #[inline(always)]
    fn add(&mut self, vector: u32, weight: u32) -> u32 {
        let offset = vector - self.first;
        let sum = &mut self.shared[offset as usize];
        if *sum == 0 {
            self.touched.push(offset);
        }
        *sum = sum.saturating_add(weight);
        *sum
    }

    /// Calls `visit(vector, overlap)` for each vector with an overlap; clears the sums.
    fn drain(&mut self, mut visit: impl FnMut(u32, u32)) {
        for offset in self.touched.drain(..) {
            let shared = std::mem::take(&mut self.shared[offset as usize]);
            visit(self.first + offset, shared);
        }
    }
}

/// The number of features of a sketch, and the maximum number of its keys over all orders.
fn max_keys(
    vectors: &Vectors<'_>,
    bounds: &SimilarityBounds,
    sketch: &[u8],
    weights: &mut Vec<(u32, u32)>,
) -> (usize, usize) {
    weights.clear();
    for_each_key(vectors, sketch, &mut |part, _, weight| {
        weights.push((part, weight))
    });
    if bounds.rests_count() {
        return (weights.len(), weights.len());
    }
    // A prefix has the most features if light ones come first.
    weights.sort_unstable();
    let parts = weights.chunk_by(|a, b| a.0 == b.0);
    let prefixes = parts.map(|part| bounds.prefix(part.iter().map(|entry| entry.1)).0);
    (weights.len(), prefixes.sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::{Feature, SimilarityRule, VectorMeasure};

    /// All of very many sketches are found, with sums for one window only.
    #[test]
    fn sums_cover_a_window() {
        let count = 2 * WINDOW + 1000;
        let bytes: Vec<u8> = (0..count).flat_map(u32::to_le_bytes).collect();
        let sketches = Sketches::of_length(&bytes, 4);
        let rule = SimilarityRule {
            measure: VectorMeasure::Jaccard,
            least: (1, 3),
            parts: 1,
        };
        let vectors = Vectors::new(rule, |sketch, emit| {
            let number = u32::from_le_bytes(sketch.try_into().unwrap());
            for name in [number % 100, 100 + number % 7] {
                emit(Feature {
                    part: 0,
                    name: name.into(),
                    weight: 1,
                });
            }
        });
        let fold = EqualSketches::new(sketches);
        let sets = FeatureSets::build(vectors, sketches, &fold, usize::MAX, &|| Ok(())).unwrap();
        let mut query = Query::default();
        sets.prepare(&5u32.to_le_bytes(), &mut query);
        let (mut found, mut from, mut portions) = (Vec::new(), 0, 0);
        while from < count {
            let before = found.len();
            let limit = (10, usize::MAX);
            let (next, _) = sets.find(&mut query, from..count, limit, &mut found);
            let window = from..next;
            assert!(found[before..].iter().all(|group| window.contains(group)));
            (from, portions) = (next, portions + 1);
        }
        assert_eq!(portions, 3);
        let mut expected = (0..count).filter(|number| number % 100 == 5 || number % 7 == 5);
        assert!(found.is_sorted_by(|a, b| a < b));
        assert!(
            expected
                .clone()
                .all(|near| found.binary_search(&near).is_ok())
        );
        let last = expected.next_back().unwrap();
        assert!(sets.any(&mut query, None, &mut |group| group == last));
        assert!(!sets.any(&mut query, Some(last), &mut |group| group == last));
        assert!(query.sums.shared.len() <= WINDOW as usize);
        assert!(query.sums.shared.iter().all(|shared| *shared == 0));
    }
}

use std::ops::Range;

use super::fold::Fold;
use super::lists::Lists;
use super::prefix::{Bounds, Ranked, Size, for_each_key, parts, rank};
use super::rarity::Rarity;
use super::table::Table;
use crate::sketch::{Sketches, Vectors};
use crate::{Error, ErrorKind, Result};

/// Sets and multisets, found by the rare features that they share.
///
/// The vector of a part has the number of its group, times the parts, and its own.
pub(super) struct Sets<'a> {
    vectors: Vectors<'a>,
    bounds: Bounds,
    rarity: Rarity,
    table: Table,
    /// Of each vector.
    sizes: Vec<Size>,
}

/// A query, and buffers to search with.
#[derive(Debug, Default)]
pub(super) struct Query {
    ranked: Vec<Ranked>,
    /// The numbers under each of its keys, and its weight there.
    keys: Vec<(Range<usize>, u32)>,
    /// Of each part.
    sizes: Vec<Size>,
    lists: Lists,
    /// For each vector, what is shared with it; all zero between searches.
    shared: Vec<u32>,
    /// Those where it is not.
    touched: Vec<u32>,
}

/// Numbers that are looked at without a pause.
const STRIDE: usize = 1024;
/// Before so many were looked at, the best of them says nothing.
const LEAST_SCANNED: usize = 64;
/// Tells features behind a prefix from others.
const REST: u64 = 0x5bd1_e995_5bd1_e995;

impl<'a> Sets<'a> {
    /// Counters, keys that wait for the table, the table, and of each vector its sizes and the end
    /// of its keys.
    pub(super) fn bytes_for(vectors: &Vectors<'_>, sketch: &[u8]) -> usize {
        let bounds = Bounds::new(vectors.likeness);
        let (features, keys) = most_keys(vectors, &bounds, sketch, &mut Vec::new());
        let of_vector = size_of::<Size>() + size_of::<u64>();
        features * Rarity::BYTES
            + keys * size_of::<u64>()
            + Table::bytes_for(keys)
            + of_vector * bounds.parts as usize
    }

    /// Rarity is counted among groups.
    pub(super) fn build(
        vectors: Vectors<'a>,
        sketches: Sketches<'_>,
        fold: &Fold,
        memory_bytes: usize,
    ) -> Result<Sets<'a>> {
        let bounds = Bounds::new(vectors.likeness);
        let count = fold.count().checked_mul(bounds.parts).ok_or_else(|| {
            let message = format!("{} sketches of {} parts", fold.count(), bounds.parts);
            Error::new(ErrorKind::Parameter, message + ": too many for one block")
        })?;
        let groups = || (0..fold.count()).map(|group| sketches.get(fold.first(group) as usize));
        let mut weights = Vec::new();
        let (mut features, mut most) = (0, 0);
        for sketch in groups() {
            let (some, keys) = most_keys(&vectors, &bounds, sketch, &mut weights);
            features += some;
            most += keys;
        }
        let mut rarity = Rarity::new(features);
        for sketch in groups() {
            for_each_key(&vectors, sketch, &mut |_, key, _| rarity.count(key));
        }
        let mut sizes = vec![Size::default(); count as usize];
        let mut ends = vec![0; count as usize];
        let (mut keys, mut ranked) = (Vec::with_capacity(most), Vec::new());
        for (sketch, group) in groups().zip(0u32..) {
            rank(&vectors, sketch, &rarity, &mut ranked);
            let mut parts = parts(&ranked).peekable();
            for part in 0..bounds.parts {
                let vector = (group * bounds.parts + part) as usize;
                if let Some((_, ranked)) = parts.next_if(|found| found.0 == part) {
                    let (prefix, size) = bounds.prefix(ranked.iter().map(|ranked| ranked.weight));
                    keys.extend(ranked[..prefix].iter().map(|ranked| ranked.key));
                    if bounds.rests_count() {
                        keys.extend(ranked[prefix..].iter().map(|ranked| ranked.key ^ REST));
                    }
                    sizes[vector] = size;
                }
                ends[vector] = keys.len();
            }
        }
        let each = |visit: &mut dyn FnMut(u64, u32)| {
            let mut start = 0;
            for (&end, vector) in ends.iter().zip(0..) {
                keys[start..end].iter().for_each(|key| visit(*key, vector));
                start = end;
            }
        };
        let taken = rarity.bytes() + size_of_val(&keys[..]) + size_of_val(&sizes[..]);
        let table = Table::build(each, memory_bytes.saturating_sub(taken))?;
        Ok(Sets {
            vectors,
            bounds,
            rarity,
            table,
            sizes,
        })
    }

    /// Takes in a query.
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
        if query.shared.len() < self.sizes.len() {
            query.shared.resize(self.sizes.len(), 0);
        }
    }

    /// Appends the groups among `groups` that the query may be like, ascending, and returns where
    /// it stopped: at the end, or where so much work was done.
    pub(super) fn find(
        &self,
        query: &mut Query,
        groups: Range<u32>,
        work: usize,
        found: &mut Vec<u32>,
    ) -> u32 {
        let numbers = self.table.numbers();
        let Query {
            keys,
            sizes,
            lists,
            shared,
            touched,
            ..
        } = query;
        let parts = self.bounds.parts;
        let vectors = groups.start * parts..groups.end * parts;
        let fill = |lists: &mut Lists, vectors: &Range<u32>| {
            lists.clear();
            for (list, weight) in &*keys {
                lists.add(numbers, list.clone(), vectors, *weight);
            }
        };
        fill(lists, &vectors);
        let stop = lists.cut(numbers, &vectors, work);
        // A portion is whole groups; the least is one, whatever its work.
        let end = (stop / parts).max(groups.start + 1);
        if end * parts != stop {
            fill(lists, &(vectors.start..end * parts));
        }
        for (vector, weight) in lists.each(numbers) {
            add(shared, touched, vector, weight);
        }
        let first = found.len();
        for vector in touched.drain(..) {
            let shared = std::mem::take(&mut shared[vector as usize]);
            if self.admits(sizes, vector, shared) {
                found.push(vector / parts);
            }
        }
        found[first..].sort_unstable();
        if parts > 1 {
            found.dedup();
        }
        end
    }

    /// Whether `is_near` says yes to any group that the query may be like, but `except`.
    ///
    /// Among many near ones, one of those that share most is near: whenever twice as much was
    /// looked at, the best so far is tried.
    pub(super) fn any(
        &self,
        query: &mut Query,
        except: Option<u32>,
        is_near: &mut dyn FnMut(u32) -> bool,
    ) -> bool {
        let Query {
            keys,
            sizes,
            shared,
            touched,
            ..
        } = query;
        let parts = self.bounds.parts;
        let (mut scanned, mut pause) = (0, LEAST_SCANNED);
        let (mut best, mut most, mut tried) = (None, 0, None);
        let mut is_found = false;
        'all: for (list, weight) in keys {
            for numbers in self.table.numbers()[list.clone()].chunks(STRIDE) {
                for &vector in numbers {
                    let sum = add(shared, touched, vector, *weight);
                    if sum > most && Some(vector / parts) != except {
                        (best, most) = (Some(vector / parts), sum);
                    }
                }
                scanned += numbers.len();
                if scanned < pause || best == tried {
                    continue;
                }
                pause = 2 * scanned;
                tried = best;
                is_found = best.is_some_and(&mut *is_near);
                if is_found {
                    break 'all;
                }
            }
        }
        for vector in touched.drain(..) {
            let shared = std::mem::take(&mut shared[vector as usize]);
            let group = vector / parts;
            is_found = is_found
                || Some(group) != except && self.admits(sizes, vector, shared) && is_near(group);
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

/// Adds to what is shared with a vector; returns the sum.
#[inline(always)]
fn add(shared: &mut [u32], touched: &mut Vec<u32>, vector: u32, weight: u32) -> u32 {
    let sum = &mut shared[vector as usize];
    if *sum == 0 {
        touched.push(vector);
    }
    *sum = sum.saturating_add(weight);
    *sum
}

/// How many features a sketch has, and how many keys at most, in whatever order.
fn most_keys(
    vectors: &Vectors<'_>,
    bounds: &Bounds,
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
    // A prefix has the most features if the light ones come first.
    weights.sort_unstable();
    let parts = weights.chunk_by(|a, b| a.0 == b.0);
    let prefixes = parts.map(|part| bounds.prefix(part.iter().map(|entry| entry.1)).0);
    (weights.len(), prefixes.sum())
}

//! Looking queries up: each looks into its buckets of every table, and all go through a table in
//! the order of their own buckets.
//!
//! In that order a large batch reads a table from its beginning to its end, every bucket once for
//! all queries that share it. The neighbours of the buckets, one bit flipped, come in order as
//! well but for long jumps: as many streams as there are bits, of which those of low bits stay in
//! the cache. Queries of a small batch are more than a page apart; there the neighbours are put
//! into order, too, which costs less than so many misses of the page tables. What comes next is
//! asked for some steps before.

use std::ops::Range;

use super::tables::{Table, Tables};
use crate::Result;
use crate::index::permutation::Value;
use crate::io::{BLOCK_BYTES, BlockFile, Source};
use crate::kernel::hamming::Pair;

/// The most buckets that are put into order together: 24 MiB of them.
const TOGETHER: usize = 1 << 20;
/// About so many looks are listed at a time.
const LISTED: usize = 512;
/// Fingerprints of a bucket that are compared with all queries before the next ones are.
const PIECE: u32 = 2048;
/// Comparisons at a time, and hits after which they are handed on, so that they take little memory.
pub const PAIRS: usize = 1 << 16;
/// Fewer queries do not ask whether a table is in memory: that takes some microseconds.
pub const MANY: usize = 1024;
/// Fewer than these are put into order by comparing them.
const FEW: usize = 256;
/// Bits that are sorted by at a time: as many counters as the first-level cache holds.
const DIGIT_BITS: u32 = 11;

/// Buffers of looking up.
#[derive(Debug, Default)]
pub struct Looks<F> {
    /// The queries in the order of the table's bits.
    permuted: Vec<F>,
    /// Bucket (the high half) and number of a query (the low half), by bucket.
    order: Vec<u64>,
    spare: Vec<u64>,
    /// The same queries, by bucket.
    ordered: Vec<F>,
    looks: Vec<Look>,
    /// Fingerprints of a bucket.
    piece: Vec<F>,
    pairs: Vec<Pair>,
    found: Vec<Found<F>>,
    near: Vec<Near>,
}

/// A fingerprint that is near a query, and whose group is not known yet.
#[derive(Debug)]
struct Found<F> {
    /// In the order of the first table.
    value: F,
    /// Where its bucket there begins and ends, once that is known.
    range: (u32, u32),
    query: u32,
    distance: u32,
}

/// A group that is near a query.
#[derive(Debug)]
pub struct Near {
    /// The number of the query.
    pub query: u32,
    /// How many bits differ.
    pub distance: u32,
    /// The number of the group.
    pub group: u32,
}

/// Some queries look into a bucket.
#[derive(Debug)]
struct Look {
    bucket: u32,
    /// Where it begins and ends, once that is known.
    range: (u32, u32),
    /// The queries, by their places in the order.
    queries: (u32, u32),
}

impl<F: Value> Tables<F> {
    /// Calls `visit` with every group that is near a query, each once, in no particular order,
    /// many at a time.
    pub fn look_up(
        &self,
        file: &BlockFile,
        queries: &[F],
        looks: &mut Looks<F>,
        visit: &mut dyn FnMut(&[Near]) -> Result<()>,
    ) -> Result<()> {
        looks.found.clear();
        looks.near.clear();
        if self.distinct == 0 {
            return Ok(());
        }
        for table in &self.tables {
            // Few queries: their neighbours are far apart, and are put into order as well.
            let [_, values] = table.sections();
            let few = (queries.len() as u64) < file.len::<u8>(values) / BLOCK_BYTES as u64;
            let (ordered, listed) = if few {
                (&table.patterns[..], &[0][..])
            } else {
                (&[0][..], &table.patterns[..])
            };
            let source = match queries.len() < MANY {
                true => Source::Memory,
                false => table.source(file),
            };
            let together = (TOGETHER / ordered.len()).max(1);
            let chunks = queries.chunks(together);
            for (queries, first) in chunks.zip((0..).step_by(together)) {
                table.order(queries, first as u32, ordered, looks);
                let mut at = 0;
                while at < looks.order.len() {
                    at = looks.list(at, listed);
                    self.look_ahead(file, table, source, looks, visit)?;
                }
            }
            self.show(file, looks, visit)?;
        }
        Ok(())
    }

    /// Looks into the listed buckets, while others are on their way.
    fn look_ahead(
        &self,
        file: &BlockFile,
        table: &Table<F>,
        source: Source,
        looks: &mut Looks<F>,
        visit: &mut dyn FnMut(&[Near]) -> Result<()>,
    ) -> Result<()> {
        let (count, steps) = (looks.looks.len(), source.steps());
        for ahead in 0..count + steps {
            if let Some(look) = looks.looks.get(ahead) {
                table.prefetch_range(file, look.bucket, source);
            }
            if let Some(look) = looks.looks.get_mut(ahead.wrapping_sub(steps / 2)) {
                look.range = table.range(file, look.bucket)?;
                table.prefetch(file, look.range.0..look.range.1, source);
            }
            if let Some(now) = ahead.checked_sub(steps) {
                self.look(file, table, now, looks, visit)?;
            }
        }
        Ok(())
    }

    /// Compares the bucket of look number `now` with its queries.
    fn look(
        &self,
        file: &BlockFile,
        table: &Table<F>,
        now: usize,
        looks: &mut Looks<F>,
        visit: &mut dyn FnMut(&[Near]) -> Result<()>,
    ) -> Result<()> {
        let Look {
            bucket,
            range: (mut start, end),
            queries,
        } = looks.looks[now];
        while start < end {
            let next = end.min(start.saturating_add(PIECE));
            table.read(file, bucket, start..next, &mut looks.piece)?;
            let most = (PAIRS / looks.piece.len().max(1)).max(1);
            let mut first = queries.0 as usize;
            while first < queries.1 as usize {
                let places = first..(queries.1 as usize).min(first + most);
                first = places.end;
                looks.compare(self, table, start, places);
                if looks.found.len() + looks.near.len() >= PAIRS {
                    self.show(file, looks, visit)?;
                }
            }
            start = next;
        }
        Ok(())
    }

    /// Finds the groups of what was found, in their order, and shows all of them.
    fn show(
        &self,
        file: &BlockFile,
        looks: &mut Looks<F>,
        visit: &mut dyn FnMut(&[Near]) -> Result<()>,
    ) -> Result<()> {
        let (first, found) = (&self.tables[0], &mut looks.found);
        found.sort_unstable_by_key(|found| found.value);
        let source = match found.len() < MANY {
            true => Source::Memory,
            false => first.source(file),
        };
        let steps = source.steps();
        for ahead in 0..found.len() + steps {
            if let Some(found) = found.get(ahead) {
                first.prefetch_range(file, first.bucket(found.value), source);
            }
            if let Some(found) = found.get_mut(ahead.wrapping_sub(steps / 2)) {
                found.range = first.range(file, first.bucket(found.value))?;
                first.prefetch(file, found.range.0..found.range.1, source);
            }
            if let Some(found) = ahead.checked_sub(steps).map(|now| &found[now]) {
                looks.near.push(Near {
                    query: found.query,
                    distance: found.distance,
                    group: self.group(file, found.value, found.range)?,
                });
            }
        }
        visit(&looks.near)?;
        looks.found.clear();
        looks.near.clear();
        Ok(())
    }
}

impl<F: Value> Looks<F> {
    /// Compares the fingerprints of a bucket, from `start` on, with queries by their places in the
    /// order.
    fn compare(&mut self, of: &Tables<F>, table: &Table<F>, start: u32, places: Range<usize>) {
        let queries = &self.ordered[places.clone()];
        let order = &self.order[places];
        self.pairs.clear();
        (of.kernels.scan_each)(&self.piece, queries, of.near, &mut self.pairs);
        for Pair { query, hit } in &self.pairs {
            let (value, query) = (self.piece[hit.position as usize], *query as usize);
            if table.is_in_an_earlier(queries[query] ^ value) {
                continue;
            }
            let (query, distance) = (order[query] as u32, hit.distance);
            match table.is_first() {
                true => self.near.push(Near {
                    query,
                    distance,
                    group: start + hit.position,
                }),
                false => self.found.push(Found {
                    value: table.to_first.apply(value),
                    range: (0, 0),
                    query,
                    distance,
                }),
            }
        }
    }

    /// Lists the buckets that ordered queries from place `at` on look into, their own with each
    /// pattern, some at a time; says where the next ones are.
    fn list(&mut self, mut at: usize, patterns: &[u32]) -> usize {
        let order = &self.order;
        self.looks.clear();
        while at < order.len() && self.looks.len() < LISTED {
            let same = |place: &&u64| **place >> 32 == order[at] >> 32;
            let first = at as u32;
            at += order[at..].iter().take_while(same).count();
            let bucket = (order[first as usize] >> 32) as u32;
            self.looks.extend(patterns.iter().map(|pattern| Look {
                bucket: bucket ^ pattern,
                range: (0, 0),
                queries: (first, at as u32),
            }));
        }
        at
    }
}

impl<F: Value> Table<F> {
    /// Puts queries, the first of which has the number `first`, into the order of their buckets,
    /// once for each pattern.
    fn order(&self, queries: &[F], first: u32, patterns: &[u32], looks: &mut Looks<F>) {
        let permuted = queries.iter().map(|query| self.permutation.apply(*query));
        looks.permuted.clear();
        looks.permuted.extend(permuted);
        looks.order.clear();
        for (query, number) in looks.permuted.iter().zip(u64::from(first)..) {
            let bucket = self.bucket(*query);
            let entry = |pattern: &u32| u64::from(bucket ^ pattern) << 32 | number;
            looks.order.extend(patterns.iter().map(entry));
        }
        sort(&mut looks.order, &mut looks.spare, self.directory_bits);
        let ordered = looks.order.iter();
        looks.ordered.clear();
        looks
            .ordered
            .extend(ordered.map(|place| looks.permuted[(*place as u32 - first) as usize]));
    }
}

/// Sorts by the `bits` lowest bits of the high half: one counting sort for each digit, the lowest
/// first. `spare` may hold anything.
fn sort(order: &mut Vec<u64>, spare: &mut Vec<u64>, bits: u32) {
    if order.len() < FEW {
        order.sort_unstable();
        return;
    }
    let digits = bits.div_ceil(DIGIT_BITS);
    spare.resize(order.len(), 0);
    for number in 0..digits {
        let size = bits.div_ceil(digits);
        let digit = |entry: u64| (entry >> (32 + number * size)) as usize & ((1 << size) - 1);
        let mut places = [0; 1 << DIGIT_BITS];
        order.iter().for_each(|entry| places[digit(*entry)] += 1);
        let mut sum = 0;
        for place in &mut places[..1 << size] {
            sum += std::mem::replace(place, sum);
        }
        for entry in order.iter() {
            let place = &mut places[digit(*entry)];
            spare[*place] = *entry;
            *place += 1;
        }
        std::mem::swap(order, spare);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn looks_are_sorted_by_bucket_and_stay_in_order(
            buckets in prop::collection::vec(any::<u32>(), 0..2000),
            bits in 0u32..=24,
        ) {
            let look = |(bucket, which): (&u32, u64)| {
                u64::from(bucket & ((1 << bits) - 1)) << 32 | which
            };
            let mut looks: Vec<u64> = buckets.iter().zip(0..).map(look).collect();
            let mut expected = looks.clone();
            expected.sort_unstable();
            sort(&mut looks, &mut Vec::new(), bits);
            prop_assert_eq!(looks, expected);
        }
    }
}

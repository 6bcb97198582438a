//! Look-up of queries: each query visits its buckets of every table, and all queries pass through a
//! table in the order of their buckets.
//!
//! In that order a large batch reads a table from start to end, each bucket once for all queries
//! that share it. A query also visits neighbours of its bucket, which differ from it in a pattern
//! of a few bits. The neighbours for one pattern are visited in nearly ascending order; those that
//! differ in low bits only stay in the cache. In a small batch, buckets are more than a page apart.
//! Then the neighbours are sorted, too, which costs less than TLB misses. Data is prefetched some
//! steps ahead.

use std::ops::Range;

use super::tables::{Table, Tables};
use crate::Result;
use crate::io::{BLOCK_BYTES, BlockFile, Source};
use crate::kernel::hamming::QueryHit;
use crate::permutation::Value;

/// The maximum number of buckets that are sorted together: 24 MiB of them.
const TOGETHER: usize = 1 << 20;
/// About the number of bucket look-ups that are listed at a time.
const LISTED: usize = 512;
/// The fingerprints of a bucket that are compared with all queries at a time.
const PIECE: u32 = 2048;
/// Comparisons at a time, and the number of hits that are collected; both bound memory.
pub const PAIRS: usize = 1 << 16;
/// For fewer queries, tables are taken to be in memory: finding out takes some microseconds.
pub const MANY: usize = 1024;
/// Fewer entries than this are sorted by comparison.
const FEW: usize = 256;
/// Bits of a digit of the counting sort: its counters fit into the first-level cache.
const DIGIT_BITS: u32 = 11;

/// Buffers of a look-up.
#[derive(Debug, Default)]
pub struct LookUpBuffers<F> {
    /// The queries in the order of the table's bits.
    permuted: Vec<F>,
    /// Bucket (the high half) and number of a query (the low half), by bucket.
    order: Vec<u64>,
    spare: Vec<u64>,
    /// The same queries, by bucket.
    ordered: Vec<F>,
    look_ups: Vec<BucketLookUp>,
    /// Fingerprints of a bucket.
    piece: Vec<F>,
    pairs: Vec<QueryHit>,
    found: Vec<NearValue<F>>,
    near: Vec<NearGroup>,
}

/// A fingerprint near a query, whose group is not known yet.
#[derive(Debug)]
struct NearValue<F> {
    /// In the order of the first table.
    value: F,
    /// Start and end of its bucket there, once they are known.
    range: (u32, u32),
    query: u32,
    distance: u32,
}

/// A group near a query.
#[derive(Debug)]
pub struct NearGroup {
    /// The number of the query.
    pub query: u32,
    /// The number of different bits.
    pub distance: u32,
    /// The number of the group.
    pub group: u32,
}

/// A bucket that some queries visit.
#[derive(Debug)]
struct BucketLookUp {
    bucket: u32,
    /// Its start and end, once they are known.
    range: (u32, u32),
    /// The queries, by their places in the order.
    queries: (u32, u32),
}

impl<F: Value> Tables<F> {
    /// Calls `visit` with every group near a query, each once, many at a time, in any order.
    pub fn look_up(
        &self,
        file: &BlockFile,
        queries: &[F],
        buffers: &mut LookUpBuffers<F>,
        visit: &mut dyn FnMut(&[NearGroup]) -> Result<()>,
    ) -> Result<()> {
        buffers.found.clear();
        buffers.near.clear();
        if self.distinct == 0 {
            return Ok(());
        }
        for table in &self.tables {
            // Few queries: their neighbours are far apart, and are sorted as well.
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
                table.order(queries, first as u32, ordered, buffers);
                let mut at = 0;
                while at < buffers.order.len() {
                    at = buffers.list(at, listed);
                    self.look_ahead(file, table, source, buffers, visit)?;
                }
            }
            self.show(file, buffers, visit)?;
        }
        Ok(())
    }

    /// Visits the listed buckets, and prefetches further ones.
    fn look_ahead(
        &self,
        file: &BlockFile,
        table: &Table<F>,
        source: Source,
        buffers: &mut LookUpBuffers<F>,
        visit: &mut dyn FnMut(&[NearGroup]) -> Result<()>,
    ) -> Result<()> {
        let (count, steps) = (buffers.look_ups.len(), source.steps());
        for ahead in 0..count + steps {
            if let Some(look) = buffers.look_ups.get(ahead) {
                table.prefetch_range(file, look.bucket, source);
            }
            if let Some(look) = buffers.look_ups.get_mut(ahead.wrapping_sub(steps / 2)) {
                look.range = table.range(file, look.bucket)?;
                table.prefetch(file, look.range.0..look.range.1, source);
            }
            if let Some(now) = ahead.checked_sub(steps) {
                self.look(file, table, now, buffers, visit)?;
            }
        }
        Ok(())
    }

    /// Compares the bucket of look-up number `now` with its queries.
    fn look(
        &self,
        file: &BlockFile,
        table: &Table<F>,
        now: usize,
        buffers: &mut LookUpBuffers<F>,
        visit: &mut dyn FnMut(&[NearGroup]) -> Result<()>,
    ) -> Result<()> {
        let BucketLookUp {
            bucket,
            range: (mut start, end),
            queries,
        } = buffers.look_ups[now];
        while start < end {
            let next = end.min(start.saturating_add(PIECE));
            table.read(file, bucket, start..next, &mut buffers.piece)?;
            let most = (PAIRS / buffers.piece.len().max(1)).max(1);
            let mut first = queries.0 as usize;
            while first < queries.1 as usize {
                let places = first..(queries.1 as usize).min(first + most);
                first = places.end;
                buffers.compare(self, table, start, places);
                if buffers.found.len() + buffers.near.len() >= PAIRS {
                    self.show(file, buffers, visit)?;
                }
            }
            start = next;
        }
        Ok(())
    }

    /// Finds the groups of the near fingerprints, in their order, and visits all of them.
    fn show(
        &self,
        file: &BlockFile,
        buffers: &mut LookUpBuffers<F>,
        visit: &mut dyn FnMut(&[NearGroup]) -> Result<()>,
    ) -> Result<()> {
        let (first, found) = (&self.tables[0], &mut buffers.found);
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
                buffers.near.push(NearGroup {
                    query: found.query,
                    distance: found.distance,
                    group: self.group(file, found.value, found.range)?,
                });
            }
        }
        visit(&buffers.near)?;
        buffers.found.clear();
        buffers.near.clear();
        Ok(())
    }
}

impl<F: Value> LookUpBuffers<F> {
    /// Compares the fingerprints of a bucket, from `start` on, with the queries at `places` of the
    /// order.
    fn compare(&mut self, of: &Tables<F>, table: &Table<F>, start: u32, places: Range<usize>) {
        let queries = &self.ordered[places.clone()];
        let order = &self.order[places];
        self.pairs.clear();
        (of.kernels.scan_each)(&self.piece, queries, of.near, &mut self.pairs);
        for QueryHit { query, hit } in &self.pairs {
            let (value, query) = (self.piece[hit.position as usize], *query as usize);
            if table.is_found_earlier(queries[query] ^ value) {
                continue;
            }
            let (query, distance) = (order[query] as u32, hit.distance);
            match table.is_first() {
                true => self.near.push(NearGroup {
                    query,
                    distance,
                    group: start + hit.position,
                }),
                false => self.found.push(NearValue {
                    value: table.to_first.apply(value),
                    range: (0, 0),
                    query,
                    distance,
                }),
            }
        }
    }

    /// Lists some buckets for the ordered queries from place `at` on: their own bucket with each
    /// pattern. Returns the next place.
    fn list(&mut self, mut at: usize, patterns: &[u32]) -> usize {
        let order = &self.order;
        self.look_ups.clear();
        while at < order.len() && self.look_ups.len() < LISTED {
            let same = |place: &&u64| **place >> 32 == order[at] >> 32;
            let first = at as u32;
            at += order[at..].iter().take_while(same).count();
            let bucket = (order[first as usize] >> 32) as u32;
            self.look_ups
                .extend(patterns.iter().map(|pattern| BucketLookUp {
                    bucket: bucket ^ pattern,
                    range: (0, 0),
                    queries: (first, at as u32),
                }));
        }
        at
    }
}

impl<F: Value> Table<F> {
    /// Sorts queries, which are numbered from `first`, by their buckets, once for each pattern.
    fn order(&self, queries: &[F], first: u32, patterns: &[u32], buffers: &mut LookUpBuffers<F>) {
        let permuted = queries.iter().map(|query| self.permutation.apply(*query));
        buffers.permuted.clear();
        buffers.permuted.extend(permuted);
        buffers.order.clear();
        for (query, number) in buffers.permuted.iter().zip(u64::from(first)..) {
            let bucket = self.bucket(*query);
            let entry = |pattern: &u32| u64::from(bucket ^ pattern) << 32 | number;
            buffers.order.extend(patterns.iter().map(entry));
        }
        sort(&mut buffers.order, &mut buffers.spare, self.directory_bits);
        let ordered = buffers.order.iter();
        buffers.ordered.clear();
        buffers
            .ordered
            .extend(ordered.map(|place| buffers.permuted[(*place as u32 - first) as usize]));
    }
}

/// Sorts by the `bits` lowest bits of the high half: one counting sort for each digit, the lowest
/// first. The content of `spare` does not matter.
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
        fn look_ups_are_sorted_by_bucket_and_stable(
            buckets in prop::collection::vec(any::<u32>(), 0..2000),
            bits in 0u32..=24,
        ) {
            let look = |(bucket, which): (&u32, u64)| {
                u64::from(bucket & ((1 << bits) - 1)) << 32 | which
            };
            let mut look_ups: Vec<u64> = buckets.iter().zip(0..).map(look).collect();
            let mut expected = look_ups.clone();
            expected.sort_unstable();
            sort(&mut look_ups, &mut Vec::new(), bits);
            prop_assert_eq!(look_ups, expected);
        }
    }
}

//! Hash tables over blocks of bits (Manku, Jain and Das Sarma, WWW 2007).

use rayon::prelude::*;

use super::groups::GONE;
use super::sample::FingerprintSample;
use super::{Fingerprint, Hit, blocks};
use crate::kernel::hamming::{Kernels, Key, Threshold, prefetch};

/// The number of queries that [`Tables::search`] takes at a time: enough to overlap cache misses.
pub(super) const CHUNK: usize = 32;

/// Bytes of a cache line.
const CACHE_LINE: usize = 64;
/// The number of fingerprints that [`Tables::any`] compares before it checks for a hit.
const PIECE: usize = 1024;
/// The number of cache lines of a bucket that are prefetched; hardware prefetch does the rest.
const PREFETCHED_LINES: usize = 4;

/// One copy of the fingerprints per key; those of a bucket are contiguous.
#[derive(Debug)]
pub(super) struct Tables<F> {
    tables: Vec<BlockTable<F>>,
}

#[derive(Debug)]
struct BlockTable<F> {
    key: Key<F>,
    /// The start of each bucket, and the end of the last.
    starts: Vec<u32>,
    /// By bucket, then by position.
    fingerprints: Vec<F>,
    positions: Vec<u32>,
}

impl<F: Fingerprint> Tables<F> {
    /// One table per key, in parallel. Each key is a union of `blocks - k` of the `blocks` blocks,
    /// where k is that of the threshold.
    pub(super) fn build(
        of: &[F],
        threshold: Threshold<F>,
        blocks: u32,
        kernels: &Kernels<F>,
    ) -> Self {
        let sample = FingerprintSample::of(of, threshold);
        let entropies = blocks::entropies(&sample.values, threshold.mask.count_ones());
        let masks = blocks::keys(&entropies, threshold.k, blocks);
        let build = |mask| BlockTable::build(of, Key::new(mask, key_bits(of.len())), kernels);
        Tables {
            tables: masks.into_par_iter().map(build).collect(),
        }
    }

    /// Appends the hits of each of at most [`CHUNK`] queries to its list, each hit once, in no
    /// particular order.
    ///
    /// Abandons a query that would be compared with more than `most` fingerprints: clears its list
    /// and calls `beyond` with its index and list instead.
    pub(super) fn search(
        &self,
        queries: &[F],
        threshold: Threshold<F>,
        kernels: &Kernels<F>,
        most: usize,
        lists: &mut [Vec<Hit>],
        mut beyond: impl FnMut(usize, &mut Vec<Hit>),
    ) {
        let mut compared = [0; CHUNK];
        // The buckets of the next table are prefetched while those of the current one are compared.
        let mut next = self
            .tables
            .first()
            .map(|table| table.locate(queries, kernels));
        for (number, table) in self.tables.iter().enumerate() {
            let Some(ranges) = next.take() else { break };
            next = self
                .tables
                .get(number + 1)
                .map(|table| table.locate(queries, kernels));
            let all = queries.iter().zip(ranges).zip(lists.iter_mut());
            for (((query, (start, end)), hits), compared) in all.zip(&mut compared) {
                *compared += (end - start) as usize;
                if *compared > most {
                    continue;
                }
                let known = hits.len();
                let bucket = &table.fingerprints[start as usize..end as usize];
                (kernels.scan)(bucket, *query, threshold, start, hits);
                if hits.len() > known {
                    self.keep_new(number, *query, known, hits);
                }
            }
        }
        let all = compared.iter().zip(lists).enumerate().take(queries.len());
        for (query, (_, hits)) in all.filter(|(_, (compared, _))| **compared > most) {
            hits.clear();
            beyond(query, hits);
        }
    }

    /// Sets `found` for each of at most [`CHUNK`] queries that has a hit for which `counts(query,
    /// hit)` holds; stops at the first one. `counts` may be called several times with the same hit.
    pub(super) fn any(
        &self,
        queries: &[F],
        threshold: Threshold<F>,
        kernels: &Kernels<F>,
        hits: &mut Vec<Hit>,
        found: &mut [bool],
        counts: impl Fn(usize, Hit) -> bool,
    ) {
        for table in &self.tables {
            if found.iter().all(|found| *found) {
                return;
            }
            let ranges = table.locate(queries, kernels);
            for (number, (query, (start, end))) in queries.iter().zip(ranges).enumerate() {
                let mut slots = start..end;
                while !found[number] && !slots.is_empty() {
                    let first = slots.start;
                    slots.start = slots.end.min(first.saturating_add(PIECE as u32));
                    let piece = &table.fingerprints[first as usize..slots.start as usize];
                    hits.clear();
                    (kernels.scan)(piece, *query, threshold, first, hits);
                    found[number] = hits.iter().any(|hit| {
                        let position = table.positions[hit.position as usize];
                        counts(number, Hit { position, ..*hit })
                    });
                }
            }
        }
    }

    /// Replaces slots of table `number` by positions in `hits[known..]`. Keeps a hit only in the
    /// first table where it agrees with the query in all bits of the key.
    fn keep_new(&self, number: usize, query: F, known: usize, hits: &mut Vec<Hit>) {
        let table = &self.tables[number];
        let mut kept = known;
        for i in known..hits.len() {
            let Hit { distance, position } = hits[i];
            let different = query ^ table.fingerprints[position as usize];
            let agrees = |table: &BlockTable<F>| different & table.key.mask() == F::default();
            if agrees(table) && !self.tables[..number].iter().any(agrees) {
                hits[kept] = Hit {
                    distance,
                    position: table.positions[position as usize],
                };
                kept += 1;
            }
        }
        hits.truncate(kept);
    }

    /// Replaces each position by the number that `numbers` has for it, and drops those that are
    /// [`GONE`].
    pub(super) fn renumber(&mut self, numbers: &[u32]) {
        let tables = &mut self.tables;
        tables
            .par_iter_mut()
            .for_each(|table| table.renumber(numbers));
    }

    pub(super) fn bytes(&self) -> usize {
        let of_table = |table: &BlockTable<F>| {
            size_of_val(&table.starts[..])
                + size_of_val(&table.fingerprints[..])
                + size_of_val(&table.positions[..])
        };
        self.tables.iter().map(of_table).sum()
    }
}

impl<F: Fingerprint> BlockTable<F> {
    /// Counting sort by bucket; takes linear time.
    fn build(of: &[F], key: Key<F>, kernels: &Kernels<F>) -> Self {
        // The count of bucket b is in slot b + 2. The prefix sum puts the start of bucket b into
        // slot b + 1. Filling the bucket moves that to its end, where bucket b + 1 starts.
        let mut starts = vec![0u32; (1 << key.bucket_bits()) + 2];
        for_each_bucket(of, key, kernels, |_, _, bucket| starts[bucket + 2] += 1);
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut fingerprints = vec![F::default(); of.len()];
        let mut positions = vec![0; of.len()];
        for_each_bucket(of, key, kernels, |position, fingerprint, bucket| {
            let slot = starts[bucket + 1] as usize;
            fingerprints[slot] = fingerprint;
            positions[slot] = position;
            starts[bucket + 1] += 1;
        });
        starts.pop();
        BlockTable {
            key,
            starts,
            fingerprints,
            positions,
        }
    }

    fn renumber(&mut self, numbers: &[u32]) {
        let (mut end, mut start) = (0, 0);
        for bucket in 0..self.starts.len() - 1 {
            let behind = self.starts[bucket + 1] as usize;
            for slot in start..behind {
                let number = numbers[self.positions[slot] as usize];
                if number != GONE {
                    self.positions[end] = number;
                    self.fingerprints[end] = self.fingerprints[slot];
                    end += 1;
                }
            }
            start = behind;
            self.starts[bucket + 1] = end as u32;
        }
        self.positions.truncate(end);
        self.fingerprints.truncate(end);
    }

    /// The slots of the bucket of each query; prefetches the first ones.
    fn locate(&self, queries: &[F], kernels: &Kernels<F>) -> [(u32, u32); CHUNK] {
        let mut buckets = [0; CHUNK];
        let buckets = &mut buckets[..queries.len()];
        (kernels.buckets)(queries, self.key, buckets);
        let mut ranges = [(0, 0); CHUNK];
        for (range, bucket) in ranges.iter_mut().zip(buckets) {
            let bucket = *bucket as usize;
            *range = (self.starts[bucket], self.starts[bucket + 1]);
        }
        for (start, end) in &ranges[..queries.len()] {
            let bucket = &self.fingerprints[*start as usize..*end as usize];
            bucket
                .chunks(CACHE_LINE / size_of::<F>())
                .take(PREFETCHED_LINES)
                .for_each(prefetch);
        }
        ranges
    }
}

/// Calls `visit(position, fingerprint, bucket)` for every fingerprint, in order.
fn for_each_bucket<F: Fingerprint>(
    of: &[F],
    key: Key<F>,
    kernels: &Kernels<F>,
    mut visit: impl FnMut(u32, F, usize),
) {
    let mut buckets = [0; 1024];
    let mut position = 0;
    for chunk in of.chunks(buckets.len()) {
        let buckets = &mut buckets[..chunk.len()];
        (kernels.buckets)(chunk, key, buckets);
        for (fingerprint, bucket) in chunk.iter().zip(buckets) {
            visit(position, *fingerprint, *bucket as usize);
            position += 1;
        }
    }
}

/// The number of key bits for buckets of four to eight fingerprints on average, which one or
/// two vector comparisons cover.
pub(super) fn key_bits(count: usize) -> u32 {
    count.checked_ilog2().unwrap_or(0).saturating_sub(2)
}

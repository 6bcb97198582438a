//! Looking queries up: each looks into its buckets of every table, and all go through a table in
//! the order of their own buckets.
//!
//! In that order a large batch reads a table from its beginning to its end, every bucket once for
//! all queries that share it. The neighbours of the buckets, one bit flipped, come in order as
//! well but for long jumps: as many streams as there are bits, of which those of low bits stay in
//! the cache. Queries of a small batch are more than a page apart; there the neighbours are put
//! into order, too, which costs less than so many misses of the page tables. What comes next is
//! asked for some steps before.

use super::tables::{Table, Tables};
use crate::Result;
use crate::index::permutation::Value;
use crate::io::{BLOCK_BYTES, BlockFile};
use crate::kernel::hamming::Pair;

/// How many buckets ahead the directory is asked for, and half as many the bucket.
const AHEAD: usize = 32;
/// The most buckets that are put into order together: 24 MiB of them.
const TOGETHER: usize = 1 << 20;
/// About so many looks are listed at a time.
const LISTED: usize = 512;
/// Fingerprints of a bucket that are compared with all queries before the next ones are.
const PIECE: u32 = 2048;
/// Comparisons after which hits are handed on, so that they take little memory.
const PAIRS: usize = 1 << 16;
/// Fewer queries do not ask whether a table is in memory: that takes some microseconds.
const MANY: usize = 1024;
/// So many times as long as one among its neighbours takes a block that is read by itself.
const ONE_BY_ONE: u64 = 16;
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
    /// Calls `visit` with query, distance and group of every group that is near a query, each
    /// once, in no particular order.
    pub fn look_up(
        &self,
        file: &BlockFile,
        queries: &[F],
        looks: &mut Looks<F>,
        visit: &mut dyn FnMut(u32, u32, u32) -> Result<()>,
    ) -> Result<()> {
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
            table.read_ahead(file, queries.len());
            let together = (TOGETHER / ordered.len()).max(1);
            let chunks = queries.chunks(together);
            for (queries, first) in chunks.zip((0..).step_by(together)) {
                table.order(queries, ordered, looks);
                self.look_in_order(file, table, listed, looks, &mut |query, distance, group| {
                    visit(first as u32 + query, distance, group)
                })?;
            }
        }
        Ok(())
    }

    /// Lists the buckets that the ordered queries look into, their own with each pattern, some at
    /// a time, and looks.
    fn look_in_order(
        &self,
        file: &BlockFile,
        table: &Table<F>,
        patterns: &[u32],
        looks: &mut Looks<F>,
        visit: &mut dyn FnMut(u32, u32, u32) -> Result<()>,
    ) -> Result<()> {
        let order = std::mem::take(&mut looks.order);
        let mut at = 0;
        while at < order.len() {
            looks.looks.clear();
            while at < order.len() && looks.looks.len() < LISTED {
                let same = |place: &&u64| **place >> 32 == order[at] >> 32;
                let first = at as u32;
                at += order[at..].iter().take_while(same).count();
                let bucket = (order[first as usize] >> 32) as u32;
                looks.looks.extend(patterns.iter().map(|pattern| Look {
                    bucket: bucket ^ pattern,
                    range: (0, 0),
                    queries: (first, at as u32),
                }));
            }
            self.look_ahead(file, table, looks, &mut |place, distance, group| {
                visit(order[place as usize] as u32, distance, group)
            })?;
        }
        looks.order = order;
        Ok(())
    }

    /// Looks into the listed buckets, while others are on their way.
    fn look_ahead(
        &self,
        file: &BlockFile,
        table: &Table<F>,
        looks: &mut Looks<F>,
        visit: &mut dyn FnMut(u32, u32, u32) -> Result<()>,
    ) -> Result<()> {
        let count = looks.looks.len();
        for ahead in 0..count + AHEAD {
            if let Some(look) = looks.looks.get(ahead) {
                table.prefetch_range(file, look.bucket);
            }
            let near = ahead.wrapping_sub(AHEAD / 2);
            if let Some(look) = looks.looks.get_mut(near) {
                look.range = table.range(file, look.bucket)?;
                table.prefetch(file, look.range.0..look.range.1);
            }
            if let Some(now) = ahead.checked_sub(AHEAD) {
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
        visit: &mut dyn FnMut(u32, u32, u32) -> Result<()>,
    ) -> Result<()> {
        let Look {
            bucket,
            range: (mut start, end),
            queries,
        } = looks.looks[now];
        let of = &looks.ordered[queries.0 as usize..queries.1 as usize];
        while start < end {
            let next = end.min(start.saturating_add(PIECE));
            table.read(file, bucket, start..next, &mut looks.piece)?;
            let most = (PAIRS / looks.piece.len().max(1)).max(1);
            for (of, place) in of.chunks(most).zip((queries.0..).step_by(most)) {
                looks.pairs.clear();
                (self.kernels.scan_each)(&looks.piece, of, self.near, &mut looks.pairs);
                for Pair { query, hit } in &looks.pairs {
                    let value = looks.piece[hit.position as usize];
                    if !table.is_in_an_earlier(of[*query as usize] ^ value) {
                        let group = match table.is_first() {
                            true => start + hit.position,
                            false => self.group(file, table, value)?,
                        };
                        visit(place + query, hit.distance, group)?;
                    }
                }
            }
            start = next;
        }
        Ok(())
    }
}

impl<F: Value> Table<F> {
    /// Puts queries into the order of their buckets, once for each pattern.
    fn order(&self, queries: &[F], patterns: &[u32], looks: &mut Looks<F>) {
        let permuted = queries.iter().map(|query| self.permutation.apply(*query));
        looks.permuted.clear();
        looks.permuted.extend(permuted);
        looks.order.clear();
        for (query, number) in looks.permuted.iter().zip(0u64..) {
            let bucket = self.bucket(*query);
            let entry = |pattern: &u32| u64::from(bucket ^ pattern) << 32 | number;
            looks.order.extend(patterns.iter().map(entry));
        }
        sort(&mut looks.order, &mut looks.spare, self.directory_bits);
        let ordered = looks.order.iter();
        looks.ordered.clear();
        looks
            .ordered
            .extend(ordered.map(|place| looks.permuted[*place as u32 as usize]));
    }

    /// Lets what `queries` want of the table be read in one piece, if that is a good part.
    fn read_ahead(&self, file: &BlockFile, queries: usize) {
        if queries < MANY {
            return;
        }
        let looks = (queries * self.patterns.len()) as u64;
        for section in self.sections() {
            if looks * ONE_BY_ONE > file.len::<u8>(section) / BLOCK_BYTES as u64 {
                file.read_ahead(section);
            }
        }
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

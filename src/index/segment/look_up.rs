//! Looking queries up: each looks into its buckets of every table, and all go through a table in
//! the order of their own buckets.
//!
//! In that order a large batch reads a table from its beginning to its end, every bucket once for
//! all queries that share it. The neighbours of the buckets, one bit flipped, come in order as
//! well but for long jumps: as many streams as there are bits, of which those of low bits stay in
//! the cache. Queries of a small batch are more than a page apart; there the neighbours are put
//! into order, too, which costs less than so many misses of the page tables. What comes next is
//! asked for some steps before.

use super::sections::{directory, values};
use super::tables::Tables;
use crate::Result;
use crate::index::permutation::Value;
use crate::index::plan::Table;
use crate::io::{BLOCK_BYTES, BlockFile};
use crate::kernel::hamming::Pair;

/// How many buckets ahead the directory is asked for, and half as many the bucket.
const AHEAD: usize = 32;
/// The most buckets that are put into order together: 24 MiB of them.
const TOGETHER: usize = 1 << 20;
/// About so many looks are listed at a time.
const LISTED: usize = 512;
/// Fingerprints of a bucket that are compared with all queries before the next ones are.
const PIECE: usize = 2048;
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
    /// All queries, their bits reordered.
    reordered: Vec<F>,
    /// Bucket (the high half) and number of a query (the low half), by bucket.
    order: Vec<u64>,
    spare: Vec<u64>,
    /// In that order, the queries rotated as the table is.
    rotated: Vec<F>,
    looks: Vec<Look>,
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
        let mut reordered = std::mem::take(&mut looks.reordered);
        reordered.clear();
        reordered.extend(queries.iter().map(|query| self.permutation.apply(*query)));
        for (number, patterns) in self.patterns.iter().enumerate() {
            // Few queries: their neighbours are far apart, and are put into order as well.
            let few = (queries.len() as u64) < file.len::<u8>(values(number)) / BLOCK_BYTES as u64;
            let (ordered, listed) = if few {
                (&patterns[..], &[0][..])
            } else {
                (&[0][..], &patterns[..])
            };
            self.read_ahead(file, number, queries.len());
            let together = (TOGETHER / ordered.len()).max(1);
            let chunks = reordered.chunks(together);
            for (queries, first) in chunks.zip((0..).step_by(together)) {
                self.order(number, queries, ordered, looks);
                self.look_in_order(
                    file,
                    number,
                    listed,
                    looks,
                    &mut |query, distance, group| visit(first as u32 + query, distance, group),
                )?;
            }
        }
        looks.reordered = reordered;
        Ok(())
    }

    /// Puts queries into the order of their buckets in table `number`, once for each pattern.
    fn order(&self, number: usize, queries: &[F], patterns: &[u32], looks: &mut Looks<F>) {
        let Table {
            rotation,
            directory_bits,
            ..
        } = self.tables[number];
        let rotated = |query: F| query.rotate(rotation, self.width);
        let bucket = |query: F| rotated(query).prefix(self.width, directory_bits);
        looks.order.clear();
        for (query, number) in queries.iter().zip(0u64..) {
            let bucket = bucket(*query);
            let entry = |pattern: &u32| u64::from(bucket ^ pattern) << 32 | number;
            looks.order.extend(patterns.iter().map(entry));
        }
        sort(&mut looks.order, &mut looks.spare, directory_bits);
        let ordered = looks.order.iter();
        looks.rotated.clear();
        looks
            .rotated
            .extend(ordered.map(|place| rotated(queries[*place as u32 as usize])));
    }

    /// Lets what `queries` want of table `number` be read in one piece, if that is a good part.
    fn read_ahead(&self, file: &BlockFile, number: usize, queries: usize) {
        if queries < MANY {
            return;
        }
        let looks = (queries * self.patterns[number].len()) as u64;
        for section in [directory(number), values(number)] {
            if looks * ONE_BY_ONE > file.len::<u8>(section) / BLOCK_BYTES as u64 {
                file.read_ahead(section);
            }
        }
    }

    /// Lists the buckets that the ordered queries look into, their own with each pattern, some at
    /// a time, and looks.
    fn look_in_order(
        &self,
        file: &BlockFile,
        number: usize,
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
            self.look_ahead(file, number, looks, &mut |place, distance, group| {
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
        number: usize,
        looks: &mut Looks<F>,
        visit: &mut dyn FnMut(u32, u32, u32) -> Result<()>,
    ) -> Result<()> {
        let count = looks.looks.len();
        for ahead in 0..count + AHEAD {
            if let Some(look) = looks.looks.get(ahead) {
                let bucket = u64::from(look.bucket);
                file.prefetch::<u32>(directory(number), bucket..bucket + 1);
            }
            let near = ahead.wrapping_sub(AHEAD / 2);
            if let Some(look) = looks.looks.get_mut(near) {
                look.range = self.range(file, number, look.bucket)?;
                let (start, end) = look.range;
                file.prefetch::<F>(values(number), start.into()..end.into());
            }
            if let Some(now) = ahead.checked_sub(AHEAD) {
                self.look(file, number, now, looks, visit)?;
            }
        }
        Ok(())
    }

    /// Compares the bucket of look number `now` with its queries.
    fn look(
        &self,
        file: &BlockFile,
        number: usize,
        now: usize,
        looks: &mut Looks<F>,
        visit: &mut dyn FnMut(u32, u32, u32) -> Result<()>,
    ) -> Result<()> {
        let Look { range, queries, .. } = looks.looks[now];
        let (start, end) = range;
        if start == end {
            return Ok(());
        }
        let bucket = file.values::<F>(values(number), start.into()..end.into())?;
        let most = (PAIRS / bucket.len().min(PIECE)).max(1);
        let queries = &looks.rotated[queries.0 as usize..queries.1 as usize];
        let places = (looks.looks[now].queries.0..).step_by(most);
        for (queries, place) in queries.chunks(most).zip(places) {
            for (piece, start) in bucket.chunks(PIECE).zip((start..).step_by(PIECE)) {
                looks.pairs.clear();
                (self.kernels.scan_each)(piece, queries, self.near, &mut looks.pairs);
                for Pair { query, hit } in &looks.pairs {
                    let value = piece[hit.position as usize];
                    if !self.is_in_an_earlier(number, queries[*query as usize] ^ value) {
                        let group = match number {
                            0 => start + hit.position,
                            _ => self.group(file, number, value)?,
                        };
                        visit(place + query, hit.distance, group)?;
                    }
                }
            }
        }
        Ok(())
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

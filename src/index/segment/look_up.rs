//! Looking queries up: each looks into its buckets of every table, and all go through a table in
//! the order of its buckets.
//!
//! In that order a large batch reads a table from its beginning to its end, every bucket once for
//! all queries that want it; a small one still walks in one direction, so that few pages of the
//! table are touched twice. Buckets are asked for some steps before they are looked into.

use super::sections::{directory, values};
use super::tables::Tables;
use crate::Result;
use crate::index::permutation::Value;
use crate::io::BlockFile;
use crate::kernel::hamming::Pair;

/// How many buckets ahead the directory is asked for, and half as many the bucket.
const AHEAD: usize = 32;
/// The most looks into a table that are put into order together: 48 MiB of them.
const TOGETHER: usize = 1 << 21;
/// Fingerprints of a bucket that are compared with all queries before the next ones are.
const PIECE: usize = 2048;
/// Comparisons after which hits are handed on, so that they take little memory.
const PAIRS: usize = 1 << 16;
/// Fewer looks than these are put into order by comparing them.
const FEW: usize = 256;
/// Bits that are sorted by at a time: as many counters as the first-level cache holds.
const DIGIT_BITS: u32 = 11;

/// Looks into the buckets of a table.
#[derive(Debug, Default)]
pub struct Looks<F> {
    /// All queries, their bits reordered.
    reordered: Vec<F>,
    /// Bucket (the high half) and query (the low half), by bucket.
    looks: Vec<u64>,
    spare: Vec<u64>,
    /// The query of each look, rotated as the table is.
    rotated: Vec<F>,
    /// Each bucket, and the first look into it.
    buckets: Vec<(u32, u32)>,
    /// Where the bucket begins and ends.
    ranges: Vec<(u32, u32)>,
    pairs: Vec<Pair>,
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
            let together = (TOGETHER / patterns.len()).max(1);
            let chunks = reordered.chunks(together);
            for (queries, first) in chunks.zip((0..).step_by(together)) {
                self.list(number, queries, looks);
                self.walk(file, number, looks, &mut |query, distance, group| {
                    visit(first as u32 + query, distance, group)
                })?;
            }
        }
        looks.reordered = reordered;
        Ok(())
    }

    /// Lists every bucket that has to be looked into, in order.
    fn list(&self, number: usize, queries: &[F], looks: &mut Looks<F>) {
        let table = self.tables[number];
        let rotated = |query: &F| query.rotate(table.rotation, self.width);
        looks.looks.clear();
        for (query, which) in queries.iter().zip(0u64..) {
            let bucket = rotated(query).prefix(self.width, table.directory_bits);
            let patterns = self.patterns[number].iter();
            let look = |pattern: &u32| u64::from(bucket ^ pattern) << 32 | which;
            looks.looks.extend(patterns.map(look));
        }
        sort(&mut looks.looks, &mut looks.spare, table.directory_bits);
        looks.rotated.clear();
        let of_look = |look: &u64| rotated(&queries[*look as u32 as usize]);
        looks.rotated.extend(looks.looks.iter().map(of_look));
        looks.buckets.clear();
        let mut at = 0;
        for of_bucket in looks.looks.chunk_by(|a, b| a >> 32 == b >> 32) {
            looks.buckets.push(((of_bucket[0] >> 32) as u32, at));
            at += of_bucket.len() as u32;
        }
        // Where the last one ends.
        looks.buckets.push((0, at));
    }

    /// Looks into the listed buckets.
    fn walk(
        &self,
        file: &BlockFile,
        number: usize,
        looks: &mut Looks<F>,
        visit: &mut dyn FnMut(u32, u32, u32) -> Result<()>,
    ) -> Result<()> {
        let count = looks.buckets.len() - 1;
        looks.ranges.clear();
        for ahead in 0..count + AHEAD {
            if ahead < count {
                let bucket = u64::from(looks.buckets[ahead].0);
                file.prefetch::<u32>(directory(number), bucket..bucket + 1);
            }
            let near = ahead.wrapping_sub(AHEAD / 2);
            if near < count {
                let range = self.range(file, number, looks.buckets[near].0)?;
                file.prefetch::<F>(values(number), range.0.into()..range.1.into());
                looks.ranges.push(range);
            }
            if let Some(now) = ahead.checked_sub(AHEAD) {
                self.look(file, number, now, looks, visit)?;
            }
        }
        Ok(())
    }

    /// Compares bucket number `now` of the list with the queries that look into it.
    fn look(
        &self,
        file: &BlockFile,
        number: usize,
        now: usize,
        looks: &mut Looks<F>,
        visit: &mut dyn FnMut(u32, u32, u32) -> Result<()>,
    ) -> Result<()> {
        let (start, end) = looks.ranges[now];
        if start == end {
            return Ok(());
        }
        let bucket = file.values::<F>(values(number), start.into()..end.into())?;
        let mut first = looks.buckets[now].1 as usize;
        let last = looks.buckets[now + 1].1 as usize;
        let most = (PAIRS / bucket.len().min(PIECE)).max(1);
        while first < last {
            let queries = &looks.rotated[first..last.min(first + most)];
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
                        let look = looks.looks[first + *query as usize];
                        visit(look as u32, hit.distance, group)?;
                    }
                }
            }
            first += queries.len();
        }
        Ok(())
    }
}

/// Sorts by the `bits` lowest bits of the high half: one counting sort for each digit, the lowest
/// first. `spare` may hold anything.
fn sort(looks: &mut Vec<u64>, spare: &mut Vec<u64>, bits: u32) {
    if looks.len() < FEW {
        looks.sort_unstable();
        return;
    }
    let digits = bits.div_ceil(DIGIT_BITS);
    spare.resize(looks.len(), 0);
    for number in 0..digits {
        let size = bits.div_ceil(digits);
        let digit = |look: u64| (look >> (32 + number * size)) as usize & ((1 << size) - 1);
        let mut places = [0; 1 << DIGIT_BITS];
        looks.iter().for_each(|look| places[digit(*look)] += 1);
        let mut sum = 0;
        for place in &mut places[..1 << size] {
            sum += std::mem::replace(place, sum);
        }
        for look in looks.iter() {
            let place = &mut places[digit(*look)];
            spare[*place] = *look;
            *place += 1;
        }
        std::mem::swap(looks, spare);
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

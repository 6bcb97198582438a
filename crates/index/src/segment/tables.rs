//! Permuted tables in a file. [`plan`](super::plan) shows why they find every match.

use std::cmp::Ordering;
use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::attributes::Attributes;
use super::plan;
use super::sections::{directory, values};
use crate::Result;
use crate::io::{BlockFile, Source};
use crate::kernel::Level;
use crate::kernel::hamming::{Kernels, Threshold};
use crate::permutation::{Permutation, Value};

/// The most buckets that a query visits in a table; headers that require more are refused.
const MAX_PATTERNS: usize = 1 << 16;

/// The tables of a segment.
pub struct Tables<F: Value> {
    pub(super) width: u32,
    pub(super) distinct: u64,
    pub(super) near: Threshold<F>,
    pub(super) kernels: &'static Kernels<F>,
    pub(super) tables: Vec<Table<F>>,
}

/// Fingerprints in one order of their bits, sorted, with a directory of buckets.
pub struct Table<F: Value> {
    number: usize,
    width: u32,
    pub(super) directory_bits: u32,
    /// Bytes of a stored fingerprint.
    value_bytes: u64,
    radius: u32,
    kernels: &'static Kernels<F>,
    pub(super) permutation: Permutation<F>,
    /// Changes the bit order of this table to that of the first.
    pub(super) to_first: Permutation<F>,
    /// For each earlier table: a mask of the bits that select its buckets, in the bit order of this
    /// table, and its radius.
    earlier: Vec<(F, u32)>,
    /// The XOR of the bucket of a query with each bucket to visit.
    pub(super) patterns: Vec<u32>,
}

impl<F: Value> Tables<F> {
    /// The tables that the attributes describe; `None` if these are invalid.
    pub fn new(attributes: &Attributes) -> Option<Tables<F>> {
        let width = u32::from(attributes.width);
        let kernels = F::kernels(Level::best());
        let mut tables: Vec<Table<F>> = Vec::new();
        for (number, table_plan) in attributes.tables.iter().enumerate() {
            let permutation = Permutation::new(&table_plan.order)?;
            let first = tables
                .first()
                .map_or(&permutation, |first| &first.permutation);
            let to_first = permutation.onto(first)?;
            let bucket_mask = |table: &Table<F>| {
                let mask =
                    F::of_prefix((1 << table.directory_bits) - 1, width, table.directory_bits);
                let onto = table.permutation.onto(&permutation)?;
                Some((onto.apply(mask), table.radius))
            };
            tables.push(Table {
                number,
                width,
                directory_bits: table_plan.directory_bits,
                value_bytes: table_plan.value_bytes().into(),
                radius: table_plan.radius,
                kernels,
                to_first,
                earlier: tables.iter().map(bucket_mask).collect::<Option<_>>()?,
                permutation,
                patterns: patterns(table_plan)?,
            });
        }
        if tables.is_empty() {
            return None;
        }
        Some(Tables {
            width,
            distinct: attributes.distinct,
            near: Threshold {
                mask: F::low_bits(width),
                k: attributes.distance.into(),
            },
            kernels,
            tables,
        })
    }

    /// A fingerprint in the bit order of the first table.
    pub(super) fn first_order(&self, fingerprint: F) -> F {
        self.tables[0].permutation.apply(fingerprint)
    }

    /// The group of the documents with the fingerprint `value`, which is in the bit order of the
    /// first table. Groups have the numbers of their fingerprints' positions in that table; the
    /// bucket of `value` has the positions `within`.
    pub(super) fn group(&self, file: &BlockFile, value: F, within: (u32, u32)) -> Result<u32> {
        let first = &self.tables[0];
        let bucket = first.bucket(value);
        let (mut low, mut high) = within;
        let mut found = Vec::with_capacity(1);
        while low < high {
            let middle = low + (high - low) / 2;
            first.read(file, bucket, middle..middle + 1, &mut found)?;
            match found.first().cmp(&Some(&value)) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Ok(middle),
                Ordering::Greater => high = middle,
            }
        }
        Err(file.damaged("its tables hold different fingerprints"))
    }

    /// Calls `visit` with the fingerprints of the first table, in order and `most` at a time, and
    /// with the group of the first of them. The last call has fewer fingerprints, or none.
    pub(super) fn for_each_piece(
        &self,
        file: &BlockFile,
        most: u32,
        mut visit: impl FnMut(u32, &[F]) -> Result<()>,
    ) -> Result<()> {
        let first = &self.tables[0];
        let (mut piece, mut bucket) = (Vec::new(), Vec::new());
        let mut at = 0;
        for number in 0..first.buckets() {
            let (mut start, end) = first.range(file, number)?;
            while start < end {
                let next = end.min(start.saturating_add(most - piece.len() as u32));
                first.read(file, number, start..next, &mut bucket)?;
                piece.extend_from_slice(&bucket);
                start = next;
                if piece.len() as u32 == most {
                    visit(at, &piece)?;
                    at += most;
                    piece.clear();
                }
            }
        }
        visit(at, &piece)
    }

    /// Checks that every table is sorted and agrees with its directory, and that all tables have
    /// the same fingerprints.
    pub fn verify(&self, file: &BlockFile) -> Result<()> {
        let mut sums = Vec::new();
        for table in &self.tables {
            sums.push(table.verify(file, self.distinct)?);
        }
        match sums.iter().all(|sum| *sum == sums[0]) {
            true => Ok(()),
            false => Err(file.damaged("its tables hold different fingerprints")),
        }
    }
}

impl<F: Value> Table<F> {
    /// The bucket of a fingerprint that is in the bit order of this table.
    #[inline]
    pub(super) fn bucket(&self, value: F) -> u32 {
        value.prefix(self.width, self.directory_bits)
    }

    /// Whether this is the first table, in which a fingerprint's position is its group's number.
    pub(super) fn is_first(&self) -> bool {
        self.number == 0
    }

    fn buckets(&self) -> u32 {
        1 << self.directory_bits
    }

    /// The positions in the table at which a bucket begins and ends.
    #[inline]
    pub(super) fn range(&self, file: &BlockFile, bucket: u32) -> Result<(u32, u32)> {
        let bucket = u64::from(bucket);
        let ends = file.values::<u32>(directory(self.number), bucket..bucket + 2)?;
        Ok((ends[0], ends[1]))
    }

    /// Replaces the contents of `out` by the fingerprints at `places` in the table, all of which
    /// are in `bucket`.
    #[inline]
    pub(super) fn read(
        &self,
        file: &BlockFile,
        bucket: u32,
        places: Range<u32>,
        out: &mut Vec<F>,
    ) -> Result<()> {
        let bytes = self.bytes(places);
        let stored = file.values::<u8>(values(self.number), bytes)?;
        let bucket_bits = F::of_prefix(bucket, self.width, self.directory_bits);
        out.clear();
        (self.kernels.unpack)(stored, self.value_bytes as usize, bucket_bits, out);
        Ok(())
    }

    /// Prefetches fingerprints.
    #[inline]
    pub(super) fn prefetch(&self, file: &BlockFile, places: Range<u32>, source: Source) {
        file.prefetch::<u8>(values(self.number), self.bytes(places), source);
    }

    /// Prefetches the directory entry of a bucket.
    #[inline]
    pub(super) fn prefetch_range(&self, file: &BlockFile, bucket: u32, source: Source) {
        let bucket = u64::from(bucket);
        file.prefetch::<u32>(directory(self.number), bucket..bucket + 1, source);
    }

    /// Whether the table is in memory or on disk.
    pub(super) fn source(&self, file: &BlockFile) -> Source {
        match self.sections().map(|section| file.source(section)) {
            [Source::Memory, Source::Memory] => Source::Memory,
            _ => Source::Disk,
        }
    }

    /// The sections of the table.
    pub(super) fn sections(&self) -> [usize; 2] {
        [directory(self.number), values(self.number)]
    }

    fn bytes(&self, places: Range<u32>) -> Range<u64> {
        u64::from(places.start) * self.value_bytes..u64::from(places.end) * self.value_bytes
    }

    /// Whether an earlier table also finds a fingerprint with this difference (XOR) from the query,
    /// in the bit order of this table.
    #[inline]
    pub(super) fn is_found_earlier(&self, difference: F) -> bool {
        let finds = |(mask, radius): &(F, u32)| (difference & *mask).count_ones() <= *radius;
        self.earlier.iter().any(finds)
    }

    /// Checks the table. Returns the sum of the hashes of its fingerprints, hashed in the bit order
    /// of the first table.
    fn verify(&self, file: &BlockFile, distinct: u64) -> Result<u64> {
        let size = file.len::<u8>(values(self.number));
        let (begin, last) = (
            self.range(file, 0)?.0,
            self.range(file, self.buckets() - 1)?.1,
        );
        if begin != 0 || u64::from(last) != distinct || size != distinct * self.value_bytes {
            return Err(file.damaged("a directory does not cover its table"));
        }
        let mut all = Vec::new();
        let mut sum = 0u64;
        for bucket in 0..self.buckets() {
            let (start, end) = self.range(file, bucket)?;
            self.read(file, bucket, start..end, &mut all)?;
            if !all.is_sorted_by(|a, b| a < b) {
                return Err(file.damaged("a table is not sorted"));
            }
            if !all.iter().all(|value| self.bucket(*value) == bucket) {
                return Err(file.damaged("a directory does not agree with its table"));
            }
            for value in &all {
                let value = self.to_first.apply(*value);
                sum = sum.wrapping_add(xxh3_64(bytemuck::bytes_of(&value)));
            }
        }
        Ok(sum)
    }
}

/// All numbers of `directory_bits` bits of which at most `radius` are set; `None` if too many.
fn patterns(table: &plan::TablePlan) -> Option<Vec<u32>> {
    let mut patterns = vec![0u32];
    let mut last = 0;
    for _ in 0..table.radius.min(table.directory_bits) {
        let end = patterns.len();
        for known in last..end {
            // Adds only bits below the lowest set bit, so that each number is listed once.
            let below = match patterns[known] {
                0 => table.directory_bits,
                pattern => pattern.trailing_zeros(),
            };
            let known = patterns[known];
            patterns.extend((0..below).map(|bit| known | 1 << bit));
            if patterns.len() > MAX_PATTERNS {
                return None;
            }
        }
        last = end;
    }
    Some(patterns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_at_most_radius_bits() {
        for (radius, bits) in [(0, 5), (1, 7), (2, 9), (3, 4), (5, 3), (2, 0)] {
            let table = plan::TablePlan {
                order: Vec::new(),
                radius,
                directory_bits: bits,
            };
            let mut found = patterns(&table).unwrap();
            found.sort_unstable();
            let all = (0..1u32 << bits).filter(|pattern| pattern.count_ones() <= radius);
            assert!(found.iter().copied().eq(all));
        }
        let table = plan::TablePlan {
            order: Vec::new(),
            radius: 12,
            directory_bits: 24,
        };
        assert!(patterns(&table).is_none());
    }
}

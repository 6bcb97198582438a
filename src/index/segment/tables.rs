//! Permuted tables in a file: see [`plan`](crate::index::plan) for why nothing is missed.

use super::Attributes;
use super::sections::{directory, values};
use crate::Result;
use crate::index::permutation::{Permutation, Value};
use crate::index::plan::Table;
use crate::io::BlockFile;
use crate::kernel::Level;
use crate::kernel::hamming::{Kernels, Near};

/// A list of neighbouring buckets longer than this is refused in a header.
const MOST_PATTERNS: usize = 1 << 16;

/// The tables of a segment.
pub struct Tables<F: Value> {
    pub(super) permutation: Permutation<F>,
    pub(super) width: u32,
    pub(super) distinct: u64,
    pub(super) near: Near<F>,
    pub(super) kernels: &'static Kernels<F>,
    pub(super) tables: Vec<Table>,
    /// Of each table: what is to be changed in a query's bucket to get those to look into.
    pub(super) patterns: Vec<Vec<u32>>,
}

impl<F: Value> Tables<F> {
    /// The tables that the attributes describe; `None` if that makes no sense.
    pub fn new(attributes: &Attributes) -> Option<Tables<F>> {
        let permutation = Permutation::new(&attributes.order)?;
        let width = permutation.width();
        let patterns = attributes
            .tables
            .iter()
            .map(patterns)
            .collect::<Option<_>>()?;
        // Anything else would be incomplete.
        let found: u32 = attributes.tables.iter().map(|table| table.radius + 1).sum();
        if found <= u32::from(attributes.distance) || attributes.tables.first()?.rotation != 0 {
            return None;
        }
        Some(Tables {
            permutation,
            width,
            distinct: attributes.distinct,
            near: Near {
                mask: F::low_bits(width),
                k: attributes.distance.into(),
            },
            kernels: F::kernels(Level::best()),
            tables: attributes.tables.clone(),
            patterns,
        })
    }

    pub(super) fn range(&self, file: &BlockFile, number: usize, bucket: u32) -> Result<(u32, u32)> {
        let bucket = u64::from(bucket);
        let ends = file.values::<u32>(directory(number), bucket..bucket + 2)?;
        Ok((ends[0], ends[1]))
    }

    /// Whether an earlier table than `number` finds fingerprints that differ so.
    pub(super) fn is_in_an_earlier(&self, number: usize, difference: F) -> bool {
        let back = self.width - self.tables[number].rotation;
        self.tables[..number].iter().any(|table| {
            let difference = difference.rotate((back + table.rotation) % self.width, self.width);
            difference
                .prefix(self.width, table.directory_bits)
                .count_ones()
                <= table.radius
        })
    }

    /// The group of a fingerprint that stands in table `number`: its place in the first table.
    pub(super) fn group(&self, file: &BlockFile, number: usize, value: F) -> Result<u32> {
        let back = (self.width - self.tables[number].rotation) % self.width;
        let value = value.rotate(back, self.width);
        let bucket = value.prefix(self.width, self.tables[0].directory_bits);
        let (start, end) = self.range(file, 0, bucket)?;
        let bucket = file.values::<F>(values(0), start.into()..end.into())?;
        bucket
            .binary_search(&value)
            .map(|place| start + place as u32)
            .map_err(|_| file.damaged("its tables hold different fingerprints"))
    }

    /// Checks that every table is sorted and agrees with its directory.
    pub fn verify(&self, file: &BlockFile) -> Result<()> {
        for (number, table) in self.tables.iter().enumerate() {
            let ends = 1 << table.directory_bits;
            let directory = file.values::<u32>(directory(number), 0..ends + 1)?;
            let all = file.values::<F>(values(number), 0..self.distinct)?;
            if directory[0] != 0 || u64::from(directory[ends as usize]) != self.distinct {
                return Err(file.damaged("a directory does not cover its table"));
            }
            if !all.is_sorted_by(|a, b| a < b) {
                return Err(file.damaged("a table is not sorted"));
            }
            for (bucket, ends) in (0..).zip(directory.windows(2)) {
                let range = all.get(ends[0] as usize..ends[1] as usize);
                let prefix = |value: &F| value.prefix(self.width, table.directory_bits);
                if !range.is_some_and(|range| range.iter().all(|value| prefix(value) == bucket)) {
                    return Err(file.damaged("a directory does not agree with its table"));
                }
            }
        }
        Ok(())
    }
}

/// Every number that differs from zero in at most `radius` of the directory's bits.
fn patterns(table: &Table) -> Option<Vec<u32>> {
    let mut patterns = vec![0u32];
    let mut last = 0;
    for _ in 0..table.radius.min(table.directory_bits) {
        let end = patterns.len();
        for known in last..end {
            // Bits below the lowest one that is set already, so that each set comes once.
            let below = match patterns[known] {
                0 => table.directory_bits,
                pattern => pattern.trailing_zeros(),
            };
            let known = patterns[known];
            patterns.extend((0..below).map(|bit| known | 1 << bit));
            if patterns.len() > MOST_PATTERNS {
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
    fn patterns_are_all_of_at_most_the_radius() {
        for (radius, bits) in [(0, 5), (1, 7), (2, 9), (3, 4), (5, 3), (2, 0)] {
            let table = Table {
                rotation: 0,
                radius,
                directory_bits: bits,
            };
            let mut found = patterns(&table).unwrap();
            found.sort_unstable();
            let all = (0..1u32 << bits).filter(|pattern| pattern.count_ones() <= radius);
            assert!(found.iter().copied().eq(all));
        }
        let table = Table {
            rotation: 0,
            radius: 12,
            directory_bits: 24,
        };
        assert!(patterns(&table).is_none());
    }
}

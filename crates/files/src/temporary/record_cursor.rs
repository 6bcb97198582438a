//! Records at numbers that mostly ascend.

use bytemuck::Pod;

use crate::RecordFile;
use crate::Result;

/// The bytes that are read at once, if a record is soon after the previous one.
const AHEAD_BYTES: u64 = 32 << 10;

/// Reads records of a file, and more of them at once while numbers ascend in small steps.
///
/// Other numbers cost one read each, of no more than is asked for.
#[derive(Debug)]
pub struct RecordCursor<'a, T> {
    file: &'a RecordFile<T>,
    /// The number of the first record held.
    first: u64,
    held: Vec<T>,
    /// The number asked for last; before the first question, as far away as possible.
    last: u64,
}

impl<'a, T: Pod> RecordCursor<'a, T> {
    /// A reader of `file`.
    pub fn new(file: &'a RecordFile<T>) -> RecordCursor<'a, T> {
        RecordCursor {
            file,
            first: 0,
            held: Vec::new(),
            last: u64::MAX,
        }
    }

    /// `count` records from number `first` on, or fewer at the end of the file.
    ///
    /// # Errors
    /// Errors of [`RecordFile::read`].
    pub fn read(&mut self, first: u64, count: usize) -> Result<&[T]> {
        let left = self.file.len().saturating_sub(first);
        let count = usize::try_from(left).map_or(count, |left| left.min(count));
        let ahead = AHEAD_BYTES / size_of::<T>().max(1) as u64;
        let is_near = first
            .checked_sub(self.last)
            .is_some_and(|step| step < ahead);
        self.last = first;
        let at = first.wrapping_sub(self.first);
        let is_held = at <= self.held.len() as u64 && self.held.len() as u64 - at >= count as u64;
        if !is_held {
            let asked = if is_near {
                count.max(ahead as usize)
            } else {
                count
            };
            self.held.clear();
            self.file.read(first, asked, &mut self.held)?;
            self.first = first;
        }
        let at = (first - self.first) as usize;
        Ok(&self.held[at..at + count])
    }

    /// Record number `number`.
    ///
    /// # Errors
    /// Errors of [`RecordFile::get`].
    pub fn get(&mut self, number: u64) -> Result<T> {
        match self.read(number, 1)? {
            [record] => Ok(*record),
            // There is none; reading it gives the error.
            _ => self.file.get(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn records_are_those_of_the_file(
            count in 0u32..20_000,
            asked in prop::collection::vec((0u32..21_000, 0usize..9), 1..40),
            steps in prop::collection::vec(0u32..300, 0..60),
        ) {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("records");
            let numbers: Vec<u32> = (0..count).collect();
            std::fs::write(&path, bytemuck::cast_slice(&numbers)).unwrap();
            let file = RecordFile::<u32>::open(&path).unwrap();
            let mut cursor = RecordCursor::new(&file);
            let mut next = asked[0].0;
            let ascending = steps.into_iter().map(|step| {
                next += step;
                (next, 3)
            });
            let ascending: Vec<(u32, usize)> = ascending.collect();
            for (first, length) in asked.into_iter().chain(ascending) {
                let end = (first as usize + length).min(numbers.len());
                let expected = numbers.get(first as usize..end).unwrap_or_default();
                prop_assert_eq!(cursor.read(first.into(), length).unwrap(), expected);
                prop_assert_eq!(cursor.get(first.into()).ok(), numbers.get(first as usize).copied());
            }
        }
    }
}

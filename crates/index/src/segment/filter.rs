//! A filter of hashes: most that a list does not have are told by one bit.
//!
//! The section of a filter has a bit for each of as many parts of equal size of all 64-bit numbers: it
//! is set if the list has a hash in this part. With a byte for each hash, about an eighth of the bits
//! are set. Bits ascend with the hashes, so that both are read and written in order.

use crate::Result;
use crate::io::{BlockFile, Source, Spool};

/// Bytes that are passed on at a time.
const STEP_BYTES: usize = 1 << 16;

/// The filter in a section.
#[derive(Clone, Copy)]
pub struct Filter<'f> {
    file: &'f BlockFile,
    section: usize,
    bits: u64,
}

impl<'f> Filter<'f> {
    pub fn new(file: &'f BlockFile, section: usize) -> Filter<'f> {
        Filter {
            file,
            section,
            bits: 8 * file.len::<u8>(section),
        }
    }

    /// Whether the list may have a hash; it has none that is denied.
    #[inline]
    pub fn may_have(&self, hash: u64) -> Result<bool> {
        if self.bits == 0 {
            return Ok(false);
        }
        let (byte, bit) = place(hash, self.bits);
        let found = self.file.values::<u8>(self.section, byte..byte + 1)?;
        Ok(found[0] & bit != 0)
    }

    /// Prefetches what tells of a hash.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        let (byte, _) = place(hash, self.bits);
        self.file
            .prefetch::<u8>(self.section, byte..byte + 1, Source::Memory);
    }

    /// The number of bits that are set.
    pub fn count(&self) -> Result<u64> {
        let bytes = self.bits / 8;
        let mut count = 0;
        for start in (0..bytes).step_by(STEP_BYTES) {
            let range = start..bytes.min(start + STEP_BYTES as u64);
            let bytes = self.file.values::<u8>(self.section, range)?;
            count += bytes
                .iter()
                .map(|byte| u64::from(byte.count_ones()))
                .sum::<u64>();
        }
        Ok(count)
    }

    /// The number of the bit of a hash.
    pub fn part(&self, hash: u64) -> u64 {
        part(hash, self.bits)
    }
}

/// Makes a filter of ascending hashes.
pub struct FilterWriter {
    spool: Spool,
    bytes: u64,
    /// Bytes that were passed on, and those that follow. The last may get more bits.
    passed: u64,
    waiting: Vec<u8>,
}

impl FilterWriter {
    /// A filter of `bytes` bytes, made in `spool`.
    pub fn new(spool: Spool, bytes: u64) -> FilterWriter {
        FilterWriter {
            spool,
            bytes,
            passed: 0,
            waiting: Vec::new(),
        }
    }

    /// Adds a hash, which is not below the last.
    pub fn push(&mut self, hash: u64) -> Result<()> {
        let (byte, bit) = place(hash, 8 * self.bytes);
        self.extend(byte + 1)?;
        if let Some(last) = self.waiting.last_mut() {
            *last |= bit;
        }
        Ok(())
    }

    /// The filter.
    pub fn finish(mut self) -> Result<Spool> {
        self.extend(self.bytes)?;
        self.spool.append(&self.waiting)?;
        Ok(self.spool)
    }

    /// Makes `bytes` bytes in all.
    fn extend(&mut self, bytes: u64) -> Result<()> {
        while self.passed + (self.waiting.len() as u64) < bytes {
            if self.waiting.len() >= STEP_BYTES {
                self.spool.append(&self.waiting)?;
                self.passed += self.waiting.len() as u64;
                self.waiting.clear();
            }
            self.waiting.push(0);
        }
        Ok(())
    }
}

/// The number of the bit of a hash in a filter of this many bits.
#[inline]
fn part(hash: u64, bits: u64) -> u64 {
    ((u128::from(hash) * u128::from(bits)) >> 64) as u64
}

/// Its byte, and its value there.
#[inline]
fn place(hash: u64, bits: u64) -> (u64, u8) {
    let part = part(hash, bits);
    (part / 8, 1 << (part % 8))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::io::{BlockWriter, Faults};

    fn written(hashes: &[u64], bytes: u64) -> (tempfile::TempDir, BlockFile) {
        let directory = tempfile::tempdir().unwrap();
        let spool = Spool::create(directory.path()).unwrap();
        let mut filter = FilterWriter::new(spool, bytes);
        hashes.iter().for_each(|hash| filter.push(*hash).unwrap());
        let path = directory.path().join("filter");
        let mut file = BlockWriter::create(&path, 7, &Faults::default()).unwrap();
        let spooled = filter.finish().unwrap().finish().unwrap();
        let mut all = Vec::new();
        let length = spooled.bytes() as usize;
        spooled.read_at(0, length, &mut all).unwrap();
        file.append(&all).unwrap();
        file.end_section().unwrap();
        file.finish(&[]).unwrap();
        (directory, BlockFile::open(&path).unwrap())
    }

    #[test]
    fn bits_are_those_of_the_hashes() {
        for (count, bytes) in [
            (0u64, 0),
            (1, 1),
            (3, 2),
            (1000, 1000),
            (1000, 1200),
            (200_000, 200_000),
        ] {
            let mut hashes: Vec<u64> = (1..=count)
                .map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15))
                .collect();
            hashes.extend(
                (count > 1)
                    .then_some([0, u64::MAX, u64::MAX])
                    .into_iter()
                    .flatten(),
            );
            hashes.sort_unstable();
            let (_directory, file) = written(&hashes, bytes);
            assert_eq!(file.len::<u8>(0), bytes);
            let filter = Filter::new(&file, 0);
            assert!(hashes.iter().all(|hash| filter.may_have(*hash).unwrap()));
            // The definition.
            let parts: BTreeSet<u128> = hashes
                .iter()
                .map(|hash| u128::from(*hash) * u128::from(8 * bytes) / (1 << 64))
                .collect();
            assert_eq!(filter.count().unwrap(), parts.len() as u64);
            let step = (u64::MAX / 4096) as usize;
            for hash in (0..=u64::MAX).step_by(step) {
                let part = u128::from(hash) * u128::from(8 * bytes) / (1 << 64);
                assert_eq!(filter.may_have(hash).unwrap(), parts.contains(&part));
            }
        }
    }
}

//! Lists of the documents of a hash.
//!
//! Two sections: hashes, ascending, and the document of each. Hashes are uniform, so that
//! interpolation finds one in two or three blocks.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::Result;
use crate::io::BlockFile;

/// Hashes read together: half a block on each side of the guess.
const WINDOW: u64 = 512;
/// After this number of guesses, hashes that are not uniform are searched by bisection.
const GUESSES: u32 = 8;

/// The hash of an id or a key. Because of the seed, colliding ids cannot be prepared.
pub fn hash(bytes: &[u8], seed: u64) -> u64 {
    xxh3_64_with_seed(bytes, seed)
}

/// Sums of these are equal if two lists have the same entries in any order.
pub fn place_hash(hash: u64, number: u32) -> u64 {
    xxh3_64_with_seed(&hash.to_le_bytes(), number.into())
}

/// The number of the first of the two sections.
#[derive(Clone, Copy, Debug)]
pub struct Lists(pub usize);

impl Lists {
    /// Calls `visit` with every document of `hash`.
    pub fn for_each(
        self,
        file: &BlockFile,
        hash: u64,
        mut visit: impl FnMut(u32) -> Result<()>,
    ) -> Result<()> {
        let count = file.len::<u64>(self.0);
        let mut at = self.first_not_below(file, hash)?;
        while at < count {
            let end = count.min(at + WINDOW / 8);
            let hashes = file.values::<u64>(self.0, at..end)?;
            let equal = hashes.iter().take_while(|found| **found == hash).count() as u64;
            for number in file.values::<u32>(self.0 + 1, at..at + equal)? {
                visit(*number)?;
            }
            if at + equal < end {
                break;
            }
            at = end;
        }
        Ok(())
    }

    /// Checks that hashes ascend, and that the sum of [`place_hash`] is `expected`.
    pub fn verify(self, file: &BlockFile, expected: u64) -> Result<()> {
        let (mut last, mut sum) = (0, 0u64);
        let count = file.len::<u64>(self.0);
        for start in (0..count).step_by(WINDOW as usize) {
            let window = start..count.min(start + WINDOW);
            let hashes = file.values::<u64>(self.0, window.clone())?;
            for (hash, number) in hashes.iter().zip(file.values::<u32>(self.0 + 1, window)?) {
                if *hash < last {
                    return Err(file.damaged("a list of hashes is not sorted"));
                }
                last = *hash;
                sum = sum.wrapping_add(place_hash(*hash, *number));
            }
        }
        match sum == expected {
            true => Ok(()),
            false => Err(file.damaged("not every document is listed under its keys")),
        }
    }

    /// The number of hashes below `hash`.
    fn first_not_below(self, file: &BlockFile, hash: u64) -> Result<u64> {
        let (mut low, mut high) = (0, file.len::<u64>(self.0));
        let (mut least, mut most) = (0, u64::MAX);
        let mut guesses = 0;
        while low < high {
            let share = u128::from(hash.clamp(least, most) - least) * u128::from(high - low);
            let guess = if guesses < GUESSES {
                low + (share / (u128::from(most - least) + 1)) as u64
            } else {
                low + (high - low) / 2
            };
            guesses += 1;
            let window = guess.saturating_sub(WINDOW / 2).max(low)..(guess + WINDOW / 2).min(high);
            let hashes = file.values::<u64>(self.0, window.clone())?;
            match (hashes.first(), hashes.last()) {
                (Some(first), _) if *first >= hash => (high, most) = (window.start, *first),
                (_, Some(last)) if *last < hash => (low, least) = (window.end, *last),
                _ => return Ok(window.start + hashes.partition_point(|found| *found < hash) as u64),
            }
            if least > most {
                // Not ascending: the file has correct checksums and wrong contents.
                break;
            }
        }
        Ok(low)
    }
}

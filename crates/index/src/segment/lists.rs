//! Lists of the documents of a hash.
//!
//! Two sections: hashes, ascending, and the document of each. Hashes are uniform, so that
//! interpolation finds one in two or three blocks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use ahash::AHashSet;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::Result;
use crate::io::BlockFile;

/// Hashes read together: half a block on each side of the guess.
const WINDOW: u64 = 512;
/// If queries are further apart than this number of hashes, each is found by itself.
const FAR: u64 = 16 * WINDOW;
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
    /// Calls `visit` with the query and the documents, ascending, of every hash of `asked` that has
    /// any. Hashes come with the number of their query, and ascend.
    ///
    /// Many hashes are found by reading the list from start to end, few ones by interpolation.
    pub fn for_each<'f>(
        self,
        file: &'f BlockFile,
        asked: &[(u64, u32)],
        mut visit: impl FnMut(u32, &'f [u32]) -> Result<()>,
    ) -> Result<()> {
        let count = file.len::<u64>(self.0);
        let (mut at, mut last) = (0, None);
        let mut window: &[u64] = &[];
        let mut documents: &[u32] = &[];
        for (place, &(hash, query)) in asked.iter().enumerate() {
            if last != Some(hash) {
                let rest = (asked.len() - place) as u64;
                if (count - at) / rest > FAR {
                    at = self.first_not_below(file, hash, at)?;
                    window = &[];
                }
                // Windows end where blocks do.
                while window.last().is_none_or(|last| *last < hash) {
                    at += window.len() as u64;
                    if at == count {
                        return Ok(());
                    }
                    let end = count.min((at / WINDOW + 1) * WINDOW);
                    window = file.values::<u64>(self.0, at..end)?;
                }
                let below = below(window, hash);
                (at, window) = (at + below as u64, &window[below..]);
                last = Some(hash);
                documents = match window.first() == Some(&hash) {
                    true => file.values::<u32>(self.0 + 1, at..self.end_of(file, hash, at)?)?,
                    false => &[],
                };
            }
            if !documents.is_empty() {
                visit(query, documents)?;
            }
        }
        Ok(())
    }

    /// The number of documents of a hash, and the last of them.
    pub fn count(self, file: &BlockFile, hash: u64) -> Result<(u64, Option<u32>)> {
        let first = self.first_not_below(file, hash, 0)?;
        let end = match hash.checked_add(1) {
            Some(next) => self.first_not_below(file, next, first)?,
            None => file.len::<u64>(self.0),
        };
        let last = match end > first {
            true => file
                .values::<u32>(self.0 + 1, end - 1..end)?
                .first()
                .copied(),
            false => None,
        };
        Ok((end - first, last))
    }

    /// The position behind the hashes from `at` on that are equal to `hash`.
    fn end_of(self, file: &BlockFile, hash: u64, mut at: u64) -> Result<u64> {
        let count = file.len::<u64>(self.0);
        while at < count {
            let end = count.min(at + WINDOW / 8);
            let hashes = file.values::<u64>(self.0, at..end)?;
            let equal = hashes.iter().take_while(|found| **found == hash).count() as u64;
            at += equal;
            if at < end {
                break;
            }
        }
        Ok(at)
    }

    /// All entries in order: hash and document, with `offset` added to its number, without those that
    /// are `removed`.
    pub fn entries<'f>(
        self,
        file: &'f BlockFile,
        offset: u32,
        removed: &'f AHashSet<u32>,
    ) -> impl Iterator<Item = Result<[u64; 2]>> + 'f {
        let count = file.len::<u64>(self.0);
        let (mut at, mut window): (u64, (&[u64], &[u32])) = (0, (&[], &[]));
        let mut next = move || -> Result<Option<[u64; 2]>> {
            loop {
                if let (Some((hash, hashes)), Some((number, numbers))) =
                    (window.0.split_first(), window.1.split_first())
                {
                    window = (hashes, numbers);
                    if removed.is_empty() || !removed.contains(number) {
                        return Ok(Some([*hash, u64::from(offset + number)]));
                    }
                    continue;
                }
                if at == count {
                    return Ok(None);
                }
                let range = at..count.min(at + WINDOW);
                at = range.end;
                let hashes = file.values::<u64>(self.0, range.clone())?;
                window = (hashes, file.values::<u32>(self.0 + 1, range)?);
            }
        };
        std::iter::from_fn(move || next().transpose())
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

    /// The position of the first hash from `low` on that is not below `hash`.
    fn first_not_below(self, file: &BlockFile, hash: u64, mut low: u64) -> Result<u64> {
        let mut high = file.len::<u64>(self.0);
        let (mut least, mut most) = (0, u64::MAX);
        let mut guesses = 0;
        if low > 0 && low < high {
            least = file.values::<u64>(self.0, low..low + 1)?[0];
        }
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

/// The number of hashes below `hash` in a window whose last is not. Hashes are uniform: it is close to
/// a guess.
fn below(window: &[u64], hash: u64) -> usize {
    let (first, last) = (window[0], window[window.len() - 1]);
    if first >= hash {
        return 0;
    }
    let share = u128::from(hash - first) * window.len() as u128;
    let mut below = (share / (u128::from(last - first) + 1)) as usize;
    while window[below] < hash {
        below += 1;
    }
    while window[below - 1] >= hash {
        below -= 1;
    }
    below
}

/// Entries of lists, in order.
pub type Entries<'a> = Box<dyn Iterator<Item = Result<[u64; 2]>> + 'a>;

/// The entries of all `lists`, in order.
pub fn merged(lists: Vec<Entries<'_>>) -> impl Iterator<Item = Result<[u64; 2]>> {
    let mut lists = lists;
    let mut firsts = BinaryHeap::new();
    let mut failed = None;
    for (place, list) in lists.iter_mut().enumerate() {
        match list.next() {
            Some(Ok(entry)) => firsts.push(Reverse((entry, place))),
            Some(Err(error)) => failed = Some(error),
            None => {}
        }
    }
    std::iter::from_fn(move || {
        if let Some(error) = failed.take() {
            firsts.clear();
            return Some(Err(error));
        }
        let mut first = firsts.peek_mut()?;
        let Reverse((entry, place)) = *first;
        match lists[place].next() {
            Some(Ok(next)) => first.0.0 = next,
            Some(Err(error)) => failed = Some(error),
            None => drop(PeekMut::pop(first)),
        }
        Some(Ok(entry))
    })
}

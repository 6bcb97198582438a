//! Lists of the documents of a hash.
//!
//! Three sections: hashes, ascending, the document of each, and a filter. Hashes are uniform, so that
//! interpolation finds one in two or three blocks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;

use ahash::AHashSet;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::filter::Filter;
use crate::Result;
use crate::io::{BlockFile, Source};

/// Hashes of a block.
const WINDOW: u64 = 512;
/// After this number of guesses, hashes that are not uniform are searched by bisection.
const GUESSES: u32 = 8;
/// The place of a hash is prefetched while this number of others is looked up.
const AHEAD: usize = 8;
/// The same for the filter.
const FILTER_AHEAD: usize = 32;
/// Hashes that pass the filter before any is looked up.
const FILTERED: usize = 1 << 10;

/// The hash of an id or a key. Because of the seed, colliding ids cannot be prepared.
pub fn hash(bytes: &[u8], seed: u64) -> u64 {
    xxh3_64_with_seed(bytes, seed)
}

/// Sums of these are equal if two lists have the same entries in any order.
pub fn place_hash(hash: u64, number: u32) -> u64 {
    xxh3_64_with_seed(&hash.to_le_bytes(), number.into())
}

/// The number of the first of the three sections.
#[derive(Clone, Copy, Debug)]
pub struct Lists(pub usize);

impl Lists {
    /// Calls `visit` with the query and the documents, ascending, of every hash of `asked` that has
    /// any. Hashes come with the number of their query, and ascend.
    ///
    /// Each is looked for where it should be between the one before and the end, as hashes are uniform.
    /// So many are found by reading the list once, in order.
    pub fn for_each<'f>(
        self,
        file: &'f BlockFile,
        asked: &[(u64, u32)],
        mut visit: impl FnMut(u32, &'f [u32]) -> Result<()>,
    ) -> Result<()> {
        let mut cursor = Cursor::new(self, file);
        let filter = self.filter(file);
        let mut last = None;
        let mut documents: &[u32] = &[];
        let mut likely: Vec<(u64, u32)> = Vec::new();
        for (number, some) in asked.chunks(FILTERED).enumerate() {
            likely.clear();
            for (place, (hash, query)) in some.iter().enumerate() {
                if let Some((later, _)) = asked.get(number * FILTERED + place + FILTER_AHEAD) {
                    filter.prefetch(*later);
                }
                if filter.may_have(*hash)? {
                    likely.push((*hash, *query));
                }
            }
            for (place, &(hash, query)) in likely.iter().enumerate() {
                if last != Some(hash) {
                    if let Some((later, _)) = likely.get(place + AHEAD) {
                        cursor.prefetch(*later);
                    }
                    let first = cursor.move_to(hash)?;
                    let end = cursor.end_of(hash)?;
                    documents = file.values::<u32>(self.0 + 1, first..end)?;
                    last = Some(hash);
                }
                if !documents.is_empty() {
                    visit(query, documents)?;
                }
            }
        }
        Ok(())
    }

    fn filter(self, file: &BlockFile) -> Filter<'_> {
        Filter::new(file, self.0 + 2)
    }

    /// The number of documents of a hash, and the last of them.
    pub fn count(self, file: &BlockFile, hash: u64) -> Result<(u64, Option<u32>)> {
        if !self.filter(file).may_have(hash)? {
            return Ok((0, None));
        }
        let mut cursor = Cursor::new(self, file);
        let first = cursor.move_to(hash)?;
        let end = match hash.checked_add(1) {
            Some(next) => cursor.move_to(next)?,
            None => cursor.count,
        };
        let last = match end > first {
            true => file.values::<u32>(self.0 + 1, end - 1..end)?.first(),
            false => None,
        };
        Ok((end - first, last.copied()))
    }

    /// All entries in order: hash and document number, with `offset` added to the number. Documents
    /// that are `removed` are left out. The segment has `documents` documents.
    pub fn entries<'f>(
        self,
        file: &'f BlockFile,
        (documents, offset): (u32, u32),
        removed: &'f AHashSet<u32>,
    ) -> Entries<'f> {
        let count = file.len::<u64>(self.0);
        let (mut at, mut window): (u64, (&[u64], &[u32])) = (0, (&[], &[]));
        let mut next = move || -> Result<Option<[u64; 2]>> {
            loop {
                if let (Some((hash, hashes)), Some((number, numbers))) =
                    (window.0.split_first(), window.1.split_first())
                {
                    window = (hashes, numbers);
                    if *number >= documents {
                        return Err(file.damaged("a list has a document that there never was"));
                    }
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
        Entries {
            most: count,
            entries: Box::new(std::iter::from_fn(move || next().transpose())),
        }
    }

    /// Checks that hashes ascend, that the sum of [`place_hash`] is `expected`, and that the filter is
    /// that of the hashes.
    pub fn verify(self, file: &BlockFile, expected: u64) -> Result<()> {
        let (mut last, mut sum) = (0, 0u64);
        let filter = self.filter(file);
        let (mut parts, mut last_part) = (0, None);
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
                if !filter.may_have(*hash)? {
                    return Err(file.damaged("a filter denies a hash of its list"));
                }
                let part = Some(filter.part(*hash));
                parts += u64::from(part != last_part);
                last_part = part;
            }
        }
        if parts != filter.count()? {
            return Err(file.damaged("a filter has hashes that its list has not"));
        }
        match sum == expected {
            true => Ok(()),
            false => Err(file.damaged("not every document is listed under its keys")),
        }
    }
}

/// A place in a list, which moves to higher hashes.
struct Cursor<'f> {
    lists: Lists,
    file: &'f BlockFile,
    count: u64,
    /// The position of the first hash that is not below `hash`.
    at: u64,
    hash: u64,
    /// The hashes from `start` to the end of the block.
    window: &'f [u64],
    start: u64,
}

impl<'f> Cursor<'f> {
    fn new(lists: Lists, file: &'f BlockFile) -> Cursor<'f> {
        Cursor {
            lists,
            file,
            count: file.len::<u64>(lists.0),
            at: 0,
            hash: 0,
            window: &[],
            start: 0,
        }
    }

    /// Moves to the first hash that is not below `hash`, which is not below the present one; returns its
    /// position.
    fn move_to(&mut self, hash: u64) -> Result<u64> {
        let (mut low, mut high) = (self.at, self.count);
        let (mut least, mut most) = (self.hash, u64::MAX);
        let mut guesses = 0;
        while low < high {
            let guess = match guesses < GUESSES {
                true => guess(low..high, least..most, hash),
                false => low + (high - low) / 2,
            };
            guesses += 1;
            self.load(guess, low)?;
            match (self.window.first(), self.window.last()) {
                (Some(first), Some(last)) if *first < hash && hash <= *last => {
                    low = self.start + below(self.window, hash) as u64;
                    break;
                }
                (Some(first), _) if *first >= hash => (high, most) = (self.start, *first),
                (_, Some(last)) => {
                    (low, least) = (self.start + self.window.len() as u64, *last);
                }
                _ => break,
            }
        }
        (self.at, self.hash) = (low, hash);
        Ok(low)
    }

    /// Loads the block with a position, from `least` on.
    fn load(&mut self, position: u64, least: u64) -> Result<()> {
        let start = (position / WINDOW * WINDOW).max(least);
        let end = self.count.min((position / WINDOW + 1) * WINDOW);
        let is_there = self.start <= start && self.start + self.window.len() as u64 == end;
        if !is_there {
            self.window = self.file.values::<u64>(self.lists.0, start..end)?;
            self.start = start;
        }
        Ok(())
    }

    /// The position behind the hashes that are equal to `hash`, to which the cursor was moved.
    fn end_of(&self, hash: u64) -> Result<u64> {
        let mut at = self.at;
        while at < self.count {
            let end = self.count.min(at + WINDOW / 8);
            let hashes = self.file.values::<u64>(self.lists.0, at..end)?;
            at += hashes.iter().take_while(|found| **found == hash).count() as u64;
            if at < end {
                break;
            }
        }
        Ok(at)
    }

    /// Prefetches where a later hash should be.
    fn prefetch(&self, hash: u64) {
        let guess = guess(self.at..self.count, self.hash..u64::MAX, hash);
        self.file
            .prefetch::<u64>(self.lists.0, guess..guess + 1, Source::Memory);
    }
}

/// Where a hash should be at these positions, whose hashes are within these bounds: hashes are uniform.
fn guess(positions: Range<u64>, bounds: Range<u64>, hash: u64) -> u64 {
    let Range { start, end } = positions;
    // In a damaged file, the bounds may be in any order.
    let span = bounds.end.saturating_sub(bounds.start);
    let above = hash.saturating_sub(bounds.start).min(span);
    let positions = end.saturating_sub(start);
    let share = above as f64 / (span as f64 + 1.0) * positions as f64;
    start + (share as u64).min(positions.saturating_sub(1))
}

/// The number of hashes below `hash` in a window whose last is not. Hashes are uniform: it is close to
/// a guess.
fn below(window: &[u64], hash: u64) -> usize {
    let (first, last) = (window[0], window[window.len() - 1]);
    if first >= hash {
        return 0;
    }
    let share = (hash - first) as f64 / (last - first) as f64 * window.len() as f64;
    let mut below = (share as usize).min(window.len() - 1);
    while window[below] < hash {
        below += 1;
    }
    while window[below - 1] >= hash {
        below -= 1;
    }
    below
}

/// Entries of lists, in order.
pub struct Entries<'a> {
    /// The most of them.
    pub most: u64,
    /// Hashes with the numbers of their documents.
    pub entries: Box<dyn Iterator<Item = Result<[u64; 2]>> + 'a>,
}

impl Entries<'_> {
    /// None.
    pub fn none() -> Self {
        Entries {
            most: 0,
            entries: Box::new(std::iter::empty()),
        }
    }
}

/// The entries of all `lists`, in order.
pub fn merged(lists: Vec<Entries<'_>>) -> Entries<'_> {
    let most = lists.iter().map(|list| list.most).sum();
    let mut lists: Vec<_> = lists.into_iter().map(|list| list.entries).collect();
    let mut firsts = BinaryHeap::new();
    let mut failed = None;
    for (place, list) in lists.iter_mut().enumerate() {
        match list.next() {
            Some(Ok(entry)) => firsts.push(Reverse((entry, place))),
            Some(Err(error)) => failed = Some(error),
            None => {}
        }
    }
    let entries = std::iter::from_fn(move || {
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
    });
    Entries {
        most,
        entries: Box::new(entries),
    }
}

//! The hash table of the n-grams of the reference items.
//!
//! It is filled by all threads. Each has a part of the slots, and takes those places of the items, in
//! order, whose n-gram belongs there. So the first place of each n-gram represents it, whatever the
//! number of threads. Few n-grams do not fit between their slot and the end of the part: one thread
//! inserts these.

use std::sync::atomic::{AtomicU32, Ordering};

use bytemuck::cast_slice;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;
use xxhash_rust::xxh3::xxh3_64;

/// No n-gram.
pub const NONE: u32 = u32::MAX;
/// Places whose n-grams are hashed before threads insert them.
const BATCH: usize = 1 << 16;

/// An open hash table; the number of slots is a power of two.
pub struct GramTable {
    slots: Vec<Slot>,
}

/// A slot of the table.
#[derive(Clone, Copy)]
struct Slot {
    /// Bits of the hash.
    tag: u32,
    /// The n-gram, or [`NONE`]; while the table is filled, the first place of the n-gram.
    gram: u32,
}

/// The words of the items, and the number of words of the n-gram at each place; 0 if there is none.
#[derive(Clone, Copy)]
pub struct PlacedGrams<'a> {
    /// The words.
    pub words: &'a [u64],
    /// The numbers of words.
    pub lengths: &'a [u32],
}

impl PlacedGrams<'_> {
    fn of(&self, place: usize) -> &[u64] {
        &self.words[place..place + self.lengths[place] as usize]
    }
}

impl GramTable {
    /// A table of the n-grams at all places, and the first place with the n-gram of each place, or
    /// [`NONE`]. Until [`number`](Self::number), the table has these first places.
    pub fn new(all: PlacedGrams<'_>) -> (GramTable, Vec<u32>) {
        let count = all.words.len();
        let slots = (count + count / 4 + 1).next_power_of_two();
        let empty = Slot { tag: 0, gram: NONE };
        let mut table = GramTable {
            slots: vec![empty; slots],
        };
        let parts = rayon::current_num_threads().next_power_of_two();
        let part = (slots / parts).max(1);
        let firsts: Vec<AtomicU32> = (0..count).map(|_| AtomicU32::new(NONE)).collect();
        let mut hashes = vec![0; BATCH.min(count)];
        for start in (0..count).step_by(BATCH) {
            let hashes = &mut hashes[..BATCH.min(count - start)];
            let places = hashes.par_iter_mut().enumerate().with_min_len(1 << 10);
            places.for_each(|(at, hash)| *hash = xxh3_64(cast_slice(all.of(start + at))));
            let hashes = &*hashes;
            let parts = table.slots.par_chunks_mut(part).enumerate();
            let rest: Vec<Vec<(usize, u64)>> = parts
                .map(|(number, own)| {
                    let is_own = |(place, hash): &(usize, u64)| {
                        (*hash as usize & (slots - 1)) / part == number && all.lengths[*place] > 0
                    };
                    let batch = (start..).zip(hashes.iter().copied()).filter(is_own);
                    let has_no_slot = |(place, hash): &(usize, u64)| {
                        let first = insert(own, number * part, slots, (*place, *hash), all);
                        if let Some(first) = first {
                            firsts[*place].store(first, Ordering::Relaxed);
                        }
                        first.is_none()
                    };
                    batch.filter(has_no_slot).collect()
                })
                .collect();
            for (place, hash) in rest.into_iter().flatten() {
                let first = table.insert_anywhere((place, hash), all);
                firsts[place].store(first, Ordering::Relaxed);
            }
        }
        let firsts = firsts.into_iter().map(AtomicU32::into_inner).collect();
        (table, firsts)
    }

    /// Replaces the first place of each n-gram by its number.
    pub fn number(&mut self, number: impl Fn(u32) -> u32 + Sync) {
        self.slots
            .par_iter_mut()
            .with_min_len(1 << 12)
            .filter(|slot| slot.gram != NONE)
            .for_each(|slot| slot.gram = number(slot.gram));
    }

    /// The n-gram with some words; `is` says whether an n-gram has them.
    pub fn find(&self, words: &[u64], is: impl Fn(u32) -> bool) -> Option<u32> {
        let hash = xxh3_64(cast_slice(words));
        let mut slot = hash as usize & (self.slots.len() - 1);
        loop {
            match self.slots[slot] {
                Slot { gram: NONE, .. } => return None,
                Slot { tag, gram } if tag == tag_of(hash) && is(gram) => return Some(gram),
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
    }

    /// Inserts an n-gram that may be in a later part than its slot; returns its first place.
    fn insert_anywhere(&mut self, (place, hash): (usize, u64), all: PlacedGrams<'_>) -> u32 {
        let count = self.slots.len();
        let slot = hash as usize & (count - 1);
        let found = insert(&mut self.slots, 0, count, (place, hash), all);
        // There are more slots than n-grams.
        let begin = &mut self.slots[..slot];
        found
            .or_else(|| insert_from(begin, 0, (place, hash), all))
            .unwrap_or(NONE)
    }
}

/// Inserts an n-gram between its slot and the end of `own`, the slots from `first` on of `count`, and
/// returns its first place; `None` if there is no free slot.
fn insert(
    own: &mut [Slot],
    first: usize,
    count: usize,
    (place, hash): (usize, u64),
    all: PlacedGrams<'_>,
) -> Option<u32> {
    let slot = (hash as usize & (count - 1)) - first;
    insert_from(own, slot, (place, hash), all)
}

/// Inserts an n-gram into a slot from `first` on, and returns its first place; `None` if there is no
/// free slot.
fn insert_from(
    slots: &mut [Slot],
    first: usize,
    (place, hash): (usize, u64),
    all: PlacedGrams<'_>,
) -> Option<u32> {
    let tag = tag_of(hash);
    for slot in &mut slots[first..] {
        if slot.gram == NONE {
            let gram = place as u32;
            *slot = Slot { tag, gram };
            return Some(gram);
        }
        if slot.tag == tag && all.of(slot.gram as usize) == all.of(place) {
            return Some(slot.gram);
        }
    }
    None
}

fn tag_of(hash: u64) -> u32 {
    (hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn the_first_of_equal_n_grams_represents_them(
            words in prop::collection::vec(0..3u64, 0..300), length in 1..6usize, threads in 1..9usize,
        ) {
            let lengths: Vec<u32> = (0..words.len())
                .map(|place| if place + length <= words.len() { length as u32 - place as u32 % 2 } else { 0 })
                .collect();
            let all = PlacedGrams { words: &words, lengths: &lengths };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (mut table, firsts) = pool.install(|| GramTable::new(all));
            let mut expected: HashMap<&[u64], u32> = HashMap::new();
            for (place, first) in firsts.iter().enumerate() {
                match lengths[place] {
                    0 => prop_assert_eq!(*first, NONE),
                    _ => prop_assert_eq!(*first, *expected.entry(all.of(place)).or_insert(place as u32)),
                }
            }
            pool.install(|| table.number(|first| first + 1000));
            for (gram, first) in &expected {
                let is = |found: u32| all.of(found as usize - 1000) == *gram;
                prop_assert_eq!(table.find(gram, is), Some(first + 1000));
            }
            prop_assert_eq!(table.find(&[7], |_| true), None);
        }
    }
}

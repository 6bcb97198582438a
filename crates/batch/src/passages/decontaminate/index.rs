//! The n-grams of the reference items: an exact table behind a filter.
//!
//! ```text
//! words of a document ─► hash of the first words ─► filter ─► table ─► the same words in an item
//! ```
//!
//! All n-grams have the same number of words, except those of short items, which are n-grams as a
//! whole. The filter has the hashes of the first words of all n-grams, as many as the shortest one
//! has. So each place of a document is looked up once, whatever lengths there are. What passes is
//! looked up in the table, and compared word by word.

use std::ops::Range;
use std::sync::Arc;

use ahash::AHashMap;
use bytemuck::cast_slice;
use rayon::iter::{IntoParallelRefIterator, IntoParallelRefMutIterator, ParallelIterator};
use xxhash_rust::xxh3::xxh3_128;

use super::filter::Filter;
use super::gram_table::{GramTable, NONE, PlacedGrams};
use super::items::Items;
use simtool_core::text::anchors::Grams;

/// Places that are looked up at a time, so that the words of the filter are prefetched. Each has a bit.
const BLOCK: usize = u64::BITS as usize;
/// The bytes of the items for each word: its hash, and its range in the item.
const ITEM_WORD_BYTES: u64 = 8 + 8;
/// The bytes of the index for each word, if each begins a different n-gram: the n-gram there, the list
/// of places, the table, and what is counted. The filter comes on top.
const WORD_BYTES: u64 = 4 + 4 + 8 + 4 + 32 + 8;
/// An n-gram at more places than this is common.
pub const COMMON_PLACES: usize = 64;
/// The most words of all items.
pub const MOST_WORDS: u64 = 1 << 31;

/// The n-grams of the reference items.
pub struct Index {
    /// The items.
    pub items: Arc<Items>,
    /// The different lengths of n-grams, ascending.
    lengths: Vec<u32>,
    /// The n-gram that begins at each word of the items.
    gram_at: Vec<u32>,
    grams: Vec<Gram>,
    /// For each n-gram, where its places begin in `places`; one entry more than there are n-grams.
    starts: Vec<u32>,
    /// The words of the items with which n-grams begin, by n-gram, ascending.
    places: Vec<u32>,
    /// The class of each common n-gram: the first one that the same items have.
    classes: AHashMap<u32, u32>,
    table: GramTable,
    filter: Filter,
}

/// An n-gram.
#[derive(Clone, Copy)]
struct Gram {
    /// Where it occurs first.
    place: u32,
    /// The number of its words.
    words: u32,
}

/// A place of a text with an n-gram of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NgramHit {
    /// The first word.
    pub first: u32,
    /// The number of words.
    pub words: u32,
    /// The n-gram.
    pub gram: u32,
}

impl Index {
    /// The bytes of items that have `words` words together, and of `indexes` indexes of them.
    pub fn bytes(words: u64, indexes: u64) -> u64 {
        let filter = Filter::bytes(usize::try_from(words).unwrap_or(usize::MAX)) as u64;
        let index = words.saturating_mul(WORD_BYTES).saturating_add(filter);
        let items = words.saturating_mul(ITEM_WORD_BYTES);
        index.saturating_mul(indexes).saturating_add(items)
    }

    /// The index of `items`. `words_of_gram` is the number of words of the n-grams of an item, at
    /// least 1 and at most those of the item; `None` if the index has none of it. Uses the current rayon
    /// pool.
    pub fn new(items: Arc<Items>, words_of_gram: impl Fn(&Items, usize) -> Option<u32>) -> Index {
        let words = items.words.len();
        let mut gram_words = vec![0; words];
        let mut lengths = Vec::new();
        for item in 0..items.items.len() {
            let own = items.words_of(item);
            if let Some(length) = words_of_gram(&items, item) {
                lengths.push(length);
                gram_words[own.start..=own.end - length as usize].fill(length);
            }
        }
        lengths.sort_unstable();
        lengths.dedup();
        let (mut table, mut gram_at) = GramTable::new(PlacedGrams {
            words: &items.words,
            lengths: &gram_words,
        });
        // N-grams have numbers in the order of their first places.
        let firsts = (0..).zip(&gram_at).filter(|(place, first)| place == *first);
        let grams = firsts.map(|(place, _): (u32, _)| Gram {
            place,
            words: gram_words[place as usize],
        });
        let grams: Vec<Gram> = grams.collect();
        let mut numbers = gram_words;
        for (number, gram) in (0..).zip(&grams) {
            numbers[gram.place as usize] = number;
        }
        table.number(|first| numbers[first as usize]);
        let known = gram_at.par_iter_mut().filter(|gram| **gram != NONE);
        known.for_each(|gram| *gram = numbers[*gram as usize]);
        drop(numbers);
        let mut index = Index {
            gram_at,
            filter: Filter::new(words),
            table,
            items,
            lengths,
            grams,
            starts: Vec::new(),
            places: Vec::new(),
            classes: AHashMap::new(),
        };
        if let Some(&shortest) = index.lengths.first() {
            index.fill_filter(&index.grams, shortest);
        }
        index.list_places();
        index.find_classes();
        index
    }

    /// Makes places with the first `count` words of `grams` pass the filter.
    fn fill_filter(&self, grams: &[Gram], count: u32) {
        grams.par_iter().for_each(|gram| {
            let key = key(&self.items.words, gram.place as usize, count as usize);
            self.filter.insert(key);
        });
    }

    /// Makes places with an n-gram of `other`, an index of the same items, pass the filter, and returns
    /// whether they do: not if this index is empty, or if `other` has shorter n-grams.
    pub fn cover(&self, other: &Index) -> bool {
        let (Some(&own), Some(&shortest)) = (self.lengths.first(), other.lengths.first()) else {
            return false;
        };
        if shortest < own {
            return false;
        }
        self.fill_filter(&other.grams, own);
        true
    }

    fn list_places(&mut self) {
        let mut starts = vec![0u32; self.grams.len() + 1];
        let grams = || {
            self.gram_at
                .iter()
                .zip(0u32..)
                .filter(|(gram, _)| **gram != NONE)
        };
        grams().for_each(|(gram, _)| starts[*gram as usize + 1] += 1);
        for number in 1..starts.len() {
            starts[number] += starts[number - 1];
        }
        let mut next = starts.clone();
        let mut places = vec![0; starts.last().map_or(0, |end| *end as usize)];
        for (gram, place) in grams() {
            let next = &mut next[*gram as usize];
            places[*next as usize] = place;
            *next += 1;
        }
        self.starts = starts;
        self.places = places;
    }

    fn find_classes(&mut self) {
        let (mut first, mut items) = (AHashMap::new(), Vec::new());
        for gram in 0..self.grams.len() as u32 {
            if !self.is_common(gram) {
                continue;
            }
            items.clear();
            items.extend(self.postings(gram).map(|(_, item)| item as u32));
            let mut class = *first.entry(xxh3_128(cast_slice(&items))).or_insert(gram);
            // Two sets of items may have been made to have the same hash.
            let own = self.postings(class).map(|(_, item)| item as u32);
            if !own.eq(items.iter().copied()) {
                class = gram;
            }
            self.classes.insert(gram, class);
        }
    }

    /// Whether an n-gram is at more than `COMMON_PLACES` places of the items.
    pub fn is_common(&self, gram: u32) -> bool {
        self.places(gram).len() > COMMON_PLACES
    }

    /// The n-gram that represents all common n-grams which the same items have as this one.
    pub fn class(&self, gram: u32) -> Option<u32> {
        self.classes.get(&gram).copied()
    }

    /// Whether an n-gram has these words.
    fn is(&self, gram: u32, words: &[u64]) -> bool {
        let Gram {
            place,
            words: count,
        } = self.grams[gram as usize];
        let place = place as usize;
        count as usize == words.len() && self.items.words[place..place + words.len()] == *words
    }

    fn find(&self, words: &[u64]) -> Option<u32> {
        self.table.find(words, |gram| self.is(gram, words))
    }

    /// Replaces `hits` by all places of a text with an n-gram of the reference, in order of the first
    /// word, then of the length. The text is given by the hashes of its words.
    ///
    /// O(1) time for each word, as long as few places pass the filter.
    pub fn find_all(&self, words: &[u64], hits: &mut Vec<NgramHit>) {
        self.for_each_block(words, hits, |_| ());
    }

    /// As [`find_all`](Self::find_all); and replaces `passed` by a bit for each place: whether it
    /// passes the filter.
    pub fn find_and_mark(&self, words: &[u64], hits: &mut Vec<NgramHit>, passed: &mut Vec<u64>) {
        passed.clear();
        self.for_each_block(words, hits, |bits| passed.push(bits));
    }

    /// As [`find_all`](Self::find_all), if `passed` is that of an index which [covers](Self::cover)
    /// this one. Faster, as the other places are not looked up.
    pub fn find_among(&self, words: &[u64], passed: &[u64], hits: &mut Vec<NgramHit>) {
        hits.clear();
        let Some(&shortest) = self.lengths.first() else {
            return;
        };
        let shortest = shortest as usize;
        for (start, mut bits) in (0..).step_by(BLOCK).zip(passed.iter().copied()) {
            while bits != 0 {
                let first = start + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let is_whole = first + shortest <= words.len();
                if is_whole && self.filter.contains(key(words, first, shortest)) {
                    self.find_at(words, first, hits);
                }
            }
        }
    }

    /// Finds n-grams; calls `visit` with a bit for each place of a block that passes the filter.
    fn for_each_block(&self, words: &[u64], hits: &mut Vec<NgramHit>, mut visit: impl FnMut(u64)) {
        hits.clear();
        let Some(&shortest) = self.lengths.first() else {
            return;
        };
        let shortest = shortest as usize;
        if words.len() < shortest {
            return;
        }
        let mut hashes = Grams::new(words, shortest);
        let places = words.len() + 1 - shortest;
        let mut keys = [0u64; BLOCK];
        for start in (0..places).step_by(BLOCK) {
            let keys = &mut keys[..BLOCK.min(places - start)];
            for key in &mut *keys {
                *key = hashes.next_hash();
                self.filter.prefetch(*key);
            }
            let mut passed = 0;
            for (key, place) in keys.iter().zip(0..) {
                if self.filter.contains(*key) {
                    passed |= 1 << place;
                    self.find_at(words, start + place, hits);
                }
            }
            visit(passed);
        }
    }

    #[cold]
    fn find_at(&self, words: &[u64], first: usize, hits: &mut Vec<NgramHit>) {
        for &length in &self.lengths {
            let Some(own) = words.get(first..first + length as usize) else {
                return;
            };
            if let Some(gram) = self.find(own) {
                hits.push(NgramHit {
                    first: first as u32,
                    words: length,
                    gram,
                });
            }
        }
    }

    /// The number of different n-grams.
    pub fn count(&self) -> usize {
        self.grams.len()
    }

    /// The places of an n-gram in the items, ascending.
    pub fn places(&self, gram: u32) -> &[u32] {
        let gram = gram as usize;
        &self.places[self.starts[gram] as usize..self.starts[gram + 1] as usize]
    }

    /// The items with an n-gram, ascending, each once and with a number of its own below that of the
    /// words of all items. O(log n) time for each item, however often it has the n-gram.
    pub fn postings(&self, gram: u32) -> impl Iterator<Item = (usize, usize)> + '_ {
        let start = self.starts[gram as usize] as usize;
        let places = self.places(gram);
        let mut next = 0;
        std::iter::from_fn(move || {
            let (posting, place) = (start + next, *places.get(next)?);
            let item = self.items.item_at(place);
            let end = self.items.words_of(item).end;
            next += 1;
            if places
                .get(next)
                .is_some_and(|place| (*place as usize) < end)
            {
                next += places[next..].partition_point(|place| (*place as usize) < end);
            }
            Some((posting, item))
        })
    }

    /// The number of an item among the [`postings`](Self::postings) of an n-gram, if it has it.
    /// O(log n).
    pub fn posting(&self, gram: u32, item: usize) -> Option<usize> {
        let (own, places) = (self.items.words_of(item), self.places(gram));
        let number = places.partition_point(|place| (*place as usize) < own.start);
        let is_own = (*places.get(number)? as usize) < own.end;
        is_own.then(|| self.starts[gram as usize] as usize + number)
    }

    /// Replaces `grams` by the different n-grams of an item, ascending.
    pub fn grams_of(&self, item: usize, grams: &mut Vec<u32>) {
        grams.clear();
        let own = &self.gram_at[self.items.words_of(item)];
        grams.extend(own.iter().filter(|gram| **gram != NONE));
        grams.sort_unstable();
        grams.dedup();
    }

    /// The longest run of words that begins with an n-gram at `first` of a text and is a part of an
    /// item: the places of its words in the items. Of several, the first. At most `most` places of the
    /// n-gram are looked at.
    pub fn longest(&self, words: &[u64], hit: &NgramHit, most: usize) -> Range<usize> {
        let text = &words[hit.first as usize..];
        let mut longest = 0..0;
        for &place in self.places(hit.gram).iter().take(most) {
            let place = place as usize;
            // A longer run has the next word, too.
            match text.get(longest.len()) {
                None => break,
                next if next != self.items.words.get(place + longest.len()) => continue,
                _ => {}
            }
            let end = self.items.words_of(self.items.item_at(place as u32)).end;
            let own = self.items.words[place..end].iter();
            let same = own.zip(text).take_while(|(a, b)| a == b).count();
            if same > longest.len() {
                longest = place..place + same;
            }
        }
        longest
    }
}

/// The key, in a filter, of the first `count` words from `first` on.
fn key(words: &[u64], first: usize, count: usize) -> u64 {
    Grams::new(&words[first..first + count], count).next_hash()
}

/// The number of words of the n-grams of an item with `words` words: `least`; of an item with fewer, but
/// at least `least_item`, all of them. `None` if it is too short.
pub fn words_of_gram(words: usize, least: usize, least_item: usize) -> Option<u32> {
    match words {
        _ if words >= least => Some(least as u32),
        0 => None,
        _ if words >= least_item => Some(words as u32),
        _ => None,
    }
}

//! What documents have of each reference item.

use std::cmp::Reverse;
use std::ops::Range;

use super::common::CommonSets;
use crate::passages::decontaminate::index::{COMMON_PLACES, Index};
use crate::table::segment::ChunkPlace;

/// The place of a document: its chunk, and its number there.
pub type DocumentKey = (ChunkPlace, u32);

/// What documents have of an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ItemCount {
    /// The documents with one of its n-grams.
    pub documents: u32,
    /// The document with the most different ones, of several the first.
    pub best: DocumentKey,
    /// The number of them there.
    pub best_found: u32,
    /// The bytes, in that document, of the stretch with the most of them.
    pub best_bytes: [u32; 2],
}

/// Counts n-grams by item; one for each thread.
pub struct ItemCounts {
    rows: Vec<ItemState>,
    /// The items that the current document has.
    listed: Vec<u32>,
    sets: CommonSets,
    /// Common n-grams of the current document: places, class and stretch.
    common: Vec<(u32, u32, u32)>,
    runs: Vec<CommonRun>,
    /// The classes that are counted by their set, and the n-grams of each.
    classes: Vec<u32>,
    class_counts: Vec<u32>,
    /// How often the counts of an item changed.
    #[cfg(test)]
    changes: usize,
}

/// The counts of an item, and what the current document has of it.
#[derive(Clone, Copy, Default)]
struct ItemState {
    count: ItemCount,
    /// In the current document: n-grams, those of the current stretch, and the stretch with the most.
    found: u32,
    stretch: u32,
    in_stretch: u32,
    top: u32,
    in_top: u32,
    listed: ItemPresence,
}

/// Whether the current document has an item.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum ItemPresence {
    #[default]
    No,
    Yes,
    /// It also counts with the set of its classes.
    InSet,
}

/// Common n-grams of a class in a stretch.
struct CommonRun {
    stretch: u32,
    class: u32,
    count: u32,
    in_set: bool,
}

impl ItemCounts {
    /// The bytes of the counts for each item.
    pub const ITEM_BYTES: u64 = (size_of::<ItemState>() + size_of::<u32>()) as u64;
    /// The bytes for each word of the items, of which one n-gram in `COMMON_PLACES` is common.
    pub const WORD_BYTES: u64 = 1;

    /// Counts for some items.
    pub fn new(items: usize) -> ItemCounts {
        ItemCounts {
            rows: vec![ItemState::default(); items],
            listed: Vec::new(),
            sets: CommonSets::default(),
            common: Vec::new(),
            runs: Vec::new(),
            classes: Vec::new(),
            class_counts: Vec::new(),
            #[cfg(test)]
            changes: 0,
        }
    }

    /// Counts the different n-grams of the current document, each with its first stretch, in order of
    /// these.
    ///
    /// Of many documents with the same common n-grams, the items of these are enumerated for few.
    pub fn add_grams(&mut self, index: &Index, grams: &[(u32, u32)]) {
        if self.sets.is_full() {
            self.count_sets(index);
        }
        self.find_runs(index, grams);
        let is_whole = self.classes.is_empty() || self.sets.add(&self.classes, &self.class_counts);
        let rare = grams.iter().filter(|(gram, _)| !index.is_common(*gram));
        if !is_whole {
            let runs = self.runs.iter().filter(|run| !run.in_set);
            for gram in (rare.clone().map(|(gram, _)| *gram)).chain(runs.map(|run| run.class)) {
                for (_, item) in index.postings(gram) {
                    list(&mut self.rows[item], item, &mut self.listed);
                }
            }
        }
        let runs = std::mem::take(&mut self.runs);
        let mut next = runs.iter().peekable();
        for (gram, stretch) in rare {
            while let Some(run) = next.next_if(|run| run.stretch < *stretch) {
                self.add_run(index, run, is_whole);
            }
            for (_, item) in index.postings(*gram) {
                self.add(item, *stretch, 1);
            }
        }
        next.for_each(|run| self.add_run(index, run, is_whole));
        self.runs = runs;
    }

    /// Finds the runs of common n-grams, in order of the stretches. The most common ones count by
    /// their set, unless the document is long enough that all are enumerated.
    fn find_runs(&mut self, index: &Index, grams: &[(u32, u32)]) {
        self.common.clear();
        self.runs.clear();
        self.classes.clear();
        self.class_counts.clear();
        self.common
            .extend(grams.iter().filter_map(|&(gram, stretch)| {
                let class = index.is_common(gram).then(|| index.class(gram))??;
                Some((index.places(gram).len() as u32, class, stretch))
            }));
        self.common.sort_unstable();
        let mut left = (COMMON_PLACES * grams.len()) as u64;
        for &(places, class, stretch) in &self.common {
            let in_set = left < u64::from(places);
            left -= if in_set { left } else { places.into() };
            match self.runs.last_mut() {
                Some(run) if (run.class, run.stretch, run.in_set) == (class, stretch, in_set) => {
                    run.count += 1;
                }
                _ => self.runs.push(CommonRun {
                    stretch,
                    class,
                    count: 1,
                    in_set,
                }),
            }
        }
        self.runs.sort_unstable_by_key(|run| run.class);
        for run in self.runs.iter().filter(|run| run.in_set) {
            if self.classes.last() != Some(&run.class) {
                self.classes.push(run.class);
                self.class_counts.push(0);
            }
            if let Some(count) = self.class_counts.last_mut() {
                *count += run.count;
            }
        }
        self.runs.sort_unstable_by_key(|run| run.stretch);
    }

    /// Counts a run for all its items; or, if it is counted with its set and the document is not
    /// `whole`, for those that are listed.
    fn add_run(&mut self, index: &Index, run: &CommonRun, is_whole: bool) {
        let in_set = |counts: &mut ItemCounts, item: usize| {
            counts.add(item, run.stretch, run.count);
            if run.in_set {
                counts.rows[item].listed = ItemPresence::InSet;
            }
        };
        if is_whole || !run.in_set {
            for (_, item) in index.postings(run.class) {
                in_set(self, item);
            }
        } else if index.places(run.class).len() <= self.listed.len() {
            for (_, item) in index.postings(run.class) {
                if self.rows[item].listed != ItemPresence::No {
                    in_set(self, item);
                }
            }
        } else {
            for number in 0..self.listed.len() {
                let item = self.listed[number] as usize;
                if index.posting(run.class, item).is_some() {
                    in_set(self, item);
                }
            }
        }
    }

    /// Counts n-grams of an item, which the current document has not been counted for yet. The
    /// numbers of stretches ascend.
    fn add(&mut self, item: usize, stretch: u32, count: u32) {
        #[cfg(test)]
        {
            self.changes += 1;
        }
        let row = &mut self.rows[item];
        list(row, item, &mut self.listed);
        row.in_stretch = match row.found > 0 && row.stretch == stretch {
            true => row.in_stretch + count,
            false => count,
        };
        row.found += count;
        row.stretch = stretch;
        if row.in_stretch > row.in_top {
            (row.top, row.in_top) = (stretch, row.in_stretch);
        }
    }

    /// Counts a cluster with some n-grams of an item. Of several in a document, the first with the most
    /// counts.
    pub fn add_cluster(&mut self, item: usize, stretch: u32, grams: u32) {
        let row = &mut self.rows[item];
        list(row, item, &mut self.listed);
        if grams > row.found {
            row.found = grams;
            row.top = stretch;
        }
    }

    /// Whether the current document has one of the n-grams of an item. O(classes · log n).
    pub fn has(&self, index: &Index, item: usize) -> bool {
        let mut classes = self.classes.iter();
        self.rows[item].listed != ItemPresence::No
            || classes.any(|class| index.posting(*class, item).is_some())
    }

    /// Ends a document, whose stretches have these bytes.
    pub fn end_document(&mut self, key: DocumentKey, stretches: &[Range<usize>]) {
        for item in self.listed.drain(..) {
            let row = &mut self.rows[item as usize];
            let count = &mut row.count;
            count.documents += u32::from(row.listed == ItemPresence::Yes);
            if (row.found, Reverse(key)) > (count.best_found, Reverse(count.best)) {
                let bytes = stretches.get(row.top as usize).cloned().unwrap_or_default();
                count.best = key;
                count.best_found = row.found;
                count.best_bytes = [bytes.start as u32, bytes.end as u32];
            }
            *row = ItemState {
                count: row.count,
                ..ItemState::default()
            };
        }
    }

    /// Counts documents for the items of their sets of classes, between documents.
    fn count_sets(&mut self, index: &Index) {
        for (classes, documents) in self.sets.take() {
            for class in &classes {
                for (_, item) in index.postings(*class) {
                    list(&mut self.rows[item], item, &mut self.listed);
                }
            }
            for item in self.listed.drain(..) {
                let row = &mut self.rows[item as usize];
                row.count.documents += documents;
                row.listed = ItemPresence::No;
            }
        }
    }

    /// The counts of all documents.
    pub fn finish(mut self, index: &Index) -> Vec<ItemCount> {
        self.count_sets(index);
        self.rows.iter().map(|row| row.count).collect()
    }
}

impl ItemCount {
    /// Adds what other documents have.
    pub fn merge(&mut self, other: &ItemCount) {
        let documents = self.documents.saturating_add(other.documents);
        if (other.best_found, Reverse(other.best)) > (self.best_found, Reverse(self.best)) {
            *self = *other;
        }
        self.documents = documents;
    }
}

fn list(row: &mut ItemState, item: usize, listed: &mut Vec<u32>) {
    if row.listed == ItemPresence::No {
        row.listed = ItemPresence::Yes;
        listed.push(item as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passages::decontaminate::index::words_of_gram;
    use crate::passages::decontaminate::items::{Item, Items};

    fn key(chunk: u64, number: u32) -> DocumentKey {
        (ChunkPlace { source: 0, chunk }, number)
    }

    const SHARED: u64 = 30;
    const WORDS: usize = 13;

    /// Items that begin with the same words.
    fn index(items: u64) -> Index {
        let mut all = Items::default();
        for number in 0..items {
            all.items.push(Item {
                document: number as u32,
                first: all.words.len() as u32,
                has_unspaced_scripts: false,
            });
            all.words.extend(0..SHARED);
            all.words.extend(own(number));
        }
        index_of(all, WORDS)
    }

    fn index_of(items: Items, least: usize) -> Index {
        Index::new(items.into(), |items, item| {
            words_of_gram(items.words_of(item).len(), least, least)
        })
    }

    fn own(number: u64) -> impl Iterator<Item = u64> {
        (0..20).map(move |place| 1000 + 100 * number + place)
    }

    /// Adds a document of one stretch.
    fn add(counts: &mut ItemCounts, index: &Index, number: u32, words: &[u64]) {
        let mut hits = Vec::new();
        index.find_all(words, &mut hits);
        let grams: Vec<(u32, u32)> = hits.iter().map(|hit| (hit.gram, 0)).collect();
        counts.add_grams(index, &grams);
        counts.end_document(key(0, number), std::slice::from_ref(&(0..1)));
    }

    /// Promise (Parts of evaluation sets): Ranges, counts and clusters are those …
    #[test]
    fn documents_of_a_template_change_the_counts_of_few_items() {
        let (items, documents) = (1000u32, 2000u32);
        let index = index(items.into());
        let mut counts = ItemCounts::new(items as usize);
        for number in 0..documents {
            let words: Vec<u64> = match number % 2 {
                0 => (0..SHARED).chain(500..520).collect(),
                _ => (0..SHARED).chain(own(u64::from(number % items))).collect(),
            };
            add(&mut counts, &index, number, &words);
        }
        let shared = SHARED as u32 - WORDS as u32 + 1;
        // A document may change up to COMMON_PLACES counts for each of its n-grams. The first two
        // change those of all items.
        let each = (COMMON_PLACES + 1) * (shared as usize + 20);
        let first = 2 * shared as usize * items as usize;
        let all = documents as usize * shared as usize * items as usize;
        let allowed = documents as usize * each + first;
        assert!(counts.changes <= allowed, "{} > {allowed}", counts.changes);
        assert!(allowed < all / 4);
        for (number, item) in (0..).zip(counts.finish(&index)) {
            let (best, best_found) = match number % 2 {
                0 => (0, shared),
                _ => (number, SHARED as u32 + 20 - WORDS as u32 + 1),
            };
            let expected = ItemCount {
                documents,
                best: key(0, best),
                best_found,
                best_bytes: [0, 1],
            };
            assert_eq!(item, expected, "item {number}");
        }
    }

    /// Of the third document, few items are enumerated.
    #[test]
    fn a_document_has_the_items_of_its_ngrams() {
        let index = index(1000);
        let mut counts = ItemCounts::new(1000);
        for number in 0..3 {
            let words: Vec<u64> = (0..SHARED).chain(own(7)).collect();
            let mut hits = Vec::new();
            index.find_all(&words, &mut hits);
            let grams: Vec<(u32, u32)> = hits.iter().map(|hit| (hit.gram, 0)).collect();
            counts.add_grams(&index, &grams);
            assert!((0..1000).all(|item| counts.has(&index, item)));
            counts.end_document(key(0, number), std::slice::from_ref(&(0..1)));
            counts.add_grams(&index, &grams[grams.len() - 1..]);
            assert!((0..1000).all(|item| counts.has(&index, item) == (item == 7)));
            counts.end_document(key(1, number), std::slice::from_ref(&(0..1)));
        }
    }

    /// Each document has another selection of common n-grams, so there are more sets of classes than
    /// are held.
    #[test]
    fn many_sets_of_classes_are_counted_between_documents() {
        let (parts, words) = (400u64, 5usize);
        // Three bits.
        let mixed = |a: u64, b: u64| (a << 20 | b).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61;
        let is_in = |part: u64, item: u64| mixed(part, item) > 1;
        let part = |part: u64| (0..words as u64).map(move |word| part * 10 + word);
        let mut items = Items::default();
        for number in 0..200 {
            items.items.push(Item {
                document: number as u32,
                first: items.words.len() as u32,
                has_unspaced_scripts: false,
            });
            let own = (0..parts).filter(|part| is_in(*part, number));
            // A word of its own before each part, so that no other n-gram is common.
            let own =
                own.flat_map(|own| [1 << 40 | number << 20 | own].into_iter().chain(part(own)));
            items.words.extend(own);
        }
        let index = index_of(items, words);
        let mut counts = ItemCounts::new(200);
        let has = |document: u64, part: u64| mixed(document + 1000, part) > 0;
        let mut best = vec![0; 200];
        let mut is_full = false;
        for document in 0..100 {
            let own = || (0..parts).filter(move |part| has(document, *part));
            let text: Vec<u64> = own().flat_map(|own| part(own).chain([1 << 50])).collect();
            let before = counts.sets.held();
            add(&mut counts, &index, document as u32, &text);
            is_full |= counts.sets.held() < before;
            for (item, best) in (0..).zip(&mut best) {
                *best = u32::max(*best, own().filter(|own| is_in(*own, item)).count() as u32);
            }
        }
        assert!(is_full);
        let found = counts.finish(&index);
        let numbers = found
            .iter()
            .map(|count| (count.documents, count.best_found));
        assert!(numbers.eq(best.into_iter().map(|best| (100, best))));
    }

    #[test]
    fn the_best_document_and_its_best_stretch_are_noted() {
        let own = |number: u64| own(number).collect::<Vec<_>>();
        let mut items = Items::default();
        for number in 0..2 {
            items.items.push(Item {
                document: number,
                first: items.words.len() as u32,
                has_unspaced_scripts: false,
            });
            items.words.extend(own(number.into()));
        }
        let index = index_of(items, 5);
        let mut hits = Vec::new();
        let mut grams = |number: u64| {
            index.find_all(&own(number), &mut hits);
            hits.iter().map(|hit| hit.gram).collect::<Vec<u32>>()
        };
        let (first, second) = (grams(0), grams(1));
        let mut counts = ItemCounts::new(2);
        let mut add = |number: u32, grams: &[(u32, u32)], bytes: &[Range<usize>]| {
            counts.add_grams(&index, grams);
            counts.end_document(key(1, number), bytes);
        };
        let two = [1..5, 9..20];
        add(
            4,
            &[(first[0], 0), (first[3], 1), (second[1], 1), (first[4], 1)],
            &two,
        );
        add(
            5,
            &[(first[0], 0), (first[1], 1), (first[2], 2)],
            &[0..1, 2..3, 4..5],
        );
        let count = |documents, best_found| ItemCount {
            documents,
            best: key(1, 4),
            best_found,
            best_bytes: [9, 20],
        };
        assert_eq!(counts.finish(&index), [count(2, 3), count(1, 1)]);
    }
}

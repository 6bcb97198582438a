//! Documents with the same common n-grams, such as those of an instruction that all items begin with.
//!
//! Such a document may have n-grams of all items. It has more of an item than an earlier document
//! with n-grams of the same classes only if it has more of one of the classes, or an n-gram that few
//! items have. So its items are enumerated in the first case alone, and documents are counted by
//! their set of classes.

use ahash::AHashMap;

/// The most counts of a set that a document is compared with.
const MOST_COMPARED: usize = 16;
/// The most numbers that are held; few in tests.
const MOST_NUMBERS: usize = if cfg!(test) { 1 << 11 } else { 1 << 17 };

/// The sets of classes of common n-grams that documents have.
#[derive(Default)]
pub struct CommonSets {
    sets: AHashMap<Box<[u32]>, ClassSetDocuments>,
    numbers: usize,
}

/// The documents with a set of classes.
#[derive(Default)]
struct ClassSetDocuments {
    documents: u32,
    /// Of some of them, the number of n-grams of each class; none has as many as another of each.
    counts: Vec<Box<[u32]>>,
}

impl CommonSets {
    /// The most bytes in use: those of the numbers, and of the tables of sets that have two each.
    pub const MOST_BYTES: u64 = 40 * MOST_NUMBERS as u64;

    /// Counts a document that has `counts` n-grams of each of `classes`, which ascend. Returns whether
    /// it may have more of a class than each earlier document with these classes.
    pub fn add(&mut self, classes: &[u32], counts: &[u32]) -> bool {
        if !self.sets.contains_key(classes) {
            self.numbers += classes.len() + 1;
            self.sets
                .insert(classes.into(), ClassSetDocuments::default());
        }
        let Some(seen) = self.sets.get_mut(classes) else {
            return true;
        };
        seen.documents = seen.documents.saturating_add(1);
        if seen.counts.iter().any(|other| is_covered(counts, other)) {
            return false;
        }
        let before = seen.counts.len();
        seen.counts.retain(|other| !is_covered(other, counts));
        if seen.counts.len() == MOST_COMPARED {
            seen.counts.remove(0);
        }
        seen.counts.push(counts.into());
        self.numbers += classes.len();
        self.numbers -= classes.len() * (before + 1 - seen.counts.len());
        true
    }

    /// Whether the sets should be taken, as they are many.
    pub fn is_full(&self) -> bool {
        self.numbers > MOST_NUMBERS
    }

    /// The numbers that are held.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.numbers
    }

    /// Removes all sets; returns each with the number of its documents.
    pub fn take(&mut self) -> impl Iterator<Item = (Box<[u32]>, u32)> {
        self.numbers = 0;
        let sets = std::mem::take(&mut self.sets).into_iter();
        sets.map(|(classes, seen)| (classes, seen.documents))
    }
}

/// Whether each of `counts` is at most that of `other`.
fn is_covered(counts: &[u32], other: &[u32]) -> bool {
    counts.iter().zip(other).all(|(own, other)| own <= other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_that_others_cover_has_no_more_of_any_class() {
        let mut sets = CommonSets::default();
        assert!(sets.add(&[3, 7], &[2, 1]));
        assert!(sets.add(&[3, 7], &[1, 2]));
        assert!(!sets.add(&[3, 7], &[1, 1]));
        assert!(!sets.add(&[3, 7], &[2, 1]));
        assert!(sets.add(&[3], &[1]));
        assert!(sets.add(&[3, 7], &[2, 2]));
        assert!(!sets.add(&[3, 7], &[1, 2]));
        let mut all: Vec<_> = sets.take().collect();
        all.sort();
        assert_eq!(all, [(Box::from([3]), 1), (Box::from([3, 7]), 6)]);
        assert_eq!(sets.numbers, 0);
    }

    #[test]
    fn the_sets_are_full_before_they_are_large() {
        let mut sets = CommonSets::default();
        let mut documents = 0;
        while !sets.is_full() {
            let counts = [documents % 7 + 1, documents % 11 + 1];
            sets.add(&[documents / 100, u32::MAX], &counts);
            documents += 1;
        }
        let held = |seen: &ClassSetDocuments| 3 + 2 * seen.counts.len();
        let numbers: usize = sets.sets.values().map(held).sum();
        assert_eq!(numbers, sets.numbers);
        assert!(numbers <= MOST_NUMBERS + 10);
    }
}

//! What all threads together know of the n-grams and the items of the reference.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use super::counts::{ItemCount, ItemCounts};
use crate::passages::decontaminate::index::Index;

/// What is known of each n-gram and each item of the reference.
pub struct Grams {
    /// Whether a document has it.
    found: Vec<AtomicBool>,
    /// The number of documents with it, if the job limits it.
    documents: Vec<AtomicU32>,
    most_documents: u32,
    /// What documents have of each item.
    pub counts: ItemCountPool,
    /// The same of edited items.
    pub edited: ItemCountPool,
}

impl Grams {
    /// Nothing is known of the n-grams of `index`.
    pub fn new(index: &Index, most_documents: Option<u32>) -> Grams {
        let counted = most_documents.map_or(0, |_| index.count());
        Grams {
            found: (0..index.count()).map(|_| AtomicBool::new(false)).collect(),
            documents: (0..counted).map(|_| AtomicU32::new(0)).collect(),
            most_documents: most_documents.unwrap_or(u32::MAX),
            counts: ItemCountPool::default(),
            edited: ItemCountPool::default(),
        }
    }

    /// Notes that a document has the n-gram.
    pub fn set_found(&self, gram: u32) {
        self.found[gram as usize].store(true, Ordering::Relaxed);
    }

    /// Whether a document has the n-gram.
    pub fn is_found(&self, gram: u32) -> bool {
        self.found[gram as usize].load(Ordering::Relaxed)
    }

    /// Counts a document with the n-gram.
    pub fn count(&self, gram: u32) {
        self.documents[gram as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Whether too many documents have the n-gram.
    pub fn is_ignored(&self, gram: u32) -> bool {
        let documents = self.documents.get(gram as usize);
        documents.is_some_and(|count| count.load(Ordering::Relaxed) > self.most_documents)
    }
}

/// The counts by item of finders that ended.
#[derive(Default)]
pub struct ItemCountPool(Mutex<Vec<ItemCounts>>);

impl ItemCountPool {
    /// Counts for a finder of `items` items: those of a finder that ended, if there is one.
    ///
    /// Units, and chunks within them, are read in order, so the next finder of the same thread has
    /// later documents.
    pub fn take(&self, items: usize) -> ItemCounts {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.pop().unwrap_or_else(|| ItemCounts::new(items))
    }

    /// Adds the counts of a finder that ended, and leaves empty ones.
    pub fn put(&self, counts: &mut ItemCounts) {
        let counts = std::mem::replace(counts, ItemCounts::new(0));
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(counts);
    }

    /// What the documents of all finders, which have ended, have of each item of `index`.
    pub fn finish(&self, index: &Index) -> Vec<ItemCount> {
        let mut items = vec![ItemCount::default(); index.items.items.len()];
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for counts in all.drain(..) {
            let own = counts.finish(index);
            items
                .iter_mut()
                .zip(&own)
                .for_each(|(all, own)| all.merge(own));
        }
        items
    }
}

//! The most frequent passages.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bytemuck::{Pod, Zeroable};

/// A repeated passage. The order is that of the list: the most frequent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Repeated {
    /// All occurrences, also those in documents to compare with.
    pub count: u64,
    /// Occurrences that are removed.
    pub removed: u64,
    /// Their bytes.
    pub removed_bytes: u64,
    /// Documents with an occurrence.
    pub documents: u64,
    /// Their sites, as far as they are counted.
    pub sites: u64,
    /// The document of the first occurrence.
    pub document: u32,
    /// The first byte of the first occurrence in its text.
    pub start: u32,
    /// The bytes of the first occurrence.
    pub length: u32,
    /// Always zero.
    pub _reserved: u32,
}

/// Totals of the passages that are removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepeatedTotals {
    /// Different passages.
    pub different: u64,
    /// Their occurrences, also those in documents to compare with.
    pub occurrences: u64,
    /// Occurrences that are removed.
    pub removed: u64,
}

/// The most frequent of many passages.
pub struct MostFrequent {
    most: usize,
    /// The last one is on top.
    found: BinaryHeap<Repeated>,
}

impl Repeated {
    /// The place in the list: by count, then by the first occurrence.
    fn rank(&self) -> (Reverse<u64>, u32, u32, u32) {
        (Reverse(self.count), self.document, self.start, self.length)
    }
}

impl PartialOrd for Repeated {
    fn partial_cmp(&self, other: &Repeated) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Repeated {
    fn cmp(&self, other: &Repeated) -> std::cmp::Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl MostFrequent {
    /// An empty list of at most `most` passages.
    pub fn new(most: usize) -> MostFrequent {
        MostFrequent {
            most,
            found: BinaryHeap::new(),
        }
    }

    /// Adds a passage, if it is among the most frequent ones.
    pub fn note(&mut self, passage: Repeated) {
        if self.found.len() < self.most {
            self.found.push(passage);
        } else if let Some(mut last) = self.found.peek_mut()
            && passage < *last
        {
            *last = passage;
        }
    }

    /// The list, in order.
    pub fn into_sorted(self) -> Vec<Repeated> {
        self.found.into_sorted_vec()
    }
}

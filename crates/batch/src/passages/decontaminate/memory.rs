//! The memory of a run: buffers for reading, and the index of the reference.

use super::finding::clusters::{ClusterFinder, Weights};
use super::finding::common::CommonSets;
use super::finding::counts::{ItemCount, ItemCounts};
use super::index::{Index, MOST_WORDS};
use super::items::Item;
use super::job::DecontaminateJob;
use crate::passages::decisions::item::ItemRecord;
use crate::skeleton::reading_memory::least_memory_bytes;
use crate::{Error, ErrorKind, Result};
use simtool_corpus::Reading;
use simtool_engine::Resources;

/// What is held besides the parts below: rows that are written, ranges that are read.
const BASE_BYTES: u64 = 24 << 20;

/// The least memory bound of a run with `threads` threads and a small reference.
pub fn least_bytes(threads: usize, reading: &Reading) -> u64 {
    let searches = Searches {
        clusters: true,
        edited: false,
    };
    needed_bytes(threads, reading, searches, [1 << 16, 1 << 12])
}

/// What is searched besides n-grams.
#[derive(Clone, Copy)]
struct Searches {
    /// Clusters of these n-grams.
    clusters: bool,
    /// Edited items, by clusters of other n-grams.
    edited: bool,
}

/// The memory of a run; `size` has the numbers of words and of items of the reference.
fn needed_bytes(threads: usize, reading: &Reading, searches: Searches, size: [u64; 2]) -> u64 {
    let [words, items] = size;
    let longest = reading.max_document_bytes;
    // The longest document was perhaps made to have very many words, each of which begins an n-gram
    // of the reference.
    let buffers = least_memory_bytes(threads, longest).saturating_add(longest.saturating_mul(28));
    let (indexes, counts) = match searches.edited {
        true => (2, 2),
        false => (1, 1),
    };
    let counted = ItemCounts::ITEM_BYTES
        .saturating_mul(items)
        .saturating_mul(counts)
        .saturating_add(words.saturating_mul(ItemCounts::WORD_BYTES))
        .saturating_add(CommonSets::MOST_BYTES)
        .saturating_mul(threads as u64);
    let stored = size_of::<Item>()
        + 2 * size_of::<ItemRecord>()
        + 2 * counts as usize * size_of::<ItemCount>();
    let clusters = match searches.clusters || searches.edited {
        true => (words.saturating_mul(ClusterFinder::WORD_BYTES))
            .saturating_add(items.saturating_mul(ClusterFinder::ITEM_BYTES))
            .saturating_mul(threads as u64)
            .saturating_add(words.saturating_mul(Weights::WORD_BYTES))
            .saturating_add(items.saturating_mul(Weights::ITEM_BYTES)),
        false => 0,
    };
    buffers
        .saturating_add(clusters)
        .saturating_add(BASE_BYTES)
        .saturating_add(Index::bytes(words, indexes))
        .saturating_add(counted)
        .saturating_add(items.saturating_mul(stored as u64))
}

/// The words and the items of a reference that fit into the memory.
pub struct Limit<'a> {
    /// Threads and memory.
    resources: &'a Resources,
    /// How documents are read.
    reading: &'a Reading,
    searches: Searches,
}

impl<'a> Limit<'a> {
    /// The limit of a job.
    pub fn new(job: &'a DecontaminateJob, resources: &'a Resources) -> Limit<'a> {
        Limit {
            resources,
            reading: &job.common.reading,
            searches: Searches {
                clusters: job.clusters.is_some(),
                edited: job.edited.is_some(),
            },
        }
    }

    /// Whether a reference with these numbers of words and of items fits.
    pub fn fits(&self, words: u64, items: u64) -> bool {
        words <= MOST_WORDS && self.needed(words, items) <= self.resources.memory_bytes
    }

    /// The least memory bound for a reference with these numbers of words and of items: at least
    /// [`least_bytes`].
    pub fn needed(&self, words: u64, items: u64) -> u64 {
        let threads = self.resources.threads;
        needed_bytes(threads, self.reading, self.searches, [words, items])
            .max(least_bytes(threads, self.reading))
    }

    /// The error for a reference that does not fit.
    pub fn error(&self, words: u64, items: u64) -> Error {
        let needed = self.needed(words, items).div_ceil(1 << 20);
        let message = match words <= MOST_WORDS {
            true => format!(
                "a memory bound of {} MiB is too small for a reference of {items} items with {words} \
                 words: its index with {} threads needs at least {needed} MiB (give more --memory, \
                 fewer --threads, or a smaller reference)",
                self.resources.memory_bytes >> 20,
                self.resources.threads,
            ),
            false => format!(
                "the reference has {words} words in {items} items, and an index holds {MOST_WORDS}: \
                 divide it, and run the command with each part"
            ),
        };
        Error::new(ErrorKind::Memory, message)
    }
}

/// Fails if a reference with these numbers of words and of items does not fit.
///
/// # Errors
/// [`ErrorKind::Memory`], naming the bound that is needed.
pub fn check(limit: &Limit<'_>, words: u64, items: u64) -> Result<()> {
    match limit.fits(words, items) {
        true => Ok(()),
        false => Err(limit.error(words, items)),
    }
}

//! Corpus statistics: the most frequent features of all documents, counted in a separate reading
//! before the documents are sketched.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ahash::AHashMap;

use super::text_words::WordReader;
use crate::Result;
use crate::memory::spill_space::{Share, SpillSpace};
use crate::reading::documents::ChunkDocuments;
use crate::reading::pipeline::Pipeline;
use simtool_core::kernel::Level;
use simtool_core::sketch::Needs;
use simtool_core::sketch::registry::{self, CountRequest};
use simtool_core::text::shingles::sort_to_set;
use simtool_core::text::{Choice, WordSet};
use simtool_core::vocabulary::Frequencies;
use simtool_files::Sorter;

/// The shares of memory of the table of counts and of the sorter.
const TABLE: Share = Share(16);
const SORTER: Share = Share(16);
/// Approximate bytes of a feature in the table of counts.
const ENTRY_BYTES: usize = 40;

/// The settings and resources of counting.
pub struct Counting<'a> {
    /// The requested counts.
    pub count: CountRequest,
    /// What a word is.
    pub tokenizer: Choice,
    /// The words to leave out, if the request leaves out stop words.
    pub stop_words: &'a WordSet,
    /// The inputs.
    pub pipeline: Pipeline<'a>,
    /// Memory and temporary space.
    pub space: SpillSpace<'a>,
    /// The instruction set, which affects the speed alone.
    pub level: Level,
}

/// A worker's buffers.
struct Counter {
    words: WordReader,
    counts: AHashMap<u64, u64>,
}

impl Counting<'_> {
    /// The counts of the most frequent features; of equally frequent ones, those with the smaller
    /// hash come first.
    ///
    /// Memory is bounded: counts that do not fit are sorted on disk.
    ///
    /// # Errors
    /// Errors of reading and of temporary files.
    pub fn run(&self) -> Result<Frequencies> {
        let choice = match self.count.unit {
            registry::FeatureUnit::Words => self.tokenizer,
            registry::FeatureUnit::Characters => Choice::Chars,
        };
        let start = || Counter {
            words: WordReader::new(choice, Needs::HASHES, self.level),
            counts: AHashMap::new(),
        };
        let work = |counter: &mut Counter, documents: ChunkDocuments<'_>| {
            counter.count(self.count, self.stop_words, documents)
        };
        let limit = (self.space.bytes(TABLE) / ENTRY_BYTES).max(1 << 16);
        let mut totals: AHashMap<u64, u64> = AHashMap::new();
        let mut documents = 0;
        let mut sorter: Sorter<[u64; 2]> = self.space.sorter(SORTER);
        let units = self.pipeline.units();
        self.pipeline
            .run_documents(&units, start, work, |_, (counted, counts)| {
                documents += counted;
                for (feature, count) in counts {
                    *totals.entry(feature).or_default() += count;
                }
                match totals.len() > limit {
                    true => spill(&mut totals, &mut sorter),
                    false => Ok(()),
                }
            })?;
        spill(&mut totals, &mut sorter)?;
        Ok(Frequencies::new(
            documents,
            first_of(sorter, self.count.most)?,
        ))
    }
}

impl Counter {
    /// The number of documents in a chunk, and the counts of their features.
    fn count(
        &mut self,
        count: CountRequest,
        stop_words: &WordSet,
        documents: ChunkDocuments<'_>,
    ) -> Result<(u64, Vec<(u64, u64)>)> {
        let mut counted = 0;
        documents.for_each(|found| {
            let Ok(document) = found else {
                return Ok(());
            };
            counted += 1;
            let mut words = self.words.read(document.text);
            let hashes = words.hashes_mut();
            if count.skip_stop_words {
                hashes.retain(|&word| !stop_words.contains(word));
            }
            let features = match count.shingle {
                1 => hashes,
                width => words.shingles(width),
            };
            if count.documents {
                sort_to_set(features);
            }
            for &feature in &*features {
                *self.counts.entry(feature).or_default() += 1;
            }
            Ok(())
        })?;
        Ok((counted, self.counts.drain().collect()))
    }
}

fn spill(totals: &mut AHashMap<u64, u64>, sorter: &mut Sorter<[u64; 2]>) -> Result<()> {
    totals
        .drain()
        .try_for_each(|(feature, count)| sorter.push([feature, count]))
}

/// Adds up the counts of each feature, and returns the most frequent features with their counts.
fn first_of(sorter: Sorter<[u64; 2]>, most: usize) -> Result<Vec<(u64, u64)>> {
    // The top of the heap is the least frequent feature.
    let mut best: BinaryHeap<(Reverse<u64>, u64)> = BinaryHeap::new();
    let mut keep = |feature: u64, count: u64| {
        if count > 0 {
            best.push((Reverse(count), feature));
            if best.len() > most {
                best.pop();
            }
        }
    };
    let (mut current, mut total) = (0, 0);
    for record in sorter.finish()? {
        let [feature, count] = record?;
        if feature != current {
            keep(current, total);
            (current, total) = (feature, 0);
        }
        total += count;
    }
    keep(current, total);
    let sorted = best.into_sorted_vec();
    Ok(sorted
        .into_iter()
        .map(|(Reverse(count), feature)| (feature, count))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_come_first() {
        let directory = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(directory.path(), 1 << 20);
        for record in [[9, 1], [5, 2], [7, 4], [9, 3], [3, 2], [0, 2]] {
            sorter.push(record).unwrap();
        }
        assert_eq!(
            first_of(sorter, 4).unwrap(),
            [(7, 4), (9, 4), (0, 2), (3, 2)]
        );
    }
}

//! The most frequent features of all documents: a reading before the first one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ahash::AHashMap;

use crate::Result;
use crate::corpus::{Chunk, Parsed, Parser, Position};
use crate::io::Sorter;
use crate::kernel::Level;
use crate::run::pipeline::{Event, Pipeline, Unit};
use crate::text::shingles::shingles;
use crate::text::{Tokenizer, WordHashes, WordSet, builtin_stop_words};

use super::job::Job;
use super::room::Room;
use super::sketching::{Inputs, source_of};
use super::units::units;

/// Where the work directory has the features.
pub const FILE: &str = "top";
/// What a feature takes in the table of counts, about.
const ENTRY_BYTES: usize = 40;

/// The words that do not count.
pub fn stop_words(leave_out: bool) -> WordSet {
    match leave_out {
        true => builtin_stop_words(),
        false => WordSet::default(),
    }
}

/// What is counted, and how.
pub struct Counting<'a> {
    pub job: &'a Job,
    pub inputs: Inputs<'a>,
    /// A feature is so many words in a row.
    pub shingle: usize,
    pub stop_words: WordSet,
    pub pipeline: Pipeline<'a>,
    pub room: Room<'a>,
    pub level: Level,
}

/// A worker's buffers.
struct Counter {
    parser: Parser,
    tokenizer: Tokenizer,
    words: WordHashes,
    features: Vec<u64>,
    counts: AHashMap<u64, u64>,
}

impl Counting<'_> {
    /// The hashes of the `most` most frequent features, most frequent first; of equally frequent
    /// ones those of smaller hash.
    ///
    /// Counts in bounded memory: what is more is sorted on disk.
    ///
    /// # Errors
    /// Those of reading and of temporary files.
    pub fn first(&self, most: usize) -> Result<Vec<u64>> {
        let units: Vec<Unit> = units(self.inputs.sources)
            .into_iter()
            .map(|sources| Unit {
                sources,
                begin: Position::default(),
            })
            .collect();
        let start = || Counter {
            parser: Parser::new(&self.job.reading),
            tokenizer: Tokenizer::new(self.job.tokenizer, self.level),
            words: WordHashes::default(),
            features: Vec::new(),
            counts: AHashMap::new(),
        };
        let work = |counter: &mut Counter, chunk: &Chunk| self.count(counter, chunk);
        let limit = (self.room.memory_bytes / 4 / ENTRY_BYTES).max(1 << 16);
        let mut totals: AHashMap<u64, u64> = AHashMap::new();
        let mut sorter: Sorter<[u64; 2]> = self.room.sorter(4);
        self.pipeline.run(&units, start, work, |_, event| {
            let Event::Chunk { result: counts, .. } = event else {
                return Ok(());
            };
            for (feature, count) in counts {
                *totals.entry(feature).or_default() += count;
            }
            match totals.len() > limit {
                true => spill(&mut totals, &mut sorter),
                false => Ok(()),
            }
        })?;
        spill(&mut totals, &mut sorter)?;
        first_of(sorter, most)
    }

    fn count(&self, counter: &mut Counter, chunk: &Chunk) -> Result<Vec<(u64, u64)>> {
        let format = source_of(self.inputs.sources, chunk.source)?.format;
        let Counter {
            parser,
            tokenizer,
            words,
            features,
            counts,
        } = counter;
        counts.clear();
        parser.for_each(format, chunk, &|_| true, &mut |_, parsed| {
            if let Parsed::Document(document) = parsed {
                tokenizer.hash_words(document.text, false, words);
                words.short.retain(|&word| !self.stop_words.contains(word));
                let counted = match self.shingle {
                    1 => &words.short,
                    width => {
                        shingles(&words.short, width, features);
                        &*features
                    }
                };
                for &feature in counted {
                    *counts.entry(feature).or_default() += 1;
                }
            }
        });
        Ok(counts.drain().collect())
    }
}

fn spill(totals: &mut AHashMap<u64, u64>, sorter: &mut Sorter<[u64; 2]>) -> Result<()> {
    totals
        .drain()
        .try_for_each(|(feature, count)| sorter.push([feature, count]))
}

/// Adds up the counts of each feature, and keeps the best.
fn first_of(sorter: Sorter<[u64; 2]>, most: usize) -> Result<Vec<u64>> {
    // The worst of the best is on top.
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
    Ok(sorted.into_iter().map(|(_, feature)| feature).collect())
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
        assert_eq!(first_of(sorter, 4).unwrap(), [7, 9, 0, 3]);
    }
}

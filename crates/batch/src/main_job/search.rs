//! The search for articles near each sample, and the output of blocks in sample order.

use std::ops::Range;

use rayon::prelude::*;

use super::blocks::{BLOCK_BYTES, Pages, Pieces, SampleBlock, Sink, WaveMemory};
use crate::Result;
use simtool_core::kernel::Level;
use simtool_core::search::hamming::{Fingerprint, HammingScratch, Hit, Index, plan, scan};
use simtool_engine::{Budget, Progress, Workers};
use simtool_report::result_txt::Block;

/// What counts as near.
#[derive(Clone, Copy)]
pub(super) struct NearSettings {
    pub(super) columns: u32,
    pub(super) distance: u32,
    pub(super) level: Level,
}

/// Counts of the output.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OutputCounts {
    pub(super) matched_samples: u64,
    pub(super) matches: u64,
    pub(super) bytes: u64,
    pub(super) first_block_bytes: u64,
}

/// Samples of one task; a multiple of what the kernels compare at once.
const TASK_SAMPLES: usize = 32;
/// Bytes of a wave of blocks that justify the synchronisation.
const WAVE_BYTES: u64 = 32 << 20;
/// The least bytes of a wave of blocks.
const LEAST_WAVE_BYTES: u64 = 256 << 10;

/// The state of the search.
struct PageSearch<'a, F: Fingerprint> {
    pages: Pages<'a, F>,
    near: NearSettings,
    finder: HitFinder<'a, F>,
    progress: &'a Progress,
    /// The most bytes of the blocks of a wave.
    wave_bytes: u64,
}

/// How matches are found. Of the memory, half is for the index, three eighths for hits of all
/// threads, and an eighth for two waves of blocks.
enum HitFinder<'a, F: Fingerprint> {
    /// With an index. Each thread has memory for the hits of `batch` samples.
    Index { index: Index<'a, F>, batch: usize },
    /// By comparing all articles. Hits of a sample with more than `most_hits` are not held.
    Scan { most_hits: usize },
}

/// Writes the block of every sample to `sink`. While a wave of blocks is written, the next one is
/// searched.
///
/// Blocks have any length. One that does not fit into its wave's memory is written in pieces, after
/// another search.
pub(super) fn search<F: Fingerprint>(
    workers: &Workers,
    progress: &Progress,
    pages: Pages<'_, F>,
    near: NearSettings,
    budget: &Budget,
    sink: Sink<'_>,
) -> Result<OutputCounts> {
    workers.install(|| {
        let search = PageSearch {
            finder: choose(&pages, near, workers.threads(), budget.free() as usize)?,
            wave_bytes: (budget.free() / 16).max(LEAST_WAVE_BYTES),
            pages,
            near,
            progress,
        };
        let count = search.pages.samples.fingerprints().len();
        let mut written = OutputCounts::default();
        let (mut next, mut wave_samples) = (0, TASK_SAMPLES * workers.threads());
        let mut wave = Vec::new();
        while next < count || !wave.is_empty() {
            progress.check()?;
            let range = next..count.min(next + wave_samples);
            let (done, found) = rayon::join(
                || search.write(std::mem::take(&mut wave), &mut written, sink),
                || search.wave(range.clone()),
            );
            done?;
            progress.advance(range.len() as u64);
            (next, wave) = (range.end, found?);
            let bytes: u64 = wave.iter().map(SampleBlock::bytes).sum();
            let average = bytes / range.len().max(1) as u64 + BLOCK_BYTES;
            let worth = search.wave_bytes.min(WAVE_BYTES) / average;
            wave_samples = (worth as usize).clamp(1, 4 * wave_samples);
        }
        Ok(written)
    })
}

fn choose<'a, F: Fingerprint>(
    pages: &Pages<'a, F>,
    near: NearSettings,
    threads: usize,
    memory_bytes: usize,
) -> Result<HitFinder<'a, F>> {
    let fingerprints = pages.articles.fingerprints();
    let for_hits = memory_bytes / 8 * 3 / threads;
    let scan = HitFinder::Scan {
        most_hits: (for_hits / (3 * size_of::<Hit>())).max(1024),
    };
    if pages.articles.is_on_disk() || Index::<F>::min_scratch_bytes(fingerprints.len()) > for_hits {
        return Ok(scan);
    }
    let queries = pages.samples.fingerprints().len();
    let NearSettings {
        columns,
        distance,
        level,
    } = near;
    let plan = plan(fingerprints, queries, columns, distance, memory_bytes / 2)?;
    let index = Index::build(fingerprints, columns, distance, plan.strategy, level)?;
    let batch = index.max_queries(for_hits).min(TASK_SAMPLES);
    Ok(HitFinder::Index { index, batch })
}

impl<F: Fingerprint> PageSearch<'_, F> {
    /// Searches a range of samples; returns their blocks in order.
    fn wave(&self, samples: Range<usize>) -> Result<Vec<SampleBlock>> {
        let threads = rayon::current_num_threads();
        let task = (samples.len() / (4 * threads)).clamp(1, TASK_SAMPLES);
        let tasks: Vec<Range<usize>> = samples
            .clone()
            .step_by(task)
            .map(|start| start..samples.end.min(start + task))
            .collect();
        let memory = WaveMemory::new(self.wave_bytes);
        let found: Result<Vec<Vec<SampleBlock>>> = tasks
            .into_par_iter()
            .map_init(HammingScratch::default, |scratch, task| {
                self.task(task, scratch, &memory)
            })
            .collect();
        Ok(found?.into_iter().flatten().collect())
    }

    fn task(
        &self,
        samples: Range<usize>,
        scratch: &mut HammingScratch,
        memory: &WaveMemory,
    ) -> Result<Vec<SampleBlock>> {
        let mut found = Vec::with_capacity(samples.len());
        match &self.finder {
            HitFinder::Index { index, batch } => {
                for start in samples.clone().step_by(*batch) {
                    self.progress.check()?;
                    let part = start..samples.end.min(start + batch);
                    let queries = &self.pages.samples.fingerprints()[part];
                    index.search_batch(queries, scratch, |query, hits| {
                        found.push(self.pages.block(start + query, hits, memory));
                    });
                }
            }
            HitFinder::Scan { most_hits } => {
                for sample in samples {
                    self.progress.check()?;
                    found.push(match self.hits_of_scan(sample, *most_hits)? {
                        Some(hits) => self.pages.block(sample, &hits, memory),
                        None => Ok(SampleBlock::Unwritten {
                            sample,
                            bytes: self.wave_bytes,
                        }),
                    });
                }
            }
        }
        found.into_iter().collect()
    }

    /// The hits of a sample in order; `None` if there are more than `most_hits`.
    fn hits_of_scan(&self, sample: usize, most_hits: usize) -> Result<Option<Vec<Hit>>> {
        let (mut hits, mut too_many) = (Vec::new(), false);
        self.scan(sample, self.near.distance, |found| {
            too_many |= hits.len() + found.len() > most_hits;
            if !too_many {
                hits.extend_from_slice(found);
            }
        })?;
        hits.sort_unstable();
        Ok((!too_many).then_some(hits))
    }

    fn scan(&self, sample: usize, distance: u32, mut sink: impl FnMut(&[Hit])) -> Result<()> {
        let query = &self.pages.samples.fingerprints()[sample..=sample];
        let NearSettings { columns, level, .. } = self.near;
        let articles = self.pages.articles.fingerprints();
        scan(articles, query, columns, distance, level, 0, |_, hits| {
            sink(hits)
        })
    }

    fn write(
        &self,
        wave: Vec<SampleBlock>,
        written: &mut OutputCounts,
        sink: Sink<'_>,
    ) -> Result<()> {
        for found in wave {
            self.progress.check()?;
            let (matches, bytes) = match found {
                SampleBlock::Block { bytes, matches } => {
                    sink(&bytes)?;
                    (matches, bytes.len() as u64)
                }
                SampleBlock::Unwritten { sample, .. } => {
                    let mut pieces = Pieces::new(sink, self.progress);
                    let matches = self.write_found_again(sample, &mut pieces)?;
                    pieces.flush()?;
                    (matches, pieces.written())
                }
            };
            if written.bytes == 0 {
                written.first_block_bytes = bytes;
            }
            written.bytes += bytes;
            written.matches += matches;
            written.matched_samples += u64::from(matches > 0);
        }
        Ok(())
    }

    /// Searches a sample again and writes its block in pieces; returns the number of articles.
    fn write_found_again(&self, sample: usize, pieces: &mut Pieces<'_>) -> Result<u64> {
        let mut push = |piece: &[u8]| pieces.push(piece);
        match &self.finder {
            HitFinder::Index { index, .. } => {
                let query = &self.pages.samples.fingerprints()[sample..=sample];
                let mut written = Ok(0);
                index.search_batch(query, &mut HammingScratch::default(), |_, hits| {
                    let put = self.pages.put(sample, hits, &mut push);
                    written = put.map(|()| hits.len() as u64);
                });
                written
            }
            HitFinder::Scan { most_hits } => match self.hits_of_scan(sample, *most_hits)? {
                Some(hits) => {
                    self.pages.put(sample, &hits, push)?;
                    Ok(hits.len() as u64)
                }
                None => self.write_scanned(sample, push),
            },
        }
    }

    /// Writes a block without holding its hits, with one scan for each distance.
    fn write_scanned(&self, sample: usize, sink: impl FnMut(&[u8]) -> Result<()>) -> Result<u64> {
        let mut matches = 0;
        let mut block = Block::begin(self.pages.samples.id(sample), sink)?;
        for distance in 0..=self.near.distance {
            let mut written = Ok(());
            self.scan(sample, distance, |hits| {
                for hit in hits.iter().filter(|hit| hit.distance == distance) {
                    if written.is_ok() {
                        matches += 1;
                        let id = self.pages.articles.id(hit.position as usize);
                        written = block.add(distance, id);
                    }
                }
            })?;
            written?;
        }
        block.finish()?;
        Ok(matches)
    }
}

//! Which articles are near each sample, block by block in sample order.

use std::ops::Range;

use rayon::prelude::*;

use super::Sink;
use super::fingerprints::PageTable;
use crate::Result;
use crate::kernel::Level;
use crate::report::result_txt::Block;
use crate::run::{Budget, Progress, Workers};
use crate::search::hamming::{Fingerprint, Hit, Index, Scratch, plan, scan};

/// Where and how near matches are.
#[derive(Clone, Copy)]
pub(super) struct Nearness {
    pub(super) columns: u32,
    pub(super) distance: u32,
    pub(super) level: Level,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Written {
    pub(super) matched_samples: u64,
    pub(super) matches: u64,
    pub(super) bytes: u64,
    pub(super) first_block_bytes: u64,
}

/// Samples that one task searches; a multiple of what the kernels compare at once.
const TASK_SAMPLES: usize = 32;
/// The bytes of a wave of blocks, where memory allows.
const WAVE_BYTES: usize = 32 << 20;

/// Both sides of a search.
struct Search<'a, F: Fingerprint> {
    articles: &'a PageTable<'a, F>,
    samples: &'a PageTable<'a, F>,
    near: Nearness,
    way: Way<'a, F>,
}

/// How matches are found.
enum Way<'a, F: Fingerprint> {
    /// All hits of a task fit in memory, however many there are.
    Index(Index<'a, F>),
    /// Samples with more hits than this get their block written without holding them.
    Scan { most_hits: usize },
}

/// The block of one sample.
enum Found {
    Block { bytes: Vec<u8>, matches: u64 },
    TooManyHits { sample: usize },
}

/// Writes the block of every sample to `sink`. While a wave of blocks is being written, the next
/// one is searched.
pub(super) fn search<F: Fingerprint>(
    workers: &Workers,
    progress: &Progress,
    articles: &PageTable<'_, F>,
    samples: &PageTable<'_, F>,
    near: Nearness,
    budget: &Budget,
    sink: Sink<'_>,
) -> Result<Written> {
    workers.install(|| {
        let way = choose(articles, samples, near, workers.threads(), budget)?;
        let search = Search {
            articles,
            samples,
            near,
            way,
        };
        let most_bytes = (budget.free() as usize / 8).clamp(1 << 16, WAVE_BYTES);
        let count = samples.fingerprints().len();
        let mut written = Written::default();
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
            let bytes: usize = wave.iter().map(Found::bytes).sum();
            let average = bytes / range.len().max(1) + 1;
            wave_samples = (most_bytes / average).clamp(1, 4 * wave_samples);
        }
        Ok(written)
    })
}

fn choose<'a, F: Fingerprint>(
    articles: &'a PageTable<'_, F>,
    samples: &PageTable<'_, F>,
    near: Nearness,
    threads: usize,
    budget: &Budget,
) -> Result<Way<'a, F>> {
    let fingerprints = articles.fingerprints();
    // Each thread may hold the hits of a whole task, twice, and a block of all ids.
    let hits = 2 * TASK_SAMPLES * fingerprints.len() * size_of::<Hit>();
    let worst = (hits + fingerprints.len() + articles.id_bytes()) * threads;
    let free = budget.free() as usize;
    let queries = samples.fingerprints().len();
    if articles.is_on_disk() || worst > free / 2 {
        let most_hits = free / (16 * threads * size_of::<Hit>());
        return Ok(Way::Scan {
            most_hits: most_hits.max(1024),
        });
    }
    let plan = plan(fingerprints, queries, near.columns, near.distance, free / 2)?;
    let index = Index::build(
        fingerprints,
        near.columns,
        near.distance,
        plan.strategy,
        near.level,
    )?;
    Ok(Way::Index(index))
}

impl<F: Fingerprint> Search<'_, F> {
    /// The blocks of some samples, in their order.
    fn wave(&self, samples: Range<usize>) -> Result<Vec<Found>> {
        let threads = rayon::current_num_threads();
        let task = (samples.len() / (4 * threads)).clamp(1, TASK_SAMPLES);
        let tasks: Vec<Range<usize>> = samples
            .clone()
            .step_by(task)
            .map(|start| start..samples.end.min(start + task))
            .collect();
        let found: Result<Vec<Vec<Found>>> = tasks
            .into_par_iter()
            .map_init(Scratch::default, |scratch, task| self.task(task, scratch))
            .collect();
        Ok(found?.into_iter().flatten().collect())
    }

    fn task(&self, samples: Range<usize>, scratch: &mut Scratch) -> Result<Vec<Found>> {
        let mut found = Vec::with_capacity(samples.len());
        match &self.way {
            Way::Index(index) => {
                let queries = &self.samples.fingerprints()[samples.clone()];
                index.search_batch(queries, scratch, |query, hits| {
                    found.push(self.block(samples.start + query, hits));
                });
            }
            Way::Scan { most_hits } => {
                for sample in samples {
                    found.push(self.scan_block(sample, *most_hits)?);
                }
            }
        }
        Ok(found)
    }

    fn block(&self, sample: usize, hits: &[Hit]) -> Found {
        let mut block = Block::new(self.samples.id(sample));
        for hit in hits {
            block.add(hit.distance, self.articles.id(hit.position as usize));
        }
        Found::Block {
            bytes: block.finish(),
            matches: hits.len() as u64,
        }
    }

    fn scan_block(&self, sample: usize, most_hits: usize) -> Result<Found> {
        let (mut hits, mut too_many) = (Vec::new(), false);
        self.scan(sample, self.near.distance, |found| {
            too_many |= hits.len() + found.len() > most_hits;
            if !too_many {
                hits.extend_from_slice(found);
            }
        })?;
        if too_many {
            return Ok(Found::TooManyHits { sample });
        }
        hits.sort_unstable();
        Ok(self.block(sample, &hits))
    }

    fn scan(&self, sample: usize, distance: u32, mut sink: impl FnMut(&[Hit])) -> Result<()> {
        let query = &self.samples.fingerprints()[sample..=sample];
        let Nearness { columns, level, .. } = self.near;
        let articles = self.articles.fingerprints();
        scan(articles, query, columns, distance, level, 0, |_, hits| {
            sink(hits)
        })
    }

    fn write(&self, wave: Vec<Found>, written: &mut Written, sink: Sink<'_>) -> Result<()> {
        for found in wave {
            let before = written.bytes;
            let matches = match found {
                Found::Block { bytes, matches } => {
                    written.bytes += bytes.len() as u64;
                    sink(&bytes)?;
                    matches
                }
                Found::TooManyHits { sample } => {
                    let mut counting = |bytes: &[u8]| {
                        written.bytes += bytes.len() as u64;
                        sink(bytes)
                    };
                    self.write_scanned(sample, &mut counting)?
                }
            };
            written.matches += matches;
            written.matched_samples += u64::from(matches > 0);
            if before == 0 {
                written.first_block_bytes = written.bytes;
            }
        }
        Ok(())
    }

    /// Writes a block without holding its hits: one scan for each distance.
    fn write_scanned(&self, sample: usize, sink: Sink<'_>) -> Result<u64> {
        let mut matches = 0;
        let mut block = Block::new(self.samples.id(sample));
        for distance in 0..=self.near.distance {
            let mut written = Ok(());
            self.scan(sample, distance, |hits| {
                for hit in hits.iter().filter(|hit| hit.distance == distance) {
                    matches += 1;
                    block.add(distance, self.articles.id(hit.position as usize));
                }
                if written.is_ok() {
                    written = sink(&block.take());
                }
            })?;
            written?;
        }
        sink(&block.finish())?;
        Ok(matches)
    }
}

impl Found {
    fn bytes(&self) -> usize {
        match self {
            Found::Block { bytes, .. } => bytes.len(),
            Found::TooManyHits { .. } => 0,
        }
    }
}

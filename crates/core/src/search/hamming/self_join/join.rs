//! The parts of a join, in bounded memory and in parallel.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::super::{Fingerprint, limits};
use super::buffers::BucketBuffers;
use super::compare::Bucket;
use super::context::{JoinContext, JoinOutput, Work};
use super::fold::EqualFingerprints;
use super::marks::Marks;
use super::path::Path;
use super::plan::{Costs, KEY_BITS, plan};
use super::reader::{Filter, SourceReader};
use super::source::{Near, Source, Watch};
use super::walker::{SelfJoinScratch, Walker};
use crate::Result;
use crate::kernel::Level;
use crate::kernel::hamming::{Key, Threshold};

/// The most fingerprints of a part, whatever the memory: they are divided in a tenth of a second, and
/// then the join may be interrupted.
const MOST: usize = 1 << 24;
/// The parts for each thread, so that none waits long for the others.
const PARTS: usize = 4;

/// A join of fingerprints with themselves: all pairs that differ in at most k bits.
///
/// Uses the current rayon pool. Answers depend only on the fingerprints, the width and k.
#[derive(Debug)]
pub struct SelfJoin<'a, F, S: ?Sized> {
    source: &'a S,
    count: u32,
    threshold: Threshold<F>,
    level: Level,
    memory_bytes: usize,
    pub(super) costs: Costs,
}

/// Fingerprints that are joined at once.
struct Part<F> {
    filters: Vec<Filter<F>>,
    path: Path<F>,
    /// The positions of those that are compared with all after them, if not all fit.
    within: Range<u32>,
    count: usize,
}

impl<'a, F: Fingerprint, S: Source<F> + ?Sized> SelfJoin<'a, F, S> {
    /// Prepares a join within distance `k`, counted in the `width` lowest bits.
    ///
    /// If `k` is `width` or more, all pairs are near. A `level` that this processor lacks falls back
    /// to the best one that it has. `memory_bytes` bounds the memory of all threads together, besides
    /// that of the source; with less, the source is read more often. Some bits for each
    /// fingerprint, and half a megabyte for each thread, are always used.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) for a `width` not in `1..=F::BITS`, or
    /// more than `u32::MAX` fingerprints.
    pub fn new(
        source: &'a S,
        width: u32,
        k: u32,
        memory_bytes: usize,
        level: Level,
    ) -> Result<Self> {
        let count = source.count();
        limits::positions(0, count)?;
        Ok(SelfJoin {
            source,
            count: count as u32,
            threshold: limits::threshold(width, k)?,
            level,
            memory_bytes,
            costs: Costs::MEASURED,
        })
    }

    /// The positions of all fingerprints that have another one within k bits.
    ///
    /// # Errors
    /// Errors of the source and of `watch`.
    pub fn any(&self, watch: &dyn Watch) -> Result<Marks> {
        let marks = Marks::none_of(self.count);
        self.run(JoinOutput::Any(&marks), watch)?;
        Ok(marks)
    }

    /// Calls `sink` for every pair within k bits, in no particular order and from several threads.
    ///
    /// Of equal fingerprints, only the first is paired with others: a pair of distance 0 is the
    /// first of a group and another one. All other pairs are of first ones. Every such pair is
    /// reported once, and nothing is stored.
    ///
    /// # Errors
    /// Errors of the source and of `watch`.
    pub fn pairs(&self, watch: &dyn Watch, sink: &(dyn Fn(Near) + Sync)) -> Result<()> {
        self.run(JoinOutput::Pairs(sink), watch)
    }

    fn run(&self, output: JoinOutput<'_>, watch: &dyn Watch) -> Result<()> {
        let count = self.count;
        let context = JoinContext {
            threshold: self.threshold,
            kernels: F::kernels(self.level),
            costs: self.costs,
            output,
            watch,
            work: Work::default(),
        };
        let repeated = Marks::none_of(count);
        let run = JoinRun {
            reader: SourceReader {
                source: self.source,
                count,
                context: &context,
                skipped: &repeated,
            },
            most: self.most(count),
            scratch: Mutex::default(),
        };
        // Until the bits are divided, folding is assumed to take a tenth of the work.
        let work = &context.work.total;
        work.store(10 * u64::from(count), Ordering::Relaxed);
        run.fold(&repeated)?;
        let path = Path::new(self.threshold.mask);
        let all = run.reader.remaining()?;
        let (parts, choices) = run.parts(path, all)?;
        work.store(u64::from(count) + choices * all as u64, Ordering::Relaxed);
        parts
            .into_par_iter()
            .with_max_len(1)
            .try_for_each(|part| run.join(part))
    }

    /// The maximum number of fingerprints of a part.
    fn most(&self, count: u32) -> usize {
        let (threads, count) = (rayon::current_num_threads(), count as usize);
        let memory = self.memory_bytes.saturating_sub(count / 4);
        let most = (memory / (threads * BucketBuffers::<F>::BYTES)).min(MOST);
        match threads {
            1 => most,
            _ => most.min(count / (PARTS * threads)),
        }
        .max(self.costs.fitting)
    }
}

/// A join that runs.
struct JoinRun<'a, F: Fingerprint, S: ?Sized> {
    reader: SourceReader<'a, F, S>,
    most: usize,
    /// Buffers that are not in use.
    scratch: Mutex<Vec<SelfJoinScratch<F>>>,
}

impl<F: Fingerprint, S: Source<F> + ?Sized> JoinRun<'_, F, S> {
    fn with_scratch<T>(&self, work: impl FnOnce(&mut SelfJoinScratch<F>) -> T) -> T {
        let all = || self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let free = all().pop();
        let mut scratch = free.unwrap_or_else(SelfJoinScratch::new);
        let done = work(&mut scratch);
        all().push(scratch);
        done
    }

    /// Finds equal fingerprints.
    fn fold(&self, repeated: &Marks) -> Result<()> {
        let context = self.reader.context;
        let key = Key::new(context.threshold.mask, KEY_BITS);
        let parts = self.cut(&[], key)?;
        let fold = EqualFingerprints { context, repeated };
        parts.into_par_iter().with_max_len(1).try_for_each(|part| {
            let (buckets, count) = part;
            let filters = [Filter { key, buckets }];
            if count > self.most {
                // Of one bucket, most are equal.
                let mut first = HashMap::new();
                self.reader.for_each(&filters, |value, position| {
                    fold.add(&mut first, value, position);
                })?;
            } else {
                self.with_scratch(|SelfJoinScratch { buffers, .. }| {
                    let arrays = buffers.first_arrays();
                    let all = 0..self.reader.count;
                    self.reader.extract(&filters, all, usize::MAX, arrays)?;
                    let count = buffers.first_arrays().0.len();
                    fold.held(buffers, count)
                })?;
            }
            context.advance(count as u64)
        })
    }

    /// Runs of the buckets of `key`, with the number of fingerprints of each: as few as fit, or one
    /// bucket.
    fn cut(&self, filters: &[Filter<F>], key: Key<F>) -> Result<Vec<(Range<u32>, usize)>> {
        let histogram = self.reader.histogram(filters, key)?;
        let mut parts: Vec<(Range<u32>, usize)> = Vec::new();
        for (count, bucket) in histogram.into_iter().zip(0..) {
            match parts.last_mut() {
                Some((part, sum)) if *sum + count as usize <= self.most => {
                    part.end = bucket + 1;
                    *sum += count as usize;
                }
                _ => parts.push((bucket..bucket + 1, count as usize)),
            }
        }
        Ok(parts)
    }

    /// The parts of the join of all fingerprints, those with most work first, and the number of
    /// choices of blocks.
    fn parts(&self, path: Path<F>, count: usize) -> Result<(Vec<Part<F>>, u64)> {
        let part = Part {
            filters: Vec::new(),
            path,
            within: 0..self.reader.count,
            count,
        };
        let parts = self.divide(part)?;
        let choices = parts.first().map_or(1, |part| part.path.choices());
        Ok((parts, choices))
    }

    /// Divides fingerprints that agree in the blocks chosen, by each block that may be next.
    fn divide(&self, mut part: Part<F>) -> Result<Vec<Part<F>>> {
        if part.path.next_blocks().is_empty() {
            let sample = self.reader.sample(&part.filters, part.count)?;
            let JoinContext {
                threshold, costs, ..
            } = self.reader.context;
            let bits = part.path.free_bits();
            let is_divisible = part.path.is_divisible();
            let blocks = is_divisible.then(|| plan(&sample, bits, threshold.k, part.count, costs));
            let Some(blocks) = blocks.flatten() else {
                return Ok(self.pieces(part));
            };
            part.path.divide(Arc::new(blocks));
        }
        let of_block = |block| {
            let mut path = part.path.clone();
            path.choose(block);
            let key = Key::new(path.last_mask(), KEY_BITS);
            let mut parts = Vec::new();
            for (buckets, count) in self.cut(&part.filters, key)? {
                let mut filters = part.filters.clone();
                filters.push(Filter { key, buckets });
                let child = Part {
                    filters,
                    path: path.clone(),
                    within: part.within.clone(),
                    count,
                };
                match count {
                    0 | 1 => {}
                    _ if count <= self.most => parts.push(child),
                    _ => parts.extend(self.divide(child)?),
                }
            }
            Ok(parts)
        };
        let blocks = part.path.next_blocks().into_par_iter();
        let parts: Result<Vec<Vec<Part<F>>>> = blocks.map(of_block).collect();
        Ok(parts?.into_iter().flatten().collect())
    }

    /// The pieces of fingerprints that are not divided: each is compared with itself and with all
    /// after it.
    fn pieces(&self, part: Part<F>) -> Vec<Part<F>> {
        let pieces = part.count.div_ceil(self.most).max(1) as u64;
        let border = |piece: u64| (piece * u64::from(part.within.end) / pieces) as u32;
        let piece = |piece| Part {
            filters: part.filters.clone(),
            path: part.path.clone(),
            within: border(piece)..border(piece + 1),
            count: part.count,
        };
        (0..pieces).map(piece).collect()
    }

    fn join(&self, part: Part<F>) -> Result<()> {
        self.with_scratch(|scratch| {
            if part.count > self.most {
                return self.compare(part, scratch);
            }
            let arrays = scratch.buffers.first_arrays();
            self.reader
                .extract(&part.filters, part.within, usize::MAX, arrays)?;
            let count = scratch.buffers.first_arrays().0.len();
            let mut walker = Walker {
                scratch,
                path: part.path,
                context: self.reader.context,
            };
            walker.join(count)
        })
    }

    /// Compares the fingerprints of a piece with each other and with all after them.
    fn compare(&self, part: Part<F>, scratch: &mut SelfJoinScratch<F>) -> Result<()> {
        let (context, all) = (self.reader.context, self.reader.count);
        let SelfJoinScratch { buffers, comparer } = scratch;
        let (mut values, mut positions) = (Vec::new(), Vec::new());
        let mut within = part.within;
        while !within.is_empty() {
            let arrays = (&mut values, &mut positions);
            within = self
                .reader
                .extract(&part.filters, within, self.most, arrays)?;
            let piece = Bucket {
                values: &values,
                positions: &positions,
            };
            comparer.bucket(piece, &part.path, context)?;
            let mut after = within.start..all;
            while !after.is_empty() {
                let arrays = buffers.first_arrays();
                after = self
                    .reader
                    .extract(&part.filters, after, self.most, arrays)?;
                let (values, positions) = buffers.first_arrays();
                let later = Bucket { values, positions };
                comparer.across(piece, later, &part.path, context)?;
            }
            context.advance(part.path.weight() * values.len() as u64)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::super::tests::{Spread, Unwatched, by_index, draw};
    use super::*;
    use crate::search::hamming::U256;

    /// Large enough that the default costs divide them, with one thread and with three, with memory and
    /// with little of it.
    #[test]
    fn answers_are_those_of_the_index() {
        fn check<F: Fingerprint>(spread: Spread, count: usize, k: u32) {
            let of = draw::<F>(spread, count, 7);
            let (expected, any) = by_index(&of, F::BITS, k);
            for (threads, memory_bytes) in [(1, 1 << 30), (3, 1 << 30), (2, 0)] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                pool.build().unwrap().install(|| {
                    let join =
                        SelfJoin::new(&of[..], F::BITS, k, memory_bytes, Level::best()).unwrap();
                    let pairs = AtomicU64::new(0);
                    join.pairs(&Unwatched, &|_| {
                        pairs.fetch_add(1, Ordering::Relaxed);
                    })
                    .unwrap();
                    assert_eq!(pairs.into_inner(), expected, "{spread:?}, k {k}");
                    let marks = join.any(&Unwatched).unwrap();
                    let found = (0..of.len() as u32).map(|position| marks.contains(position));
                    assert!(found.eq(any.iter().copied()), "{spread:?}, k {k}");
                });
            }
        }
        check::<u64>(Spread::Uniform, 60_000, 3);
        check::<u64>(Spread::Skewed, 60_000, 3);
        check::<u64>(Spread::Clustered, 40_000, 6);
        check::<u128>(Spread::Skewed, 40_000, 6);
        check::<U256>(Spread::Clustered, 40_000, 6);
    }
}

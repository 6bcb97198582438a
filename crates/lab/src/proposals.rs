//! What a method proposes in a collection: its pairs by score, and the work to find them.

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::Result;
use simtool_batch::matching::index;
use simtool_core::search::join::{NearQuery, Scratch, SketchIndex};
use simtool_core::sketch::{Method, Score, Shape, SketchList};
use simtool_engine::collection::Inputs;
use simtool_engine::memory_account::MemoryAccount;
use simtool_evaluate::{Pair, PairSample};

/// The largest share of all pairs that a join may compare, besides those that it finds. A join that
/// compares more costs the square of the collection.
const MAX_COMPARED: f64 = 0.01;
/// The same for fingerprints, whose comparison costs less than a hundredth of that of sets.
const MAX_COMPARED_BITS: f64 = 0.1;
/// The number of comparisons for each document that are never too many.
const FEW_COMPARED: f64 = 100.0;
/// The number of fingerprints for which their share is estimated, if there are not more: smaller
/// collections are cheap to compare in full.
const MIN_FINGERPRINTS: usize = 1_000_000;
/// The documents that are searched, all of them if there are not more. The work is looked at after
/// the first ones, and each time that their number has doubled.
const SEARCHED: [usize; 2] = [64, 20_000];
/// The comparisons after which no further documents are searched, if a join that costs the square
/// is not refused: some seconds.
const MAX_COMPARISONS: u64 = 1 << 24;
/// No further documents are searched if this many pairs are found.
const MAX_PAIRS: u64 = 4_000_000;
/// Fingerprints that a thread searches at a time, and other sketches, of which one may have very many
/// candidates: a search can be interrupted between them.
const QUERIES: [usize; 2] = [64, 1];
/// The name of an answer in messages.
const ANSWERS: &str = "the neighbours of some documents";

/// The documents of a collection that are joined, and their sketches by one method.
pub struct Joined {
    /// The numbers of the documents.
    numbers: Vec<u32>,
    list: SketchList,
    /// The positions in the order in which they are searched.
    order: Vec<u32>,
    /// The place of each position in this order.
    places: Vec<u32>,
}

/// The pairs that a join finds.
#[derive(Debug)]
pub struct Proposals {
    /// A sample of the pairs of each stratum: those that each threshold accepts, and stricter ones do
    /// not.
    pub strata: Vec<PairSample>,
    /// The share of all pairs of the joined documents that were searched.
    pub covered: f64,
    /// The number of these pairs.
    pub searched: u64,
    /// Whether documents were not searched because enough pairs were found or compared.
    pub is_partial: bool,
}

impl Joined {
    /// The documents `numbers` in a pseudo-random order, with their sketches in `list`.
    pub fn new(numbers: Vec<u32>, list: SketchList, seed: u64) -> Joined {
        let mut order: Vec<u32> = (0..numbers.len() as u32).collect();
        order.sort_by_cached_key(|position| {
            let number = numbers[*position as usize].to_le_bytes();
            (xxh3_64_with_seed(&number, seed), *position)
        });
        let mut places = vec![0; order.len()];
        for (position, place) in order.iter().zip(0..) {
            places[*position as usize] = place;
        }
        Joined {
            numbers,
            list,
            order,
            places,
        }
    }

    /// Bytes of memory besides the sketches.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.order[..]) + size_of_val(&self.places[..])
    }

    /// Searches documents among all, until there are enough pairs or comparisons; with a stratum for
    /// each of the thresholds `stricter` than that of `method`, which ascend, and one for that. `None`
    /// if the join costs the square of the collection, unless `any_cost`. Uses the current rayon pool.
    ///
    /// Depends on the collection, the method and the seed alone: work is counted, not measured.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if the index does not fit;
    /// [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub fn propose(
        &self,
        method: &dyn Method,
        stricter: &[Score],
        (seed, any_cost): (u64, bool),
        inputs: &Inputs<'_>,
        account: &MemoryAccount,
    ) -> Result<Option<Proposals>> {
        let count = self.numbers.len();
        let sketches = self.list.all(method);
        let least = count.max(MIN_FINGERPRINTS);
        if let Some(plan) = SketchIndex::estimate(method, sketches, least)?
            && plan.candidates_per_query > MAX_COMPARED_BITS * least as f64
        {
            return Ok(None);
        }
        let level = inputs.resources.level;
        let index = index(method, &self.list, account, level, inputs.progress)?;
        let answers = inputs.resources.threads * count * index.bytes_per_candidate();
        account.reserve(answers, ANSWERS)?;
        let mut strata = vec![PairSample::default(); stricter.len() + 1];
        let (mut searched, mut compared, mut found) = (0, 0, 0);
        let mut is_square = false;
        let queries = QUERIES[usize::from(matches!(method.shape(), Shape::Keys))];
        let last = SEARCHED[1].min(count);
        while searched < last && found < MAX_PAIRS && !is_square {
            let until = last.min(SEARCHED[0].max(2 * searched));
            let starts: Vec<usize> = (searched..until).step_by(queries).collect();
            let search = |scratch: &mut Scratch, start: usize| {
                inputs.progress.check()?;
                let end = until.min(start + queries);
                Ok(self.search(&index, stricter, &self.order[start..end], seed, scratch))
            };
            let parts: Vec<Part> = starts
                .into_par_iter()
                .map_init(Scratch::default, search)
                .collect::<Result<_>>()?;
            searched = until;
            for part in parts {
                compared += part.compared;
                for (stratum, sample) in strata.iter_mut().zip(part.strata) {
                    found += sample.count;
                    stratum.join(sample);
                }
            }
            let most = (MAX_COMPARED * count as f64).max(FEW_COMPARED);
            is_square = match any_cost {
                true => compared > MAX_COMPARISONS,
                false => compared as f64 > most * searched as f64,
            };
        }
        let bytes = index.bytes() + answers;
        drop(index);
        account.release(bytes);
        let (all, rest) = (pairs(count as u64), pairs((count - searched) as u64));
        Ok((any_cost || !is_square).then_some(Proposals {
            strata,
            covered: match all {
                0 => 1.0,
                all => (all - rest) as f64 / all as f64,
            },
            searched: all - rest,
            is_partial: searched < last,
        }))
    }

    /// The pairs of some documents with those that come later in the order.
    fn search(
        &self,
        index: &SketchIndex<'_>,
        stricter: &[Score],
        positions: &[u32],
        seed: u64,
        scratch: &mut Scratch,
    ) -> Part {
        let sketches = index.sketches();
        let queries: Vec<NearQuery<'_>> = (positions.iter())
            .map(|position| NearQuery {
                sketch: sketches.get(*position as usize),
                within: 0..index.count(),
                limit: usize::MAX,
            })
            .collect();
        let (before, mut near_ones) = (scratch.compared(), 0);
        let mut strata = vec![PairSample::default(); stricter.len() + 1];
        index.near_batch(&queries, scratch, |place, near, _| {
            let position = positions[place] as usize;
            near_ones += near.len() as u64;
            for (other, score) in near {
                let other = *other as usize;
                if self.places[other] > self.places[position]
                    && let Some(pair) = Pair::new(self.numbers[position], self.numbers[other])
                {
                    let stratum = stricter.partition_point(|threshold| threshold < score);
                    strata[stratum].add(pair, seed);
                }
            }
        });
        Part {
            strata,
            // Equal sketches are compared once, so there may be fewer than near ones.
            compared: (scratch.compared() - before).saturating_sub(near_ones),
        }
    }
}

/// The pairs of some documents, and the documents with which they were compared in vain.
struct Part {
    strata: Vec<PairSample>,
    compared: u64,
}

/// The number of pairs of `count` documents.
pub fn pairs(count: u64) -> u64 {
    count * count.saturating_sub(1) / 2
}

/// The share of set bits of each bit of fingerprints; `None` for other sketches.
pub fn bit_means<'s>(shape: Shape, sketches: impl Iterator<Item = &'s [u8]>) -> Option<Vec<f64>> {
    let Shape::Bits { width, .. } = shape else {
        return None;
    };
    let (mut ones, mut count) = (vec![0u64; width as usize], 0u64);
    for sketch in sketches {
        count += 1;
        for (bit, ones) in ones.iter_mut().enumerate() {
            let byte = sketch.get(bit / 8).copied().unwrap_or_default();
            *ones += u64::from(byte >> (bit % 8) & 1);
        }
    }
    let mean = |ones: u64| ones as f64 / count.max(1) as f64;
    Some(ones.into_iter().map(mean).collect())
}

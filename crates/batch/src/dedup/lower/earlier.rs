//! The most similar earlier documents of a sample, by the minima of their shingles.

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rayon::slice::ParallelSlice;

use simtool_core::search::minima::MinimaIndex;
use simtool_core::sketch::{Compare, Sketches};

/// Documents that a thread compares with the sample at a time.
const PIECE: usize = 1024;
/// The earlier documents that are found for each one of the sample.
const MOST: usize = 6;
/// A sample is made smaller if its documents share a band with more of its documents than this, on
/// average: every page of a template would be compared with the whole sample.
const MOST_ALIKE: usize = 32;
/// Such a sample is not made smaller than this.
const LEAST_SAMPLED: usize = 100;
/// Pairs with a lower estimated similarity are left out. The standard error of the estimate is 0.036,
/// so it is below 0.45 for one in ten pairs of similarity 0.5, and for hardly any of 0.6.
const LEAST_ESTIMATE: f64 = 0.45;
/// The least similarity that is searched.
const LEAST: f64 = 0.5;

/// An earlier document, and in how many minima both agree. The most similar one sorts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Earlier {
    /// The number of minima that are not equal.
    unequal: u32,
    /// The rank.
    pub rank: u64,
}

/// Documents in keep order that are compared with a sample: sketches of consecutive ranks, and their
/// groups, if the scope has groups.
#[derive(Clone, Copy)]
pub struct RankedSketches<'a> {
    /// The rank of the first.
    pub first: u64,
    /// The sketches.
    pub sketches: Sketches<'a>,
    /// The groups, or nothing.
    pub groups: &'a [u64],
}

/// The minima of some documents.
#[derive(Default)]
pub struct SampleMinima {
    /// Whether only the first half of the minima is compared.
    first_half: bool,
    ranks: Vec<u64>,
    groups: Vec<u64>,
    minima: Vec<u8>,
    length: usize,
    /// The bits of each minimum.
    bits: u32,
}

/// A search for earlier documents of a sample.
pub struct EarlierSearch<'a> {
    method: &'a dyn Compare,
    sample: &'a SampleMinima,
    index: MinimaIndex<'a>,
    /// Ranks before this are earlier than all others: the reference.
    references: u64,
    found: Vec<Vec<Earlier>>,
}

impl SampleMinima {
    /// A sample that is searched by the first half of the minima. The [similarity](half_similarity) by
    /// the second half is then no higher for those that were found because the first was.
    pub fn of_first_half() -> SampleMinima {
        SampleMinima {
            first_half: true,
            ..SampleMinima::default()
        }
    }

    /// Adds a document, if its sketch has minima.
    pub fn push(&mut self, method: &dyn Compare, rank: u64, sketch: &[u8], group: Option<u64>) {
        let mut buffer = Vec::new();
        if let Some(minima) = self.minima(method, sketch, &mut buffer) {
            self.ranks.push(rank);
            self.groups.extend(group);
            self.minima.extend_from_slice(minima);
            (self.length, self.bits) = (minima.len(), method.minima_bits());
        }
    }

    fn minima<'s>(
        &self,
        method: &dyn Compare,
        sketch: &'s [u8],
        buffer: &'s mut Vec<u8>,
    ) -> Option<&'s [u8]> {
        let minima = method.minima(sketch, buffer)?;
        let end = match self.first_half {
            true => minima.len() / 2,
            false => minima.len(),
        };
        Some(&minima[..end])
    }

    /// Keeps only every k-th document if many of them are similar to each other, to bound the time of a
    /// search. The result depends only on the sample. Uses the current rayon pool.
    pub fn affordable(mut self) -> SampleMinima {
        let count = self.ranks.len();
        let index = match count {
            0 => None,
            _ => MinimaIndex::new(&self.minima, self.length, LEAST),
        };
        let alike = |buffer: &mut Vec<u32>, list: &[u8]| {
            let index = index.as_ref()?;
            index.near(list, buffer, |_, _| {});
            Some(buffer.len())
        };
        let lists = self.minima.par_chunks_exact(self.length.max(1));
        let alike: usize = lists.map_init(Vec::new, alike).flatten().sum();
        let step = alike.div_ceil(MOST_ALIKE * count.max(1));
        let step = step.min(count / LEAST_SAMPLED).max(1);
        self.ranks = every(step, &self.ranks, 1);
        self.groups = every(step, &self.groups, 1);
        self.minima = every(step, &self.minima, self.length);
        self
    }

    /// The ranks.
    pub fn ranks(&self) -> &[u64] {
        &self.ranks
    }

    /// The estimated similarity to an earlier document, as a fraction of the minima.
    pub fn estimate(&self, earlier: Earlier) -> [u32; 2] {
        let length = self.length as u32;
        let different = different(earlier.unequal.into(), self.bits).round() as u32;
        [length.saturating_sub(different), length]
    }
}

impl<'a> EarlierSearch<'a> {
    /// Searches earlier documents of `sample`, whose sketches are of `method`. The first
    /// `references` ranks are earlier than all others. `None` if the sample is empty, or if so few
    /// minima cannot find what is similar by a half.
    pub fn new(
        method: &'a dyn Compare,
        sample: &'a SampleMinima,
        references: u64,
    ) -> Option<EarlierSearch<'a>> {
        if sample.ranks.is_empty() {
            return None;
        }
        Some(EarlierSearch {
            method,
            sample,
            index: MinimaIndex::new(&sample.minima, sample.length, LEAST)?,
            references,
            found: vec![Vec::new(); sample.ranks.len()],
        })
    }

    /// Compares documents with the sample, on the current rayon pool. The result does not depend on
    /// the parts in which all documents are passed, nor on their order.
    pub fn add(&mut self, documents: RankedSketches<'_>) {
        let pieces: Vec<usize> = (0..documents.sketches.count()).step_by(PIECE).collect();
        let search = |buffer: &mut Vec<u32>, start: usize| self.piece(documents, start, buffer);
        let parts: Vec<Vec<(u32, Vec<Earlier>)>> = (pieces.into_par_iter())
            .map_init(Vec::new, search)
            .collect();
        for (position, earlier) in parts.into_iter().flatten() {
            let found = &mut self.found[position as usize];
            earlier.into_iter().for_each(|one| keep(found, one));
        }
    }

    /// What was found for each document of the sample, the most similar first.
    pub fn finish(self) -> Vec<Vec<Earlier>> {
        self.found
    }

    fn piece(
        &self,
        documents: RankedSketches<'_>,
        start: usize,
        buffer: &mut Vec<u32>,
    ) -> Vec<(u32, Vec<Earlier>)> {
        let sample = self.sample;
        let most_unequal = ((1.0 - LEAST_ESTIMATE) * sample.length as f64) as u32;
        let end = documents.sketches.count().min(start + PIECE);
        let mut found: Vec<(u32, Vec<Earlier>)> = Vec::new();
        let mut places = vec![u32::MAX; sample.ranks.len()];
        let mut bytes = Vec::new();
        for (place, sketch) in (start..).zip(documents.sketches.range(start..end).iter()) {
            let Some(minima) = sample.minima(self.method, sketch, &mut bytes) else {
                continue;
            };
            let rank = documents.first + place as u64;
            let group = documents.groups.get(place);
            self.index.near(minima, buffer, |position, equal| {
                let of = position as usize;
                let unequal = sample.length as u32 - equal;
                let is_earlier = rank < sample.ranks[of] || rank < self.references;
                if is_earlier && unequal <= most_unequal && sample.groups.get(of) == group {
                    if places[of] == u32::MAX {
                        places[of] = found.len() as u32;
                        found.push((position, Vec::new()));
                    }
                    keep(&mut found[places[of] as usize].1, Earlier { unequal, rank });
                }
            });
        }
        found
    }
}

/// Every `step`-th part of `length` elements.
fn every<T: Copy>(step: usize, all: &[T], length: usize) -> Vec<T> {
    let parts = all.chunks_exact(length.max(1)).step_by(step);
    parts.flatten().copied().collect()
}

/// Inserts `one`, if it is among the first.
fn keep(found: &mut Vec<Earlier>, one: Earlier) {
    let place = found.partition_point(|other| *other < one);
    if place < MOST {
        found.insert(place, one);
        found.truncate(MOST);
    }
}

/// The number of different minima if `unequal` differ in these bits: of minima that differ, one in
/// 2^`bits` has the same bits by accident.
fn different(unequal: f64, bits: u32) -> f64 {
    let values = f64::from(1u32 << bits);
    unequal * values / (values - 1.0)
}

/// The similarity of two sketches, estimated by the second half of their minima. The standard error is
/// 0.05.
pub fn half_similarity(method: &dyn Compare, sketches: [&[u8]; 2]) -> Option<f64> {
    let [a, b] = sketches;
    let mut buffers = [Vec::new(), Vec::new()];
    let [of_a, of_b] = &mut buffers;
    let (a, b) = (method.minima(a, of_a)?, method.minima(b, of_b)?);
    let begin = a.len() / 2;
    let unequal = a[begin..].iter().zip(&b[begin..]).filter(|(a, b)| a != b);
    let different = different(unequal.count() as f64, method.minima_bits());
    Some(1.0 - different / (a.len() - begin) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use simtool_core::kernel::Level;
    use simtool_core::sketch::registry::Spec;
    use simtool_core::sketch::{Method, SketchList};
    use simtool_core::text::{Choice, WordSet};
    use simtool_engine::methods::{Common, build_without_statistics};

    fn minhash() -> Box<dyn Method> {
        let common = Common {
            tokenizer: Choice::default(),
            stop_words: &WordSet::default(),
            level: Level::best(),
        };
        build_without_statistics(&Spec::parse("minhash").unwrap(), common).unwrap()
    }

    #[test]
    fn samples_of_a_template_are_small() {
        let method = minhash();
        let sample = |is_alike: bool| {
            let mut sample = SampleMinima::default();
            for rank in 0..1000u64 {
                let minimum = |place: u64| match is_alike {
                    true => place as u8,
                    false => (rank.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (place % 56)) as u8,
                };
                let sketch: Vec<u8> = (0..208).map(minimum).collect();
                sample.push(&*method, rank, &sketch, Some(rank + 1));
            }
            sample.affordable()
        };
        assert_eq!(sample(false).ranks.len(), 1000);
        let alike = sample(true);
        assert_eq!(alike.ranks, (0..1000).step_by(10).collect::<Vec<u64>>());
        assert_eq!(alike.groups, (1..1001).step_by(10).collect::<Vec<u64>>());
        assert_eq!(alike.minima.len(), 100 * 208);
        assert_eq!(SampleMinima::default().affordable().ranks.len(), 0);
    }

    proptest! {
        #[test]
        fn most_similar_earlier_ones_by_all_pairs(
            // A few templates, whose documents differ in some places.
            documents in prop::collection::vec((0u8..4, prop::collection::vec(any::<u8>(), 0..120), 0u64..2), 1..60),
            references in 0u64..5,
            cut in 0usize..60,
        ) {
            let method = minhash();
            let mut list = SketchList::new(&*method);
            for (template, changed, _) in &documents {
                let mut sketch = vec![*template; 208];
                for place in changed {
                    sketch[usize::from(*place) % 208] = place.wrapping_mul(7);
                }
                list.push(&sketch);
            }
            let sketches = list.all(&*method);
            let groups: Vec<u64> = documents.iter().map(|document| document.2).collect();
            let mut sample = SampleMinima::default();
            for rank in (references as usize..documents.len()).step_by(2) {
                sample.push(&*method, rank as u64, sketches.get(rank), Some(groups[rank]));
            }
            let Some(mut search) = EarlierSearch::new(&*method, &sample, references) else {
                return Ok(());
            };
            let cut = cut.min(documents.len());
            for part in [cut..documents.len(), 0..cut] {
                search.add(RankedSketches {
                    first: part.start as u64,
                    sketches: sketches.range(part.clone()),
                    groups: &groups[part],
                });
            }
            for (rank, found) in sample.ranks().iter().zip(search.finish()) {
                let of = |rank: u64| sketches.get(rank as usize);
                let mut expected: Vec<Earlier> = (0..documents.len() as u64)
                    .filter(|other| other < rank || *other < references)
                    .filter(|other| groups[*other as usize] == groups[*rank as usize])
                    .map(|other| Earlier {
                        unequal: of(other).iter().zip(of(*rank)).filter(|(a, b)| a != b).count() as u32,
                        rank: other,
                    })
                    .filter(|earlier| f64::from(earlier.unequal) <= 0.55 * 208.0)
                    // Those that share no band are not found.
                    .filter(|earlier| {
                        let [a, b] = [earlier.rank, *rank].map(|rank| of(rank).chunks_exact(4));
                        a.zip(b).any(|(a, b)| a == b)
                    })
                    .collect();
                expected.sort();
                expected.truncate(6);
                prop_assert_eq!(found, expected);
            }
        }
    }
}

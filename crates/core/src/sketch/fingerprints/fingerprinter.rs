//! SimHash fingerprints: the signs of a weighted sum of feature hashes.
//!
//! Bit j is 1 if Σ ±weight over the features is positive, with + if bit j of the feature's hash is
//! 1. Source: Charikar, "Similarity Estimation Techniques from Rounding Algorithms", STOC 2002.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed, xxh3_128_with_seed};

use crate::kernel::Level;
use crate::kernel::columns::{Columns, MAX_COLUMNS, MAX_WORDS};
use crate::kernel::hamming::Fingerprint;
use crate::kernel::members::{BATCH, Members};
use crate::sketch::features::for_each_shingle;
use crate::sketch::features::weights::{Idf, log_weight};
use crate::sketch::method::{SketchScratch, TokenizedDocument};
use crate::sketch::{Features, Weights};
use crate::text::WordSet;
use crate::text::shingles::shingles;

/// The features and weights of a fingerprint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'a> {
    pub(super) features: Features,
    pub(super) weights: &'a Weights,
    pub(super) stop_words: &'a WordSet,
}

/// The hash of a feature, as wide as the fingerprint.
pub(super) trait FeatureHash: Fingerprint {
    /// The hashes of the words of the document, with seed 0.
    fn words<'a>(document: TokenizedDocument<'a>) -> &'a [Self];
    /// The hash of the bytes of a feature.
    fn of_bytes(bytes: &[u8], seed: u64) -> Self;
    /// Replaces `out` by the hashes of the shingles of `width` words.
    fn shingles(words: &[u64], width: usize, seed: u64, out: &mut Vec<Self>) {
        out.clear();
        for_each_shingle(words, width, |shingle| {
            out.push(Self::of_bytes(shingle, seed))
        });
    }
    /// The buffer for features of this width.
    fn buffer(scratch: &mut SketchScratch) -> &mut Vec<Self>;
}

impl FeatureHash for u64 {
    fn words<'a>(document: TokenizedDocument<'a>) -> &'a [u64] {
        document.short
    }

    fn of_bytes(bytes: &[u8], seed: u64) -> u64 {
        xxh3_64_with_seed(bytes, seed)
    }

    fn shingles(words: &[u64], width: usize, seed: u64, out: &mut Vec<u64>) {
        assert_eq!(seed, 0, "64-bit shingles have one hash");
        shingles(words, width, out);
    }

    fn buffer(scratch: &mut SketchScratch) -> &mut Vec<u64> {
        &mut scratch.short
    }
}

impl FeatureHash for u128 {
    fn words<'a>(document: TokenizedDocument<'a>) -> &'a [u128] {
        let TokenizedDocument { short, long, .. } = document;
        assert_eq!(long.len(), short.len(), "words of both widths");
        long
    }

    fn of_bytes(bytes: &[u8], seed: u64) -> u128 {
        xxh3_128_with_seed(bytes, seed)
    }

    fn buffer(scratch: &mut SketchScratch) -> &mut Vec<u128> {
        &mut scratch.long
    }
}

/// Computes fingerprints of the width of `F` from hashes with a seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fingerprinter<F> {
    columns: Columns<F>,
    members: Members,
    seed: u64,
}

impl<F: FeatureHash> Fingerprinter<F> {
    /// `level` affects only speed. Seeds other than 0 are only for 128-bit hashes.
    pub(super) fn new(seed: u64, level: Level) -> Fingerprinter<F> {
        Fingerprinter {
            columns: Columns::new(level),
            members: Members::new(level),
            seed,
        }
    }

    /// The fingerprint of a document; `None` without features.
    pub(super) fn fingerprint(
        &self,
        rules: Rules<'_>,
        document: TokenizedDocument<'_>,
        scratch: &mut SketchScratch,
    ) -> Option<F> {
        let plain = rules.features == Features::Words && rules.stop_words.is_empty();
        if plain && *rules.weights == Weights::Tf && self.seed == 0 {
            return self.majority(F::words(document));
        }
        let mut features = std::mem::take(F::buffer(scratch));
        self.list(rules, document, scratch, &mut features);
        let fingerprint = match rules.weights {
            Weights::Tf | Weights::Top(_) => self.majority(&features),
            Weights::Once => {
                features.sort_unstable();
                features.dedup();
                self.majority(&features)
            }
            Weights::LogTf => self.log_weighted(&mut features, &mut scratch.runs),
            Weights::TfIdf(idf) => {
                self.names(rules, document, scratch);
                self.idf_weighted(idf, &mut features, scratch)
            }
        };
        *F::buffer(scratch) = features;
        fingerprint
    }

    /// Lists the features that count, in document order.
    fn list(
        &self,
        rules: Rules<'_>,
        document: TokenizedDocument<'_>,
        scratch: &mut SketchScratch,
        out: &mut Vec<F>,
    ) {
        let counted = match rules.weights {
            Weights::Top(counted) => Some(counted),
            _ => None,
        };
        let counts = |name: &u64| counted.is_none_or(|counted| counted.contains(*name));
        match rules.features {
            Features::Words => {
                out.clear();
                let (stop, short) = (rules.stop_words, document.short);
                if self.seed == 0 {
                    self.retain(stop, counted, short, F::words(document), out);
                } else {
                    assert_eq!(
                        document.spelled.len(),
                        short.len(),
                        "words and their hashes"
                    );
                    let spelled = document.spelled.iter().zip(short);
                    let kept = spelled.filter(|(_, word)| !stop.contains(**word) & counts(word));
                    out.extend(kept.map(|(word, _)| F::of_bytes(word, self.seed)));
                }
            }
            Features::Shingles(width) => {
                let kept = self.kept_words(rules.stop_words, document.short, &mut scratch.words);
                F::shingles(kept, width, self.seed, out);
            }
            Features::Characters(width) => {
                scratch.characters.read(document.text);
                let runs = scratch.characters.shingles(width);
                out.clear();
                out.extend(runs.map(|run| F::of_bytes(run, self.seed)));
            }
        }
        if counted.is_some() && rules.features != Features::Words {
            self.names(rules, document, scratch);
            let mut names = scratch.names.iter();
            out.retain(|_| names.next().is_some_and(counts));
        }
    }

    /// Appends those of `values` whose word, at the same place of `words`, is not in `stop` and is in
    /// `counted`, if there is one.
    fn retain<T: Copy + Default>(
        &self,
        stop: &WordSet,
        counted: Option<&WordSet>,
        words: &[u64],
        values: &[T],
        out: &mut Vec<T>,
    ) {
        let mut list = [T::default(); BATCH];
        for (words, values) in words.chunks(BATCH).zip(values.chunks(BATCH)) {
            let mut wanted = !stop.find(&self.members, words);
            if let Some(counted) = counted {
                wanted &= counted.find(&self.members, words);
            }
            // Without a branch: every value is written, and unwanted ones are overwritten.
            let mut kept = 0;
            for (place, value) in values.iter().enumerate() {
                list[kept % BATCH] = *value;
                kept += (wanted >> place & 1) as usize;
            }
            out.extend_from_slice(&list[..kept]);
        }
    }

    /// The words that are not stop words.
    fn kept_words<'a>(
        &self,
        stop: &WordSet,
        words: &'a [u64],
        buffer: &'a mut Vec<u64>,
    ) -> &'a [u64] {
        if stop.is_empty() {
            return words;
        }
        buffer.clear();
        self.retain(stop, None, words, words, buffer);
        buffer
    }

    /// Lists in `scratch.names` the 64-bit hashes that identify the features in the frequencies.
    fn names(
        &self,
        rules: Rules<'_>,
        document: TokenizedDocument<'_>,
        scratch: &mut SketchScratch,
    ) {
        let SketchScratch { words, names, .. } = scratch;
        let (stop, short) = (rules.stop_words, document.short);
        let (kept, width) = match rules.features {
            Features::Words => (self.kept_words(stop, short, words), 1),
            Features::Shingles(width) => (self.kept_words(stop, short, words), width),
            Features::Characters(width) => {
                scratch.characters.read(document.text);
                words.clear();
                words.extend(scratch.characters.shingles(1).map(xxh3_64));
                (&**words, width)
            }
        };
        // A single word is counted by its own hash.
        match width {
            1 if rules.features != Features::Shingles(1) => {
                names.clear();
                names.extend_from_slice(kept);
            }
            width => shingles(kept, width, names),
        }
    }

    /// The signs if all features have equal weight; `None` without features.
    fn majority(&self, features: &[F]) -> Option<F> {
        if features.len() <= MAX_WORDS {
            return (!features.is_empty()).then(|| self.columns.majority(features));
        }
        let mut sums = BitSums::new(self.columns);
        sums.add(features, 1);
        sums.signs()
    }

    /// The signs if the weight of a feature is 1 + log2 of its occurrences. Overwrites `features`.
    fn log_weighted(&self, features: &mut Vec<F>, runs: &mut Vec<(u64, u128)>) -> Option<F> {
        features.sort_unstable();
        let equal = features.chunk_by(F::eq);
        runs.clear();
        runs.extend(equal.map(|run| (run.len() as u64, run[0].widen())));
        self.weighted(runs, log_weight, features)
    }

    /// The signs if the weight of each occurrence is the inverse document frequency of the feature,
    /// which is looked up by its 64-bit hash in `scratch.names`. Overwrites `features`.
    fn idf_weighted(
        &self,
        idf: &Idf,
        features: &mut Vec<F>,
        scratch: &mut SketchScratch,
    ) -> Option<F> {
        let SketchScratch { names, runs, .. } = scratch;
        assert_eq!(names.len(), features.len(), "features and their names");
        let weighted = features.iter().zip(&*names);
        runs.clear();
        runs.extend(weighted.map(|(feature, name)| (idf.weight(*name), feature.widen())));
        self.weighted(runs, |weight| weight, features)
    }

    /// The signs of (rank, feature) pairs with the weight `weight(rank)`; sorts the pairs. `group`
    /// is a buffer for the features of one weight.
    fn weighted(
        &self,
        features: &mut [(u64, u128)],
        weight: impl Fn(u64) -> u64,
        group: &mut Vec<F>,
    ) -> Option<F> {
        features.sort_unstable_by_key(|&(rank, _)| rank);
        let mut sums = BitSums::new(self.columns);
        for run in features.chunk_by(|(rank, _), (next, _)| rank == next) {
            group.clear();
            group.extend(run.iter().map(|&(_, feature)| F::truncate(feature)));
            sums.add(group, weight(run[0].0));
        }
        sums.signs()
    }
}

/// Weighted column sums: for each bit the weight of the features that have it set, and the total.
struct BitSums<F> {
    columns: Columns<F>,
    ones: [u64; MAX_COLUMNS],
    total: u64,
}

impl<F: Fingerprint> BitSums<F> {
    fn new(columns: Columns<F>) -> BitSums<F> {
        BitSums {
            columns,
            ones: [0; MAX_COLUMNS],
            total: 0,
        }
    }

    /// Adds features of one weight. 2^40 features of the maximum weight, 65 with 16 fractional
    /// bits, do not overflow.
    fn add(&mut self, features: &[F], weight: u64) {
        for few in features.chunks(MAX_WORDS) {
            let counts = self.columns.count(few);
            for (sum, ones) in self.ones.iter_mut().zip(counts.0) {
                *sum += weight * u64::from(ones);
            }
        }
        self.total += weight * features.len() as u64;
    }

    fn signs(&self) -> Option<F> {
        let set = (self.ones.iter().zip(0..))
            .map(|(&sum, column)| u128::from(2 * sum > self.total) << column);
        (self.total > 0).then(|| F::truncate(set.fold(0, |all, bit| all | bit)))
    }
}

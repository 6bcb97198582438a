//! SimHash of hashed features: words or shingles, of 64 or 128 bits.
//!
//! Bit j is 1 where Σ over the features of ±weight is above zero, + where bit j of the feature's
//! hash is 1. The hash of a word is the xxh3 hash of its folded bytes; that of a shingle, the xxh3
//! hash of its words' little-endian 64-bit hashes. Sources: Charikar, "Similarity Estimation
//! Techniques from Rounding Algorithms", STOC 2002; Manku, Jain and Das Sarma, "Detecting
//! Near-Duplicates for Web Crawling", WWW 2007.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::features::long_shingles;
use super::method::{Compare, Method, Needs, Score, Scratch, Shape, View};
use super::registry::{Ahead, Count, Domain, Entry, Parameter, Unit};
use super::weights::log_weight;
use super::{Features, Weights};
use crate::kernel::Level;
use crate::kernel::columns::{Columns, MAX_COLUMNS, MAX_WORDS};
use crate::kernel::hamming::Fingerprint;
use crate::text::WordSet;
use crate::text::shingles::shingles;
use crate::vocabulary::Frequencies;
use crate::{Error, ErrorKind, Result};

/// SimHash, among the methods.
pub const ENTRY: Entry = Entry {
    name: "simhash",
    summary: "SimHash fingerprints of hashed words or shingles, within a Hamming distance",
    description: "\
Each bit of the fingerprint is the sign of a weighted sum over the features of the document: plus \
where that bit of the feature's hash is one, minus where it is zero. Documents with most features \
in common differ in few bits; the search finds every pair within the distance.

Costs a few nanoseconds a word, 8 or 16 bytes a document. Blind to the order of words unless \
features are shingles. Short documents vary much; of texts of one template, fingerprints are near.

Charikar, Similarity Estimation Techniques from Rounding Algorithms, STOC 2002; Manku, Jain and \
Das Sarma, Detecting Near-Duplicates for Web Crawling, WWW 2007.",
    parameters: &[
        Parameter {
            name: "bits",
            meaning: "bits of a fingerprint",
            default: "64",
            domain: Domain::Word(&["64", "128"]),
        },
        Parameter {
            name: "distance",
            meaning: "largest Hamming distance",
            default: "6",
            domain: Domain::Integer(0, 64),
        },
        Parameter {
            name: "features",
            meaning: "words in a feature",
            default: "1",
            domain: Domain::Integer(1, 100),
        },
        Parameter {
            name: "weights",
            meaning: "tf: occurrences; log-tf: 1 + log2 of them; top: occurrences of the most frequent",
            default: "tf",
            domain: Domain::Word(&["tf", "log-tf", "top"]),
        },
        Parameter {
            name: "top",
            meaning: "how many features count if weights=top",
            default: "1000",
            domain: Domain::Integer(1, 1_000_000),
        },
        Parameter {
            name: "stop-words",
            meaning: "whether stop words are skipped or kept",
            default: "skip",
            domain: Domain::Word(&["skip", "keep"]),
        },
    ],
    ahead: |values| match values.word("weights") {
        "top" => Ahead::Count(Count {
            unit: Unit::Words,
            most: values.integer("top") as usize,
            shingle: values.integer("features") as usize,
            skip_stop_words: values.word("stop-words") == "skip",
            documents: false,
        }),
        _ => Ahead::Nothing,
    },
    build: |values, setting| {
        let top = || setting.frequencies.map(Frequencies::features);
        let settings = Settings {
            features: match values.integer("features") {
                1 => Features::Words,
                width => Features::Shingles(width as usize),
            },
            weights: match values.word("weights") {
                "log-tf" => Weights::LogTf,
                "top" => Weights::Top(WordSet::new(top().unwrap_or_default().iter().copied())),
                _ => Weights::Tf,
            },
            stop_words: setting.stop_words(values.word("stop-words") == "skip"),
            distance: values.integer("distance") as u32,
            least_words: None,
        };
        let width = if values.word("bits") == "64" { 64 } else { 128 };
        settings.method(width, setting.level)
    },
};

/// Words below which the words of a document say too little, unless told otherwise.
const LEAST_WORDS: usize = 8;

/// What decides a SimHash and its verdicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What the features are.
    pub features: Features,
    /// How much each of them counts.
    pub weights: Weights,
    /// The 64-bit hashes of words that are left out before anything else is done.
    pub stop_words: WordSet,
    /// The largest Hamming distance that is near.
    pub distance: u32,
    /// Shorter documents are compared for equality only; by default eight words, or those of one
    /// shingle.
    pub least_words: Option<usize>,
}

impl Default for Settings {
    /// All words by their number of occurrences, distance 3.
    fn default() -> Settings {
        Settings {
            features: Features::Words,
            weights: Weights::Tf,
            stop_words: WordSet::default(),
            distance: 3,
            least_words: None,
        }
    }
}

impl Settings {
    /// The method with fingerprints of `width` bits, 64 or 128.
    ///
    /// `level` decides how fast it is, nothing else.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for another width and for shingles of no words.
    pub fn method(self, width: u32, level: Level) -> Result<Box<dyn Method>> {
        let message = match (self.features, width) {
            (Features::Shingles(0), _) => "shingles of 0 words: expected at least 1".to_owned(),
            (_, 64) => return Ok(Box::new(SimHash::<u64>::new(self, level))),
            (_, 128) => return Ok(Box::new(SimHash::<u128>::new(self, level))),
            _ => format!("SimHash of {width} bits: expected 64 or 128"),
        };
        Err(Error::new(ErrorKind::Parameter, message))
    }
}

/// A feature's hash, as wide as the fingerprint.
pub trait Feature: Fingerprint {
    /// The words of the document as features.
    fn words<'a>(document: View<'a>) -> &'a [Self];
    /// Its shingles as features; what was in the list is dropped.
    fn shingles(words: &[u64], width: usize, out: &mut Vec<Self>);
    /// The buffer for features of this width.
    fn buffer(scratch: &mut Scratch) -> &mut Vec<Self>;
}

impl Feature for u64 {
    fn words<'a>(document: View<'a>) -> &'a [u64] {
        document.short
    }

    fn shingles(words: &[u64], width: usize, out: &mut Vec<u64>) {
        shingles(words, width, out);
    }

    fn buffer(scratch: &mut Scratch) -> &mut Vec<u64> {
        &mut scratch.short
    }
}

impl Feature for u128 {
    fn words<'a>(document: View<'a>) -> &'a [u128] {
        let View { short, long, .. } = document;
        assert_eq!(long.len(), short.len(), "words of both widths");
        long
    }

    fn shingles(words: &[u64], width: usize, out: &mut Vec<u128>) {
        long_shingles(words, width, out);
    }

    fn buffer(scratch: &mut Scratch) -> &mut Vec<u128> {
        &mut scratch.long
    }
}

/// SimHash with fingerprints of type `F`.
#[derive(Clone, Debug)]
pub struct SimHash<F> {
    settings: Settings,
    columns: Columns<F>,
}

impl<F: Feature> SimHash<F> {
    /// The method for `settings`, whose shingles have at least one word.
    fn new(settings: Settings, level: Level) -> SimHash<F> {
        SimHash {
            settings,
            columns: Columns::new(level),
        }
    }

    /// The features that count, in document order.
    fn features(&self, words: View<'_>, scratch: &mut Scratch, out: &mut Vec<F>) {
        let stop = &self.settings.stop_words;
        let counted = match &self.settings.weights {
            Weights::Top(counted) => Some(counted),
            Weights::Tf | Weights::LogTf => None,
        };
        let counts = |name: &u64| counted.is_none_or(|counted| counted.contains(*name));
        match self.settings.features {
            Features::Words => {
                out.clear();
                out.extend_from_slice(F::words(words));
                // Nobody can predict which words are stop words: all are written, and those that
                // do not count are overwritten.
                let mut kept = 0;
                for (place, word) in words.short.iter().enumerate() {
                    out[kept] = out[place];
                    kept += usize::from(!stop.contains(*word) & counts(word));
                }
                out.truncate(kept);
            }
            Features::Shingles(width) => {
                let Scratch {
                    words: kept, names, ..
                } = scratch;
                let kept = if stop.is_empty() {
                    words.short
                } else {
                    kept.clear();
                    kept.extend(words.short.iter().filter(|word| !stop.contains(**word)));
                    kept
                };
                F::shingles(kept, width, out);
                if counted.is_some() {
                    shingles(kept, width, names);
                    let mut names = names.iter();
                    out.retain(|_| names.next().is_some_and(counts));
                }
            }
        }
    }

    fn fingerprint(
        &self,
        words: View<'_>,
        scratch: &mut Scratch,
        features: &mut Vec<F>,
    ) -> Option<F> {
        let settings = &self.settings;
        if settings.features == Features::Words
            && settings.weights == Weights::Tf
            && settings.stop_words.is_empty()
        {
            return self.majority(F::words(words));
        }
        self.features(words, scratch, features);
        if settings.weights == Weights::LogTf {
            return self.log_weighted(features, &mut scratch.runs);
        }
        self.majority(features)
    }

    /// The signs where every feature weighs the same; none without features.
    fn majority(&self, features: &[F]) -> Option<F> {
        if features.len() <= MAX_WORDS {
            return (!features.is_empty()).then(|| self.columns.majority(features));
        }
        let mut sums = Sums::new(self.columns);
        sums.add(features, 1);
        sums.signs()
    }

    /// The signs where a feature weighs 1 + log2 of its occurrences; sorts `features`.
    fn log_weighted(&self, features: &mut Vec<F>, runs: &mut Vec<(u64, u128)>) -> Option<F> {
        features.sort_unstable();
        let equal = features.chunk_by(F::eq);
        runs.clear();
        runs.extend(equal.map(|run| (run.len() as u64, run[0].widen())));
        runs.sort_unstable_by_key(|&(count, _)| count);
        let mut sums = Sums::new(self.columns);
        for run in runs.chunk_by(|(count, _), (next, _)| count == next) {
            features.clear();
            features.extend(run.iter().map(|&(_, feature)| F::truncate(feature)));
            sums.add(features, log_weight(run[0].0));
        }
        sums.signs()
    }

    fn read(&self, sketch: &[u8]) -> F {
        assert_eq!(sketch.len(), size_of::<F>(), "bytes of a fingerprint");
        let mut bytes = [0; 16];
        bytes[..sketch.len()].copy_from_slice(sketch);
        F::truncate(u128::from_le_bytes(bytes))
    }
}

/// Weighted column sums: the weight that has each bit set, and all of it.
struct Sums<F> {
    columns: Columns<F>,
    ones: [u64; MAX_COLUMNS],
    total: u64,
}

impl<F: Fingerprint> Sums<F> {
    fn new(columns: Columns<F>) -> Sums<F> {
        Sums {
            columns,
            ones: [0; MAX_COLUMNS],
            total: 0,
        }
    }

    /// Adds features of one weight. 2^40 of the largest, 65 with 16 fractional bits, fit.
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

impl<F: Feature> Compare for SimHash<F> {
    fn name(&self) -> &'static str {
        "simhash"
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let Settings {
            features,
            weights,
            stop_words,
            distance,
            ..
        } = &self.settings;
        vec![
            ("width", F::BITS.to_string()),
            ("features", features.to_string()),
            ("weights", weights.to_string()),
            ("stop_words", stop_words.to_string()),
            ("distance", distance.to_string()),
            ("least_words", self.least_words().to_string()),
        ]
    }

    fn shape(&self) -> Shape {
        Shape::Bits {
            width: F::BITS,
            distance: self.settings.distance,
        }
    }

    fn sketch_bytes(&self) -> Option<usize> {
        Some(size_of::<F>())
    }

    /// The bits are cut into one block more than bits may differ, so one block at least is equal.
    fn keys(&self, sketch: &[u8], emit: &mut dyn FnMut(u64)) {
        let bits = self.read(sketch).widen();
        if self.settings.distance >= F::BITS {
            return emit(0);
        }
        let blocks = self.settings.distance + 1;
        for block in 0..blocks {
            let border = |block| (u64::from(F::BITS) * u64::from(block) / u64::from(blocks)) as u32;
            let (start, end) = (border(block), border(block + 1));
            let value = bits >> start & (u128::MAX >> (128 - (end - start)));
            emit(xxh3_64_with_seed(&value.to_le_bytes(), block.into()));
        }
    }

    fn score(&self, a: &[u8], b: &[u8]) -> Score {
        Score::Distance(self.read(a).distance(self.read(b)))
    }

    fn accepts(&self, score: &Score) -> bool {
        matches!(*score, Score::Distance(bits) if bits <= self.settings.distance)
    }
}

impl<F: Feature> Method for SimHash<F> {
    fn least_words(&self) -> usize {
        self.settings
            .least_words
            .unwrap_or(match self.settings.features {
                Features::Words => LEAST_WORDS,
                Features::Shingles(width) => width,
            })
    }

    fn needs(&self) -> Needs {
        Needs {
            long: self.settings.features == Features::Words && F::BITS > u64::BITS,
            ..Needs::HASHES
        }
    }

    fn sketch(&self, document: View<'_>, scratch: &mut Scratch, out: &mut Vec<u8>) -> bool {
        let mut features = std::mem::take(F::buffer(scratch));
        let fingerprint = self.fingerprint(document, scratch, &mut features);
        *F::buffer(scratch) = features;
        let bits = fingerprint.unwrap_or_default().widen().to_le_bytes();
        out.extend_from_slice(&bits[..size_of::<F>()]);
        fingerprint.is_some()
    }
}

#[cfg(test)]
mod tests;

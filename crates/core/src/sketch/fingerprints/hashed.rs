//! SimHash of hashed features: words, or shingles of words or characters; 32 to 256 bits.
//!
//! The hash of a word or of a run of characters is the xxh3 hash of its folded bytes. The hash of a
//! shingle of words is the xxh3 hash of its words' little-endian 64-bit hashes. Fingerprints of 64
//! bits use the 64-bit hash, those of 32 bits its lower half. Those of 128 bits use the 128-bit
//! hash; those of 256 bits use it with the seeds 0 (the lower half) and 1. Sources: Charikar,
//! "Similarity Estimation Techniques from Rounding Algorithms", STOC 2002; Manku, Jain and Das
//! Sarma, "Detecting Near-Duplicates for Web Crawling", WWW 2007.

use super::blocks::{self, Bits};
use super::fingerprinter::{Fingerprinter, Rules};
use crate::kernel::Level;
use crate::sketch::features::weights::Idf;
use crate::sketch::method::entry::{CountRequest, Entry, FeatureUnit, MethodContext, Statistics};
use crate::sketch::method::parameter::{Domain, Parameter, Values};
use crate::sketch::method::{
    Compare, Method, Needs, Score, Shape, SketchScratch, TokenizedDocument,
};
use crate::sketch::{Features, Weights};
use crate::text::WordSet;
use crate::vocabulary::Frequencies;
use crate::{Error, ErrorKind, Result};

/// The registry entry of SimHash.
pub const ENTRY: Entry = Entry {
    name: "simhash",
    summary: "SimHash fingerprints of hashed words or shingles, within a Hamming distance",
    description: "\
Each bit of the fingerprint is the sign of a weighted sum over the features of the document: plus \
if that bit of the feature's hash is one, minus if it is zero. Documents with most features in \
common differ in few bits; the search finds every pair within the distance.
Costs a few nanoseconds per word, and 4 to 32 bytes per document. Insensitive to the order of \
words unless features are shingles. Fingerprints of short documents vary much; texts of one \
template have near fingerprints. 32 bits are narrow: in large collections, unrelated documents are \
near by accident. tf-idf weights require a first pass that counts document frequencies. Stop words \
do not apply to runs of characters.
Charikar, Similarity Estimation Techniques from Rounding Algorithms, STOC 2002; Manku, Jain and \
Das Sarma, Detecting Near-Duplicates for Web Crawling, WWW 2007.",
    measured: "1.0 times the time of simhash per document; 10^4 and 10^5 documents are joined in \
               0.01 and 0.12 s",
    parameters: &parameters("1", "6"),
    statistics,
    build: |values, setting| build(ENTRY.name, values, setting),
};

/// The registry entry of SimHash of word shingles, as published for comparison.
pub const SHINGLE_ENTRY: Entry = Entry {
    name: "shingle-simhash",
    summary: "SimHash fingerprints of shingles of three words, within distance 3",
    description: "\
The method simhash with other defaults: features are runs of three words, so that the order of \
words counts. With the default distance it finds only light edits, and almost nothing once a tenth \
of the words is replaced. On a synthetic set of book texts its published best F is 0.75, between \
SimHash of words (0.61) and fusion (0.88). In a replication on documentation, words are better \
than shingles at every length (docs/measurements/evaluation).
Costs about twice as much as simhash of words. An edited word changes three features.
Charikar, Similarity Estimation Techniques from Rounding Algorithms, STOC 2002; Broder, On the \
Resemblance and Containment of Documents, SEQUENCES 1997.",
    measured: "2.3 times the time of simhash per document; 10^4 and 10^5 documents are joined in \
               0.01 and 0.04 s",
    parameters: &parameters("3", "3"),
    statistics,
    build: |values, setting| build(SHINGLE_ENTRY.name, values, setting),
};

/// The parameters, with the defaults that differ between the two methods.
const fn parameters(features: &'static str, distance: &'static str) -> [Parameter; 8] {
    [
        Parameter {
            name: "bits",
            meaning: "bits of a fingerprint",
            default: "64",
            domain: Domain::Word(&["32", "64", "128", "256"]),
        },
        Parameter {
            name: "distance",
            meaning: "largest Hamming distance",
            default: distance,
            domain: Domain::Integer(0, 64),
        },
        Parameter {
            name: "features",
            meaning: "words or characters in a feature",
            default: features,
            domain: Domain::Integer(1, 100),
        },
        Parameter {
            name: "unit",
            meaning: "unit of features",
            default: "words",
            domain: Domain::Word(&["words", "characters"]),
        },
        Parameter {
            name: "weights",
            meaning: "tf: occurrences; log-tf: 1 + log2 of them; tf-idf: those of rare features \
                      more; once: 1; top: occurrences of the most frequent",
            default: "tf",
            domain: Domain::Word(&["tf", "log-tf", "tf-idf", "once", "top"]),
        },
        Parameter {
            name: "top",
            meaning: "number of features that count if weights=top",
            default: "1000",
            domain: Domain::Integer(1, 1_000_000),
        },
        Parameter {
            name: "lexicon",
            meaning: "number of features counted if weights=tf-idf; others count as in one document",
            default: "1000000",
            domain: Domain::Integer(1, 100_000_000),
        },
        Parameter {
            name: "stop-words",
            meaning: "whether stop words are skipped or kept",
            default: "skip",
            domain: Domain::Word(&["skip", "keep"]),
        },
    ]
}

fn statistics(values: &Values) -> Statistics {
    let (most, documents) = match values.word("weights") {
        "top" => (values.integer("top"), false),
        "tf-idf" => (values.integer("lexicon"), true),
        _ => return Statistics::Nothing,
    };
    let unit = match values.word("unit") {
        "characters" => FeatureUnit::Characters,
        _ => FeatureUnit::Words,
    };
    Statistics::Count(CountRequest {
        unit,
        most: most as usize,
        shingle: values.integer("features") as usize,
        skip_stop_words: unit == FeatureUnit::Words && values.word("stop-words") == "skip",
        documents,
    })
}

fn build(
    name: &'static str,
    values: &Values,
    setting: &MethodContext<'_>,
) -> Result<Box<dyn Method>> {
    let (unit, weights) = (values.word("unit"), values.word("weights"));
    let nothing = Frequencies::default();
    let counted = setting.frequencies.unwrap_or(&nothing);
    let settings = SimHashSettings {
        features: match (unit, values.integer("features") as usize) {
            ("characters", width) => Features::Characters(width),
            (_, 1) => Features::Words,
            (_, width) => Features::Shingles(width),
        },
        weights: match weights {
            "log-tf" => Weights::LogTf,
            "tf-idf" => Weights::TfIdf(Idf::new(counted)),
            "once" => Weights::Once,
            "top" => Weights::Top(WordSet::new(counted.features().iter().copied())),
            _ => Weights::Tf,
        },
        stop_words: setting.stop_words(values.word("stop-words") == "skip"),
        distance: values.integer("distance") as u32,
        least_words: None,
    };
    let width = values.word("bits").parse().unwrap_or_default();
    Ok(Box::new(settings.named(name, width, setting.level)?))
}

/// The default of [`least_words`](SimHashSettings::least_words).
const MIN_WORDS: usize = 8;

/// The settings of a SimHash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimHashSettings {
    /// The kind of features.
    pub features: Features,
    /// The weights of features.
    pub weights: Weights,
    /// The 64-bit hashes of words that are removed first.
    pub stop_words: WordSet,
    /// The maximum Hamming distance of near documents.
    pub distance: u32,
    /// Documents with fewer words are compared only for equality; by default eight words, or those
    /// of one shingle.
    pub least_words: Option<usize>,
}

impl Default for SimHashSettings {
    /// All words, weighted by their number of occurrences; distance 3.
    fn default() -> SimHashSettings {
        SimHashSettings {
            features: Features::Words,
            weights: Weights::Tf,
            stop_words: WordSet::default(),
            distance: 3,
            least_words: None,
        }
    }
}

impl SimHashSettings {
    /// The method with fingerprints of `width` bits: 32, 64, 128 or 256.
    ///
    /// `level` affects only speed.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for another width, or for shingles of width 0.
    pub fn method(self, width: u32, level: Level) -> Result<Box<dyn Method>> {
        Ok(Box::new(self.named(ENTRY.name, width, level)?))
    }

    /// The [`method`](Self::method) with a name.
    fn named(self, name: &'static str, width: u32, level: Level) -> Result<SimHash> {
        let refuse = |message| Err(Error::new(ErrorKind::Parameter, message));
        if let Features::Shingles(0) | Features::Characters(0) = self.features {
            return refuse(format!("{}: expected at least 1", self.features));
        }
        let width = match width {
            32 => Width::Half(Fingerprinter::new(0, level)),
            64 => Width::Single(Fingerprinter::new(0, level)),
            128 => Width::Double(Fingerprinter::new(0, level)),
            256 => Width::Quadruple([0, 1].map(|seed| Fingerprinter::new(seed, level))),
            _ => {
                let message = "expected 32, 64, 128 or 256";
                return refuse(format!("SimHash of {width} bits: {message}"));
            }
        };
        Ok(SimHash {
            name,
            settings: self,
            width,
        })
    }
}

/// The width of a fingerprint, and the fingerprinters of its parts.
#[derive(Clone, Debug)]
enum Width {
    /// 32 bits.
    Half(Fingerprinter<u64>),
    /// 64 bits.
    Single(Fingerprinter<u64>),
    /// 128 bits.
    Double(Fingerprinter<u128>),
    /// 256 bits.
    Quadruple([Fingerprinter<u128>; 2]),
}

impl Width {
    fn bits(&self) -> u32 {
        match self {
            Width::Half(_) => 32,
            Width::Single(_) => 64,
            Width::Double(_) => 128,
            Width::Quadruple(_) => 256,
        }
    }
}

/// The SimHash method.
#[derive(Clone, Debug)]
pub struct SimHash {
    name: &'static str,
    settings: SimHashSettings,
    width: Width,
}

impl SimHash {
    fn fingerprint(
        &self,
        document: TokenizedDocument<'_>,
        scratch: &mut SketchScratch,
    ) -> Option<Bits> {
        let rules = Rules {
            features: self.settings.features,
            weights: &self.settings.weights,
            stop_words: &self.settings.stop_words,
        };
        let low = match &self.width {
            Width::Half(made) | Width::Single(made) => {
                made.fingerprint(rules, document, scratch)?.into()
            }
            Width::Double(made) => made.fingerprint(rules, document, scratch)?,
            Width::Quadruple(halves) => {
                let [low, high] = halves.map(|half| half.fingerprint(rules, document, scratch));
                return Some([low?, high?]);
            }
        };
        Some([low, 0])
    }

    fn read(&self, sketch: &[u8]) -> Bits {
        let bytes = self.width.bits() as usize / 8;
        assert_eq!(sketch.len(), bytes, "bytes of a fingerprint");
        blocks::read(sketch)
    }
}

impl Compare for SimHash {
    fn name(&self) -> &'static str {
        self.name
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let SimHashSettings {
            features,
            weights,
            stop_words,
            distance,
            ..
        } = &self.settings;
        vec![
            ("width", self.width.bits().to_string()),
            ("features", features.to_string()),
            ("weights", weights.to_string()),
            ("stop_words", stop_words.to_string()),
            ("distance", distance.to_string()),
            ("least_words", self.least_words().to_string()),
        ]
    }

    /// Fingerprints of 256 bits are found by their keys.
    fn shape(&self) -> Shape {
        match self.width.bits() {
            256 => Shape::Keys,
            width => Shape::Bits {
                width,
                distance: self.settings.distance,
            },
        }
    }

    fn fingerprint_bits(&self) -> Option<(u32, u32)> {
        Some((self.width.bits(), self.settings.distance))
    }

    fn sketch_bytes(&self) -> Option<usize> {
        Some(self.width.bits() as usize / 8)
    }

    /// The bits are divided into more than `distance` blocks, so near fingerprints agree in at
    /// least one. If all bits may differ, one key is common to all fingerprints.
    fn keys(&self, sketch: &[u8], emit: &mut dyn FnMut(u64)) {
        let bits = self.read(sketch);
        blocks::keys(bits, self.width.bits(), self.settings.distance, 0, emit);
    }

    fn score(&self, a: &[u8], b: &[u8]) -> Score {
        Score::Distance(blocks::distance(self.read(a), self.read(b)))
    }

    fn accepts(&self, score: &Score) -> bool {
        matches!(*score, Score::Distance(bits) if bits <= self.settings.distance)
    }
}

impl Method for SimHash {
    fn least_words(&self) -> usize {
        self.settings
            .least_words
            .unwrap_or(match self.settings.features {
                Features::Words | Features::Characters(_) => MIN_WORDS,
                Features::Shingles(width) => width,
            })
    }

    fn needs(&self) -> Needs {
        let words = self.settings.features == Features::Words;
        Needs {
            short: !matches!(self.settings.features, Features::Characters(_)),
            long: words && self.width.bits() > u64::BITS,
            spelled: words && self.width.bits() > u128::BITS,
        }
    }

    fn sketch(
        &self,
        document: TokenizedDocument<'_>,
        scratch: &mut SketchScratch,
        out: &mut Vec<u8>,
    ) -> bool {
        let fingerprint = self.fingerprint(document, scratch);
        blocks::write(fingerprint.unwrap_or_default(), self.width.bits(), out);
        fingerprint.is_some()
    }
}

#[cfg(test)]
mod tests;

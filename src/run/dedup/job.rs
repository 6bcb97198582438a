//! What a deduplication computes.

use serde_json::{Value, json};

use crate::corpus::Reading;
use crate::dedup::keep::Policy;
use crate::sketch::{Bands, MAX_PERMUTATIONS};
use crate::text::Choice;
use crate::{Error, ErrorKind, Result};

/// What to compute: everything that decides the output besides the inputs' bytes.
#[derive(Clone, Debug)]
pub struct Job {
    /// How candidates are found.
    pub method: MethodChoice,
    /// What a word is.
    pub tokenizer: Choice,
    /// When a candidate is a duplicate.
    pub verification: Verification,
    /// What duplicates of duplicates are.
    pub clusters: ClusterRule,
    /// Which copy stays.
    pub keep: Policy,
    /// Whether every site keeps a copy of its own.
    pub keep_per_site: bool,
    /// Whether no copy stays at all.
    pub drop_all: bool,
    /// How inputs are read.
    pub reading: Reading,
    /// What is written besides the reports.
    pub write: WriteMode,
    /// Further forms of the list of pairs.
    pub pairs: PairForms,
}

/// How candidates are found.
#[derive(Clone, Debug, PartialEq)]
pub enum MethodChoice {
    /// The same bytes of text.
    Exact,
    /// The same words in the same order.
    Normalized,
    /// SimHash fingerprints within a Hamming distance.
    SimHash {
        /// 64 or 128.
        bits: u32,
        /// The largest distance.
        distance: u32,
        /// A feature is so many words in a row.
        shingle: usize,
        /// What a feature weighs.
        weights: Weights,
        /// Whether the words of the built-in lists are left out.
        skip_stop_words: bool,
    },
    /// MinHash bands chosen for a similarity.
    MinHash {
        /// The share of candidates to find among pairs of that similarity.
        recall: f64,
        /// A feature is so many words in a row.
        shingle: usize,
    },
}

/// What a feature of a SimHash weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// Once for each occurrence.
    Frequency,
    /// 1 + log2 of the occurrences.
    LogFrequency,
    /// Once for each occurrence, but only the most frequent words of all documents count.
    Top(usize),
}

/// A candidate is a duplicate if the sets of its shingles and of the kept copy's are similar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verification {
    /// Words in a shingle.
    pub shingle: usize,
    /// The least share of shingles in common, in thousandths: |A ∩ B| / |A ∪ B|.
    pub thousandths: u32,
}

/// What duplicates of duplicates are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterRule {
    /// Every document that goes is verified against the one that stays.
    Star,
    /// Whatever a chain of verified pairs leads to is one cluster.
    Components,
}

/// What is written besides the reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMode {
    /// Nothing.
    None,
    /// The ids of the documents that stay.
    Ids,
    /// The inputs without the documents that go, in their own format.
    Kept,
    /// The inputs with a mark on each document that goes.
    Annotated,
}

impl WriteMode {
    /// The name that flags and reports use.
    pub fn name(self) -> &'static str {
        match self {
            WriteMode::None => "none",
            WriteMode::Ids => "ids",
            WriteMode::Kept => "kept",
            WriteMode::Annotated => "annotated",
        }
    }
}

/// Further forms of the list of pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairForms {
    /// `duplicates.csv`.
    pub csv: bool,
    /// `duplicates.parquet`.
    pub parquet: bool,
}

impl MethodChoice {
    /// The name that flags and reports use.
    pub fn name(&self) -> &'static str {
        match self {
            MethodChoice::Exact => "exact",
            MethodChoice::Normalized => "normalized",
            MethodChoice::SimHash { .. } => "simhash",
            MethodChoice::MinHash { .. } => "minhash",
        }
    }

    fn settings(&self) -> Value {
        match self {
            MethodChoice::Exact | MethodChoice::Normalized => json!({}),
            MethodChoice::SimHash {
                bits,
                distance,
                shingle,
                weights,
                skip_stop_words,
            } => json!({
                "bits": bits,
                "distance": distance,
                "shingle": shingle,
                "weights": weights.name(),
                "skip_stop_words": skip_stop_words,
            }),
            MethodChoice::MinHash { recall, shingle } => json!({
                "recall": recall,
                "shingle": shingle,
            }),
        }
    }
}

impl Weights {
    /// As flags and reports have it.
    pub fn name(self) -> String {
        match self {
            Weights::Frequency => "tf".into(),
            Weights::LogFrequency => "log-tf".into(),
            Weights::Top(features) => format!("top:{features}"),
        }
    }
}

impl Job {
    /// Everything, as `summary.json` and the work directory have it.
    pub fn settings(&self) -> Value {
        json!({
            "method": self.method.name(),
            "parameters": self.method.settings(),
            "tokenizer": self.tokenizer.to_string(),
            "verification": {
                "shingle": self.verification.shingle,
                "similarity": [self.verification.thousandths, 1000],
            },
            "clusters": match self.clusters {
                ClusterRule::Star => "star",
                ClusterRule::Components => "components",
            },
            "keep": self.keep.to_string(),
            "keep_per_site": self.keep_per_site,
            "drop_all": self.drop_all,
            "reading": self.reading,
            "write": self.write.name(),
            "pairs": {"csv": self.pairs.csv, "parquet": self.pairs.parquet},
        })
    }

    /// What will be done, in a sentence for people: what was chosen for them, and what to expect.
    pub fn describe(&self) -> String {
        let similarity = f64::from(self.verification.thousandths) / 1000.0;
        let verified = format!(
            "verified: {similarity} of the shingles of {} words in common",
            self.verification.shingle
        );
        match &self.method {
            MethodChoice::Exact => "the same text".to_owned(),
            MethodChoice::Normalized => "the same words".to_owned(),
            MethodChoice::SimHash {
                bits,
                distance,
                shingle,
                weights,
                skip_stop_words,
            } => format!(
                "SimHash of {bits} bits over {} ({}{}), distance at most {distance}; {verified}",
                match shingle {
                    1 => "words".to_owned(),
                    width => format!("shingles of {width} words"),
                },
                weights.name(),
                if *skip_stop_words {
                    ", no stop words"
                } else {
                    ""
                },
            ),
            MethodChoice::MinHash { recall, shingle } => {
                let bands = Bands::choose(similarity, *recall, MAX_PERMUTATIONS);
                let chosen = bands.map_or(String::new(), |bands| {
                    format!(
                        "{} bands of {} rows, expected recall {:.3} at {similarity}; ",
                        bands.bands(),
                        bands.rows(),
                        bands.expected_recall(similarity)
                    )
                });
                format!("MinHash over shingles of {shingle} words, {chosen}{verified}")
            }
        }
    }

    /// Checks what a person may have set, before anything is read.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] naming the parameter, its value and its bounds.
    pub fn check(&self) -> Result<()> {
        self.reading.check()?;
        within(
            "similarity (thousandths)",
            self.verification.thousandths,
            1,
            1000,
        )?;
        within(
            "verification shingle",
            self.verification.shingle,
            1,
            MOST_SHINGLE,
        )?;
        match &self.method {
            MethodChoice::Exact | MethodChoice::Normalized => Ok(()),
            MethodChoice::SimHash {
                bits,
                distance,
                shingle,
                weights,
                ..
            } => {
                if ![64, 128].contains(bits) {
                    return Err(refuse(format!("bits {bits}: expected 64 or 128")));
                }
                within("distance", *distance, 0, bits / 2)?;
                within("shingle", *shingle, 1, MOST_SHINGLE)?;
                match weights {
                    Weights::Top(features) => within("top", *features, 1, MOST_FEATURES),
                    _ => Ok(()),
                }
            }
            MethodChoice::MinHash { recall, shingle } => {
                if !(0.01..=0.9999).contains(recall) {
                    return Err(refuse(format!("recall {recall}: expected 0.01 to 0.9999")));
                }
                within("shingle", *shingle, 1, MOST_SHINGLE)
            }
        }
    }
}

/// Most words in a shingle.
pub const MOST_SHINGLE: usize = 100;
/// Most features of a ranking.
pub const MOST_FEATURES: usize = 1_000_000;

fn within<T: PartialOrd + Copy + std::fmt::Display>(
    name: &str,
    value: T,
    least: T,
    most: T,
) -> Result<()> {
    match (least..=most).contains(&value) {
        true => Ok(()),
        false => Err(refuse(format!(
            "{name} {value}: expected {least} to {most}"
        ))),
    }
}

fn refuse(message: String) -> Error {
    Error::new(ErrorKind::Parameter, message)
}

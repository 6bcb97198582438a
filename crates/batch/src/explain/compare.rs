//! Verdicts of all methods on two texts.

use crate::{Error, ErrorKind, Result};
use simtool_core::kernel::Level;
use simtool_core::sketch::digest;
use simtool_core::sketch::registry::Spec;
use simtool_core::sketch::{Bands, Compare, Method, Needs, Score, hashed, minhash};
use simtool_core::sketch::{Features, MAX_PERMUTATIONS};
use simtool_core::text::shingles::overlap;
use simtool_core::text::{Choice, WordSet};
use simtool_engine::methods::{self, Common};
use simtool_engine::text_words::{TextWords, WordReader};

/// The settings of the verdicts, as in a deduplication.
#[derive(Clone, Debug)]
pub struct ExplainSettings {
    /// What a word is.
    pub tokenizer: Choice,
    /// Words in a shingle.
    pub shingle: usize,
    /// The least similarity of shingle sets, in thousandths.
    pub thousandths: u32,
    /// The largest Hamming distance of fingerprints.
    pub distance: u32,
    /// Words that fingerprints leave out.
    pub stop_words: WordSet,
    /// The share of pairs with exactly the least similarity that MinHash has to find.
    pub recall: f64,
    /// Further methods, without their corpus statistics.
    pub methods: Vec<Spec>,
}

/// The verdicts on two texts, A and B.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The number of words of each.
    pub words: [usize; 2],
    /// The verdicts: equality, fingerprints, MinHash, exact similarity, further methods.
    pub verdicts: Vec<Verdict>,
}

/// The verdict of a method.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Its name, or for a further method its specification: `exact`, `normalized`, `simhash_64`,
    /// `simhash_128`, `simhash_64_shingles`, `minhash`, `jaccard`, `containment_of_a` or
    /// `containment_of_b`.
    pub method: String,
    /// The measurement.
    pub evidence: Evidence,
    /// The decision.
    pub outcome: Outcome,
}

/// A method's measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Evidence {
    /// The digests of both.
    Digests([u128; 2]),
    /// The fingerprints of both.
    Fingerprints {
        /// The fingerprints.
        bits: [u128; 2],
        /// The number of bits of each.
        width: u32,
        /// The number of different bits.
        distance: u32,
        /// The most different bits of near documents.
        most: u32,
    },
    /// Bands of MinHash.
    Bands {
        /// The number of equal bands.
        equal: usize,
        /// All bands, and the rows of each.
        bands: Bands,
    },
    /// The score of a further method.
    Score(Score),
    /// No measurement, as a document has no features for the method.
    Nothing,
    /// Shared shingles.
    Share {
        /// The number of shared shingles.
        shared: u64,
        /// The number of shingles: of both documents, or of the one that may be contained.
        all: u64,
        /// The least share of near documents, in thousandths.
        thousandths: u32,
    },
}

/// The decision that follows from a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The documents are near.
    Near,
    /// The documents are not near.
    Far,
    /// At least one of them has fewer words than this number, or no features for the method.
    TooShort(usize),
}

/// Applies every method. `level` affects the speed alone.
///
/// Sketches both texts by every method. Memory holds the hashes of all words and shingles of both.
///
/// # Errors
/// [`ErrorKind::Parameter`] for settings out of range.
pub fn compare(texts: [&[u8]; 2], settings: &ExplainSettings, level: Level) -> Result<Comparison> {
    let further = further_methods(settings, level)?;
    let needs = further.iter().map(|method| method.needs());
    // Fingerprints of 128 bits need long hashes.
    let needs = needs.fold(
        Needs {
            long: true,
            ..Needs::HASHES
        },
        Needs::and,
    );
    let mut readers = [(); 2].map(|()| WordReader::new(settings.tokenizer, needs, level));
    let [a, b] = &mut readers;
    let words = &mut [a.read(texts[0]), b.read(texts[1])];
    let mut verdicts = vec![
        equality(
            "exact",
            texts.map(digest::of_text),
            texts.iter().any(|text| text.is_empty()),
        ),
        equality(
            "normalized",
            words
                .each_ref()
                .map(|words| digest::of_words(words.hashes())),
            words.iter().any(|words| words.hashes().is_empty()),
        ),
    ];
    let fingerprints = [
        ("simhash_64", 64, Features::Words),
        ("simhash_128", 128, Features::Words),
        (
            "simhash_64_shingles",
            64,
            Features::Shingles(settings.shingle),
        ),
    ];
    for (name, width, features) in fingerprints {
        verdicts.push(fingerprint(name, width, features, words, settings, level)?);
    }
    verdicts.push(bands(words, settings)?);
    verdicts.extend(shares(words, settings));
    for (spec, method) in settings.methods.iter().zip(&further) {
        verdicts.push(score(spec, &**method, words));
    }
    Ok(Comparison {
        words: words.each_ref().map(|words| words.hashes().len()),
        verdicts,
    })
}

fn further_methods(settings: &ExplainSettings, level: Level) -> Result<Vec<Box<dyn Method>>> {
    let common = Common {
        tokenizer: settings.tokenizer,
        stop_words: &settings.stop_words,
        level,
    };
    let specs = settings.methods.iter();
    specs
        .map(|spec| methods::build_without_statistics(spec, common))
        .collect()
}

/// The verdict of a further method.
fn score(spec: &Spec, method: &dyn Method, words: &mut [TextWords<'_>; 2]) -> Verdict {
    let ([a, b], has_any) = sketches(method, words);
    let score = has_any.then(|| method.score(&a, &b));
    Verdict {
        method: spec.to_string(),
        evidence: score.map_or(Evidence::Nothing, Evidence::Score),
        outcome: score.map_or(Outcome::TooShort(1), |score| near(method.accepts(&score))),
    }
}

/// Empty documents are equal, but do not count as copies.
fn equality(method: &'static str, digests: [u128; 2], is_empty: bool) -> Verdict {
    let outcome = match is_empty {
        true => Outcome::TooShort(1),
        false => near(digests[0] == digests[1]),
    };
    Verdict {
        method: method.to_owned(),
        evidence: Evidence::Digests(digests),
        outcome,
    }
}

fn fingerprint(
    name: &'static str,
    width: u32,
    features: Features,
    words: &mut [TextWords<'_>; 2],
    settings: &ExplainSettings,
    level: Level,
) -> Result<Verdict> {
    if settings.distance > width / 2 {
        let (distance, most) = (settings.distance, width / 2);
        let message = format!("distance {distance}: expected 0 to {most}");
        return Err(Error::new(ErrorKind::Parameter, message));
    }
    let method = hashed::SimHashSettings {
        features,
        distance: settings.distance,
        stop_words: settings.stop_words.clone(),
        ..hashed::SimHashSettings::default()
    };
    let method = method.method(width, level)?;
    let (sketches, has_any) = sketches(&*method, words);
    let bits = sketches.map(|sketch| {
        let mut bytes = [0; 16];
        bytes[..sketch.len()].copy_from_slice(&sketch);
        u128::from_le_bytes(bytes)
    });
    let distance = (bits[0] ^ bits[1]).count_ones();
    Ok(Verdict {
        method: name.to_owned(),
        evidence: Evidence::Fingerprints {
            bits,
            width,
            distance,
            most: settings.distance,
        },
        outcome: if_long_enough(&*method, words, has_any, distance <= settings.distance),
    })
}

fn bands(words: &mut [TextWords<'_>; 2], settings: &ExplainSettings) -> Result<Verdict> {
    let similarity = f64::from(settings.thousandths) / 1000.0;
    let method = minhash::MinHashSettings {
        shingle: settings.shingle,
        bands: Bands::choose(similarity, settings.recall, MAX_PERMUTATIONS)?,
        least_words: None,
    };
    let method = method.method()?;
    let ([a, b], has_any) = sketches(&method, words);
    let score = method.score(&a, &b);
    let equal = match score {
        Score::Fraction(equal, _) => equal as usize,
        Score::Distance(_) => 0,
    };
    Ok(Verdict {
        method: "minhash".to_owned(),
        evidence: Evidence::Bands {
            equal,
            bands: method.bands(),
        },
        outcome: if_long_enough(&method, words, has_any, method.accepts(&score)),
    })
}

/// The sketches, and whether both documents had features.
fn sketches(method: &dyn Method, words: &mut [TextWords<'_>; 2]) -> ([Vec<u8>; 2], bool) {
    let mut has_any = true;
    let sketches = words.each_mut().map(|words| {
        let mut sketch = Vec::new();
        has_any &= words.sketch(method, &mut sketch);
        sketch
    });
    (sketches, has_any)
}

fn if_long_enough(
    method: &dyn Method,
    words: &mut [TextWords<'_>; 2],
    has_any: bool,
    is_near: bool,
) -> Outcome {
    let least = method.least_words().max(1);
    match !has_any || words.iter().any(|words| words.hashes().len() < least) {
        true => Outcome::TooShort(least),
        false => near(is_near),
    }
}

/// The exact similarity of the sets of shingles, and the share of each that is in the other.
fn shares(words: &mut [TextWords<'_>; 2], settings: &ExplainSettings) -> [Verdict; 3] {
    let [a, b] = words
        .each_mut()
        .map(|words| words.shingle_set(settings.shingle));
    let shared = overlap(a, b) as u64;
    let (of_a, of_b) = (a.len() as u64, b.len() as u64);
    let thousandths = settings.thousandths;
    let share = |method: &str, all: u64| Verdict {
        method: method.to_owned(),
        evidence: Evidence::Share {
            shared,
            all,
            thousandths,
        },
        outcome: match of_a.min(of_b) {
            0 => Outcome::TooShort(1),
            _ => near(u128::from(shared) * 1000 >= u128::from(all) * u128::from(thousandths)),
        },
    };
    [
        share("jaccard", of_a + of_b - shared),
        share("containment_of_a", of_a),
        share("containment_of_b", of_b),
    ]
}

fn near(is_near: bool) -> Outcome {
    match is_near {
        true => Outcome::Near,
        false => Outcome::Far,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use simtool_core::text::builtin_stop_words;
    use std::collections::BTreeSet;

    fn settings() -> ExplainSettings {
        ExplainSettings {
            tokenizer: Choice::Auto,
            shingle: 5,
            thousandths: 800,
            distance: 3,
            stop_words: builtin_stop_words(),
            recall: 0.99,
            methods: Vec::new(),
        }
    }

    fn outcomes(a: &str, b: &str) -> Vec<Outcome> {
        let texts = [a.as_bytes(), b.as_bytes()];
        let comparison = compare(texts, &settings(), Level::best()).unwrap();
        comparison
            .verdicts
            .iter()
            .map(|verdict| verdict.outcome)
            .collect()
    }

    fn text(words: std::ops::Range<u32>) -> String {
        words.map(|word| format!("word{word} ")).collect()
    }

    #[test]
    fn a_text_is_near_itself_and_far_from_another() {
        assert_eq!(outcomes(&text(0..50), &text(0..50)), [Outcome::Near; 9]);
        assert_eq!(outcomes(&text(0..50), &text(50..99)), [Outcome::Far; 9]);
    }

    #[test]
    fn only_normalized_ignores_case_and_punctuation() {
        let found = outcomes(&text(0..50), &text(0..50).to_uppercase().replace(' ', ", "));
        assert_eq!(found[0], Outcome::Far);
        assert_eq!(found[1..], [Outcome::Near; 8]);
    }

    #[test]
    fn short_documents_are_not_near() {
        let found = outcomes("", "");
        assert!(
            found
                .iter()
                .all(|outcome| matches!(outcome, Outcome::TooShort(_)))
        );
        let found = outcomes("one two three", "one two three");
        assert_eq!(found[..2], [Outcome::Near; 2]);
        assert_eq!(found[2], Outcome::TooShort(8));
        assert_eq!(found[4..6], [Outcome::TooShort(5); 2]);
        assert_eq!(found[6..], [Outcome::Near; 3]);
    }

    #[test]
    fn stop_words_alone_have_no_fingerprint() {
        let text = "the of and to in is that it";
        assert_eq!(outcomes(text, text)[2], Outcome::TooShort(8));
        let settings = ExplainSettings {
            stop_words: WordSet::default(),
            ..settings()
        };
        let texts = [text.as_bytes(); 2];
        let comparison = compare(texts, &settings, Level::best()).unwrap();
        assert_eq!(comparison.verdicts[2].outcome, Outcome::Near);
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let spoils: [fn(&mut ExplainSettings); 3] = [
            |settings| settings.distance = 33,
            |settings| settings.shingle = 0,
            |settings| settings.recall = 1.0,
        ];
        for spoil in spoils {
            let mut settings = settings();
            spoil(&mut settings);
            let error = compare([b"a", b"b"], &settings, Level::best()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parameter);
        }
    }

    proptest! {
        #[test]
        fn shares_are_those_of_sets_of_words(
            a in prop::collection::vec(0u32..9, 1..40),
            b in prop::collection::vec(0u32..9, 1..40),
            width in 1usize..6,
        ) {
            let text = |words: &[u32]| -> String {
                words.iter().map(|word| format!("w{word} ")).collect()
            };
            let set = |words: &[u32]| -> BTreeSet<Vec<u32>> {
                words.windows(width.min(words.len())).map(<[u32]>::to_vec).collect()
            };
            let settings = ExplainSettings { shingle: width, ..settings() };
            let texts = [text(&a), text(&b)];
            let found = compare([texts[0].as_bytes(), texts[1].as_bytes()], &settings, Level::best());
            let (a, b) = (set(&a), set(&b));
            let shared = a.intersection(&b).count() as u64;
            let sizes = [a.union(&b).count(), a.len(), b.len()];
            for (verdict, all) in found.unwrap().verdicts[6..].iter().zip(sizes) {
                let all = all as u64;
                let expected = Evidence::Share { shared, all, thousandths: 800 };
                prop_assert_eq!(verdict.evidence, expected);
                prop_assert_eq!(verdict.outcome == Outcome::Near, shared * 5 >= all * 4);
            }
        }
    }
}

//! SimHash fingerprints against their definition.

use super::*;
use crate::sketch::features::weights::log_weight;
use crate::text::Spelling;
use proptest::prelude::*;
use std::collections::BTreeMap;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128, xxh3_128_with_seed};

/// A document of few different words, as tokenized.
struct Document {
    text: String,
    short: Vec<u64>,
    long: Vec<u128>,
    spelling: Spelling,
}

impl Document {
    fn new(words: &[u16]) -> Document {
        let words: Vec<String> = words.iter().map(|word| format!("word{word}")).collect();
        Document {
            text: words.join(" ").to_uppercase(),
            short: words.iter().map(|word| xxh3_64(word.as_bytes())).collect(),
            long: words.iter().map(|word| xxh3_128(word.as_bytes())).collect(),
            spelling: words.iter().map(|word| word.as_bytes()).collect(),
        }
    }

    fn words(&self) -> TokenizedDocument<'_> {
        TokenizedDocument {
            text: self.text.as_bytes(),
            short: &self.short,
            long: &self.long,
            spelled: self.spelling.all(),
        }
    }

    /// The name of each feature and its hashed bytes, by definition.
    fn features(&self, settings: &SimHashSettings) -> Vec<(u64, Vec<u8>)> {
        let words = self.short.iter().zip(self.spelling.all().iter());
        let kept = words.filter(|(name, _)| !settings.stop_words.contains(**name));
        let kept: Vec<(u64, Vec<u8>)> = kept.map(|(name, word)| (*name, word.to_vec())).collect();
        let shingle = |words: &[(u64, Vec<u8>)]| {
            let bytes: Vec<u8> = words
                .iter()
                .flat_map(|(word, _)| word.to_le_bytes())
                .collect();
            (xxh3_64(&bytes), bytes)
        };
        let characters: Vec<u8> = self.spelling.all().iter().collect::<Vec<_>>().concat();
        match settings.features {
            Features::Words => kept,
            Features::Shingles(_) if kept.is_empty() => Vec::new(),
            Features::Shingles(width) => kept.windows(width.min(kept.len())).map(shingle).collect(),
            Features::Characters(_) if characters.is_empty() => Vec::new(),
            Features::Characters(width) => {
                let runs = characters.windows(width.min(characters.len()));
                runs.map(|run| (xxh3_64(run), run.to_vec())).collect()
            }
        }
    }
}

/// The hash of a feature, as two numbers.
fn hash(bytes: &[u8], width: u32) -> Bits {
    match width {
        32 => [u128::from(xxh3_64(bytes) as u32), 0],
        64 => [xxh3_64(bytes).into(), 0],
        128 => [xxh3_128(bytes), 0],
        _ => [0, 1].map(|seed| xxh3_128_with_seed(bytes, seed)),
    }
}

/// The fingerprint by its definition; `None` without features.
fn definition(settings: &SimHashSettings, width: u32, document: &Document) -> Option<Vec<u8>> {
    let mut counts = BTreeMap::new();
    for (name, bytes) in document.features(settings) {
        *counts.entry((name, hash(&bytes, width))).or_insert(0_u64) += 1;
    }
    let weight = |name: u64, count: u64| match &settings.weights {
        Weights::Tf => i128::from(count),
        Weights::LogTf => log_weight(count).into(),
        Weights::TfIdf(idf) => i128::from(count) * i128::from(idf.weight(name)),
        Weights::Once => 1,
        Weights::Top(set) if set.contains(name) => count.into(),
        Weights::Top(_) => 0,
    };
    let weighted = counts
        .iter()
        .map(|(&(name, feature), &count)| (feature, weight(name, count)));
    let weighted: Vec<_> = weighted.filter(|&(_, weight)| weight > 0).collect();
    let bit = |column: u32| {
        let signed = weighted.iter().map(|&(feature, weight)| {
            match feature[column as usize / 128] >> (column % 128) & 1 {
                1 => weight,
                _ => -weight,
            }
        });
        u8::from(signed.sum::<i128>() > 0)
    };
    let byte = |start: u32| (0..8).map(|place| bit(start + place) << place).sum();
    (!weighted.is_empty()).then(|| (0..width).step_by(8).map(byte).collect())
}

const WIDTHS: [u32; 4] = [32, 64, 128, 256];

fn check(settings: &SimHashSettings, document: &Document) {
    for (width, level) in WIDTHS
        .into_iter()
        .flat_map(|width| Level::available().map(move |level| (width, level)))
    {
        let method = settings.clone().method(width, level).unwrap();
        let expected = definition(settings, width, document);
        let (mut out, mut scratch) = (vec![7], SketchScratch::default());
        for _ in 0..2 {
            let found = method.sketch(document.words(), &mut scratch, &mut out);
            assert_eq!(found, expected.is_some());
        }
        let bytes = width as usize / 8;
        let expected = expected.unwrap_or(vec![0; bytes]);
        assert_eq!(
            out,
            [&[7], &expected[..], &expected].concat(),
            "{settings:?}, {width}, {level}"
        );
        assert_eq!(method.sketch_bytes(), Some(bytes));
    }
}

fn features() -> impl Strategy<Value = Features> {
    prop_oneof![
        Just(Features::Words),
        (1usize..7).prop_map(Features::Shingles),
        (1usize..12).prop_map(Features::Characters)
    ]
}

/// Two thirds of the features of a document.
fn two_thirds(features: Features, document: &Document) -> WordSet {
    let settings = SimHashSettings {
        features,
        ..SimHashSettings::default()
    };
    let names = document
        .features(&settings)
        .into_iter()
        .map(|(name, _)| name);
    WordSet::new(names.filter(|name| name % 3 > 0))
}

/// Document frequencies of some of its features, and of others.
fn idf(document: &Document, features: Features) -> Idf {
    let settings = SimHashSettings {
        features,
        ..SimHashSettings::default()
    };
    let names = document.features(&settings).into_iter();
    let counted = names.filter(|(name, _)| name % 4 > 0);
    let counts = counted.map(|(name, _)| (name, 1 + name % 1000));
    Idf::new(&Frequencies::new(1000, counts.chain([(7, 3)])))
}

proptest! {
    #[test]
    fn fingerprints_are_the_definition(
        words in prop::collection::vec(0u16..60, 0..300),
        features in features(),
        stop in prop::collection::vec(0u16..60, 0..20),
        weights in 0..5,
    ) {
        let document = Document::new(&words);
        let counted = !matches!(features, Features::Characters(_));
        let settings = SimHashSettings {
            features,
            weights: match weights {
                0 => Weights::Tf,
                1 => Weights::LogTf,
                3 if counted => Weights::TfIdf(idf(&document, features)),
                4 if counted => Weights::Top(two_thirds(features, &document)),
                _ => Weights::Once,
            },
            stop_words: WordSet::new(Document::new(&stop).short),
            ..SimHashSettings::default()
        };
        check(&settings, &document);
    }

    #[test]
    fn scores_are_distances(a in prop::collection::vec(any::<u8>(), 32), b in prop::collection::vec(any::<u8>(), 32), distance in 0u32..64) {
        for width in WIDTHS {
            let settings = SimHashSettings { distance, ..SimHashSettings::default() };
            let method = settings.method(width, Level::best()).unwrap();
            let bytes = width as usize / 8;
            let differing = (0..bytes).map(|place| (a[place] ^ b[place]).count_ones()).sum();
            let score = method.score(&a[..bytes], &b[..bytes]);
            prop_assert_eq!(score, Score::Distance(differing));
            prop_assert_eq!(method.accepts(&score), differing <= distance);
        }
    }
}

#[test]
fn a_threshold_as_wide_as_the_fingerprint_is_one_key() {
    for distance in [64, 65, u32::MAX] {
        let method = SimHashSettings {
            distance,
            ..SimHashSettings::default()
        }
        .method(64, Level::best())
        .unwrap();
        for sketch in [[0; 8], [255; 8]] {
            let mut keys = Vec::new();
            method.keys(&sketch, &mut |key| keys.push(key));
            assert_eq!(keys, [0]);
        }
    }
}

#[test]
fn sparse_blocks_differ_by_their_place() {
    let method = SimHashSettings {
        distance: 63,
        ..SimHashSettings::default()
    }
    .method(64, Level::best())
    .unwrap();
    let mut keys = Vec::new();
    method.keys(&[0; 8], &mut |key| keys.push(key));
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 64);
}

#[test]
fn documents_without_features_are_flagged() {
    let stop_words = WordSet::new(Document::new(&[1]).short);
    for features in [Features::Words, Features::Shingles(3)] {
        for weights in [
            Weights::Tf,
            Weights::LogTf,
            Weights::Once,
            Weights::TfIdf(Idf::new(&Frequencies::default())),
            Weights::Top(WordSet::default()),
        ] {
            let settings = SimHashSettings {
                features,
                weights,
                stop_words: stop_words.clone(),
                ..SimHashSettings::default()
            };
            let method = settings.clone().method(64, Level::best()).unwrap();
            for words in [&[][..], &[1, 1, 1, 1]] {
                let mut out = Vec::new();
                assert!(!method.sketch(
                    Document::new(words).words(),
                    &mut SketchScratch::default(),
                    &mut out
                ));
                assert_eq!(out, [0; 8]);
                check(&settings, &Document::new(words));
            }
        }
    }
}

#[test]
fn long_documents() {
    let words: Vec<u16> = (0..20_000u32).map(|i| (i * i % 997) as u16).collect();
    for weights in [Weights::Tf, Weights::LogTf, Weights::Once] {
        check(
            &SimHashSettings {
                weights,
                ..SimHashSettings::default()
            },
            &Document::new(&words),
        );
    }
}

#[test]
fn known_values() {
    // xxh3 of the empty string and of "a", from the reference implementation.
    assert_eq!(xxh3_64(b""), 0x2d06_8005_38d3_94c2);
    assert_eq!(xxh3_64(b"a"), 0xe6c6_32b6_1e96_4e1f);
    assert_eq!(xxh3_128(b"a"), 0xa96f_af70_5af1_6834_e6c6_32b6_1e96_4e1f);
    let (short, long) = ([xxh3_64(b"a")], [xxh3_128(b"a")]);
    let sketch = |features, width: u32| {
        let settings = SimHashSettings {
            features,
            ..SimHashSettings::default()
        };
        let method = settings.method(width, Level::best()).unwrap();
        let mut out = Vec::new();
        let words = TokenizedDocument {
            short: &short,
            long: &long,
            ..TokenizedDocument::default()
        };
        assert!(method.sketch(words, &mut SketchScratch::default(), &mut out));
        out.resize(16, 0);
        u128::from_le_bytes(out.try_into().unwrap())
    };
    assert_eq!(sketch(Features::Words, 64), short[0].into());
    assert_eq!(sketch(Features::Words, 128), long[0]);
    assert_eq!(
        sketch(Features::Shingles(5), 64),
        xxh3_64(&short[0].to_le_bytes()).into()
    );
}

#[test]
fn what_is_needed_and_what_is_too_short() {
    let method = |features, width, least_words| {
        let settings = SimHashSettings {
            features,
            least_words,
            ..SimHashSettings::default()
        };
        settings.method(width, Level::best()).unwrap()
    };
    assert!(method(Features::Words, 128, None).needs().long);
    assert!(method(Features::Words, 256, None).needs().spelled);
    assert!(!method(Features::Characters(9), 256, None).needs().short);
    assert_eq!(method(Features::Words, 32, None).needs(), Needs::HASHES);
    assert!(!method(Features::Words, 64, None).needs().long);
    assert!(!method(Features::Shingles(3), 128, None).needs().long);
    assert_eq!(method(Features::Words, 64, None).least_words(), 8);
    assert_eq!(method(Features::Shingles(5), 64, None).least_words(), 5);
    assert_eq!(
        method(Features::Shingles(5), 64, Some(20)).least_words(),
        20
    );
    let parameters = method(Features::Shingles(5), 64, None).parameters();
    assert!(parameters.contains(&("features", "shingles of 5 words".to_owned())));
    assert!(parameters.contains(&("stop_words", "none".to_owned())));
}

#[test]
fn refused_parameters() {
    let message = |features, width| {
        let settings = SimHashSettings {
            features,
            ..SimHashSettings::default()
        };
        let error = settings.method(width, Level::best()).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Parameter);
        error.to_string()
    };
    assert_eq!(
        message(Features::Words, 96),
        "SimHash of 96 bits: expected 32, 64, 128 or 256"
    );
    assert_eq!(
        message(Features::Shingles(0), 64),
        "shingles of 0 words: expected at least 1"
    );
    assert_eq!(
        message(Features::Characters(0), 64),
        "shingles of 0 characters: expected at least 1"
    );
}

#[test]
fn what_is_counted_ahead() {
    for (unit, wanted) in [
        ("words", FeatureUnit::Words),
        ("characters", FeatureUnit::Characters),
    ] {
        for (weights, documents) in [("top", false), ("tf-idf", true)] {
            let text = format!("simhash:unit={unit},features=2,weights={weights}");
            let spec = crate::sketch::registry::Spec::parse(&text).unwrap();
            let counts = spec.required_counts();
            let [count] = &counts[..] else {
                panic!("{spec} counts {counts:?}")
            };
            assert_eq!((count.unit, count.documents), (wanted, documents));
            assert_eq!(count.shingle, 2);
            assert_eq!(count.skip_stop_words, unit == "words");
        }
    }
}

/// Characters are counted by the hashes of the character tokenizer.
#[test]
fn runs_of_characters_are_found_among_the_counted() {
    use crate::text::{Choice, Tokenizer, WordHashes};
    let text = "A bİ中 c".as_bytes();
    let mut hashes = WordHashes::default();
    Tokenizer::new(Choice::Chars, Level::best()).hash_words(text, false, &mut hashes);
    for width in [1, 2, 3] {
        let mut names = hashes.short.clone();
        if width > 1 {
            crate::text::shingles::shingles(&hashes.short, width, &mut names);
        }
        let sketch = |weights| {
            let settings = SimHashSettings {
                features: Features::Characters(width),
                weights,
                ..SimHashSettings::default()
            };
            let method = settings.method(64, Level::best()).unwrap();
            let document = TokenizedDocument {
                text,
                ..TokenizedDocument::default()
            };
            let mut out = Vec::new();
            let found = method.sketch(document, &mut SketchScratch::default(), &mut out);
            found.then_some(out)
        };
        let all = WordSet::new(names.iter().copied());
        assert_eq!(sketch(Weights::Top(all)), sketch(Weights::Tf));
        assert_eq!(
            sketch(Weights::Top(WordSet::new(hashes.long.iter().map(|_| 0)))),
            None
        );
        let everywhere = names.iter().map(|name| (*name, 1000));
        let idf = Idf::new(&Frequencies::new(1000, everywhere));
        assert_eq!(sketch(Weights::TfIdf(idf)), None);
        let rest = names.iter().skip(1).map(|name| (*name, 1000));
        let first = Idf::new(&Frequencies::new(1000, rest));
        let only = WordSet::new([names[0]]);
        assert_eq!(sketch(Weights::TfIdf(first)), sketch(Weights::Top(only)));
    }
}

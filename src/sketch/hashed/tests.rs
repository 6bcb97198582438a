use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// A document of few different words, and what the tokenizer would make of it.
struct Document {
    short: Vec<u64>,
    long: Vec<u128>,
}

impl Document {
    fn new(words: &[u16]) -> Document {
        let word = |word: &u16| format!("word{word}");
        Document {
            short: words.iter().map(|w| xxh3_64(word(w).as_bytes())).collect(),
            long: words.iter().map(|w| xxh3_128(word(w).as_bytes())).collect(),
        }
    }

    fn words(&self) -> View<'_> {
        View {
            short: &self.short,
            long: &self.long,
            ..View::default()
        }
    }

    fn without(&self, stop: &WordSet) -> Document {
        let kept = |place: &usize| !stop.contains(self.short[*place]);
        let kept: Vec<usize> = (0..self.short.len()).filter(kept).collect();
        Document {
            short: kept.iter().map(|&place| self.short[place]).collect(),
            long: kept.iter().map(|&place| self.long[place]).collect(),
        }
    }

    /// The 64-bit hash and the hash of each feature, by its definition.
    fn features(&self, settings: &Settings, width: u32) -> Vec<(u64, u128)> {
        let document = self.without(&settings.stop_words);
        let named = |short: u64, long: u128| (short, if width == 64 { short.into() } else { long });
        let shingle = |words: &[u64]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            named(xxh3_64(&bytes), xxh3_128(&bytes))
        };
        let (short, long) = (&document.short, &document.long);
        match settings.features {
            Features::Words => short
                .iter()
                .zip(long)
                .map(|(&short, &long)| named(short, long))
                .collect(),
            Features::Shingles(_) if short.is_empty() => Vec::new(),
            Features::Shingles(length) => short
                .windows(length.min(short.len()))
                .map(shingle)
                .collect(),
        }
    }
}

/// The fingerprint by its definition; none without features.
fn definition(settings: &Settings, width: u32, document: &Document) -> Option<u128> {
    let mut counts = BTreeMap::new();
    for feature in document.features(settings, width) {
        *counts.entry(feature).or_insert(0_u64) += 1;
    }
    let weight = |name: u64, count: u64| match &settings.weights {
        Weights::Tf => i128::from(count),
        Weights::LogTf => log_weight(count).into(),
        Weights::Top(set) if set.contains(name) => count.into(),
        Weights::Top(_) => 0,
    };
    let weighted = counts
        .iter()
        .map(|(&(name, feature), &count)| (feature, weight(name, count)));
    let weighted: Vec<_> = weighted.filter(|&(_, weight)| weight > 0).collect();
    let bit = |column: u32| {
        let signed = weighted
            .iter()
            .map(|&(feature, weight)| match feature >> column & 1 {
                1 => weight,
                _ => -weight,
            });
        u128::from(signed.sum::<i128>() > 0) << column
    };
    (!weighted.is_empty()).then(|| (0..width).map(bit).fold(0, |all, bit| all | bit))
}

fn check(settings: &Settings, document: &Document) {
    for (width, level) in [64, 128]
        .into_iter()
        .flat_map(|width| Level::available().map(move |level| (width, level)))
    {
        let method = settings.clone().method(width, level).unwrap();
        let expected = definition(settings, width, document);
        let (mut out, mut scratch) = (vec![7], Scratch::default());
        for _ in 0..2 {
            let found = method.sketch(document.words(), &mut scratch, &mut out);
            assert_eq!(found, expected.is_some());
        }
        let bytes = width as usize / 8;
        let expected = &expected.unwrap_or_default().to_le_bytes()[..bytes];
        assert_eq!(
            out,
            [&[7], expected, expected].concat(),
            "{settings:?}, {width}, {level}"
        );
        assert_eq!(method.sketch_bytes(), Some(bytes));
    }
}

fn features() -> impl Strategy<Value = Features> {
    prop_oneof![
        Just(Features::Words),
        (1usize..7).prop_map(Features::Shingles)
    ]
}

/// Two thirds of the features of a document.
fn top(features: Features, document: &Document) -> WordSet {
    let settings = Settings {
        features,
        ..Settings::default()
    };
    let names = document
        .features(&settings, 64)
        .into_iter()
        .map(|(name, _)| name);
    WordSet::new(names.filter(|name| name % 3 > 0))
}

proptest! {
    #[test]
    fn fingerprints_are_the_definition(
        words in prop::collection::vec(0u16..60, 0..300),
        features in features(),
        stop in prop::collection::vec(0u16..60, 0..20),
        weights in 0..3,
    ) {
        let document = Document::new(&words);
        let settings = Settings {
            features,
            weights: match weights {
                0 => Weights::Tf,
                1 => Weights::LogTf,
                _ => Weights::Top(top(features, &document)),
            },
            stop_words: WordSet::new(Document::new(&stop).short),
            ..Settings::default()
        };
        check(&settings, &document);
    }

    #[test]
    fn near_fingerprints_share_a_key(
        a in any::<u128>(),
        flips in prop::collection::vec(0u32..128, 0..20),
        distance in 0u32..20,
    ) {
        for width in [64, 128] {
            let settings = Settings { distance, ..Settings::default() };
            let method = settings.method(width, Level::best()).unwrap();
            let b = flips.iter().fold(a, |b, flip| b ^ 1 << (flip % width));
            let sketch = |bits: u128| bits.to_le_bytes()[..width as usize / 8].to_vec();
            let keys = |bits| {
                let mut keys = Vec::new();
                method.keys(&sketch(bits), &mut |key| keys.push(key));
                keys
            };
            let differing = ((a ^ b) & (u128::MAX >> (128 - width))).count_ones();
            let score = method.score(&sketch(a), &sketch(b));
            prop_assert_eq!(score, Score::Distance(differing));
            prop_assert_eq!(method.accepts(&score), differing <= distance);
            prop_assert_eq!(keys(a).len(), distance as usize + 1);
            if differing <= distance {
                prop_assert!(keys(a).iter().zip(keys(b)).any(|(a, b)| *a == b));
            }
        }
    }
}

#[test]
fn a_threshold_as_wide_as_the_fingerprint_is_one_key() {
    for distance in [64, 65, u32::MAX] {
        let method = Settings {
            distance,
            ..Settings::default()
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
    let method = Settings {
        distance: 63,
        ..Settings::default()
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
            Weights::Top(WordSet::default()),
        ] {
            let settings = Settings {
                features,
                weights,
                stop_words: stop_words.clone(),
                ..Settings::default()
            };
            let method = settings.clone().method(64, Level::best()).unwrap();
            for words in [&[][..], &[1, 1, 1, 1]] {
                let mut out = Vec::new();
                assert!(!method.sketch(
                    Document::new(words).words(),
                    &mut Scratch::default(),
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
    for weights in [Weights::Tf, Weights::LogTf] {
        check(
            &Settings {
                weights,
                ..Settings::default()
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
        let settings = Settings {
            features,
            ..Settings::default()
        };
        let method = settings.method(width, Level::best()).unwrap();
        let mut out = Vec::new();
        let words = View {
            short: &short,
            long: &long,
            ..View::default()
        };
        assert!(method.sketch(words, &mut Scratch::default(), &mut out));
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
        let settings = Settings {
            features,
            least_words,
            ..Settings::default()
        };
        settings.method(width, Level::best()).unwrap()
    };
    assert!(method(Features::Words, 128, None).needs().long);
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
        let settings = Settings {
            features,
            ..Settings::default()
        };
        let error = settings.method(width, Level::best()).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Parameter);
        error.to_string()
    };
    assert_eq!(
        message(Features::Words, 96),
        "SimHash of 96 bits: expected 64 or 128"
    );
    assert_eq!(
        message(Features::Shingles(0), 64),
        "shingles of 0 words: expected at least 1"
    );
}

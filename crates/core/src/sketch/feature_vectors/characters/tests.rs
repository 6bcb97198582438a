//! Vectors against their definition, and bounds against all pairs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use proptest::prelude::*;

use super::component::MAX_WEIGHT;
use super::positions::{IGNORED, MAPPED, common, feature, gbk, mapped};
use super::*;
use crate::kernel::Level;
use crate::sketch::registry::{SHARE_DENOMINATOR, Spec};
use crate::sketch::testing::{self, keys};
use crate::text::{Choice, Tokenizer, WordHashes, WordSet, builtin_stop_words};
use crate::vocabulary::Frequencies;

/// Of 100 documents, 90 have 的, 3 have 中, and one has each other character.
fn frequencies() -> Frequencies {
    Frequencies::new(
        100,
        [(feature('的'), 90), (feature('中'), 3), (feature('A'), 50)],
    )
}

fn method(spec: &str) -> Box<dyn Method> {
    let stop_words = builtin_stop_words();
    let context = testing::context(&stop_words);
    let spec = Spec::parse(spec).unwrap();
    spec.build(&context, &[frequencies()]).unwrap()
}

/// The method of a variant with one more setting; built once, since its tables are slow to build.
fn shared(spec: &str, setting: &str) -> &'static dyn Method {
    static METHODS: OnceLock<BTreeMap<String, Box<dyn Method>>> = OnceLock::new();
    let name = |spec: &str, setting: &str| {
        let mark = if spec.contains(':') { ',' } else { ':' };
        format!("{spec}{mark}{setting}")
    };
    let methods = METHODS.get_or_init(|| {
        let settings = LEAST
            .iter()
            .map(|(_, text)| *text)
            .chain(["weights=tf-idf", "stop-words=skip"]);
        let names = settings.flat_map(|setting| VARIANTS.map(|(_, spec)| name(spec, setting)));
        names.map(|name| (name.clone(), method(&name))).collect()
    });
    &*methods[&name(spec, setting)]
}

/// In hundredths.
const LEAST: [(u128, &str); 4] = [
    (100, "similarity=1"),
    (90, "similarity=0.9"),
    (50, "similarity=0.5"),
    (10, "similarity=0.1"),
];

fn sketch(method: &dyn Method, scratch: &mut SketchScratch, text: &[u8]) -> Vec<u8> {
    let view = TokenizedDocument {
        text,
        ..TokenizedDocument::default()
    };
    let mut out = vec![7];
    let any = method.sketch(view, scratch, &mut out);
    assert_eq!(any, out.len() > 1);
    out.split_off(1)
}

/// The positions of a character by the definition.
fn positions(variant: &str, character: char) -> Vec<u16> {
    if character.is_whitespace() || character == '\u{fffd}' {
        return Vec::new();
    }
    let code = |character: char| {
        let text = character.to_string();
        let (bytes, _, failed) = encoding_rs::GBK.encode(&text);
        let code = bytes
            .iter()
            .fold(0, |code, byte| code << 8 | u16::from(*byte));
        (!failed).then_some(code)
    };
    match variant {
        "characters" => common(character).into_iter().collect(),
        "character-codes" => code(character).map(mapped).into_iter().collect(),
        _ => character
            .encode_utf16(&mut [0; 2])
            .iter()
            .map(|unit| mapped(*unit))
            .collect(),
    }
}

/// The vector by its definition.
fn vector(variant: &str, text: &[u8], weigh: &dyn Fn(char) -> u64) -> BTreeMap<u16, u128> {
    let mut vector = BTreeMap::new();
    for character in text.utf8_chunks().flat_map(|chunk| chunk.valid().chars()) {
        for position in positions(variant, character) {
            *vector.entry(position).or_default() += u128::from(weigh(character));
        }
    }
    vector.retain(|_, weight| *weight > 0);
    vector
}

fn coefficient(a: &BTreeMap<u16, u128>, b: &BTreeMap<u16, u128>) -> (u128, u128) {
    let square = |v: &BTreeMap<u16, u128>| v.values().map(|weight| weight * weight).sum::<u128>();
    let both = a
        .iter()
        .map(|(position, weight)| weight * b.get(position).unwrap_or(&0));
    let both: u128 = both.sum();
    (both, square(a) + square(b) - both)
}

const VARIANTS: [(&str, &str); 3] = [
    ("characters", "characters"),
    ("character-codes", "character-codes"),
    ("utf-16", "character-codes:code=utf-16"),
];

/// Bytes that are mostly Chinese, with pairs of which one is an edit of the other.
fn pairs() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let text = "([的中国人民大学在是a-zA \u{3000}😀\u{fffd}é龘]{0,60}|[一-龥]{0,80})";
    let part = prop_oneof![
        4 => text.prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ];
    (part.clone(), part.clone(), part, any::<bool>()).prop_map(|(a, b, c, edited)| match edited {
        true => ([&a[..], &a, &a, &b].concat(), [&a[..], &c, &a, &a].concat()),
        false => (a, b),
    })
}

proptest! {
    #[test]
    fn scores_are_the_definition((a, b) in pairs(), (least, setting) in prop::sample::select(&LEAST)) {
        let scratch = &mut SketchScratch::default();
        for (variant, spec) in VARIANTS {
            let method = shared(spec, setting);
            let sketches = [&a, &b].map(|text| sketch(method, scratch, text));
            let vectors = [&a, &b].map(|text| vector(variant, text, &|_| 1));
            for (sketch, vector) in sketches.iter().zip(&vectors) {
                let mut weights: Vec<u128> = vector.values().copied().collect();
                weights.sort_unstable();
                let mut found: Vec<u128> = components(sketch).map(|c| c.weight.into()).collect();
                found.sort_unstable();
                prop_assert_eq!(found, weights);
                prop_assert!(components(sketch).map(|component| component.rank).is_sorted_by(|a, b| a < b));
            }
            let (part, whole) = coefficient(&vectors[0], &vectors[1]);
            let score = method.score(&sketches[0], &sketches[1]);
            prop_assert_eq!(score, Score::Fraction(part as u64, whole as u64));
            prop_assert_eq!(score, method.score(&sketches[1], &sketches[0]));
            let near = whole > 0 && part * 100 >= least * whole;
            prop_assert_eq!(method.accepts(&score), near);
            if near {
                let [a, b] = sketches.map(|sketch| keys(method, &sketch));
                prop_assert!(!a.is_disjoint(&b), "{score}");
            }
        }
    }

    #[test]
    fn weighted_scores_are_the_definition((a, b) in pairs()) {
        let known = frequencies();
        let idf = |character: char| {
            let documents = known.get(feature(character)).unwrap_or(1);
            let log = |count: u64| (((count as f64).log2()) * 65536.0).floor() as u64;
            log(100) - log(documents)
        };
        let scratch = &mut SketchScratch::default();
        for (variant, spec) in VARIANTS {
            let method = shared(spec, "weights=tf-idf");
            let sketches = [&a, &b].map(|text| sketch(method, scratch, text));
            let vectors = [&a, &b].map(|text| vector(variant, text, &idf));
            let (part, whole) = coefficient(&vectors[0], &vectors[1]);
            let score = method.score(&sketches[0], &sketches[1]);
            prop_assert_eq!(score, Score::share(part, whole));
            if method.accepts(&score) {
                let [a, b] = sketches.map(|sketch| keys(method, &sketch));
                prop_assert!(!a.is_disjoint(&b), "{score}");
            }
        }
    }

    /// Any vectors, some of them just near enough.
    #[test]
    fn bounds_miss_nothing(
        a in prop::collection::vec((0..30u16, 1..1000u64), 1..30),
        noise in prop::collection::vec((0..30u16, 0..400u64), 0..30),
        scale in 1..40u64,
        huge in 0..30u32,
        near in any::<bool>(),
    ) {
        let mut first: BTreeMap<u16, u64> = a.into_iter().collect();
        let mut second: BTreeMap<u16, u64> = first.iter().map(|(rank, weight)| (*rank, weight * scale / 20)).collect();
        second.extend(noise.into_iter().filter(|_| near));
        let mut bytes = |vector: &mut BTreeMap<u16, u64>| {
            vector.retain(|_, weight| *weight > 0);
            let parts = vector.iter().map(|(&rank, &weight)| {
                VectorComponent { rank, weight: weight << huge }.to_bytes()
            });
            parts.collect::<Vec<_>>().concat()
        };
        let sketches = [&mut first, &mut second].map(&mut bytes);
        prop_assume!(!sketches[1].is_empty());
        let shared = product(&sketches[0], &sketches[1]);
        let whole = square(&sketches[0]) + square(&sketches[1]) - shared;
        // The highest coefficient that these two reach.
        let least = (shared * u128::from(SHARE_DENOMINATOR) / whole) as u64;
        prop_assume!(least > 0);
        for least in [least, least.div_ceil(2), 1] {
            let bounds = NormBounds::new((least, SHARE_DENOMINATOR));
            let [a, b] = sketches.clone().map(|sketch| {
                let mut keys = BTreeSet::new();
                bounds.keys(components(&sketch), &mut |key| { keys.insert(key); });
                keys
            });
            prop_assert!(!a.is_disjoint(&b));
        }
    }
}

#[test]
fn known_positions() {
    assert_eq!(gbk('啊'), Some(0xb0a1));
    assert_eq!(gbk('一'), Some(0xd2bb));
    assert_eq!(gbk('a'), Some(0x61));
    assert_eq!([gbk('é'), gbk('ø'), gbk('😀')], [Some(0xa8a6), None, None]);
    assert_eq!(
        [mapped(0xb0a1), mapped(0x4e00), mapped(0xd2bb)],
        [1954, 4, 3250]
    );
    let common: Vec<char> = ('\0'..=char::MAX)
        .filter(|&character| common(character).is_some())
        .collect();
    assert_eq!(common.len(), 3755);
    assert!(
        ['啊', '座', '的', '一']
            .iter()
            .all(|character| common.contains(character))
    );
    assert!(
        ['亍', 'a', '。', '繁', '們']
            .iter()
            .filter(|character| common.contains(character))
            .eq(['繁'].iter())
    );
    let load = |code: &dyn Fn(char) -> u16| {
        common
            .iter()
            .map(|&c| mapped(code(c)))
            .collect::<BTreeSet<_>>()
            .len()
    };
    assert_eq!(load(&|character| gbk(character).unwrap()), 752);
    assert_eq!(load(&|character| character as u16), 1776);
    assert!((0..=u16::MAX).all(|code| mapped(code) < MAPPED && mapped(code) < IGNORED));
}

#[test]
fn ranks_are_shuffled_positions() {
    for positions in [
        Positions::dictionary(),
        Positions::gbk(),
        Positions::utf_16(),
    ] {
        for unit in [u16::from(b' '), 0x3000, 0xfffd, 0x0a] {
            assert_eq!(positions.rank(unit), IGNORED);
        }
        assert!((0..=u16::MAX).all(|unit| positions.rank(unit) <= IGNORED));
    }
    // The format of sketches must never change.
    assert_eq!(Positions::gbk().rank(u16::from(b'e')), 0);
    assert_eq!(Positions::dictionary().rank('的' as u16), 0);
    assert_eq!(Positions::dictionary().rank('人' as u16), 1942);
}

/// Parts of a text end between characters, for any text.
#[test]
fn long_texts() {
    let method = method("character-codes:code=utf-16");
    let scratch = &mut SketchScratch::default();
    for padding in 0..5 {
        for unit in ["中", "😀", "aé", "\u{80}"] {
            let mut text = vec![b'x'; padding];
            text.extend(unit.repeat(3000).as_bytes());
            let expected = vector("utf-16", &text, &|_| 1);
            let found = sketch(&*method, scratch, &text);
            let sum = |weights: &mut dyn Iterator<Item = u128>| weights.sum::<u128>();
            assert_eq!(
                sum(&mut components(&found).map(|component| component.weight.into())),
                sum(&mut expected.values().copied()),
            );
        }
        // No character at all.
        let mut text = vec![b' '; padding];
        text.resize(9000, 0x80);
        assert!(sketch(&*method, scratch, &text).is_empty());
    }
}

#[test]
fn stop_words_and_nothing() {
    let scratch = &mut SketchScratch::default();
    for (_, spec) in VARIANTS {
        let skipping = shared(spec, "stop-words=skip");
        let keeping = method(spec);
        let text = "河国的人".as_bytes();
        assert_eq!(sketch(&*keeping, scratch, text).len(), 4 * 8);
        assert_eq!(sketch(skipping, scratch, text).len(), 3 * 8);
        assert!(sketch(&*keeping, scratch, b" \xff\n").is_empty());
        let empty = keeping.score(&[], &[]);
        assert!(!keeping.accepts(&empty) && keys(&*keeping, &[]).is_empty());
    }
    // The letter a is an English stop word, and stays.
    let skipping = method("character-codes:stop-words=skip");
    assert_eq!(sketch(&*skipping, scratch, b"a").len(), 8);
    let words = WordSet::new([feature('的')]);
    let mut positions = Positions::dictionary();
    positions.ignore(&words);
    assert_eq!(positions.rank('的' as u16), IGNORED);
}

/// Frequencies are those that [`FeatureUnit::Characters`] promises.
#[test]
fn features_are_words_of_the_tokenizer() {
    let text = "中A é的";
    let mut hashes = WordHashes::default();
    Tokenizer::new(Choice::Chars, Level::best()).hash_words(text.as_bytes(), false, &mut hashes);
    let expected: Vec<u64> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(feature)
        .collect();
    assert_eq!(hashes.short, expected);
}

#[test]
fn weights_stop() {
    let component = VectorComponent {
        rank: 7,
        weight: u64::MAX,
    };
    let read = VectorComponent::from_bytes(component.to_bytes());
    assert_eq!(
        read,
        VectorComponent {
            rank: 7,
            weight: MAX_WEIGHT
        }
    );
    assert_eq!(VectorComponent::from_bytes([0xff; 8]).weight, MAX_WEIGHT);
}

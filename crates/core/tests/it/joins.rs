//! Joins of sets and vectors against comparing all pairs.
//!
//! Promise (Methods and their evaluation): Searches by any method give the result …

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use simtool_core::kernel::Level;
use simtool_core::search::hamming::self_join::Watch;
use simtool_core::search::join::{NearQuery, Scratch, SketchIndex, SketchJoin, SketchSource};
use simtool_core::search::naive;
use simtool_core::sketch::registry::{MethodContext, Spec};
use simtool_core::sketch::{
    self, Compare, Feature, Method, Score, Shape, SimilarityRule, SketchList, Sketches,
    TokenizedDocument, VectorMeasure, Vectors,
};
use simtool_core::text::{Choice, Tokenizer, WordHashes, WordSet, builtin_stop_words};
use simtool_core::{Error, ErrorKind};

/// Vectors by their definition. A sketch is entries of 16 bytes: part, name, weight.
#[derive(Debug)]
struct Defined(SimilarityRule);

type Vector = BTreeMap<u64, u128>;

fn entries(sketch: &[u8]) -> impl Iterator<Item = Feature> {
    let number = |bytes: &[u8]| {
        bytes
            .iter()
            .rev()
            .fold(0, |all, byte| all << 8 | u64::from(*byte))
    };
    sketch.chunks(16).map(move |bytes| Feature {
        part: bytes[0].into(),
        name: number(&bytes[1..8]),
        weight: number(&bytes[8..]),
    })
}

fn vector(sketch: &[u8], part: u32) -> Vector {
    let own = entries(sketch).filter(|feature| feature.part == part);
    own.map(|feature| (feature.name, feature.weight.into()))
        .collect()
}

/// The similarity by a measure, as numerator and denominator.
fn share(measure: VectorMeasure, a: &Vector, b: &Vector) -> (u128, u128) {
    let both = |pair: fn(u128, u128) -> u128| -> u128 {
        let shared = a
            .iter()
            .filter_map(|(name, x)| Some(pair(*x, *b.get(name)?)));
        shared.sum()
    };
    let [of_a, of_b]: [u128; 2] = [a, b].map(|vector| vector.values().sum());
    let [square_a, square_b]: [u128; 2] =
        [a, b].map(|vector| vector.values().map(|weight| weight * weight).sum());
    let (smaller, product) = (both(u128::min), both(|x, y| x * y));
    match measure {
        VectorMeasure::Jaccard => (smaller, of_a + of_b - smaller),
        VectorMeasure::Smaller => (smaller, of_a.min(of_b)),
        VectorMeasure::Larger => (smaller, of_a.max(of_b)),
        VectorMeasure::Extended => (product, square_a + square_b - product),
    }
}

impl Compare for Defined {
    fn name(&self) -> &'static str {
        "defined"
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn shape(&self) -> Shape {
        Shape::Keys
    }

    fn sketch_bytes(&self) -> Option<usize> {
        None
    }

    fn keys(&self, _: &[u8], _: &mut dyn FnMut(u64)) {
        panic!("vectors are found without keys");
    }

    /// The proportion of similar parts.
    fn score(&self, a: &[u8], b: &[u8]) -> Score {
        let SimilarityRule {
            measure,
            least: (least, of),
            parts,
        } = self.0;
        // Parts from 256 on have no features, because the number of a part is a byte.
        let alike = (0..parts.min(256)).filter(|&part| {
            let (shared, all) = share(measure, &vector(a, part), &vector(b, part));
            all > 0 && shared * u128::from(of) >= all * u128::from(least)
        });
        Score::Fraction(alike.count() as u64, parts.into())
    }

    fn accepts(&self, score: &Score) -> bool {
        !matches!(score, Score::Fraction(0, _))
    }

    fn vectors(&self) -> Option<Vectors<'_>> {
        Some(Vectors::new(self.0, |sketch, emit| {
            entries(sketch).for_each(emit);
        }))
    }
}

/// Checks every kind of query of an index.
fn check(method: &dyn Compare, list: &SketchList, within: Range<u32>, limit: usize) {
    let sketches = list.all(method);
    let bytes: usize = sketches
        .iter()
        .map(|sketch| SketchIndex::bytes_for(method, sketch))
        .sum();
    let index = SketchIndex::build(method, sketches, bytes + 1000, Level::best()).unwrap();
    assert!(index.bytes() <= bytes + 1000);
    let all: Vec<&[u8]> = sketches.iter().collect();
    let near = |a: &&[u8], b: &&[u8]| {
        let score = method.score(a, b);
        method.accepts(&score).then_some(score)
    };
    let expected = naive::search(&all, &all, near);
    let mut scratch = Scratch::default();
    let mut found = Vec::new();
    for (position, (sketch, expected)) in (0u32..).zip(all.iter().zip(expected)) {
        let mut expected: Vec<(u32, Score)> = expected
            .into_iter()
            .map(|(score, other)| (other as u32, score))
            .collect();
        expected.sort_by_key(|near| near.0);
        let others = expected.iter().any(|near| near.0 != position);
        assert_eq!(index.any_near(sketch, Some(position), &mut scratch), others);
        let any = !expected.is_empty();
        assert_eq!(index.any_near(sketch, None, &mut scratch), any);

        index.near(sketch, 0..index.count(), &mut scratch, &mut found);
        assert_eq!(found, expected);
        expected.retain(|near| within.contains(&near.0));
        let mut portions = Vec::new();
        let mut from = within.start;
        while from < within.end {
            let within = from..within.end;
            let portion = NearQuery {
                sketch,
                within,
                limit,
            };
            index.near_batch(&[portion], &mut scratch, |_, near, next| {
                assert!(next > from && near.iter().all(|each| (from..next).contains(&each.0)));
                assert!(near.len() <= limit || next == from + 1);
                portions.extend_from_slice(near);
                from = next;
            });
        }
        assert_eq!(portions, expected);
    }
}

const MEASURES: [VectorMeasure; 4] = [
    VectorMeasure::Jaccard,
    VectorMeasure::Smaller,
    VectorMeasure::Larger,
    VectorMeasure::Extended,
];

fn rule() -> impl Strategy<Value = SimilarityRule> {
    // With very many parts, few sketches are looked at together.
    let parts = prop_oneof![4 => Just(1u32), 4 => 1u32..9, 1 => Just(20_000), 1 => Just(70_000)];
    let least = prop_oneof![1u64..=1_000_000, Just(1_000_000), Just(800_000)];
    (0..MEASURES.len(), least, parts).prop_map(|(measure, least, parts)| SimilarityRule {
        measure: MEASURES[measure],
        least: (least, 1_000_000),
        // Vectors that are compared by norms are whole sketches.
        parts: if measure == 3 { 1 } else { parts },
    })
}

/// Sketches with copies, equal and edited; `heavy` weights are as large as they can be.
fn sketches(heavy: bool) -> impl Strategy<Value = Vec<Vec<u8>>> {
    let weight = prop_oneof![
        5 => Just(1u64),
        3 => 1u64..6,
        1 => Just(if heavy { u64::from(u32::MAX) } else { 40 }),
    ];
    let name = prop_oneof![4 => 0u64..8, 4 => 0u64..60, 1 => 0u64..1 << 56];
    let entry = ((0u8..8, name), weight);
    let edit = (any::<prop::sample::Index>(), entry.clone());
    let copy = prop::collection::vec(edit, 0..3);
    let group = (
        prop::collection::vec(entry, 0..30),
        prop::collection::vec(copy, 0..5),
    );
    prop::collection::vec(group, 0..7).prop_map(|groups| {
        let mut sketches = Vec::new();
        for (entries, copies) in groups {
            let mut entries: Vec<_> = entries;
            sketches.push(bytes(&entries));
            for edits in copies {
                for (place, entry) in edits {
                    let place = place.index(entries.len() + 1);
                    entries.truncate(if place == 29 { place } else { entries.len() });
                    match entries.get_mut(place) {
                        Some(old) => *old = entry,
                        None => entries.push(entry),
                    }
                }
                sketches.push(bytes(&entries));
            }
        }
        sketches
    })
}

/// A sketch of these entries, each part and name once.
fn bytes(entries: &[((u8, u64), u64)]) -> Vec<u8> {
    let entries: BTreeMap<(u8, u64), u64> = entries.iter().copied().collect();
    let bytes = entries.into_iter().flat_map(|((part, name), weight)| {
        [name << 8 | u64::from(part), weight].map(u64::to_le_bytes)
    });
    bytes.flatten().collect()
}

/// The sketches, without features of parts that the method does not have.
fn list(method: &Defined, sketches: &[Vec<u8>]) -> SketchList {
    let mut list = SketchList::new(method);
    for sketch in sketches {
        let own = sketch
            .chunks(16)
            .filter(|bytes| u32::from(bytes[0]) < method.0.parts);
        list.push(&own.flatten().copied().collect::<Vec<u8>>());
    }
    list
}

fn range(borders: [u8; 2], count: u32) -> Range<u32> {
    let mut borders = borders.map(|border| u32::from(border) % (count + 1));
    borders.sort_unstable();
    borders[0]..borders[1]
}

proptest! {
    #[test]
    fn vectors_are_found_as_by_all_pairs(
        rule in rule(),
        sketches in any::<bool>().prop_flat_map(sketches),
        within in any::<[u8; 2]>(),
        limit in 1usize..9,
    ) {
        let method = Defined(rule);
        let within = range(within, sketches.len() as u32);
        check(&method, &list(&method, &sketches), within, limit);
    }
}

/// Ties at the threshold, and empty sketches.
#[test]
fn shares_at_the_threshold_are_near() {
    for (measure, least) in [
        (VectorMeasure::Jaccard, (2, 4)),
        (VectorMeasure::Smaller, (2, 3)),
        (VectorMeasure::Larger, (2, 3)),
        (VectorMeasure::Extended, (2, 4)),
    ] {
        let method = Defined(SimilarityRule {
            measure,
            least,
            parts: 1,
        });
        let set = |names: [u64; 3]| bytes(&names.map(|name| ((0, name), 1)));
        let sketches = [
            set([1, 2, 3]),
            set([1, 2, 4]),
            Vec::new(),
            set([1, 5, 6]),
            Vec::new(),
        ];
        let list = list(&method, &sketches);
        let index = SketchIndex::build(&method, list.all(&method), 1 << 20, Level::best()).unwrap();
        let mut found = Vec::new();
        index.near(&sketches[0], 0..5, &mut Scratch::default(), &mut found);
        assert_eq!(found.iter().map(|near| near.0).collect::<Vec<_>>(), [0, 1]);
        check(&method, &list, 0..5, 2);
    }
}

/// A portion never ends within a sketch, even if its last part alone is more than its work.
#[test]
fn parts_are_not_cut_from_their_sketch() {
    for measure in [
        VectorMeasure::Jaccard,
        VectorMeasure::Smaller,
        VectorMeasure::Larger,
    ] {
        let method = Defined(SimilarityRule {
            measure,
            least: (1, 2),
            parts: 3,
        });
        // Only the last parts are alike, by much more features than one candidate is worth; the
        // first ones have some of them.
        let sketch = |first: u64| {
            let shared = (0..400).map(|name| ((2, name), 1));
            let own = (first..first + 900).map(|name| ((0, name), 1));
            let common = (0..300).map(|name| ((0, name), 1));
            bytes(&shared.chain(own).chain(common).collect::<Vec<_>>())
        };
        let sketches = [sketch(1000), sketch(2000), sketch(3000)];
        for count in [2, 3] {
            let list = list(&method, &sketches[..count]);
            check(&method, &list, 1..count as u32, 1);
            check(&method, &list, 0..count as u32, 1);
        }
    }
}

/// A query need not be in the index; a scratch may be used for several indexes.
#[test]
fn strangers_may_ask() {
    let method = Defined(SimilarityRule {
        measure: VectorMeasure::Jaccard,
        least: (1, 2),
        parts: 1,
    });
    let set = |names: Range<u64>| bytes(&names.map(|name| ((0, name), 1)).collect::<Vec<_>>());
    let mut scratch = Scratch::default();
    for count in [1, 40, 7] {
        let sketches: Vec<Vec<u8>> = (0..count).map(|start| set(start..start + 30)).collect();
        let list = list(&method, &sketches);
        let index = SketchIndex::build(&method, list.all(&method), 1 << 20, Level::best()).unwrap();
        let mut found = Vec::new();
        // Of 30 and 35 features, 22 or more.
        index.near(&set(3..38), 0..count as u32, &mut scratch, &mut found);
        let expected: Vec<u32> = (0..count as u32).filter(|start| *start <= 16).collect();
        assert_eq!(
            found.iter().map(|near| near.0).collect::<Vec<_>>(),
            expected
        );
        assert!(!index.any_near(&set(100..130), None, &mut scratch));
        assert!(index.any_near(&set(3..38), Some(0), &mut scratch) == (count > 1));
    }
}

#[test]
fn memory_is_asked_for() {
    for (measure, message) in [
        (VectorMeasure::Smaller, "3 keys of sketches need "),
        (VectorMeasure::Extended, "1 outlines of sketches need "),
    ] {
        let method = Defined(SimilarityRule {
            measure,
            least: (1, 2),
            parts: 1,
        });
        let sketch = bytes(&[1, 2, 3].map(|name| ((0, name), 1)));
        let list = list(&method, &vec![sketch; 3]);
        let error = SketchIndex::build(&method, list.all(&method), 10, Level::best());
        let error = error.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Memory);
        assert!(error.to_string().starts_with(message), "{error}");
    }
}

/// An error of any check stops the building of an index, whatever finds its candidates.
#[test]
fn building_can_be_interrupted() {
    let stop_words = builtin_stop_words();
    let texts: Vec<String> = (0..10_000).map(|number| format!("text {number}")).collect();
    // By keys, by rare features, and by outlines.
    for spec in ["minhash", "shingles:shingle=1", "character-codes"] {
        let method = build(spec, &stop_words);
        let list = sketch_texts(&*method, &texts);
        let sketches = list.all(&*method);
        let build = |allowed: usize| {
            let calls = AtomicUsize::new(0);
            let check = || match calls.fetch_add(1, Ordering::Relaxed) < allowed {
                true => Ok(()),
                false => Err(Error::new(ErrorKind::Interrupted, "stopped")),
            };
            let built =
                SketchIndex::build_while(&*method, sketches, 1 << 30, Level::best(), &check);
            (built.err().map(|error| error.kind()), calls.into_inner())
        };
        let (error, calls) = build(usize::MAX);
        assert!(error.is_none() && calls > 1, "{spec}: {calls} checks");
        for allowed in 0..calls {
            let (error, calls) = build(allowed);
            assert_eq!(error, Some(ErrorKind::Interrupted));
            // Other threads may make another one.
            assert!(calls > allowed, "{spec}: {calls} of {allowed}");
        }
    }
}

/// Sketches of one length may have more keys than those of zeros.
#[test]
fn memory_is_enough_for_any_sketch() {
    let stop_words = builtin_stop_words();
    let text = "The cat sat on the mat, and was seen by a dog. ".repeat(9);
    let mut tokenizer = Tokenizer::new(Choice::Auto, Level::best());
    let mut words = WordHashes::default();
    tokenizer.hash_words(text.as_bytes(), true, &mut words);
    let view = TokenizedDocument {
        text: text.as_bytes(),
        short: &words.short,
        long: &words.long,
        ..TokenizedDocument::default()
    };
    for spec in [
        "exact",
        "minhash",
        "super-shingles",
        "lexicon-simhash",
        "fusion",
        "minhash and simhash",
        "simhash:distance=20 or lexicon-simhash",
    ] {
        let method = build(spec, &stop_words);
        let mut sketch = Vec::new();
        assert!(method.sketch(view, &mut sketch::SketchScratch::default(), &mut sketch));
        let all = SketchIndex::bytes_per_sketch(&*method).unwrap();
        assert!(SketchIndex::bytes_for(&*method, &sketch) <= all, "{spec}");
    }
}

/// Methods that are searched by vectors, with various thresholds.
const SPECS: [&str; 16] = [
    "shingles:shingle=2",
    "shingles:similarity=0.3,shingle=1",
    "shingles:similarity=1,shingle=1",
    "shingles:measure=containment,shingle=2",
    "shingles:measure=containment,similarity=0.2,shingle=1",
    "feature-code",
    "feature-code:length=1,similarity=0.9",
    "spot-signatures",
    "spot-signatures:similarity=0.9,least-spots=1",
    "structure-tree",
    "structure-tree:mode=subtree,similarity=0.3",
    "characters",
    "character-codes",
    "character-codes:similarity=0.2",
    "character-codes:code=utf-16,similarity=0.99",
    "shingles:shingle=1,similarity=0.5 and feature-code",
];

fn texts() -> impl Strategy<Value = Vec<String>> {
    let function = ["the ", "is ", "that ", "a "];
    let piece = prop_oneof![
        5 => (0..40u8).prop_map(|word| format!("word{word} ")),
        3 => (0..function.len()).prop_map(move |word| function[word].to_owned()),
        1 => Just("end. ".to_owned()),
        1 => Just("\n1. Head. ".to_owned()),
        1 => Just("\n\n".to_owned()),
        1 => "[\u{4e00}-\u{4e20}]{2,9}。",
    ];
    let edit = (any::<prop::sample::Index>(), "[a-z]{3,5} ");
    let copies = prop::collection::vec(prop::collection::vec(edit, 0..3), 0..4);
    let text = (prop::collection::vec(piece, 0..60), copies).prop_map(|(mut pieces, copies)| {
        let mut texts = vec![pieces.concat()];
        for edits in copies {
            for (place, word) in edits {
                let place = place.index(pieces.len() + 1);
                match pieces.get_mut(place) {
                    Some(piece) => *piece = word,
                    None => pieces.push(word),
                }
            }
            texts.push(pieces.concat());
        }
        texts
    });
    prop::collection::vec(text, 0..6).prop_map(|texts| texts.concat())
}

fn build(spec: &str, stop_words: &WordSet) -> Box<dyn Method> {
    let setting = MethodContext {
        level: Level::best(),
        tokenizer: Choice::Auto,
        stop_words,
        frequencies: None,
    };
    Spec::parse(spec).unwrap().build(&setting, &[]).unwrap()
}

/// The sketches of texts; a text without a sketch is not searched.
fn sketch_texts(method: &dyn Method, texts: &[String]) -> SketchList {
    let mut tokenizer = Tokenizer::new(Choice::Auto, Level::best());
    let (mut words, mut scratch) = (WordHashes::default(), sketch::SketchScratch::default());
    let mut list = SketchList::new(method);
    for text in texts {
        tokenizer.hash_words(text.as_bytes(), true, &mut words);
        let view = TokenizedDocument {
            text: text.as_bytes(),
            short: &words.short,
            long: &words.long,
            ..TokenizedDocument::default()
        };
        let mut sketch = Vec::new();
        if method.sketch(view, &mut scratch, &mut sketch) {
            list.push(&sketch);
        }
    }
    list
}

/// Methods whose sketches are joined, each with whether the join decides.
const JOINED: [(&str, bool); 9] = [
    ("simhash:distance=20", true),
    ("minhash:similarity=0.5", true),
    ("super-shingles", false),
    ("exact", false),
    ("simhash:distance=12 or minhash:similarity=0.5", true),
    ("minhash:similarity=0.5 or exact", false),
    ("simhash:distance=20 and minhash:similarity=0.5", false),
    ("minhash:similarity=0.5 and simhash:distance=20", false),
    ("fusion", false),
];

/// Sketches that are read a few at a time.
struct Runs<'a>(Sketches<'a>);

impl SketchSource for Runs<'_> {
    fn count(&self) -> u32 {
        self.0.count() as u32
    }

    fn for_each(
        &self,
        visit: &mut dyn FnMut(Sketches<'_>) -> simtool_core::Result<()>,
    ) -> simtool_core::Result<()> {
        let all = self.0.count();
        (0..all)
            .step_by(5)
            .try_for_each(|first| visit(self.0.range(first..all.min(first + 5))))
    }
}

struct Unwatched;

impl Watch for Unwatched {
    fn reached(&self, _: f64) -> simtool_core::Result<()> {
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Promise (Deduplication): Marking by a join misses no document that has a near one, for any
    /// memory and number of threads
    #[test]
    fn joins_find_all_texts_with_a_near_one(texts in texts()) {
        let stop_words = builtin_stop_words();
        for (spec, decides) in JOINED {
            let method = build(spec, &stop_words);
            let list = sketch_texts(&*method, &texts);
            let sketches = list.all(&*method);
            let join = SketchJoin::of(&*method).unwrap();
            assert_eq!(join.decides(), decides, "{spec}");
            let marks = join.any(&Runs(sketches), 1 << 20, Level::best(), &Unwatched).unwrap();
            let all = 0..sketches.count();
            let near = |a: usize, b: usize| {
                method.accepts(&method.score(sketches.get(a), sketches.get(b)))
            };
            for a in all.clone() {
                let expected = all.clone().any(|b| a != b && near(a, b));
                let found = marks.contains(a as u32);
                assert!(found || !expected, "{spec}: {a} is missing");
                assert!(expected || !found || !decides, "{spec}: {a} has no near one");
            }
        }
    }

    #[test]
    fn texts_are_found_as_by_all_pairs(
        texts in texts(),
        within in any::<[u8; 2]>(),
        limit in 1usize..9,
    ) {
        let stop_words = builtin_stop_words();
        for spec in SPECS {
            let method = build(spec, &stop_words);
            assert!(method.vectors().is_some());
            let list = sketch_texts(&*method, &texts);
            let within = range(within, list.all(&*method).count() as u32);
            check(&*method, &list, within, limit);
        }
    }
}

#[test]
fn methods_of_vectors_are_not_joined() {
    let stop_words = builtin_stop_words();
    for spec in ["shingles", "characters", "characters or simhash"] {
        assert!(
            SketchJoin::of(&*build(spec, &stop_words)).is_none(),
            "{spec}"
        );
    }
}

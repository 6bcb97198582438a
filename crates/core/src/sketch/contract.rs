//! Tests of the contract of [`Method`](super::Method) for every method, on documents and their
//! edited copies.
//!
//! Each method is built with its defaults, and with each parameter at the bounds of its domain, one
//! at a time.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::registry::{CountRequest, Domain, FeatureUnit, METHODS, Spec};
use super::testing::context;
use super::{Method, Shape, SketchScratch, TokenizedDocument};
use crate::ErrorKind;
use crate::kernel::Level;
use crate::text::shingles::shingles;
use crate::text::{Choice, Spelling, Tokenizer, WordHashes, WordSet, builtin_stop_words};
use crate::vocabulary::Frequencies;

/// A document, and its words and hashes.
#[derive(Debug)]
struct Document {
    text: Vec<u8>,
    hashes: WordHashes,
    words: Spelling,
}

impl Document {
    fn new(text: Vec<u8>) -> Document {
        let (mut hashes, mut words) = (WordHashes::default(), Spelling::default());
        let mut tokenizer = Tokenizer::new(Choice::Auto, Level::best());
        tokenizer.spell_words(&text, true, &mut hashes, &mut words);
        Document {
            text,
            hashes,
            words,
        }
    }

    fn view(&self) -> TokenizedDocument<'_> {
        TokenizedDocument {
            text: &self.text,
            short: &self.hashes.short,
            long: &self.hashes.long,
            spelled: self.words.all(),
        }
    }
}

/// The counts that a method requires, by definition.
fn count(wanted: CountRequest, documents: &[Document], stop: &WordSet) -> Frequencies {
    let mut counts = BTreeMap::new();
    for document in documents {
        let mut words = document.hashes.short.clone();
        if wanted.unit == FeatureUnit::Characters {
            words = characters(&document.text);
        }
        words.retain(|word| !(wanted.skip_stop_words && stop.contains(*word)));
        let mut features = Vec::new();
        match wanted.shingle {
            1 => features = words,
            width => shingles(&words, width, &mut features),
        }
        if wanted.documents {
            features.sort_unstable();
            features.dedup();
        }
        for feature in features {
            *counts.entry(feature).or_insert(0) += 1;
        }
    }
    let mut counts: Vec<(u64, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|&(feature, count)| (u64::MAX - count, feature));
    counts.truncate(wanted.most);
    Frequencies::new(documents.len() as u64, counts)
}

/// The words of [`Choice::Chars`].
fn characters(text: &[u8]) -> Vec<u64> {
    let mut hashes = WordHashes::default();
    Tokenizer::new(Choice::Chars, Level::best()).hash_words(text, false, &mut hashes);
    hashes.short
}

/// The bounds of a domain.
fn ends(domain: Domain) -> Vec<String> {
    match domain {
        Domain::Integer(least, most) => vec![least.to_string(), most.to_string()],
        Domain::Share => ["0.000001", "0.5", "1"].map(str::to_owned).to_vec(),
        Domain::Word(words) => words.iter().map(|word| (*word).to_owned()).collect(),
    }
}

/// Every method with the parameters described in [`self`].
fn specs() -> Vec<Spec> {
    let mut specs = Vec::new();
    for entry in METHODS {
        specs.push(Spec::parse(entry.name).unwrap());
        for parameter in entry.parameters {
            for value in ends(parameter.domain) {
                let text = format!("{}:{}={value}", entry.name, parameter.name);
                specs.push(Spec::parse(&text).unwrap());
            }
        }
    }
    specs.extend(COMBINED.map(|text| Spec::parse(text).unwrap()));
    specs
}

/// Methods with both kinds of score, and with sketches of fixed and of variable length.
const COMBINED: [&str; 8] = [
    "minhash and simhash:distance=12",
    "simhash and feature-code",
    "feature-code and characters:similarity=0.5",
    "mirror-2 or simhash",
    "characters or feature-code:similarity=0.1",
    "simhash:weights=tf-idf and mirror-3:weights=tf-idf or mirror-1",
    "mirror-1 or structure-tree and mirror-5:weights=tf-idf",
    "feature-code or feature-code or characters:weights=tf-idf or exact",
];

/// The method for these documents; `None` if its parameters contradict each other.
fn build(spec: &Spec, documents: &[Document], stop: &WordSet) -> Option<Box<dyn Method>> {
    let ahead = spec.required_counts().into_iter();
    let frequencies: Vec<Frequencies> =
        ahead.map(|wanted| count(wanted, documents, stop)).collect();
    match spec.build(&context(stop), &frequencies) {
        Ok(method) => Some(method),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Parameter, "{spec}");
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

/// The sketch of a document, if it has features.
fn sketch(
    method: &dyn Method,
    document: TokenizedDocument<'_>,
    scratch: &mut SketchScratch,
) -> Option<Vec<u8>> {
    let mut out = vec![1, 2, 3];
    let found = method.sketch(document, scratch, &mut out);
    assert_eq!(
        out[..3],
        [1, 2, 3],
        "{}: sketches are appended",
        method.name()
    );
    let sketch = out.split_off(3);
    if let Some(bytes) = method.sketch_bytes() {
        assert_eq!(sketch.len(), bytes, "{}", method.name());
    }
    if !found {
        assert!(sketch.iter().all(|byte| *byte == 0), "{}", method.name());
        assert!(method.sketch_bytes().is_some() || sketch.is_empty());
    }
    found.then_some(sketch)
}

fn keys(method: &dyn Method, sketch: &[u8]) -> BTreeSet<u64> {
    let mut keys = BTreeSet::new();
    method.keys(sketch, &mut |key| {
        keys.insert(key);
    });
    keys
}

/// Checks the contract for one method.
fn check(spec: &Spec, method: &dyn Method, documents: &[Document]) {
    let mut scratch = SketchScratch::default();
    let sketches = documents.iter().map(|document| {
        let found = sketch(method, document.view(), &mut scratch);
        let again = sketch(method, document.view(), &mut SketchScratch::default());
        assert_eq!(found, again, "{spec}: scratch decides nothing");
        found
    });
    let sketches: Vec<Vec<u8>> = sketches.collect::<Vec<_>>().into_iter().flatten().collect();
    let keys: Vec<BTreeSet<u64>> = sketches.iter().map(|sketch| keys(method, sketch)).collect();
    for (place, (a, keys_a)) in sketches.iter().zip(&keys).enumerate() {
        let itself = method.score(a, a);
        assert!(method.accepts(&itself), "{spec}: {itself} to itself");
        for (b, keys_b) in sketches.iter().zip(&keys).skip(place + 1) {
            let score = method.score(a, b);
            assert_eq!(score, method.score(b, a), "{spec}: symmetric");
            assert!(score >= itself, "{spec}: nothing is nearer than itself");
            if method.accepts(&score) {
                assert!(!keys_a.is_disjoint(keys_b), "{spec}: {score} without a key");
            }
        }
    }
}

/// The pieces of a text: words of several languages, and other bytes.
fn pieces() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let function = ["the ", "is ", "that ", "have ", "a ", "could ", "of "];
    let piece = prop_oneof![
        6 => (0..200u8).prop_map(|word| format!("word{word} ").into_bytes()),
        6 => (0..function.len()).prop_map(move |word| function[word].as_bytes().to_vec()),
        2 => "[A-Z][a-z]{2,9} ".prop_map(String::into_bytes),
        1 => Just(b"end. ".to_vec()),
        1 => "[\u{4e00}-\u{4e40}]{4,9}。".prop_map(String::into_bytes),
        1 => Just(b"\n\n<h1>".to_vec()),
        1 => "\\PC{1,4}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 1..4),
    ];
    prop::collection::vec(piece, 0..120)
}

/// A text and copies of it, each with a few more edits.
fn copies() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let edit = (any::<prop::sample::Index>(), 0..4, "[a-z]{3,5} ");
    let edits = prop::collection::vec(edit, 0..4);
    (pieces(), prop::collection::vec(edits, 0..4)).prop_map(|(mut pieces, rounds)| {
        let mut copies = vec![pieces.concat()];
        for round in rounds {
            for (place, kind, word) in round {
                let place = place.index(pieces.len() + 1);
                match kind {
                    0 => pieces.insert(place, word.into_bytes()),
                    1 if place < pieces.len() => pieces[place] = word.into_bytes(),
                    2 if place < pieces.len() => drop(pieces.remove(place)),
                    _ if place < pieces.len() => pieces[place].make_ascii_uppercase(),
                    _ => {}
                }
            }
            copies.push(pieces.concat());
        }
        copies
    })
}

fn documents() -> impl Strategy<Value = Vec<Document>> {
    prop::collection::vec(copies(), 1..4).prop_map(|texts| {
        let texts = texts.into_iter().flatten();
        texts.map(Document::new).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Promise (Methods and their evaluation): For every method and combination, at the limits of
    /// every parameter, on edited and hostile documents: near documents share a key, scores are
    /// symmetric, sketches depend on the document alone, and empty documents are flagged
    #[test]
    fn near_documents_share_a_key(documents in documents(), skip in any::<bool>()) {
        let stop = if skip { builtin_stop_words() } else { WordSet::default() };
        for spec in specs() {
            if let Some(method) = build(&spec, &documents, &stop) {
                check(&spec, &*method, &documents);
            }
        }
    }

    /// Promise (Methods and their evaluation): For every method and combination, at …
    #[test]
    fn hostile_bytes_are_documents(texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..400), 1..6)) {
        let documents: Vec<Document> = texts.into_iter().map(Document::new).collect();
        for spec in specs() {
            if let Some(method) = build(&spec, &documents, &WordSet::default()) {
                check(&spec, &*method, &documents);
            }
        }
    }
}

/// Every seventeenth character of GB 2312 level 1.
const HANZI: &str = "\
    啊安懊霸板蚌暴焙彼避表炳脖猜灿蹭蝉敞彻呈驰踌除窗戳匆淬呆掸蹈瞪第惦迭动独堆垛扼乏贩啡焚逢符\
    府缚感羔蛤攻苟骨关归国涵壕合亨厚护坏黄蛔昏基棘冀嘉歼拣剑酱脚街界进精炯就巨撅竣砍磕空挎亏廓\
    阑捞垒李痢敛撩猎铃瘤漏潞滤萝马漫帽寐糜娩悯抹墓氖嫩撵凝虐帕乓陪鹏僻聘粕期齐泣钳抢茄氢求圈确\
    热荣汝塞僧煽尚舍沈圣识是守书竖谁司讼肃笋踏痰唐套惕贴同徒臀瓦宛危未闻沃午硒汐霞贤限巷孝谐心\
    姓墟绪血鸦烟演杨摇也颐以义姻萤雍铀榆禹誉员月杂凿怎炸展帐折侦正职至忠帚拄拽赘咨宗纂";

/// Pseudo-random sentences, the same on every run; `edited` changes one word.
fn text(seed: u64, edited: u64) -> Vec<u8> {
    let hanzi: Vec<char> = HANZI.chars().collect();
    let mut text = String::new();
    for place in 0..600 {
        let number = xxhash_rust::xxh3::xxh3_64_with_seed(&[place as u8, (place >> 8) as u8], seed);
        let glue = ["the ", "is ", "was ", "and ", "", "", "", ""][number as usize % 8];
        let mark = if place % 12 == 0 { ".\n" } else { "" };
        let change = if place == 299 { edited } else { 0 };
        let word = 20 + (number >> 8) % 500 + change;
        text.push_str(&format!("{glue}w{word} {mark}"));
        if place % 3 == 0 {
            text.push(hanzi[(number >> 20) as usize % hanzi.len()]);
        }
    }
    text.into_bytes()
}

/// Methods that distinguish upper and lower case.
const OF_LETTERS: [&str; 5] = [
    "exact",
    "content-seen",
    "mirror-1",
    "structure-tree",
    "feature-code",
];
/// Methods that need not find a copy with one other word.
const OF_ALL_WORDS: [&str; 3] = ["exact", "normalized", "content-seen"];

/// Methods that count only characters, which are similar in all generated texts.
const OF_CHARACTERS: [&str; 2] = ["characters", "character-codes"];

/// Ensures that the other tests have pairs that methods accept.
#[test]
fn every_method_finds_lightly_edited_copies() {
    let texts = (0..20).map(|number| text(number / 2, (number % 2) * 1000));
    let mut documents: Vec<Document> = texts.map(Document::new).collect();
    documents.extend((0..10).map(|seed| {
        let text = text(seed, 0).to_ascii_uppercase();
        Document::new([&text[..], b" \n"].concat())
    }));
    let stop = builtin_stop_words();
    let names = METHODS.iter().map(|entry| entry.name);
    let names = names.filter(|name| !OF_CHARACTERS.contains(name));
    for spec in names.map(|name| Spec::parse(name).unwrap()) {
        let method = build(&spec, &documents, &stop).unwrap();
        let mut scratch = SketchScratch::default();
        let sketches: Vec<Vec<u8>> = documents
            .iter()
            .map(|document| sketch(&*method, document.view(), &mut scratch).unwrap())
            .collect();
        check(&spec, &*method, &documents);
        let near = |a: usize, b: usize| method.accepts(&method.score(&sketches[a], &sketches[b]));
        let upper = (0..10).filter(|seed| near(2 * seed, 20 + seed)).count();
        let edited = (0..10).filter(|seed| near(2 * seed, 2 * seed + 1)).count();
        let unrelated = (1..10).filter(|seed| near(0, 2 * seed)).count();
        if !OF_LETTERS.contains(&&*spec.name()) {
            assert_eq!(upper, 10, "{spec}: upper case");
        }
        if !OF_ALL_WORDS.contains(&&*spec.name()) {
            assert!(edited >= 5, "{spec}: {edited} of 10 edited copies");
        }
        assert_eq!(unrelated, 0, "{spec}: unrelated texts");
    }
}

/// Promise (Methods and their evaluation): For every method and combination, at …
#[test]
fn documents_without_anything_are_flagged() {
    let documents =
        [b"".as_slice(), b" \n\t ", b"\xff\xfe\x80"].map(|text| Document::new(text.to_vec()));
    for spec in specs() {
        let Some(method) = build(&spec, &documents, &WordSet::default()) else {
            continue;
        };
        let mut scratch = SketchScratch::default();
        assert_eq!(
            sketch(&*method, TokenizedDocument::default(), &mut scratch),
            None,
            "{spec}"
        );
        for document in &documents {
            // Some methods accept any bytes.
            let found = sketch(&*method, document.view(), &mut scratch);
            assert!(found.is_none() || !document.text.is_empty(), "{spec}");
        }
    }
}

/// Changes a sketch: a byte, the end, or everything.
fn damaged(sketch: &[u8], place: usize, bytes: &[u8]) -> Vec<u8> {
    let mut damaged = sketch.to_vec();
    let place = place % (sketch.len() + 1);
    match bytes {
        [] => damaged.truncate(place),
        [byte] if place < sketch.len() => damaged[place] = *byte,
        [_, rest @ ..] if place.is_multiple_of(2) => damaged = rest.to_vec(),
        _ => drop(damaged.splice(place..place, bytes.iter().copied())),
    }
    damaged
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Bytes for which `is_sketch` holds can be compared.
    /// Promise (The index): Bytes in place of a sketch are refused, or compared without harm
    #[test]
    fn bytes_from_a_file_are_no_sketch_or_do_no_harm(
        documents in documents(),
        damage in prop::collection::vec(
            (any::<usize>(), prop::collection::vec(any::<u8>(), 0..40)), 6,
        ),
    ) {
        let stop = WordSet::default();
        let mut scratch = SketchScratch::default();
        for spec in specs() {
            let Some(method) = build(&spec, &documents, &stop) else { continue };
            for document in &documents {
                let Some(whole) = sketch(&*method, document.view(), &mut scratch) else { continue };
                prop_assert!(method.is_sketch(&whole), "{spec}");
                for (place, bytes) in &damage {
                    let damaged = damaged(&whole, *place, bytes);
                    if !damaged.is_empty() && method.is_sketch(&damaged) {
                        method.keys(&damaged, &mut |_| {});
                        let score = method.score(&whole, &damaged);
                        method.accepts(&score);
                        method.scorer(&damaged)(&whole);
                        method.score(&damaged, &damaged);
                    }
                }
            }
        }
    }
}

#[test]
fn sketches_of_another_length_are_refused() {
    for spec in METHODS.iter().map(|entry| Spec::parse(entry.name).unwrap()) {
        let method = build(&spec, &[], &WordSet::default()).unwrap();
        let Some(bytes) = method.sketch_bytes() else {
            continue;
        };
        let keys = || method.keys(&vec![0; bytes + 1], &mut |_| {});
        assert!(
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(keys)).is_err(),
            "{spec}"
        );
        if let Shape::Bits { width, .. } = method.shape() {
            assert_eq!(bytes * 8, width as usize, "{spec}");
        }
    }
}

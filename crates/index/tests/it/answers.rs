//! The index gives the answers of a list of documents, each compared with all before it.

use super::model::{Model, Page, Tagged, entries, min_hashes, simhash};
use proptest::prelude::*;
use simtool_core::sketch::{Compare, Score};
use simtool_index::{
    Build, Entry, Evidence, Index, Layout, NearCopy, Options, Record, Standing, Verdict, rescue,
};
use std::collections::BTreeMap;
use std::sync::Arc;

const SPEC: &str = "simhash for tests";

/// Sketches that are near each other: some bits of a few patterns are flipped.
pub fn sketch(width: u32, seed: u16) -> Vec<u8> {
    if seed.is_multiple_of(23) {
        return Vec::new();
    }
    let pattern = u128::from(seed % 7).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    let flips = 1u128 << (seed / 7 % 64) | 1u128 << (seed / 320 % 8 * 13);
    let more = 1u128 << (seed / 3 % 61) | 1u128 << (seed / 11 % 59);
    let bits = match seed % 4 {
        0 => pattern,
        1 => pattern ^ flips ^ more,
        _ => pattern ^ flips,
    };
    bits.to_le_bytes()[..width as usize / 8].to_vec()
}

/// The sketches of a method by number; some are empty.
pub type Sketches = Arc<dyn Fn(u16) -> Vec<u8>>;

/// A version of the page with this id. Some have the words of others, with or without their sketch.
pub fn page(sketches: &Sketches, salt: u64, (id, version): (u8, u8), payload: &[u8]) -> Page {
    let number = salt << 16 | u64::from(id) << 8 | u64::from(version);
    let mixed = (number ^ number >> 7).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 31).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let seed = (mixed % 700) as u16;
    let digest = |number: u64| {
        u128::from(number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)
    };
    let words = match mixed >> 20 & 7 {
        0 => None,
        1..=4 => Some(digest(seed.into())),
        _ => Some(digest(1000 + (mixed >> 30 & 15))),
    };
    Page {
        id: vec![id],
        words,
        text: digest(mixed >> 40 & 1) as u64,
        sketch: sketches(seed),
        payload: payload.to_vec(),
        is_place: mixed >> 44 & 7 == 0,
        source: mixed >> 50,
        site: mixed >> 51,
        keep: vec![(mixed >> 52 & 7) as u8],
    }
}

/// Pages by id and version.
pub fn numbers(most: usize) -> impl Strategy<Value = Vec<(u8, u8)>> {
    prop::collection::vec((any::<u8>(), 0u8..4), 0..most)
}

/// SimHash, and SimHash that verifies, with their sketches.
pub fn fingerprints(width: u32, distance: u32) -> [(Arc<dyn Compare>, Sketches); 2] {
    let method = simhash(width, distance);
    let tagged = Arc::new(Tagged(method.clone()));
    [
        (method, Arc::new(move |seed| sketch(width, seed))),
        (
            tagged,
            Arc::new(move |seed| tagged_sketch(sketch(width, seed), seed)),
        ),
    ]
}

/// MinHash, and MinHash that verifies, with their sketches.
pub fn keys() -> [(Arc<dyn Compare>, Sketches); 2] {
    let (method, sketches) = min_hashes();
    let sketch = move |seed: u16| match seed % 23 {
        0 => Vec::new(),
        _ => sketches[usize::from(seed) % sketches.len()].clone(),
    };
    let tagged = Arc::new(Tagged(method.clone()));
    let plain = sketch.clone();
    [
        (method, Arc::new(plain)),
        (
            tagged,
            Arc::new(move |seed| tagged_sketch(sketch(seed), seed)),
        ),
    ]
}

fn tagged_sketch(mut sketch: Vec<u8>, seed: u16) -> Vec<u8> {
    if !sketch.is_empty() {
        sketch.push(match seed % 19 {
            0 => 255,
            _ => (seed / 5 % 12) as u8,
        });
    }
    sketch
}

pub const LABELS: [&str; 4] = ["2026-01", "2026-02", "", "a \"quoted\" label"];

#[derive(Clone, Debug)]
enum Step {
    Add(usize, Vec<(u8, u8)>),
    Ask(Vec<(u8, u8)>),
    Remove(Vec<u8>),
    RemoveDump(usize),
    Compact,
    Reopen,
    Copy,
    Rescue,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let label = || 0..LABELS.len();
    let step = prop_oneof![
        10 => (label(), numbers(40)).prop_map(|(label, pages)| Step::Add(label, pages)),
        5 => numbers(40).prop_map(Step::Ask),
        2 => prop::collection::vec(any::<u8>(), 0..30).prop_map(Step::Remove),
        2 => label().prop_map(Step::RemoveDump),
        1 => Just(Step::Compact),
        1 => Just(Step::Reopen),
        1 => Just(Step::Copy),
        1 => Just(Step::Rescue),
    ];
    prop::collection::vec(step, 1..25)
}

fn run(
    (method, sketches): &(Arc<dyn Compare>, Sketches),
    layout: Layout,
    salt: u64,
    steps: &[Step],
) {
    let temporary = tempfile::tempdir().unwrap();
    let mut directory = temporary.path().join("index");
    // Sealing after 60 documents, segments of fewer, and merging 4 of a size takes every path.
    let options = Options {
        layout,
        seal_documents: 60,
        memory_bytes: 1 << 16,
        ..Options::default()
    };
    let mut index = Index::create(&directory, method.clone(), SPEC, &options).unwrap();
    let mut model = Model::new(method.clone());
    for (number, step) in steps.iter().enumerate() {
        let pages = |numbers: &[(u8, u8)]| -> Vec<Page> {
            let payload = number.to_le_bytes();
            let pages = numbers.iter();
            pages
                .map(|number| page(sketches, salt, *number, &payload))
                .collect()
        };
        match step {
            Step::Add(label, numbers) => {
                let (pages, label) = (pages(numbers), LABELS[*label]);
                let limit = [1, 2, 5][number % 3];
                let expected = model.add_all(&pages, label, limit);
                assert_eq!(index.add(&entries(&pages), label, limit).unwrap(), expected);
            }
            Step::Ask(numbers) => {
                let mut pages = pages(numbers);
                pages.iter_mut().step_by(2).for_each(|page| page.id.clear());
                for limit in [1, 3, 1000] {
                    let queries = entries(&pages);
                    let expected = queries.iter().map(|query| model.seen(query, limit));
                    let expected: Vec<_> = expected.collect();
                    assert_eq!(index.seen(&queries, limit).unwrap(), expected);
                }
            }
            Step::Remove(ids) => {
                let ids: Vec<&[u8]> = ids.iter().map(std::slice::from_ref).collect();
                let expected: Vec<_> = ids.iter().map(|id| model.remove(id)).collect();
                assert_eq!(index.remove(&ids).unwrap(), expected);
            }
            Step::RemoveDump(label) => {
                let removed = index.remove_dump(LABELS[*label]);
                match model.remove_dump(LABELS[*label]) {
                    Some(expected) => assert_eq!(removed.unwrap(), expected),
                    None => assert!(message(removed).contains("has no dump")),
                }
                model.assert_same(&index);
            }
            Step::Compact => index.compact().unwrap(),
            Step::Reopen => {
                drop(index);
                index = Index::open(&directory, method.clone(), SPEC, &options).unwrap();
            }
            Step::Copy => {
                directory = temporary.path().join(format!("copy {number}"));
                index.copy(&directory).unwrap();
                drop(index);
                index = Index::open(&directory, method.clone(), SPEC, &options).unwrap();
            }
            Step::Rescue => {
                drop(index);
                let to = temporary.path().join(format!("rescued {number}"));
                let rescued = rescue(&directory, &to, method.clone(), SPEC, &options).unwrap();
                assert_eq!((rescued.lost, &rescued.problems[..]), (0, &[][..]));
                (index, directory) = (rescued.index, to);
                model = model.replayed();
                model.assert_same(&index);
            }
        }
    }
    model.assert_same(&index);
    drop(index);
    let read_only = Options {
        read_only: true,
        ..options
    };
    model.assert_same(&Index::open(&directory, method.clone(), SPEC, &read_only).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// Promise (The index): After any additions, removals, seals, merges and reopenings, answers
    /// equal those of a list in memory; for fingerprints and for sketches found by keys, in both
    /// layouts
    #[test]
    fn answers_are_those_of_a_list(
        steps in steps(),
        distance in 0u32..8,
        salt: u16,
        compact: bool,
        verified: bool,
    ) {
        let layout = if compact { Layout::Compact } else { Layout::Fast };
        let of = &fingerprints(64, distance)[usize::from(verified)];
        run(of, layout, salt.into(), &steps);
    }

    /// Promise (The index): After any additions, removals, seals, merges …
    #[test]
    fn wide_answers_are_those_of_a_list(steps in steps(), distance in 0u32..8, salt: u16) {
        run(&fingerprints(128, distance)[usize::from(salt % 2)], Layout::Fast, salt.into(), &steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    /// Promise (The index): After any additions, removals, seals, merges …
    #[test]
    fn answers_by_keys_are_those_of_a_list(steps in steps(), salt: u16) {
        run(&keys()[usize::from(salt % 2)], Layout::Fast, salt.into(), &steps);
    }
}

pub fn id(number: u64) -> Vec<u8> {
    format!("http://example.org/{number}").into_bytes()
}

/// Skewed like real fingerprints: many bits are nearly constant.
pub fn skewed(number: u64) -> u64 {
    let mix = |n: u64| (n ^ n >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let (a, b) = (mix(mix(number)), mix(mix(number ^ 0x5555)));
    (a & b & 0xFFFF_FFFF) | (a & 0xFFFF_0000_0000_0000) | (b & 0x0000_FF00_0000_0000)
}

/// Promise (The index): All documents within the distance are found: also for skewed fingerprints,
/// for single and for many queries, by look-ups and by scans
#[test]
fn a_built_index_finds_everything_within_the_distance() {
    let temporary = tempfile::tempdir().unwrap();
    for (layout, distance) in [(Layout::Fast, 3), (Layout::Compact, 3), (Layout::Fast, 6)] {
        let method = simhash(64, distance);
        let directory = temporary.path().join(format!("{layout:?}{distance}"));
        // With this memory, sorting needs the disk.
        let options = Options {
            layout,
            memory_bytes: 1 << 20,
            ..Options::default()
        };
        let build = Build::create(&directory, method, SPEC, &options).unwrap();
        let count = 100_000;
        let documents: Vec<_> = (0..count)
            .map(|number| (id(number), skewed(number).to_le_bytes()))
            .collect();
        let (first, rest) = documents.split_at(90_000);
        for documents in [first, rest] {
            build.index().add(&plain(documents), "", 1).unwrap();
        }
        let index = build.finish().unwrap();
        assert_eq!(index.info().recent, rest.len() as u64);
        let all: Vec<u64> = (0..count).map(skewed).collect();
        let mut standings = Vec::new();
        let visit = |_, record: &Record<'_>| {
            standings.push(record.standing);
            Ok(())
        };
        index.for_each(visit).unwrap();
        let kept: Vec<usize> = (0..all.len())
            .filter(|number| standings[*number] == Standing::Kept)
            .collect();
        assert!(kept.len() > 20_000, "{}", kept.len());
        let (kept, all) = (&kept, &all);
        let near = |value: u64| {
            let kept = kept.iter().map(|of| *of as u64);
            let kept = kept.map(move |of| (of, (all[of as usize] ^ value).count_ones()));
            kept.filter(move |(_, bits)| *bits <= distance)
        };
        // Each document is a copy of the oldest kept one near it.
        for number in (0..all.len()).step_by(199) {
            let of = near(all[number])
                .next()
                .filter(|(of, _)| *of < number as u64);
            let expected = match of {
                None => Standing::Kept,
                Some((kept, bits)) => Standing::Near(NearCopy {
                    kept,
                    score: Score::Distance(bits),
                    similarity: None,
                }),
            };
            assert_eq!(standings[number], expected, "{number}");
        }
        for number in 0..200 {
            let query = all[number * 499] ^ (1 << (number % 64)) ^ (7 << (number % 61));
            let sketch = query.to_le_bytes();
            let query_of = Entry {
                sketch: &sketch,
                ..Entry::default()
            };
            let answers = index.seen(&[query_of], 10_000).unwrap();
            let matches = answers[0].matches.iter();
            let found: Vec<_> = matches
                .map(|found| (found.ordinal, found.id.clone(), found.evidence))
                .collect();
            let expected = near(query).map(|(ordinal, bits)| {
                let (score, similarity) = (Score::Distance(bits), None);
                (ordinal, id(ordinal), Evidence::Near { score, similarity })
            });
            assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }
}

/// Entries with ids and sketches only.
pub fn plain<const N: usize>(documents: &[(Vec<u8>, [u8; N])]) -> Vec<Entry<'_>> {
    let documents = documents.iter();
    documents
        .map(|(id, sketch)| Entry {
            id,
            sketch,
            ..Entry::default()
        })
        .collect()
}

/// Promise (The index): All documents within the distance are …
#[test]
fn many_queries_at_once_are_answered_as_one_by_one() {
    let temporary = tempfile::tempdir().unwrap();
    // With few documents the index is searched among the queries, with many it is not.
    for (count, different, layout) in [
        (300, 100, Layout::Fast),
        (20_000, 5000, Layout::Fast),
        (40_000, 20_000, Layout::Fast),
        (40_000, 20_000, Layout::Compact),
    ] {
        let directory = temporary.path().join(format!("{count} {layout:?}"));
        let method = Arc::new(Tagged(simhash(64, 3)));
        let options = Options {
            layout,
            seal_documents: 100,
            ..Options::default()
        };
        let build = Build::create(&directory, method, SPEC, &options).unwrap();
        // Some fingerprints have several documents, whose sketches tell that they differ.
        let sketch = |value: u64, tag: u64| -> [u8; 9] {
            let bytes = value.to_le_bytes();
            std::array::from_fn(|at| *bytes.get(at).unwrap_or(&(tag as u8)))
        };
        let documents: Vec<_> = (0..count)
            .map(|number| {
                let sketch = sketch(skewed(number % different), number / different * 9);
                (id(number), sketch)
            })
            .collect();
        build.index().add(&plain(&documents), "", 1).unwrap();
        let index = build.finish().unwrap();
        let (documents, distinct, _) = index.info().segments[0];
        assert_eq!(u64::from(documents), count);
        let mut kept = BTreeMap::new();
        let visit = |_, record: &Record<'_>| {
            if record.standing == Standing::Kept {
                *kept.entry(record.entry.sketch[..8].to_vec()).or_insert(0) += 1;
            }
            Ok(())
        };
        index.for_each(visit).unwrap();
        assert_eq!(kept.len() as u64, distinct);
        assert!(kept.values().filter(|documents| **documents > 1).count() > 50);
        let sketches: Vec<[u8; 9]> = (0..60_000)
            .map(|number| {
                let tag = if number % 3 == 0 { 255 } else { number % 4 * 9 };
                sketch(skewed(number % 25_000) ^ 5 << (number % 60), tag)
            })
            .collect();
        let query = |sketch| Entry {
            sketch,
            ..Entry::default()
        };
        let queries: Vec<Entry<'_>> = sketches.iter().map(|sketch| query(&sketch[..])).collect();
        let together = index.seen(&queries, 4).unwrap();
        assert!(together.iter().any(|answer| answer.matches.len() > 1));
        for (queries, answers) in queries.chunks(1000).zip(together.chunks(1000)) {
            assert_eq!(index.seen(queries, 4).unwrap(), answers);
        }
    }
}

/// The message of an error; empty without one.
pub fn message<T>(result: simtool_core::Result<T>) -> String {
    result
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default()
}

#[test]
fn a_build_keeps_every_document_of_an_id() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    let method = simhash(64, 3);
    let options = Options {
        seal_documents: 700,
        ..Options::default()
    };
    let build = Build::create(&directory, method.clone(), SPEC, &options).unwrap();
    let mut model = Model::new(method.clone());
    let pages: Vec<Page> = (0..3000u64)
        .map(|number| Page {
            id: id(number % 1000),
            sketch: skewed(number).to_le_bytes().to_vec(),
            payload: number.to_le_bytes().to_vec(),
            ..Page::default()
        })
        .collect();
    let (first, rest) = pages.split_at(1300);
    for pages in [first, rest] {
        build.index().add(&entries(pages), "", 1).unwrap();
        model.add_all(pages, "", 1);
    }
    // The same once more changes nothing.
    let again = build.index().add(&entries(first), "", 1).unwrap();
    assert!(
        again
            .iter()
            .all(|answer| answer.verdict == Verdict::Unchanged)
    );
    assert!(message(Index::open(&directory, method, SPEC, &options)).contains("unfinished"));
    let index = build.finish().unwrap();
    assert_eq!(index.info().documents, 3000);
    model.assert_same(&index);
    assert_eq!(
        index.remove(&[&id(7), &id(7), b"none"]).unwrap(),
        [true, false, false]
    );
    model.remove(&id(7));
    assert_eq!(index.info().removed, 3);
    index.compact().unwrap();
    model.assert_same(&index);
}

/// Promise (The index): Adding the same documents again changes nothing, also if an id repeats
#[test]
fn the_same_documents_again_change_nothing() {
    let temporary = tempfile::tempdir().unwrap();
    let method = simhash(64, 3);
    for seal_documents in [2, 100] {
        let directory = temporary.path().join(seal_documents.to_string());
        let options = Options {
            seal_documents,
            ..Options::default()
        };
        let index = Index::create(&directory, method.clone(), SPEC, &options).unwrap();
        let mut model = Model::new(method.clone());
        // Two versions of a page, by words and by sketch; the first returns.
        let pages = [(1, 9), (2, 8), (1, 9), (3, 7), (2, 8)].map(|(text, seed)| Page {
            id: b"page".to_vec(),
            words: (text < 3).then_some(text.into()),
            text,
            sketch: sketch(64, seed),
            ..Page::default()
        });
        for _ in 0..3 {
            let expected = model.add_all(&pages, "a dump", 3);
            assert_eq!(index.add(&entries(&pages), "a dump", 3).unwrap(), expected);
        }
        assert_eq!(index.info().documents, 3);
        let expected = model.add_all(&pages, "another dump", 3);
        assert_eq!(
            index.add(&entries(&pages), "another dump", 3).unwrap(),
            expected
        );
        assert_eq!(index.info().documents, 6);
        model.assert_same(&index);
    }
}

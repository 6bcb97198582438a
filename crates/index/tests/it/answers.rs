//! The index gives the answers of a list of documents, each compared with all before it.

use super::model::{Model, Page, Tagged, entries, min_hashes, simhash};
use proptest::prelude::*;
use simtool_core::sketch::{Compare, Score};
use simtool_index::{
    Build, Entry, Evidence, Index, Layout, Limit, NearCopy, Options, Record, Standing, Verdict,
    parameters, rescue,
};
use std::collections::BTreeMap;
use std::path::Path;
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
                let mut kept_now = 0;
                let removed = index.remove_dump(LABELS[*label], &mut |record| {
                    assert_eq!(record.standing, Standing::Kept);
                    kept_now += 1;
                    Ok(())
                });
                match model.remove_dump(LABELS[*label]) {
                    Some(expected) => {
                        assert_eq!(removed.unwrap(), expected);
                        assert_eq!(kept_now, expected.kept_now);
                    }
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

fn id(number: u64) -> Vec<u8> {
    format!("http://example.org/{number}").into_bytes()
}

/// Skewed like real fingerprints: many bits are nearly constant.
fn skewed(number: u64) -> u64 {
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
fn plain<const N: usize>(documents: &[(Vec<u8>, [u8; N])]) -> Vec<Entry<'_>> {
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

#[test]
fn answers_keep_to_the_bounds_of_their_bytes() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    let index = Index::create(&directory, simhash(64, 1), SPEC, &Options::default()).unwrap();
    // Two bits apart, and one from the query.
    let documents: Vec<_> = (0..6u64)
        .map(|n| (vec![b'x'; 10], (1u64 << n).to_le_bytes()))
        .collect();
    index.add(&plain(&documents), "", 1).unwrap();
    let zero = [0; 8];
    let query = Entry {
        sketch: &zero,
        ..Entry::default()
    };
    let found = |matches, id_bytes, all_id_bytes| -> Vec<(usize, bool)> {
        let limit = Limit {
            matches,
            id_bytes,
            all_id_bytes,
        };
        let answers = index.seen(&[query, query], limit).unwrap();
        let counts = answers.iter();
        counts
            .map(|answer| (answer.matches.len(), answer.truncated))
            .collect()
    };
    assert_eq!(found(9, 1000, 1000), [(6, false), (6, false)]);
    assert_eq!(found(0, 1000, 1000), [(1, false), (1, false)]);
    assert_eq!(found(9, 39, 1000), [(3, true), (3, true)]);
    assert_eq!(found(9, 1000, 85), [(6, false), (2, true)]);
}

#[test]
fn a_stopped_compaction_leaves_the_index_as_it_was() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    let options = Options {
        seal_documents: 4000,
        merge_apart: true,
        ..Options::default()
    };
    let index = Index::create(&directory, simhash(64, 3), SPEC, &options).unwrap();
    let mut model = Model::new(simhash(64, 3));
    let ids: Vec<_> = (0..12_500)
        .map(|number| (id(number), skewed(number).to_le_bytes()))
        .collect();
    let entries = ids.iter().map(|(id, sketch)| Entry {
        id,
        sketch,
        ..Entry::default()
    });
    for batch in entries.collect::<Vec<_>>().chunks(500) {
        index.add(batch, "", 1).unwrap();
        batch.iter().for_each(|entry| drop(model.add(entry, "", 1)));
    }
    let files = || {
        let entries = std::fs::read_dir(&directory).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = (files(), index.info().segments.len());
    assert!(before.1 > 1);
    for checks in 0..3 {
        let mut left = checks;
        let stopped = index.compact_checked(&mut || match left {
            0 => Err(simtool_core::Error::new(
                simtool_core::ErrorKind::Interrupted,
                "stop",
            )),
            _ => {
                left -= 1;
                Ok(())
            }
        });
        assert_eq!(message(stopped), "stop");
        assert_eq!((files(), index.info().segments.len()), before);
    }
    model.assert_same(&index);
    index.compact().unwrap();
    assert_eq!(index.info().segments.len(), 1);
    model.assert_same(&index);
}

/// Promise (The index): Of two threads with the same new page, one gets `new`
#[test]
fn one_of_two_threads_with_the_same_page_gets_the_verdict_new() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    let options = Options {
        seal_documents: 50,
        ..Options::default()
    };
    let index = Index::create(&directory, simhash(64, 3), SPEC, &options).unwrap();
    let new = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let (index, new) = (&index, &new);
            scope.spawn(move || {
                for number in 0..100u64 {
                    // The same pages in every thread with other ids; 4 bits apart.
                    let sketch = number.wrapping_mul(0x1111_1111_1111_1111).to_le_bytes();
                    let id = [thread.to_le_bytes(), number.to_le_bytes()].concat();
                    let entry = Entry {
                        id: &id,
                        sketch: &sketch,
                        ..Entry::default()
                    };
                    let answer = &index.add(&[entry], "", 1).unwrap()[0];
                    let is_new = answer.verdict == Verdict::New;
                    new.fetch_add(is_new.into(), std::sync::atomic::Ordering::Relaxed);
                    let query = Entry {
                        sketch: &sketch,
                        ..Entry::default()
                    };
                    assert_eq!(
                        index.seen(&[query], 1).unwrap()[0].verdict,
                        Verdict::Duplicate
                    );
                }
            });
        }
    });
    let expected = {
        let mut model = Model::new(simhash(64, 3));
        let add = |number: u64| {
            let sketch = number.wrapping_mul(0x1111_1111_1111_1111).to_le_bytes();
            let entry = Entry {
                id: &number.to_le_bytes(),
                sketch: &sketch,
                ..Entry::default()
            };
            model.add(&entry, "", 1).verdict == Verdict::New
        };
        (0..100).map(add).filter(|new| *new).count() as u64
    };
    assert_eq!(new.into_inner(), expected);
    assert_eq!(index.info().documents, 400);
}

/// Recent documents are stored in chunks of at most 4096.
#[test]
fn recent_documents_of_every_chunk_are_found() {
    const BATCH: u64 = 3000;
    let temporary = tempfile::tempdir().unwrap();
    let options = Options {
        seal_documents: 20_000,
        ..Options::default()
    };
    let directory = temporary.path().join("index");
    let index = Index::create(&directory, simhash(64, 0), SPEC, &options).unwrap();
    let sketch = |number: u64| {
        (number + 1)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .to_le_bytes()
    };
    let check = |index: &Index, count: u64| {
        for number in [0, 1, BATCH - 1, BATCH, 4095, 4096, count - 1] {
            let (sketch, expected) = (sketch(number), id(number));
            let query = Entry {
                sketch: &sketch,
                ..Entry::default()
            };
            let answer = index.seen(&[query], 2).unwrap().remove(0);
            assert_eq!(answer.matches.len(), 1);
            assert_eq!(answer.matches[0].id, expected);
            assert_eq!(index.document(&expected).unwrap().unwrap().sketch, sketch);
        }
        let mut numbers = 0..count;
        let visit = |ordinal, record: &Record<'_>| {
            assert_eq!(numbers.next(), Some(ordinal));
            assert_eq!(record.entry.id, id(ordinal));
            Ok(())
        };
        index.for_each(visit).unwrap();
        assert_eq!(numbers, count..count);
    };
    for first in [0, BATCH, 2 * BATCH] {
        let documents: Vec<_> = (first..first + BATCH).map(|n| (id(n), sketch(n))).collect();
        let entries = documents.iter().map(|(id, sketch)| Entry {
            id,
            sketch,
            ..Entry::default()
        });
        index.add(&entries.collect::<Vec<_>>(), "", 1).unwrap();
    }
    let last = (id(3 * BATCH), sketch(3 * BATCH));
    let entry = Entry {
        id: &last.0,
        sketch: &last.1,
        ..Entry::default()
    };
    index.add(&[entry], "", 1).unwrap();
    assert_eq!(index.info().recent, 3 * BATCH + 1);
    check(&index, 3 * BATCH + 1);
    drop(index);
    let index = Index::open(&directory, simhash(64, 0), SPEC, &options).unwrap();
    check(&index, 3 * BATCH + 1);
}

fn message<T>(result: simtool_core::Result<T>) -> String {
    result
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default()
}

#[test]
fn foreign_directories_and_indexes_are_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    let method = simhash(64, 3);
    let options = Options::default();
    let open = |path: &Path, method: Arc<dyn Compare>, spec: &str| {
        message(Index::open(path, method, spec, &options))
    };
    assert!(open(&directory, method.clone(), SPEC).contains("there is no such index"));
    assert!(open(temporary.path(), method.clone(), SPEC).contains("is no index of simtool"));
    let index = Index::create(&directory, method.clone(), SPEC, &options).unwrap();
    let again = message(Index::create(&directory, method.clone(), SPEC, &options));
    assert!(again.contains("is an index already"), "{again}");
    assert!(open(&directory, method.clone(), SPEC).contains("another process has this index open"));
    assert_eq!(parameters(&directory).unwrap().spec, SPEC);
    drop(index);
    let other = open(&directory, method.clone(), "another spec");
    assert!(
        other.contains(SPEC) && other.contains("another spec"),
        "{other}"
    );
    let other = open(&directory, simhash(64, 4), SPEC);
    assert!(
        other.contains("distance 3") && other.contains("distance 4"),
        "{other}"
    );
    let full = temporary.path().join("full");
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("file"), "x").unwrap();
    let refused = message(Index::create(&full, method.clone(), SPEC, &options));
    assert!(refused.contains("is not empty"), "{refused}");
    let newer = "{\"simtool_index\":99,\"more\":1}";
    let sum = xxhash_rust::xxh3::xxh3_64(newer.as_bytes());
    std::fs::write(
        directory.join("index.json"),
        format!("{newer}\n{sum:016x}\n"),
    )
    .unwrap();
    let refused = open(&directory, method, SPEC);
    assert!(
        refused.contains("has format 99") && refused.contains("reads format 2"),
        "{refused}"
    );
}

#[test]
fn wrong_entries_are_refused_and_nothing_is_added() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    let index = Index::create(&directory, simhash(64, 3), SPEC, &Options::default()).unwrap();
    let good = Entry {
        id: b"good",
        sketch: &[1; 8],
        ..Entry::default()
    };
    let long = vec![b'x'; 1 << 16];
    let payload = vec![0; (1 << 24) + 1];
    for (bad, what) in [
        (Entry { id: b"", ..good }, "an id of 0 bytes"),
        (Entry { id: &long, ..good }, "an id of 65536 bytes"),
        (
            Entry {
                sketch: &[1; 7],
                ..good
            },
            "a sketch of 7 bytes: expected 8",
        ),
        (
            Entry {
                payload: &payload,
                ..good
            },
            "a payload of 16777217 bytes",
        ),
    ] {
        let refused = message(index.add(&[good, bad], "", 1));
        assert!(refused.contains(what), "{refused}");
    }
    assert!(
        message(index.seen(
            &[Entry {
                sketch: &[1; 9],
                ..Entry::default()
            }],
            1
        ))
        .contains("9 bytes")
    );
    assert_eq!(index.info().documents, 0);
    index.add(&[good], "", 1).unwrap();
    drop(index);
    let options = Options {
        read_only: true,
        ..Options::default()
    };
    let index = Index::open(&directory, simhash(64, 3), SPEC, &options).unwrap();
    assert!(message(index.add(&[good], "", 1)).contains("reading only"));
    assert!(message(index.remove(&[b"good"])).contains("reading only"));
    assert!(message(index.compact()).contains("reading only"));
    assert_eq!(index.document(b"good").unwrap().unwrap().sketch, [1; 8]);
}

/// Promise (The index): The intact parts of a damaged index can be saved
#[test]
fn intact_documents_of_a_damaged_index_are_rescued() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    let method = simhash(64, 3);
    let options = Options {
        seal_documents: 1000,
        ..Options::default()
    };
    let index = Index::create(&directory, method.clone(), SPEC, &options).unwrap();
    for first in (0..2500u64).step_by(100) {
        let documents: Vec<_> = (first..first + 100)
            .map(|number| (id(number), skewed(number).to_le_bytes()))
            .collect();
        let entry = |(id, sketch)| Entry {
            id,
            sketch,
            payload: b"p",
            ..Entry::default()
        };
        let entries = documents
            .iter()
            .map(|(id, sketch)| entry((&id[..], &sketch[..])));
        index.add(&entries.collect::<Vec<_>>(), "", 1).unwrap();
    }
    index.remove(&[&id(7)]).unwrap();
    drop(index);
    // In the middle of the records of the second segment.
    let segment = directory.join("segments/00000001");
    let whole = std::fs::read(&segment).unwrap();
    let mut bytes = whole.clone();
    bytes[20_000] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let index = Index::open(&directory, method.clone(), SPEC, &options).unwrap();
    let problems = index.check().unwrap().problems;
    assert_eq!(problems[0].file.as_deref(), Some(&*segment), "{problems:?}");
    assert!(problems[0].message.contains("block 4"), "{problems:?}");
    assert!(problems[0].message.contains("rescue"), "{problems:?}");
    drop(index);
    let saved = |lost: std::ops::Range<u64>| {
        let saved = tempfile::tempdir_in(temporary.path()).unwrap();
        let rescued = rescue(&directory, saved.path(), method.clone(), SPEC, &options).unwrap();
        assert_eq!(rescued.saved + rescued.lost, 2499);
        assert!(lost.contains(&rescued.lost), "{} are lost", rescued.lost);
        assert_eq!(rescued.index.check().unwrap().documents, rescued.saved);
        assert!(!rescued.problems.is_empty());
        assert!(rescued.index.document(&id(7)).unwrap().is_none());
        assert!(rescued.index.document(&id(2400)).unwrap().is_some());
    };
    saved(1..200);
    // Its checksums are wrong, or some or all of them are missing, or the header is damaged.
    let checksums = whole.len() / (4096 + 8) * 4096;
    let mut damaged = vec![whole.clone(), whole.clone()];
    damaged[0][checksums + 8 * 4] ^= 1;
    damaged[1][12] ^= 1;
    let cuts = [whole.len() - 1, checksums + 1, whole.len() / 3];
    damaged.extend(cuts.map(|length| whole[..length].to_vec()));
    let lost = [1..200, 999..1001, 0..1, 999..1001, 999..1001];
    for (bytes, lost) in damaged.iter().zip(lost) {
        std::fs::write(&segment, bytes).unwrap();
        let refused = Index::open(&directory, method.clone(), SPEC, &options).map(drop);
        assert!(refused.unwrap_err().to_string().contains("rescue"));
        saved(lost);
    }
}

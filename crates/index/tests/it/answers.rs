//! The index gives the answers of a list whose documents are all compared.

use super::model::{Model, simhash};
use proptest::prelude::*;
use simtool_core::sketch::{Compare, Method as _, Score};
use simtool_index::{Build, Entry, Index, Layout, Options, Query, Verdict, parameters, rescue};
use std::path::Path;
use std::sync::Arc;

const SPEC: &str = "simhash for tests";

/// Sketches that are near each other: some bits of a few patterns are flipped.
fn sketch(width: u32, seed: u16) -> Vec<u8> {
    if seed.is_multiple_of(23) {
        return Vec::new();
    }
    let pattern = u128::from(seed % 5).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    let flips = 1u128 << (seed / 5 % 64) | 1u128 << (seed / 320 % 8 * 13);
    let bits = pattern ^ if seed.is_multiple_of(3) { 0 } else { flips };
    bits.to_le_bytes()[..width as usize / 8].to_vec()
}

#[derive(Clone, Debug)]
enum Step {
    Add(Vec<(u8, u16)>),
    Ask(Vec<(u8, u16)>),
    Remove(Vec<u8>),
    Compact,
    Reopen,
    Copy,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let documents = || prop::collection::vec(any::<(u8, u16)>(), 0..40);
    let step = prop_oneof![
        6 => documents().prop_map(Step::Add),
        4 => documents().prop_map(Step::Ask),
        2 => prop::collection::vec(any::<u8>(), 0..30).prop_map(Step::Remove),
        1 => Just(Step::Compact),
        1 => Just(Step::Reopen),
        1 => Just(Step::Copy),
    ];
    prop::collection::vec(step, 1..25)
}

fn run(method: &Arc<dyn Compare>, sketch: impl Fn(u16) -> Vec<u8>, layout: Layout, steps: &[Step]) {
    let temporary = tempfile::tempdir().unwrap();
    let mut directory = temporary.path().join("index");
    // Sealing after 20 documents and merging 8 such segments takes every path.
    let options = Options {
        layout,
        seal_documents: 20,
        memory_bytes: 1 << 16,
        ..Options::default()
    };
    let mut index = Index::create(&directory, method.clone(), SPEC, &options).unwrap();
    let mut model = Model::new(method.clone());
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Add(documents) => {
                let documents: Vec<_> = documents
                    .iter()
                    .map(|(id, seed)| (vec![*id], sketch(*seed), seed.to_le_bytes()))
                    .collect();
                let entries: Vec<Entry<'_>> = documents
                    .iter()
                    .map(|(id, sketch, payload)| Entry {
                        id,
                        sketch,
                        payload,
                    })
                    .collect();
                let expected: Vec<_> = entries.iter().map(|entry| model.add(entry, 5)).collect();
                assert_eq!(index.add(&entries, 5).unwrap(), expected);
            }
            Step::Ask(documents) => {
                let sketches: Vec<_> = documents.iter().map(|(_, seed)| sketch(*seed)).collect();
                for limit in [1, 3, 1000] {
                    let queries: Vec<Query<'_>> = documents
                        .iter()
                        .zip(&sketches)
                        .map(|((id, seed), sketch)| Query {
                            id: (seed % 2 == 0).then_some(std::slice::from_ref(id)),
                            sketch,
                        })
                        .collect();
                    let expected: Vec<_> = queries
                        .iter()
                        .map(|query| model.seen(query, limit))
                        .collect();
                    assert_eq!(index.seen(&queries, limit).unwrap(), expected);
                }
            }
            Step::Remove(ids) => {
                let ids: Vec<&[u8]> = ids.iter().map(std::slice::from_ref).collect();
                let expected: Vec<_> = ids.iter().map(|id| model.remove(id)).collect();
                assert_eq!(index.remove(&ids).unwrap(), expected);
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
    fn answers_are_those_of_a_list(steps in steps(), distance in 0u32..8, compact: bool) {
        let layout = if compact { Layout::Compact } else { Layout::Fast };
        run(&simhash(64, distance), |seed| sketch(64, seed), layout, &steps);
    }

    /// Promise (The index): After any additions, removals, seals, merges …
    #[test]
    fn wide_answers_are_those_of_a_list(steps in steps(), distance in 0u32..8) {
        run(&simhash(128, distance), |seed| sketch(128, seed), Layout::Fast, &steps);
    }
}

/// Sketches of MinHash: documents of words, some of them exchanged.
fn min_hashes() -> (Arc<dyn Compare>, Vec<Vec<u8>>) {
    let settings =
        simtool_core::sketch::minhash::MinHashSettings::for_similarity(0.5, 0.95).unwrap();
    let method = settings.method().unwrap();
    let mut scratch = simtool_core::sketch::SketchScratch::default();
    let sketch = |seed: u64| {
        let word = |i: u64| {
            let changed = (i + seed / 6).is_multiple_of(9);
            (i + if changed { seed * 1000 } else { 0 } + seed % 6 * 100_000)
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        };
        let words: Vec<u64> = (0..120).map(word).collect();
        let words = simtool_core::sketch::TokenizedDocument {
            short: &words,
            ..Default::default()
        };
        let mut sketch = Vec::new();
        assert!(method.sketch(words, &mut scratch, &mut sketch));
        sketch
    };
    let sketches = (0..64).map(sketch).collect();
    (Arc::new(method), sketches)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(15))]
    /// Promise (The index): After any additions, removals, seals, merges …
    #[test]
    fn answers_by_keys_are_those_of_a_list(steps in steps()) {
        let (method, sketches) = min_hashes();
        let sketch = |seed: u16| match seed % 23 {
            0 => Vec::new(),
            _ => sketches[usize::from(seed) % sketches.len()].clone(),
        };
        run(&method, sketch, Layout::Fast, &steps);
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
        let mut build = Build::create(&directory, method, SPEC, &options).unwrap();
        let count = 100_000;
        for number in 0..count {
            let sketch = skewed(number).to_le_bytes();
            build
                .push(&Entry {
                    id: &id(number),
                    sketch: &sketch,
                    payload: b"",
                })
                .unwrap();
        }
        let index = build.finish().unwrap().index;
        let all: Vec<u64> = (0..count).map(skewed).collect();
        for number in 0..200 {
            let query = all[number * 499] ^ (1 << (number % 64)) ^ (7 << (number % 61));
            let sketch = query.to_le_bytes();
            let answers = index
                .seen(
                    &[Query {
                        id: None,
                        sketch: &sketch,
                    }],
                    10_000,
                )
                .unwrap();
            let mut expected: Vec<(u32, usize)> = (0..all.len())
                .map(|other| ((all[other] ^ query).count_ones(), other))
                .filter(|(bits, _)| *bits <= distance)
                .collect();
            expected.sort_unstable();
            let found: Vec<_> = answers[0]
                .matches
                .iter()
                .map(|m| (m.score, m.id.clone()))
                .collect();
            let expected: Vec<_> = expected
                .into_iter()
                .map(|(bits, other)| (Score::Distance(bits), id(other as u64)))
                .collect();
            assert_eq!(found, expected);
        }
    }
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
        let method = simhash(64, 3);
        let options = Options {
            layout,
            ..Options::default()
        };
        let mut build = Build::create(&directory, method, SPEC, &options).unwrap();
        for number in 0..count {
            // Some fingerprints have many documents.
            let sketch = skewed(number % different).to_le_bytes();
            let entry = Entry {
                id: &id(number),
                sketch: &sketch,
                payload: b"",
            };
            build.push(&entry).unwrap();
        }
        let index = build.finish().unwrap().index;
        let sketches: Vec<[u8; 8]> = (0..60_000)
            .map(|number| (skewed(number % 25_000) ^ 5 << (number % 60)).to_le_bytes())
            .collect();
        let query = |sketch| Query { id: None, sketch };
        let queries: Vec<Query<'_>> = sketches.iter().map(|sketch| query(&sketch[..])).collect();
        let together = index.seen(&queries, 4).unwrap();
        for (queries, answers) in queries.chunks(1000).zip(together.chunks(1000)) {
            assert_eq!(index.seen(queries, 4).unwrap(), answers);
        }
    }
}

#[test]
fn a_build_keeps_the_last_document_of_an_id() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    let method = simhash(64, 3);
    let mut build = Build::create(&directory, method.clone(), SPEC, &Options::default()).unwrap();
    let mut model = Model::new(method);
    for number in 0..3000u64 {
        let (id, sketch) = (id(number % 1000), skewed(number).to_le_bytes());
        let entry = Entry {
            id: &id,
            sketch: &sketch,
            payload: &number.to_le_bytes(),
        };
        build.push(&entry).unwrap();
        model.add(&entry, 1);
    }
    let built = build.finish().unwrap();
    assert_eq!(built.replaced, 2000);
    model.assert_same(&built.index);
    built.index.compact().unwrap();
    assert_eq!(built.index.info().removed, 0);
    model.assert_same(&built.index);
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
        payload: b"",
    });
    for batch in entries.collect::<Vec<_>>().chunks(500) {
        index.add(batch, 1).unwrap();
        batch.iter().for_each(|entry| drop(model.add(entry, 1)));
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
                        payload: b"",
                    };
                    let answer = &index.add(&[entry], 1).unwrap()[0];
                    let is_new = answer.verdict == Verdict::New;
                    new.fetch_add(is_new.into(), std::sync::atomic::Ordering::Relaxed);
                    let query = Query {
                        id: None,
                        sketch: &sketch,
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
                payload: b"",
            };
            model.add(&entry, 1).verdict == Verdict::New
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
            let query = Query {
                id: None,
                sketch: &sketch,
            };
            let answer = index.seen(&[query], 2).unwrap().remove(0);
            assert_eq!(answer.matches.len(), 1);
            assert_eq!(answer.matches[0].id, expected);
            assert_eq!(index.document(&expected).unwrap().unwrap().sketch, sketch);
        }
        let mut numbers = 0..count;
        let visit = |entry: &Entry<'_>| {
            assert_eq!(Some(entry.id), numbers.next().map(id).as_deref());
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
            payload: b"",
        });
        index.add(&entries.collect::<Vec<_>>(), 1).unwrap();
    }
    let last = (id(3 * BATCH), sketch(3 * BATCH));
    let entry = Entry {
        id: &last.0,
        sketch: &last.1,
        payload: b"",
    };
    index.add(&[entry], 1).unwrap();
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
        refused.contains("has format 99") && refused.contains("reads format 1"),
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
        payload: b"",
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
        let refused = message(index.add(&[good, bad], 1));
        assert!(refused.contains(what), "{refused}");
    }
    assert!(
        message(index.seen(
            &[Query {
                id: None,
                sketch: &[1; 9]
            }],
            1
        ))
        .contains("9 bytes")
    );
    assert_eq!(index.info().documents, 0);
    index.add(&[good], 1).unwrap();
    drop(index);
    let options = Options {
        read_only: true,
        ..Options::default()
    };
    let index = Index::open(&directory, simhash(64, 3), SPEC, &options).unwrap();
    assert!(message(index.add(&[good], 1)).contains("reading only"));
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
        };
        let entries = documents
            .iter()
            .map(|(id, sketch)| entry((&id[..], &sketch[..])));
        index.add(&entries.collect::<Vec<_>>(), 1).unwrap();
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

//! What calls of an index promise: bounded answers, one verdict for one of several threads, refusals
//! that change nothing, and a copy of what is intact.

use super::answers::{id, message, plain, skewed};
use super::model::{Model, simhash};
use simtool_core::sketch::Compare;
use simtool_index::{Entry, Index, Limit, Options, Record, Verdict, parameters, rescue};
use std::path::Path;
use std::sync::Arc;

const SPEC: &str = "simhash for calls";

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
        refused.contains("has format 99") && refused.contains("reads format 3"),
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

//! Every write, sync, rename, growth and removal fails, once or from then on. Acknowledged changes
//! stay, refused changes are made completely or not at all, and queries are always answered.

use super::model::{Model, simhash};
use simtool_files::Faults;
use simtool_index::{Build, Document, Entry, Index, Options, Query};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

const SPEC: &str = "simhash for faults";

/// The number of failing operations by default; the ignored test tries all.
const SAMPLES: u64 = 4;

/// The count of operations, and the range that fails.
#[derive(Clone, Default)]
struct Disk(Arc<(AtomicU64, AtomicU64, AtomicU64)>);

impl Disk {
    /// Lets operations number `first` to `last` from now on fail.
    fn fail(&self, first: u64, last: u64) {
        self.0.0.store(0, SeqCst);
        self.0.1.store(first, SeqCst);
        self.0.2.store(last, SeqCst);
    }

    fn operations(&self) -> u64 {
        self.0.0.load(SeqCst)
    }

    fn options(&self) -> Options {
        let disk = self.clone();
        let faults = Faults::decided_by(move |_, _| {
            let number = disk.0.0.fetch_add(1, SeqCst);
            let fails = (disk.0.1.load(SeqCst)..=disk.0.2.load(SeqCst)).contains(&number);
            if fails {
                Err(io::ErrorKind::StorageFull.into())
            } else {
                Ok(())
            }
        });
        Options {
            seal_documents: 6,
            memory_bytes: 1 << 16,
            faults,
            ..Options::default()
        }
    }
}

/// Id, sketch, payload.
type Parts = (Vec<u8>, Vec<u8>, Vec<u8>);

fn documents(step: u64) -> Vec<Parts> {
    let document = |i: u64| {
        let number = step * 7 + i * 3;
        let sketch = (number % 11)
            .wrapping_mul(0x0101_0000_0001_1001)
            .to_le_bytes()
            .to_vec();
        (
            vec![(number % 19) as u8],
            sketch,
            step.to_le_bytes().to_vec(),
        )
    };
    (0..1 + step % 4).map(document).collect()
}

fn entries(documents: &[Parts]) -> Vec<Entry<'_>> {
    documents
        .iter()
        .map(|(id, sketch, payload)| Entry {
            id,
            sketch,
            payload,
        })
        .collect()
}

/// All states that the index may be in: a change that failed was made, or it was not.
struct Possible(Vec<Model>);

impl Possible {
    fn change(&mut self, done: bool, change: impl Fn(&mut Model) -> bool) {
        let mut changed: Vec<Model> = self.0.clone();
        let fits: Vec<bool> = changed.iter_mut().map(change).collect();
        let mut fits = fits.into_iter();
        if done {
            changed.retain(|_| fits.next().unwrap());
            assert!(!changed.is_empty(), "an answer that no state gives");
            self.0 = changed;
        } else {
            self.0.extend(changed);
        }
    }

    fn assert_answers(&self, index: &Index, step: u64) {
        for (_, sketch, _) in documents(step) {
            let query = Query {
                id: None,
                sketch: &sketch,
            };
            let found = index.seen(&[query], 3).unwrap().remove(0);
            assert!(
                self.0.iter().any(|model| found == model.seen(&query, 3)),
                "{found:?}"
            );
        }
    }

    fn assert_one_of_them(&self, index: &Index) {
        let mut found = Vec::new();
        index
            .for_each(|entry| {
                let Entry {
                    id,
                    sketch,
                    payload,
                } = *entry;
                found.push(Document {
                    id: id.to_vec(),
                    sketch: sketch.to_vec(),
                    payload: payload.to_vec(),
                });
                Ok(())
            })
            .unwrap();
        let model = self.0.iter().find(|model| model.documents == found);
        model.expect("a state that may be").assert_same(index);
    }
}

/// Walks through additions, seals, merges, removals and compactions.
fn scenario(directory: &Path, index: &Index, possible: &mut Possible) {
    for step in 0..24u64 {
        match step % 12 {
            5 => {
                let ids: Vec<Vec<u8>> = (0..3).map(|i| vec![((step + i * 5) % 19) as u8]).collect();
                let ids: Vec<&[u8]> = ids.iter().map(|id| &id[..]).collect();
                let removed = index.remove(&ids);
                possible.change(removed.is_ok(), |model| {
                    let expected: Vec<bool> = ids.iter().map(|id| model.remove(id)).collect();
                    removed
                        .as_ref()
                        .map_or(true, |removed| *removed == expected)
                });
            }
            11 => drop(index.compact()),
            8 => {
                let to = directory.with_extension("copy");
                if index.copy(&to).is_ok() {
                    let options = Options::default();
                    let copy = Index::open(&to, simhash(64, 3), SPEC, &options).unwrap();
                    possible.assert_one_of_them(&copy);
                }
                let _ = std::fs::remove_dir_all(&to);
            }
            _ => {
                let documents = documents(step);
                let entries = entries(&documents);
                let answers = index.add(&entries, 3);
                possible.change(answers.is_ok(), |model| {
                    let expected: Vec<_> = entries.iter().map(|e| model.add(e, 3)).collect();
                    answers
                        .as_ref()
                        .map_or(true, |answers| *answers == expected)
                });
            }
        }
        possible.assert_answers(index, step);
    }
}

fn with_failing(first: u64, last: u64) -> u64 {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    let disk = Disk::default();
    disk.fail(u64::MAX, u64::MAX);
    let method = simhash(64, 3);
    let mut possible = Possible(vec![Model::new(method.clone())]);
    let index = Index::create(&directory, method.clone(), SPEC, &disk.options()).unwrap();
    disk.fail(first, last);
    scenario(&directory, &index, &mut possible);
    let operations = disk.operations();
    drop(index);
    disk.fail(u64::MAX, u64::MAX);
    let index = Index::open(&directory, method, SPEC, &disk.options()).unwrap();
    possible.assert_one_of_them(&index);
    // The index stays usable.
    index.add(&entries(&documents(100)), 3).unwrap();
    index.compact().unwrap();
    assert_eq!(index.check().unwrap().problems, []);
    operations
}

/// Promise (The index): If any write, sync or rename fails, once or permanently, acknowledged
/// changes are kept, and others are applied completely or not at all
#[test]
fn an_operation_fails_once_or_from_then_on() {
    let operations = with_failing(u64::MAX, u64::MAX);
    assert!(operations > 200, "{operations}");
    // Each run takes seconds, because of its syncs.
    let step = operations / SAMPLES;
    for number in (0..SAMPLES).map(|sample| sample * step) {
        with_failing(number + step / 3, number + step / 3);
        with_failing(number + step / 2, u64::MAX - 1);
    }
}

/// Promise (The index): If any write, sync or rename …
#[test]
#[ignore = "takes minutes"]
fn every_operation_fails_once_and_from_then_on() {
    for number in 0..with_failing(u64::MAX, u64::MAX) {
        with_failing(number, number);
        with_failing(number, u64::MAX - 1);
    }
}

#[test]
fn building_fails_at_every_operation_and_leaves_nothing_that_opens() {
    let temporary = tempfile::tempdir().unwrap();
    let method = simhash(64, 3);
    let make = |directory: &Path, options: &Options| -> simtool_core::Result<u64> {
        let mut build = Build::create(directory, method.clone(), SPEC, options)?;
        for step in 0..40 {
            for entry in entries(&documents(step)) {
                build.push(&entry)?;
            }
        }
        Ok(build.finish()?.index.info().documents)
    };
    let disk = Disk::default();
    disk.fail(u64::MAX, u64::MAX);
    let whole = make(&temporary.path().join("whole"), &disk.options()).unwrap();
    let operations = disk.operations();
    for number in (0..operations).step_by(operations.div_ceil(SAMPLES * 4) as usize) {
        let directory = temporary.path().join(number.to_string());
        for last in [number, u64::MAX - 1] {
            disk.fail(number, last);
            let built = make(&directory, &disk.options());
            disk.fail(u64::MAX, u64::MAX);
            let opened = Index::open(&directory, method.clone(), SPEC, &disk.options());
            match (built, opened) {
                (Ok(found), Ok(index)) => {
                    assert_eq!((found, index.info().documents), (whole, whole))
                }
                // The last step was done, and could not be made durable.
                (Err(_), Ok(index)) => assert_eq!(index.info().documents, whole),
                (Ok(_), Err(error)) => panic!("acknowledged, and then: {error}"),
                (Err(_), Err(error)) => {
                    let text = error.to_string();
                    assert!(
                        text.contains("no such index") || text.contains("unfinished"),
                        "{text}"
                    );
                    assert_eq!(make(&directory, &disk.options()).unwrap(), whole);
                }
            }
            std::fs::remove_dir_all(&directory).unwrap();
        }
    }
}

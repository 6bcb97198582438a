//! Every write, sync, rename, growth and removal fails, once or from then on. Acknowledged changes
//! stay, refused changes are made completely or not at all, and queries are always answered.

use super::model::{Model, Page, entries, simhash};
use simtool_core::Result;
use simtool_files::Faults;
use simtool_index::{Build, Entry, Index, Options};
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
            seal_documents: 16,
            memory_bytes: 1 << 16,
            faults,
            ..Options::default()
        }
    }
}

/// Pages of which some have the words of others, or are near them.
fn pages(step: u64, count: u64) -> Vec<Page> {
    let page = |i: u64| {
        let number = step * 7 + i * 3;
        let pattern = number % 11;
        let sketch = pattern.wrapping_mul(0x0101_0000_0001_1001).to_le_bytes();
        Page {
            id: vec![(number % 19) as u8],
            words: (!number.is_multiple_of(3)).then_some((number % 13).into()),
            text: number % 2,
            sketch: sketch.to_vec(),
            payload: step.to_le_bytes().to_vec(),
            ..Page::default()
        }
    };
    (0..count).map(page).collect()
}

fn label(step: u64) -> &'static str {
    ["a", "b", "c"][step as usize % 3]
}

/// All states that the index may be in: a change that failed was made, or it was not. The operation
/// that failed, or the first one of these, was part of one change, so at most one was made.
struct Possible(Vec<(Model, bool)>);

impl Possible {
    fn change(&mut self, done: bool, change: impl Fn(&mut Model) -> bool) {
        if done {
            self.0.retain_mut(|(model, _)| change(model));
            assert!(!self.0.is_empty(), "an answer that no state gives");
            return;
        }
        let unchanged = self.0.iter().filter(|(_, is_made)| !is_made);
        let changed: Vec<(Model, bool)> = unchanged
            .map(|(model, _)| {
                let mut model = model.clone();
                change(&mut model);
                (model, true)
            })
            .collect();
        self.0.extend(changed);
    }

    fn assert_answers(&self, index: &Index, step: u64) {
        for page in pages(step, 3) {
            let query = Entry {
                id: &[],
                ..page.entry()
            };
            let found = index.seen(&[query], 3).unwrap().remove(0);
            let mut models = self.0.iter().map(|(model, _)| model.seen(&query, 3));
            assert!(models.any(|expected| found == expected), "{found:?}");
        }
    }

    fn assert_one_of_them(&self, index: &Index) {
        let model = self.0.iter().find(|(model, _)| model.is_same(index));
        model.expect("a state that may be").0.assert_same(index);
    }
}

/// Walks through additions, seals, merges, removals and compactions.
fn scenario(directory: &Path, index: &Index, possible: &mut Possible) {
    for step in 0..26u64 {
        match step % 13 {
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
            9 => {
                let removed = index.remove_dump(label(step));
                possible.change(removed.is_ok(), |model| {
                    let expected = model.remove_dump(label(step));
                    removed
                        .as_ref()
                        .map_or(true, |removed| Some(*removed) == expected)
                });
            }
            12 => drop(index.compact()),
            8 => {
                let to = directory.with_extension("copy");
                if index.copy(&to).is_ok() {
                    let options = Options::default();
                    let copy = Index::open(&to, simhash(64, 3), SPEC, &options).unwrap();
                    possible.assert_one_of_them(&copy);
                }
                let _ = std::fs::remove_dir_all(&to);
            }
            kind => {
                // Some suffice for a segment.
                let pages = pages(step, if kind == 7 { 17 } else { 1 + step % 4 });
                let answers = index.add(&entries(&pages), label(step), 3);
                possible.change(answers.is_ok(), |model| {
                    let expected = model.add_all(&pages, label(step), 3);
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
    let mut possible = Possible(vec![(Model::new(method.clone()), false)]);
    let index = Index::create(&directory, method.clone(), SPEC, &disk.options()).unwrap();
    disk.fail(first, last);
    scenario(&directory, &index, &mut possible);
    let operations = disk.operations();
    drop(index);
    disk.fail(u64::MAX, u64::MAX);
    let index = Index::open(&directory, method, SPEC, &disk.options()).unwrap();
    possible.assert_one_of_them(&index);
    // The index stays usable.
    index.add(&entries(&pages(100, 3)), "", 3).unwrap();
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

/// A change of an index, and of the model.
type Change = (fn(&Index) -> Result<()>, fn(&mut Model));

const ADD: Change = (
    |index| index.add(&entries(&pages(50, 40)), "c", 1).map(drop),
    |model| drop(model.add_all(&pages(50, 40), "c", 1)),
);
const REMOVE_DUMP: Change = (
    |index| index.remove_dump("b").map(drop),
    |model| {
        model.remove_dump("b");
    },
);
const REMOVE_ALL: Change = (
    |index| index.remove_dump("a").map(drop),
    |model| {
        model.remove_dump("a");
    },
);
const COMPACT: Change = (Index::compact, |_| {});

/// Lets every operation of a change fail, once and from then on. Returns how many there are.
fn assert_all_or_nothing((change, change_model): Change) -> u64 {
    let temporary = tempfile::tempdir().unwrap();
    let whole = temporary.path().join("whole");
    let disk = Disk::default();
    disk.fail(u64::MAX, u64::MAX);
    let options = disk.options();
    let method = simhash(64, 3);
    let mut before = Model::new(method.clone());
    let index = Index::create(&whole, method.clone(), SPEC, &options).unwrap();
    for step in 0..22 {
        let (pages, label) = (pages(step, 3), if step < 4 { "a" } else { label(step / 3) });
        index.add(&entries(&pages), label, 1).unwrap();
        before.add_all(&pages, label, 1);
        if step == 13 {
            index.remove(&[&[4], &[6]]).unwrap();
            before.remove(&[4]);
            before.remove(&[6]);
        }
    }
    let mut after = before.clone();
    change_model(&mut after);
    let directory = temporary.path().join("index");
    let open = || Index::open(&directory, method.clone(), SPEC, &options).unwrap();
    let listed = |index: &Index| index.info().segments.len();
    let files = || {
        std::fs::read_dir(directory.join("segments"))
            .unwrap()
            .count()
    };
    index.copy(&directory).unwrap();
    let tried = open();
    disk.fail(u64::MAX, u64::MAX);
    change(&tried).unwrap();
    let operations = disk.operations();
    after.assert_same(&tried);
    assert_eq!(files(), listed(&tried));
    drop(tried);
    for number in 0..operations {
        for last in [number, u64::MAX - 1] {
            std::fs::remove_dir_all(&directory).unwrap();
            disk.fail(u64::MAX, u64::MAX);
            index.copy(&directory).unwrap();
            let tried = open();
            disk.fail(number, last);
            let done = change(&tried);
            let is_after = done.is_ok();
            // Until it is opened again, the old state answers.
            let model = if is_after { &after } else { &before };
            assert!(model.is_same(&tried), "operation {number} to {last}");
            disk.fail(u64::MAX, u64::MAX);
            drop(tried);
            let again = open();
            let mut state = match after.is_same(&again) {
                true => after.clone(),
                false => before.clone(),
            };
            assert!(
                !is_after || after.is_same(&again),
                "acknowledged: {number} to {last}"
            );
            state.assert_same(&again);
            assert_eq!(files(), listed(&again), "operation {number} to {last}");
            let more = pages(60, 9);
            assert_eq!(
                again.add(&entries(&more), "d", 3).unwrap(),
                state.add_all(&more, "d", 3)
            );
            state.assert_same(&again);
        }
    }
    operations
}

/// Promise (The index): If any write, sync or rename …
#[test]
fn large_additions_and_compactions_are_made_completely_or_not_at_all() {
    for change in [ADD, COMPACT] {
        let operations = assert_all_or_nothing(change);
        assert!(operations > 10, "{operations}");
    }
}

/// Promise (The index): If any write, sync or rename …
#[test]
fn a_dump_is_removed_completely_or_not_at_all() {
    for change in [REMOVE_DUMP, REMOVE_ALL] {
        let operations = assert_all_or_nothing(change);
        assert!(operations > 10, "{operations}");
    }
}

#[test]
fn a_removal_of_a_dump_that_fails_leaves_no_files() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    let disk = Disk::default();
    disk.fail(u64::MAX, u64::MAX);
    let method = simhash(64, 3);
    let mut model = Model::new(method.clone());
    let index = Index::create(&directory, method, SPEC, &disk.options()).unwrap();
    for (step, label) in [(0, "a"), (1, "b"), (2, "c"), (3, "b"), (4, "c")] {
        let pages = pages(step, 9);
        index.add(&entries(&pages), label, 1).unwrap();
        model.add_all(&pages, label, 1);
    }
    let files = || {
        let files = std::fs::read_dir(directory.join("segments")).unwrap();
        let mut files: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        files.sort();
        files
    };
    let before = files();
    disk.fail(u64::MAX, u64::MAX);
    index.remove_dump("none").unwrap_err();
    assert_eq!(disk.operations(), 0);
    for number in 0..12 {
        disk.fail(number, number);
        assert!(index.remove_dump("a").is_err(), "{number}");
        disk.fail(u64::MAX, u64::MAX);
        // A last one may be left whose name could not be made durable.
        assert!(files().len() <= before.len() + 1, "{number}: {:?}", files());
        model.assert_same(&index);
    }
    let removed = index.remove_dump("a").unwrap();
    assert_eq!(Some(removed), model.remove_dump("a"));
    model.assert_same(&index);
}

#[test]
fn building_fails_at_every_operation_and_leaves_nothing_that_opens() {
    let temporary = tempfile::tempdir().unwrap();
    let method = simhash(64, 3);
    let make = |directory: &Path, options: &Options| -> simtool_core::Result<u64> {
        let build = Build::create(directory, method.clone(), SPEC, options)?;
        for step in 0..16 {
            // Recent documents, and segments.
            let pages = pages(step, 1 + step % 9);
            build.index().add(&entries(&pages), label(step), 1)?;
        }
        Ok(build.finish()?.info().documents)
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

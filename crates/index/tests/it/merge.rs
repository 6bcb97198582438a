//! Merges during additions and removals, failed sealing, and lost files.

use super::model::{Model, Page, simhash};
use simtool_core::ErrorKind;
use simtool_files::{Faults, Operation};
use simtool_index::{Build, Entry, Index, Options};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock, Weak};

const SPEC: &str = "simhash for merges";

fn sketch(number: u64) -> [u8; 8] {
    (number % 23)
        .wrapping_mul(0x0101_0000_0001_1001)
        .to_le_bytes()
}

/// Document `number` with the sketch of `of`, and for some with its words.
fn page(number: u64, of: u64) -> Page {
    Page {
        id: format!("page {number}").into_bytes(),
        words: (!number.is_multiple_of(3)).then_some((of % 23).into()),
        text: number % 2,
        sketch: sketch(of).to_vec(),
        payload: vec![number as u8],
        ..Page::default()
    }
}

/// Adds a document to both.
fn add(index: &Index, model: &mut Model, number: u64, of: u64) {
    add_to(index, model, "", number, of);
}

fn add_to(index: &Index, model: &mut Model, dump: &str, number: u64, of: u64) {
    let page = page(number, of);
    let entry = page.entry();
    let expected = model.add(&entry, dump, 5);
    assert_eq!(index.add(&[entry], dump, 5).unwrap(), [expected]);
}

fn remove(index: &Index, model: &mut Model, number: u64) {
    let id = format!("page {number}");
    let removed = index.remove(&[id.as_bytes()]).unwrap();
    assert_eq!(removed, [model.remove(id.as_bytes())]);
}

fn ask(index: &Index, model: &Model, number: u64) {
    let page = page(number, number);
    let query = page.entry();
    assert_eq!(index.seen(&[query], 6).unwrap(), [model.seen(&query, 6)]);
}

/// Promise (The index): Additions, replacements and removals during a merge are not lost, and
/// removed documents do not come back
#[test]
fn changes_during_a_merge_are_not_lost() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    let model = Arc::new(Mutex::new(Model::new(simhash(64, 3))));
    let place: Arc<OnceLock<Weak<Index>>> = Arc::default();
    let armed = Arc::new(AtomicBool::new(false));
    let hook = {
        let (model, place, armed) = (model.clone(), place.clone(), armed.clone());
        move |operation, _: &Path| {
            // The segment is complete, but not published.
            if operation == Operation::Rename && armed.swap(false, SeqCst) {
                let (index, mut model) = (place.get().unwrap().upgrade().unwrap(), model.lock());
                let model = model.as_mut().unwrap();
                for number in [0, 7, 8, 41, 79] {
                    remove(&index, model, number);
                }
                // Sealed documents get further ones of their id, and others are added.
                for number in [3, 40, 100, 101, 102, 103, 104, 105, 106, 107] {
                    add(&index, model, number, number + 1);
                }
                ask(&index, model, 3);
            }
            Ok(())
        }
    };
    let options = Options {
        seal_documents: 10,
        merge_apart: true,
        faults: Faults::decided_by(hook),
        ..Options::default()
    };
    let index = Index::create(&directory, simhash(64, 3), SPEC, &options).unwrap();
    let index = Arc::new(index);
    place.set(Arc::downgrade(&index)).unwrap();
    for number in 0..80 {
        add(&index, &mut model.lock().unwrap(), number, number);
    }
    // Some were removed before, of the first and the last segment too.
    for number in [1, 2, 45, 78] {
        remove(&index, &mut model.lock().unwrap(), number);
    }
    assert_eq!(index.info().segments.len(), 8);
    armed.store(true, SeqCst);
    assert!(index.merge(u64::MAX).unwrap());
    assert!(!armed.load(SeqCst));
    let model = model.lock().unwrap();
    let segments = index.info().segments;
    // Documents keep their numbers.
    assert_eq!(segments[0].0, 80, "{segments:?}");
    // Five were removed while it was written, four before.
    assert_eq!(index.info().removed, 9);
    model.assert_same(&index);
    (0..110).for_each(|number| ask(&index, &model, number));
    drop(index);
    let index = Index::open(&directory, simhash(64, 3), SPEC, &options).unwrap();
    model.assert_same(&index);
}

/// Promise (The index): Additions, replacements and removals during a merge …
#[test]
fn a_dump_is_removed_during_a_merge() {
    // Removing a dump replaces all segments from its first document on. If the merge read one of
    // these, its result is discarded; if the dump is the last one, the merge is unaffected.
    for (label, is_merged) in [("first", false), ("second", false), ("last", true)] {
        let temporary = tempfile::tempdir().unwrap();
        let directory = temporary.path().join("index");
        let disk = Disk::default();
        let options = disk.options(move |index| {
            index.remove_dump(label).unwrap();
        });
        let mut model = Model::new(simhash(64, 3));
        let index = Index::create(&directory, simhash(64, 3), SPEC, &options).unwrap();
        let index = Arc::new(index);
        disk.place.set(Arc::downgrade(&index)).unwrap();
        for number in 0..82 {
            let dump = match number {
                0..9 => "first",
                9..14 => "second",
                14..80 => "third",
                _ => "last",
            };
            add_to(&index, &mut model, dump, number, number * number);
        }
        remove(&index, &mut model, 2);
        remove(&index, &mut model, 44);
        let segments = index.info().segments.len();
        disk.armed.store(true, SeqCst);
        assert_eq!(index.merge(u64::MAX).unwrap(), is_merged, "{label}");
        assert!(!disk.armed.load(SeqCst));
        model.remove_dump(label).unwrap();
        model.assert_same(&index);
        // One segment ends where the first document of the dump was.
        assert!(index.info().segments.len() <= segments);
        while index.merge(u64::MAX).unwrap() {}
        (60..70).for_each(|number| add_to(&index, &mut model, label, number, number));
        model.assert_same(&index);
        drop(index);
        let index = Index::open(&directory, simhash(64, 3), SPEC, &options).unwrap();
        model.assert_same(&index);
        assert_eq!(
            std::fs::read_dir(directory.join("segments"))
                .unwrap()
                .count(),
            index.info().segments.len()
        );
    }
}

/// A disk with a hook for complete segments, whose database may fail.
#[derive(Clone, Default)]
struct Disk {
    place: Arc<OnceLock<Weak<Index>>>,
    armed: Arc<AtomicBool>,
    fails: Arc<AtomicBool>,
}

impl Disk {
    /// A failing database, and `meanwhile` called once, at the next segment after it was armed.
    fn options(&self, meanwhile: impl Fn(&Index) + Send + Sync + 'static) -> Options {
        let disk = self.clone();
        let hook = move |operation, path: &Path| {
            let is_database = path.extension().is_some_and(|kind| kind == "redb");
            if is_database && operation == Operation::Sync && disk.fails.load(SeqCst) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            if operation == Operation::Rename && disk.armed.swap(false, SeqCst) {
                meanwhile(&disk.place.get().unwrap().upgrade().unwrap());
            }
            Ok(())
        };
        Options {
            seal_documents: 8,
            merge_apart: true,
            faults: Faults::decided_by(hook),
            ..Options::default()
        }
    }
}

/// Promise (The index): Additions, replacements and removals during a merge …
#[test]
fn a_merge_survives_an_addition_that_fails_meanwhile() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    let disk = Disk::default();
    let fails = disk.fails.clone();
    let options = disk.options(move |index| {
        let sketch = sketch(1);
        let entry = Entry {
            id: b"unlucky",
            sketch: &sketch,
            ..Entry::default()
        };
        fails.store(true, SeqCst);
        assert_eq!(
            index.add(&[entry], "", 1).unwrap_err().kind(),
            ErrorKind::Write
        );
        // The merge is the first to open the database again.
        fails.store(false, SeqCst);
    });
    let mut model = Model::new(simhash(64, 3));
    let index = Index::create(&directory, simhash(64, 3), SPEC, &options).unwrap();
    let index = Arc::new(index);
    disk.place.set(Arc::downgrade(&index)).unwrap();
    (0..67).for_each(|number| add(&index, &mut model, number, number));
    disk.armed.store(true, SeqCst);
    assert!(index.merge(u64::MAX).unwrap());
    assert_eq!(index.info().segments[0].0, 64);
    model.assert_same(&index);
    add(&index, &mut model, 70, 70);
    drop(index);
    let index = Index::open(&directory, simhash(64, 3), SPEC, &options).unwrap();
    model.assert_same(&index);
}

#[test]
fn a_failed_merge_is_reported_and_blocks_no_addition() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    let options = Options {
        seal_documents: 8,
        ..Options::default()
    };
    let mut model = Model::new(simhash(64, 3));
    let index = Index::create(&directory, simhash(64, 3), SPEC, &options).unwrap();
    (0..24).for_each(|number| add(&index, &mut model, number, number));
    drop(index);
    // A record of the first segment is damaged; it is read when it is merged.
    let segment = directory.join("segments/00000000");
    let whole = std::fs::read(&segment).unwrap();
    let mut bytes = whole.clone();
    bytes[4096 + 9] ^= 1;
    std::fs::write(&segment, &bytes).unwrap();
    let index = Index::open(&directory, simhash(64, 3), SPEC, &options).unwrap();
    let new = |number: u64| {
        let (id, sketch) = (
            format!("page {number}"),
            (number << 40 | !number << 8).to_le_bytes(),
        );
        let entry = Entry {
            id: id.as_bytes(),
            sketch: &sketch,
            ..Entry::default()
        };
        index.add(&[entry], "", 1).map(drop)
    };
    (100..120).for_each(|number| new(number).unwrap());
    let trouble = index.info().trouble.unwrap_or_default();
    assert!(trouble.contains("00000000"), "{trouble}");
}

/// Promise (The index): Additions, replacements and removals during a merge …
#[test]
fn several_threads_merge_during_changes() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    let options = Options {
        seal_documents: 8,
        merge_apart: true,
        ..Options::default()
    };
    let index = Index::create(&directory, simhash(64, 3), SPEC, &options).unwrap();
    let mut model = Model::new(simhash(64, 3));
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for most_documents in [40, u64::MAX] {
            let (index, ended) = (&index, &ended);
            scope.spawn(move || {
                while !ended.load(SeqCst) {
                    if !index.merge(most_documents).unwrap() {
                        std::thread::yield_now();
                    }
                }
            });
        }
        for step in 0..700u64 {
            match step % 9 {
                4 => remove(&index, &mut model, step / 2),
                8 => add(&index, &mut model, step / 3, step),
                _ => add(&index, &mut model, step, step),
            }
            ask(&index, &model, step * 5 % 700);
            if step == 350 {
                index.compact().unwrap();
            }
        }
        ended.store(true, SeqCst);
    });
    while index.merge(u64::MAX).unwrap() {}
    model.assert_same(&index);
    let info = index.info();
    assert!(info.segments.len() < 24, "{info:?}");
    drop(index);
    let index = Index::open(&directory, simhash(64, 3), SPEC, &options).unwrap();
    model.assert_same(&index);
}

/// Promise (The index): Additions, replacements and removals during a merge …
#[test]
fn a_segment_with_many_removals_is_rewritten() {
    let temporary = tempfile::tempdir().unwrap();
    let options = Options {
        seal_documents: 20,
        ..Options::default()
    };
    let directory = temporary.path().join("index");
    let index = Index::create(&directory, simhash(64, 3), SPEC, &options).unwrap();
    let mut model = Model::new(simhash(64, 3));
    (0..20).for_each(|number| add(&index, &mut model, number, number));
    // Which documents have left something in the files.
    let left = || {
        let files = std::fs::read_dir(directory.join("segments")).unwrap();
        let bytes: Vec<u8> = files
            .flat_map(|file| std::fs::read(file.unwrap().path()).unwrap())
            .collect();
        let is_left = |number: &u64| {
            let id = format!("page {number}");
            let record = [id.as_bytes(), &sketch(*number)[..]].concat();
            bytes.windows(record.len()).any(|window| window == record)
        };
        (0..20).filter(is_left).count()
    };
    let all = left();
    assert!(all > 15);
    for number in 3..9 {
        remove(&index, &mut model, number);
    }
    assert_eq!((index.info().segments[0].0, left()), (20, all));
    remove(&index, &mut model, 19);
    assert_eq!((index.info().segments[0].0, left()), (20, all - 7));
    assert_eq!(index.info().removed, 7);
    model.assert_same(&index);
    for number in (0..3).chain(9..19) {
        remove(&index, &mut model, number);
    }
    assert!(left() <= 4, "{}", left());
    assert_eq!((index.info().documents, index.info().removed), (0, 20));
    model.assert_same(&index);
    index.compact().unwrap();
    assert_eq!(left(), 0);
    model.assert_same(&index);
}

/// Promise (The index): If a full disk prevents *sealing* (writing recent documents to a segment),
/// documents are refused before they are added, and earlier ones are still found
#[test]
fn documents_that_cannot_be_sealed_are_refused_before_they_are_added() {
    let temporary = tempfile::tempdir().unwrap();
    let full = Arc::new(AtomicBool::new(true));
    let hook = {
        let full = full.clone();
        // There is still space for small writes.
        move |operation, path: &Path| match path.extension() {
            Some(part) if part == "part" && operation == Operation::Write && full.load(SeqCst) => {
                Err(io::ErrorKind::StorageFull.into())
            }
            _ => Ok(()),
        }
    };
    let options = Options {
        seal_documents: 10,
        faults: Faults::decided_by(hook),
        ..Options::default()
    };
    let directory = temporary.path().join("index");
    let index = Index::create(&directory, simhash(64, 3), SPEC, &options).unwrap();
    let mut model = Model::new(simhash(64, 3));
    (0..40).for_each(|number| add(&index, &mut model, number, number));
    let trouble = index.info().trouble.unwrap();
    assert!(trouble.contains("full"), "{trouble}");
    for _ in 0..3 {
        let entry = Entry {
            id: b"one more",
            sketch: &sketch(1),
            ..Entry::default()
        };
        assert_eq!(
            index.add(&[entry], "", 1).unwrap_err().kind(),
            ErrorKind::Write
        );
        assert_eq!(index.document(b"one more").unwrap(), None);
        model.assert_same(&index);
    }
    // Removals, which free space, are not refused.
    remove(&index, &mut model, 5);
    ask(&index, &model, 6);
    full.store(false, SeqCst);
    add(&index, &mut model, 40, 40);
    assert_eq!(index.info().trouble, None);
    assert_eq!(index.info().segments.len(), 1);
    model.assert_same(&index);
}

/// Promise (The index): A lost `index.json` is restored, and no new index is made in its place
#[test]
fn a_lost_manifest_is_restored_and_no_index_is_created_in_its_place() {
    let temporary = tempfile::tempdir().unwrap();
    let (directory, options) = (temporary.path().join("index"), Options::default());
    let manifest = directory.join("index.json");
    let mut model = Model::new(simhash(64, 3));
    let index = Index::create(&directory, simhash(64, 3), SPEC, &options).unwrap();
    drop(index);
    // Nothing was added: the directory holds an unfinished index.
    std::fs::remove_file(&manifest).unwrap();
    let index = Index::create(&directory, simhash(64, 3), SPEC, &options).unwrap();
    (0..3).for_each(|number| add(&index, &mut model, number, number));
    drop(index);
    let bytes = std::fs::read(&manifest).unwrap();
    std::fs::remove_file(&manifest).unwrap();
    let made = Index::create(&directory, simhash(64, 3), SPEC, &options).map(drop);
    let built = Build::create(&directory, simhash(64, 3), SPEC, &options).map(drop);
    for refused in [made.unwrap_err(), built.unwrap_err()] {
        assert_eq!(refused.kind(), ErrorKind::Parameter);
        assert!(refused.to_string().contains("index.json"), "{refused}");
    }
    for (read_only, written) in [(true, false), (false, true)] {
        let options = Options {
            read_only,
            ..Options::default()
        };
        let index = Index::open(&directory, simhash(64, 3), SPEC, &options).unwrap();
        model.assert_same(&index);
        assert_eq!(manifest.exists(), written);
    }
    assert_eq!(std::fs::read(&manifest).unwrap(), bytes);
}

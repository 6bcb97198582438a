//! Decisions do not depend on how documents were added; and a dump that is removed leaves no trace.

use super::answers::{LABELS, Sketches, fingerprints, keys, numbers, page};
use super::model::{Model, Page, entries, held};
use proptest::prelude::*;
use simtool_core::sketch::Compare;
use simtool_index::{Index, Options, rescue};
use std::path::Path;
use std::sync::Arc;

const SPEC: &str = "a method for replays";

fn options(seal_documents: u32) -> Options {
    Options {
        seal_documents,
        memory_bytes: 1 << 16,
        ..Options::default()
    }
}

fn create(directory: &Path, method: &Arc<dyn Compare>, seal_documents: u32) -> Index {
    let options = options(seal_documents);
    Index::create(directory, method.clone(), SPEC, &options).unwrap()
}

fn pages(sketches: &Sketches, salt: u64, numbers: &[(u8, u8)]) -> Vec<Page> {
    let numbered = numbers.iter().zip(0u64..);
    numbered
        .map(|(of, number)| page(sketches, salt, *of, &number.to_le_bytes()))
        .collect()
}

/// A list in one call, and divided into calls, with several numbers of documents that are sealed.
#[derive(Clone, Debug)]
struct Divided {
    numbers: Vec<(u8, u8)>,
    ends: Vec<usize>,
    seal_documents: u32,
}

fn divided() -> impl Strategy<Value = Divided> {
    let ends = prop::collection::vec(0usize..150, 0..30);
    (numbers(150), ends, 1u32..60).prop_map(|(numbers, mut ends, seal_documents)| {
        ends.push(numbers.len());
        ends.iter_mut()
            .for_each(|end| *end = (*end).min(numbers.len()));
        ends.sort_unstable();
        Divided {
            numbers,
            ends,
            seal_documents,
        }
    })
}

fn assert_divisions_agree(
    (method, sketches): &(Arc<dyn Compare>, Sketches),
    salt: u64,
    of: &Divided,
) {
    let pages = pages(sketches, salt, &of.numbers);
    let mut model = Model::new(method.clone());
    model.add_all(&pages, "a dump", 1);
    let temporary = tempfile::tempdir().unwrap();
    let whole = vec![pages.len()];
    let each: Vec<usize> = (1..=pages.len()).collect();
    let small = 1 + of.seal_documents / 4;
    for (name, ends, seal_documents) in [
        ("recent", &whole, 1000),
        ("a segment", &whole, of.seal_documents),
        ("divided and recent", &of.ends, 1000),
        ("divided", &of.ends, of.seal_documents),
        ("divided with more segments", &of.ends, small),
        ("one by one", &each, of.seal_documents),
    ] {
        let index = create(&temporary.path().join(name), method, seal_documents);
        let mut start = 0;
        for &end in ends {
            index
                .add(&entries(&pages[start..end]), "a dump", 1 + end % 3)
                .unwrap();
            start = end;
        }
        assert!(model.is_same(&index), "{name}");
        model.assert_same(&index);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(25))]
    /// Promise (The index): However documents are divided into additions, the decisions are the same
    #[test]
    fn divisions_into_calls_make_no_difference(
        of in divided(),
        distance in 0u32..8,
        verified: bool,
        salt: u16,
    ) {
        let method = &fingerprints(64, distance)[usize::from(verified)];
        assert_divisions_agree(method, salt.into(), &of);
    }

    /// Promise (The index): However documents are divided into additions …
    #[test]
    fn divisions_of_wide_fingerprints_make_no_difference(
        of in divided(),
        distance in 0u32..8,
        verified: bool,
        salt: u16,
    ) {
        let method = &fingerprints(128, distance)[usize::from(verified)];
        assert_divisions_agree(method, salt.into(), &of);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(15))]
    /// Promise (The index): However documents are divided into additions …
    #[test]
    fn divisions_of_sketches_with_keys_make_no_difference(
        of in divided(),
        verified: bool,
        salt: u16,
    ) {
        assert_divisions_agree(&keys()[usize::from(verified)], salt.into(), &of);
    }
}

/// Additions to dumps.
type Calls = Vec<(usize, Vec<(u8, u8)>)>;

fn calls() -> impl Strategy<Value = Calls> {
    prop::collection::vec((0..LABELS.len(), numbers(40)), 0..8)
}

/// Adds all, removes a dump, adds more; compares with an index that never had the dump.
fn assert_no_trace(
    (method, sketches): &(Arc<dyn Compare>, Sketches),
    salt: u64,
    calls: [&Calls; 2],
    seal_documents: u32,
) {
    let temporary = tempfile::tempdir().unwrap();
    let add = |index: &Index, model: Option<&mut Model>, label: usize, numbers: &[(u8, u8)]| {
        let pages = pages(sketches, salt, numbers);
        let answers = index.add(&entries(&pages), LABELS[label], 3).unwrap();
        if let Some(model) = model {
            assert_eq!(answers, model.add_all(&pages, LABELS[label], 3));
        }
    };
    for (label, name) in LABELS.iter().enumerate() {
        let directory = temporary.path().join(label.to_string());
        let index = create(&directory, method, seal_documents);
        calls[0]
            .iter()
            .for_each(|(of, numbers)| add(&index, None, *of, numbers));
        let is_there = index.info().dumps.iter().any(|dump| dump == name);
        let before = index.info().documents;
        let removed = index.remove_dump(name);
        assert_eq!(removed.is_ok(), is_there);
        // Never had it.
        let mut model = Model::new(method.clone());
        let never = create(&temporary.path().join(format!("not {label}")), method, 7);
        for (of, numbers) in calls[0].iter().filter(|(of, _)| *of != label) {
            add(&never, Some(&mut model), *of, numbers);
        }
        model.assert_same(&index);
        model.assert_same(&never);
        let documents = removed.map_or(0, |removed| removed.documents);
        assert_eq!(before - documents, index.info().documents);
        // It can be copied, compacted, opened again, and added to, also to the same dump.
        let copied = temporary.path().join(format!("copy of {label}"));
        index.copy(&copied).unwrap();
        index.compact().unwrap();
        model.assert_same(&index);
        drop(index);
        for directory in [&directory, &copied] {
            let mut model = model.clone();
            let options = options(seal_documents);
            let index = Index::open(directory, method.clone(), SPEC, &options).unwrap();
            model.assert_same(&index);
            for (of, numbers) in calls[1] {
                add(&index, Some(&mut model), *of, numbers);
            }
            model.assert_same(&index);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// Promise (The index): A dump that is removed leaves no trace: all is as if it had never been
    /// added
    #[test]
    fn a_removed_dump_leaves_no_trace(
        before in calls(),
        after in calls(),
        distance in 0u32..6,
        verified: bool,
        salt: u16,
        seal_documents in 1u32..100,
    ) {
        let method = &fingerprints(64, distance)[usize::from(verified)];
        assert_no_trace(method, salt.into(), [&before, &after], seal_documents);
    }

    /// Promise (The index): A dump that is removed leaves no trace …
    #[test]
    fn a_removed_dump_of_sketches_with_keys_leaves_no_trace(
        before in calls(),
        after in calls(),
        verified: bool,
        salt: u16,
        seal_documents in 1u32..100,
    ) {
        let method = &keys()[usize::from(verified)];
        assert_no_trace(method, salt.into(), [&before, &after], seal_documents);
    }

    /// Promise (The index): A rescue of an index without damage saves all, with the decisions of
    /// adding it once more
    #[test]
    fn a_rescue_is_a_replay(
        calls in calls(),
        ids in prop::collection::vec(any::<u8>(), 0..60),
        of_keys: bool,
        verified: bool,
        salt: u16,
        seal_documents in 1u32..100,
    ) {
        let methods = if of_keys { keys() } else { fingerprints(64, 3) };
        let (method, sketches) = &methods[usize::from(verified)];
        let temporary = tempfile::tempdir().unwrap();
        let directory = temporary.path().join("index");
        let index = create(&directory, method, seal_documents);
        let mut model = Model::new(method.clone());
        for (of, numbers) in &calls {
            let pages = pages(sketches, salt.into(), numbers);
            index.add(&entries(&pages), LABELS[*of], 1).unwrap();
            model.add_all(&pages, LABELS[*of], 1);
        }
        let ids: Vec<&[u8]> = ids.iter().map(std::slice::from_ref).collect();
        index.remove(&ids).unwrap();
        ids.iter().for_each(|id| {
            model.remove(id);
        });
        drop(index);
        let replayed = model.replayed();
        for seal_documents in [seal_documents, 1000] {
            let to = temporary.path().join(format!("rescued {seal_documents}"));
            let options = options(seal_documents);
            let rescued = rescue(&directory, &to, method.clone(), SPEC, &options).unwrap();
            prop_assert_eq!((rescued.lost, &rescued.problems[..]), (0, &[][..]));
            prop_assert_eq!(rescued.saved, model.live().count() as u64);
            replayed.assert_same(&rescued.index);
        }
        let index = Index::open(&directory, method.clone(), SPEC, &options(9)).unwrap();
        model.assert_same(&index);
    }
}

/// The first document of a dump may be removed before the dump is.
#[test]
fn labels_of_later_dumps_stay_those_of_their_documents() {
    let (method, sketches) = &fingerprints(64, 3)[0];
    for (removed, dump) in [(&[0][..], "a"), (&[0, 3][..], "a"), (&[1, 4][..], "b")] {
        let temporary = tempfile::tempdir().unwrap();
        let directory = temporary.path().join("index");
        let index = create(&directory, method, 4);
        let mut model = Model::new(method.clone());
        for (number, label) in (0..).zip(["a", "b", "c", "a", "b", "c", "c"]) {
            let page = page(sketches, 1, (number, 0), b"");
            index.add(&[page.entry()], label, 1).unwrap();
            model.add(&page.entry(), label, 1);
        }
        for number in removed {
            index.remove(&[&[*number]]).unwrap();
            model.remove(&[*number]);
        }
        index.remove_dump(dump).unwrap();
        model.remove_dump(dump);
        model.assert_same(&index);
        assert_eq!(index.info().dumps.len(), 2);
    }
}

/// Without the database, the order of the segments and the labels are lost.
#[test]
fn a_rescue_without_the_database_mixes_nothing_up() {
    let (method, sketches) = &fingerprints(64, 3)[0];
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    let index = create(&directory, method, 40);
    let mut pages: Vec<Page> = (0..120)
        .map(|number| page(sketches, 5, (number, 0), b""))
        .collect();
    // Most have the words and the sketch of an earlier one.
    for number in 30..120 {
        let first = pages[number % 30].clone();
        (pages[number].words, pages[number].sketch) = (first.words, first.sketch);
    }
    for (pages, label) in pages.chunks(40).zip(["a", "b", "c"]) {
        index.add(&entries(pages), label, 1).unwrap();
    }
    assert_eq!((index.info().segments.len(), index.info().recent), (3, 0));
    drop(index);
    std::fs::remove_file(directory.join("index.redb")).unwrap();
    let segment = |number| directory.join(format!("segments/0000000{number}"));
    std::fs::rename(segment(0), segment(7)).unwrap();
    let to = temporary.path().join("rescued");
    let rescued = rescue(&directory, &to, method.clone(), SPEC, &options(50)).unwrap();
    assert_eq!((rescued.saved, rescued.lost), (120, 0));
    let problems = rescued.problems.join(" ");
    assert!(problems.contains("may come back"), "{problems}");
    assert_eq!(rescued.index.info().dumps, [""]);
    let mut without = 0;
    for (_, held) in held(&rescued.index).unwrap() {
        let page = &pages[usize::from(held.page.id[0])];
        assert_eq!((held.page.words, held.page.text), (page.words, page.text));
        match held.page.sketch.is_empty() {
            true => without += 1,
            false => assert_eq!(held.page.sketch, page.sketch),
        }
    }
    assert!(without < 120);
    assert_eq!(rescued.index.check().unwrap().problems, []);
}

/// A sketch that documents share goes with the first of them: a rescue does not depend on whether the
/// document was merged away since.
#[test]
fn a_rescue_takes_nothing_from_removed_documents() {
    let (method, sketches) = &fingerprints(64, 3)[0];
    for seal_documents in [2, 1000] {
        let temporary = tempfile::tempdir().unwrap();
        let directory = temporary.path().join("index");
        let index = create(&directory, method, seal_documents);
        let mut model = Model::new(method.clone());
        for id in 1..4 {
            let page = Page {
                id: vec![id],
                words: Some(7),
                sketch: sketches(5),
                ..Page::default()
            };
            index.add(&[page.entry()], "", 1).unwrap();
            model.add(&page.entry(), "", 1);
        }
        assert!(index.remove(&[&[1]]).unwrap()[0] && model.remove(&[1]));
        model.assert_same(&index);
        drop(index);
        let to = temporary.path().join("rescued");
        let rescued = rescue(&directory, &to, method.clone(), SPEC, &options(9)).unwrap();
        model.replayed().assert_same(&rescued.index);
    }
}

//! With a wrong bit or a missing end of a file, an index gives the same answers or an error: never
//! a wrong answer, never a panic.
//!
//! By default the tests try one bit of every byte of a segment and of the manifest, a few hundred
//! lengths, and part of the database. `cargo test --release --test index_damage -- --ignored` tries
//! every bit of every file.

use super::model::{Model, Page, simhash};
use simtool_core::sketch::Compare;
use simtool_index::{Answer, Document, Entry, Index, Options, Record, Standing};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SPEC: &str = "simhash for damage";

fn options() -> Options {
    Options {
        seal_documents: 60,
        ..Options::default()
    }
}

/// A sealed segment, recent documents, removals of both.
fn make(directory: &Path, method: &Arc<dyn Compare>) -> Model {
    let index = Index::create(directory, method.clone(), SPEC, &options()).unwrap();
    let mut model = Model::new(method.clone());
    for number in 0..100u64 {
        let pattern = number % 40;
        let page = Page {
            id: format!("page {number}").into_bytes(),
            words: (number % 4 > 0).then_some((pattern / 2).into()),
            text: number % 2,
            sketch: pattern
                .wrapping_mul(0x0101_0000_0001_1001)
                .to_le_bytes()
                .to_vec(),
            payload: vec![number as u8; 3],
            ..Page::default()
        };
        let dump = if number < 30 { "a" } else { "b" };
        index.add(&[page.entry()], dump, 3).unwrap();
        model.add(&page.entry(), dump, 3);
    }
    for id in ["page 3", "page 99"] {
        index.remove(&[id.as_bytes()]).unwrap();
        model.remove(id.as_bytes());
    }
    model
}

/// Documents by id, answers, and the records of all documents with the labels of their dumps.
type Found = (
    Vec<Document>,
    Vec<Answer>,
    Vec<(u64, Page, Option<String>, Standing)>,
);

/// What an index says.
fn ask(
    directory: &Path,
    method: &Arc<dyn Compare>,
    read_only: bool,
) -> simtool_core::Result<Found> {
    let options = Options {
        read_only,
        ..options()
    };
    let index = Index::open(directory, method.clone(), SPEC, &options)?;
    let mut answers = Vec::new();
    for number in 0..50u64 {
        let id = format!("page {}", number * 2);
        let sketch = number.wrapping_mul(0x0101_0000_0001_1001).to_le_bytes();
        let query = Entry {
            id: id.as_bytes(),
            words: (number % 3 == 0).then_some((number / 2).into()),
            sketch: &sketch,
            ..Entry::default()
        };
        answers.extend(index.seen(&[query], 7)?);
    }
    let mut documents = Vec::new();
    for number in 0..101u64 {
        documents.extend(index.document(format!("page {number}").as_bytes())?);
    }
    let mut records = Vec::new();
    let dumps = index.info().dumps;
    index.for_each(|ordinal, record: &Record<'_>| {
        let dump = dumps.get(record.dump as usize).cloned();
        records.push((ordinal, Page::of(&record.entry), dump, record.standing));
        Ok(())
    })?;
    Ok((documents, answers, records))
}

struct Damage {
    _temporary: tempfile::TempDir,
    directory: PathBuf,
    whole: PathBuf,
    method: Arc<dyn Compare>,
    expected: Found,
    noticed: u64,
    tried: u64,
}

impl Damage {
    fn new() -> Damage {
        let temporary = tempfile::tempdir().unwrap();
        let (whole, directory) = (
            temporary.path().join("whole"),
            temporary.path().join("index"),
        );
        let method = simhash(64, 3);
        let model = make(&whole, &method);
        let expected = ask(&whole, &method, false).unwrap();
        assert_eq!(expected.0.len(), model.live().count());
        copy(&whole, &directory);
        Damage {
            _temporary: temporary,
            directory,
            whole,
            method,
            expected,
            noticed: 0,
            tried: 0,
        }
    }

    fn bytes(&self, file: &str) -> Vec<u8> {
        std::fs::read(self.whole.join(file)).unwrap()
    }

    /// Replaces a file by `bytes`, queries the index, and restores the file.
    fn with(&mut self, file: &str, bytes: &[u8], what: &str) {
        std::fs::write(self.directory.join(file), bytes).unwrap();
        self.tried += 1;
        // Opening for writing syncs the database, which takes its time.
        let read_only = !self.tried.is_multiple_of(64);
        match ask(&self.directory, &self.method, read_only) {
            Ok(found) => assert!(found == self.expected, "{file}, {what}: another answer"),
            Err(_) => self.noticed += 1,
        }
        // The database may have been written to.
        let touched = [file, "index.redb"];
        for file in &touched[..if read_only { 1 } else { 2 }] {
            std::fs::copy(self.whole.join(file), self.directory.join(file)).unwrap();
        }
    }

    fn flip(&mut self, file: &str, bytes: &[u8], bit: usize) {
        let mut bytes = bytes.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        self.with(file, &bytes, &format!("bit {bit}"));
    }

    fn cut(&mut self, file: &str, bytes: &[u8], length: usize) {
        self.with(file, &bytes[..length], &format!("cut to {length}"));
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &to)
        } else {
            std::fs::copy(&path, &to).map(drop).unwrap()
        }
    }
}

const SEGMENT: &str = "segments/00000000";

/// Promise (The index): A wrong bit or a missing end is an error or has no effect (every bit and
/// every end, a quarter of an hour, by hand)
#[test]
fn a_bit_of_a_segment() {
    let mut damage = Damage::new();
    let bytes = damage.bytes(SEGMENT);
    for place in (0..bytes.len()).step_by(29) {
        damage.flip(SEGMENT, &bytes, 8 * place + place % 8);
    }
    // Padding with zeros is never read.
    assert!(damage.noticed > 1000, "{}", damage.noticed);
}

#[test]
fn a_bit_or_the_end_of_the_manifest() {
    let mut damage = Damage::new();
    let bytes = damage.bytes("index.json");
    for bit in 0..8 * bytes.len() {
        damage.flip("index.json", &bytes, bit);
    }
    for length in 0..bytes.len() {
        damage.cut("index.json", &bytes, length);
    }
    assert_eq!(damage.noticed as usize, 9 * bytes.len());
}

/// Promise (The index): A wrong bit or a missing …
#[test]
fn the_end_of_a_segment_or_the_database() {
    let mut damage = Damage::new();
    for file in [SEGMENT, "index.redb"] {
        let bytes = damage.bytes(file);
        let step = bytes.len() / 150;
        for length in (0..40)
            .chain((0..bytes.len()).step_by(step))
            .chain([bytes.len() - 1])
        {
            damage.cut(file, &bytes, length);
        }
    }
}

/// Promise (The index): A wrong bit or a missing …
#[test]
fn a_bit_of_the_database() {
    let mut damage = Damage::new();
    let bytes = damage.bytes("index.redb");
    // The header in full; of the rest, what is not zero.
    let places: Vec<usize> = (0..bytes.len())
        .filter(|place| *place < 400 || bytes[*place] != 0)
        .collect();
    let step = (places.len() / 1500).max(1);
    for (count, place) in places
        .iter()
        .enumerate()
        .filter(|(count, place)| **place < 400 || count % step == 0)
    {
        damage.flip("index.redb", &bytes, 8 * place + count % 8);
    }
    assert!(damage.noticed > 100, "{}", damage.noticed);
}

/// Each thread has its own index and its share of the bits and ends.
#[test]
#[ignore = "takes a quarter of an hour"]
fn every_bit_and_every_end() {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let every = |first: usize| {
        let mut damage = Damage::new();
        for file in [SEGMENT, "index.redb"] {
            let bytes = damage.bytes(file);
            let bits = (first..8 * bytes.len()).step_by(threads);
            bits.for_each(|bit| damage.flip(file, &bytes, bit));
            let lengths = (first..bytes.len()).step_by(threads);
            lengths.for_each(|length| damage.cut(file, &bytes, length));
        }
        assert!(damage.noticed > 0);
    };
    std::thread::scope(|scope| {
        (0..threads).for_each(|first| drop(scope.spawn(move || every(first))));
    });
}

/// Promise (The index): A wrong bit or a missing …
#[test]
fn parts_of_another_index() {
    let mut damage = Damage::new();
    let other = Damage::new();
    for file in [SEGMENT, "index.redb", "index.json"] {
        let before = damage.noticed;
        damage.with(file, &other.bytes(file), "of another index");
        assert_eq!(damage.noticed, before + 1, "{file}");
    }
}

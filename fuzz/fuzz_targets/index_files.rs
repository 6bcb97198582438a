//! A file of a small index is replaced or changed. Opening, querying, checking and rescuing the
//! index give an error or an answer.
//!
//! Segments and manifests may also have correct checksums, which arbitrary bytes never have.
#![no_main]

use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use simtool::index::{Entry, Index, Layout, Options, Query, rescue};
use simtool::io::{BlockWriter, Faults};
use simtool::kernel::Level;
use simtool::sketch::{Compare, hashed};
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

const SPEC: &str = "simhash, 64 bits";
const FILES: [&str; 3] = ["index.json", "index.redb", "segments/00000001"];

#[derive(Debug, Arbitrary)]
enum Change<'a> {
    /// The number of the file, and its bytes.
    Replace(u8, &'a [u8]),
    /// The number of the file, the offset, and the bytes there.
    Overwrite(u8, u32, &'a [u8]),
    /// The number of the file, and its length.
    Truncate(u8, u32),
    /// A manifest with a correct checksum.
    Manifest(&'a str),
    /// A segment with correct checksums.
    Segment {
        kind: u8,
        sections: Vec<&'a [u8]>,
        attributes: &'a [u8],
    },
}

/// The files of a valid index with one segment, a recent document and a removal.
static VALID: LazyLock<[Vec<u8>; 3]> = LazyLock::new(|| {
    let temporary = tempfile::tempdir().expect("space for an index");
    let directory = temporary.path().join("index");
    let index = Index::create(&directory, method(), SPEC, &options(false)).expect("an index");
    let names = ["a", "b", "c", "d", "e"];
    for (name, sketch) in names.into_iter().zip([1_u64, 1, 3, u64::MAX, 7]) {
        let (id, sketch) = (name.as_bytes(), &sketch.to_le_bytes());
        let entry = Entry {
            id,
            sketch,
            payload: b"payload",
        };
        index.add(&[entry], 1).expect("an addition");
    }
    index.remove(&[b"b"]).expect("a removal");
    drop(index);
    FILES.map(|file| fs::read(directory.join(file)).expect("a file of the index"))
});

fn method() -> Arc<dyn Compare> {
    let settings = hashed::SimHashSettings::default();
    let method = settings
        .method(64, Level::best())
        .expect("64 bits are possible");
    Arc::from(method as Box<dyn Compare>)
}

fn options(read_only: bool) -> Options {
    Options {
        layout: Layout::Compact,
        memory_bytes: 1 << 20,
        seal_documents: 4,
        read_only,
        ..Options::default()
    }
}

fuzz_target!(|input: (bool, Change<'_>)| {
    let (read_only, change) = input;
    let temporary = tempfile::tempdir().expect("space for an index");
    let directory = temporary.path().join("index");
    fs::create_dir_all(directory.join("segments")).expect("space for an index");
    for (file, bytes) in FILES.iter().zip(&*VALID) {
        fs::write(directory.join(file), bytes).expect("space for an index");
    }
    apply(&change, &directory);
    if let Ok(index) = Index::open(&directory, method(), SPEC, &options(read_only)) {
        query(&index);
        let _ = index.check();
        let entry = Entry {
            id: b"new",
            sketch: &5_u64.to_le_bytes(),
            payload: b"",
        };
        let _ = index.add(&[entry], 3);
        query(&index);
    }
    rescued(&directory, &temporary);
});

fn apply(change: &Change<'_>, directory: &Path) {
    let number = |number: u8| usize::from(number) % FILES.len();
    let write = |number: usize, bytes: &[u8]| {
        fs::write(directory.join(FILES[number]), bytes).expect("space for a file");
    };
    match *change {
        Change::Replace(file, bytes) => write(number(file), bytes),
        Change::Overwrite(file, offset, bytes) => {
            let mut whole = VALID[number(file)].clone();
            let start = offset as usize % whole.len();
            let end = whole.len().min(start + bytes.len());
            whole[start..end].copy_from_slice(&bytes[..end - start]);
            write(number(file), &whole);
        }
        Change::Truncate(file, length) => {
            let whole = &VALID[number(file)];
            write(number(file), &whole[..length as usize % whole.len()]);
        }
        Change::Manifest(json) => {
            let sum = xxh3_64(json.as_bytes());
            write(0, format!("{json}\n{sum:016x}\n").as_bytes());
        }
        Change::Segment {
            kind,
            ref sections,
            attributes,
        } => {
            let path = directory.join(FILES[2]);
            let kind = u32::from(kind) % 8;
            let mut file = BlockWriter::create(&path, kind, &Faults::default()).expect("space");
            for section in sections {
                file.append(section).expect("space for a section");
                file.end_section().expect("space for a section");
            }
            // Too many sections or attributes are refused.
            let _ = file.finish(attributes);
        }
    }
}

fn query(index: &Index) {
    for sketch in [0_u64, 1, u64::MAX] {
        let (id, sketch) = (Some(&b"a"[..]), &sketch.to_le_bytes());
        let _ = index.seen(&[Query { id, sketch }], 3);
    }
    for id in ["a", "b", "e", "missing"] {
        let _ = index.document(id.as_bytes());
    }
    let _ = index.for_each(|_| Ok(()));
}

fn rescued(directory: &Path, temporary: &TempDir) {
    let to = temporary.path().join("rescued");
    if let Ok(rescued) = rescue(directory, &to, method(), SPEC, &options(false)) {
        query(&rescued.index);
        // All checksums are new, so that only the documents can be strange.
        let check = rescued.index.check().expect("a check of a new index");
        assert_eq!(check.problems, []);
    }
}

//! A stored index of the format that is written: it is opened, and answers as it did.

use super::model::{Model, simhash};
use flate2::read::GzDecoder;
use flate2::{Compression, write::GzEncoder};
use simtool_index::{Entry, Index, Layout, Options, Query, Verdict};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

const SPEC: &str = "simhash, 64 bits, distance 3, made by the first version";
/// The database is mostly zeros, the others compress well too.
const FILES: [&str; 4] = [
    "index.json",
    "index.redb",
    "segments/00000000",
    "segments/00000001",
];

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/index")
}

fn options() -> Options {
    Options {
        layout: Layout::Compact,
        seal_documents: 20,
        ..Options::default()
    }
}

/// Two segments, recent documents, and removals of both kinds.
fn fill(index: Option<&Index>) -> Model {
    let mut model = Model::new(simhash(64, 3));
    for number in 0..50u64 {
        let id = format!("http://example.org/{}", number % 45);
        let sketch = (number % 30)
            .wrapping_mul(0x0123_4567_89AB_CDEF)
            .to_le_bytes();
        let payload = format!("fetched on day {number}");
        let sketch = if number == 7 { &[][..] } else { &sketch };
        let entry = Entry {
            id: id.as_bytes(),
            sketch,
            payload: payload.as_bytes(),
        };
        model.add(&entry, 3);
        index.map(|index| index.add(&[entry], 3).unwrap());
    }
    for id in [&b"http://example.org/9"[..], b"http://example.org/44"] {
        model.remove(id);
        index.map(|index| index.remove(&[id]).unwrap());
    }
    model
}

/// Promise (The index): An index of the format that is written stays readable
#[test]
fn an_index_is_read_and_goes_on() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    std::fs::create_dir_all(directory.join("segments")).unwrap();
    std::fs::write(directory.join("lock"), b"").unwrap();
    for file in FILES {
        let packed = std::fs::read(home().join(format!("{file}.gz"))).unwrap();
        let mut bytes = Vec::new();
        GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
        std::fs::write(directory.join(file), bytes).unwrap();
    }
    let mut model = fill(None);
    for read_only in [true, false] {
        let options = Options {
            read_only,
            ..options()
        };
        let index = Index::open(&directory, simhash(64, 3), SPEC, &options).unwrap();
        assert_eq!(index.info().segments.len(), 2);
        model.assert_same(&index);
        for number in 0..40u64 {
            let sketch = (number.wrapping_mul(0x0123_4567_89AB_CDEF) ^ 5).to_le_bytes();
            let query = Query {
                id: None,
                sketch: &sketch,
            };
            assert_eq!(index.seen(&[query], 9).unwrap(), [model.seen(&query, 9)]);
        }
    }
    let index = Index::open(&directory, simhash(64, 3), SPEC, &options()).unwrap();
    let entry = Entry {
        id: b"new",
        sketch: &[0x55; 8],
        payload: b"",
    };
    assert_eq!(index.add(&[entry], 1).unwrap()[0].verdict, Verdict::New);
    model.add(&entry, 1);
    index.compact().unwrap();
    model.assert_same(&index);
}

/// Creates `testdata/index`.
#[test]
#[ignore = "writes testdata"]
fn make() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    let index = Index::create(&directory, simhash(64, 3), SPEC, &options()).unwrap();
    fill(Some(&index));
    drop(index);
    std::fs::create_dir_all(home().join("segments")).unwrap();
    for file in FILES {
        let bytes = std::fs::read(directory.join(file)).unwrap();
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&bytes).unwrap();
        std::fs::write(home().join(format!("{file}.gz")), packed.finish().unwrap()).unwrap();
    }
}

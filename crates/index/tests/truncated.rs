//! A segment that shrinks while it is mapped gives an error: it does not end the process, and no
//! answer uses the missing bytes.

#![allow(clippy::unwrap_used)]

#[path = "it/model.rs"]
mod model;

use model::simhash;
use simtool_core::ErrorKind;
use simtool_index::{Build, Entry, Index, Options, Query};

const SPEC: &str = "simhash that is cut";

/// Promise (The index): A segment that shrinks under a running process is an error
#[test]
fn a_segment_that_shrinks_is_an_error() {
    // SAFETY: the inputs are verified, and nothing else handles SIGBUS.
    unsafe { simtool_files::guard::install() }.unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    let method = simhash(64, 3);
    let options = Options::default();
    let mut build = Build::create(&directory, method.clone(), SPEC, &options).unwrap();
    let sketch = |number: u64| number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
    for number in 0..10_000 {
        let (id, sketch) = (number.to_string(), sketch(number));
        build
            .push(&Entry {
                id: id.as_bytes(),
                sketch: &sketch,
                payload: b"",
            })
            .unwrap();
    }
    drop(build.finish().unwrap());
    let segment = directory.join("segments/00000001");
    let whole = std::fs::metadata(&segment).unwrap().len();
    for length in [whole / 2, 4096, 0] {
        let index = Index::open(&directory, method.clone(), SPEC, &options).unwrap();
        let sketches: Vec<[u8; 8]> = (0..10_000).map(sketch).collect();
        let queries: Vec<Query<'_>> = sketches
            .iter()
            .map(|sketch| Query { id: None, sketch })
            .collect();
        // Every block is verified.
        let before = index.seen(&queries, 2).unwrap();
        assert!(before.iter().all(|answer| answer.matches.len() == 1));
        let bytes = std::fs::read(&segment).unwrap();
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open(&segment)
            .unwrap();
        file.set_len(length).unwrap();
        let error = index.seen(&queries, 2).unwrap_err();
        let expected = [ErrorKind::Changed, ErrorKind::Content];
        assert!(expected.contains(&error.kind()), "{error}");
        assert_eq!(error.file(), Some(&*segment));
        drop(index);
        let refused = Index::open(&directory, method.clone(), SPEC, &options);
        assert_eq!(refused.err().unwrap().kind(), ErrorKind::Content);
        std::fs::write(&segment, bytes).unwrap();
    }
}

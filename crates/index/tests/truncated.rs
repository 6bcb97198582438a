//! A segment that shrinks while it is mapped gives an error: it does not end the process, and no
//! answer uses the missing bytes.

#![allow(clippy::unwrap_used)]

#[path = "it/model.rs"]
mod model;

use model::{Page, entries, simhash};
use simtool_core::ErrorKind;
use simtool_index::{Build, Entry, Index, Options};

const SPEC: &str = "simhash that is cut";

/// Promise (The index): A segment that shrinks under a running process is an error
#[test]
fn a_segment_that_shrinks_is_an_error() {
    // SAFETY: the inputs are verified, and nothing else handles SIGBUS.
    unsafe { simtool_files::guard::install() }.unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    let method = simhash(64, 3);
    let options = Options {
        seal_documents: 5000,
        ..Options::default()
    };
    let build = Build::create(&directory, method.clone(), SPEC, &options).unwrap();
    let sketch = |number: u64| number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
    let pages = (0..10_000).map(|number: u64| Page {
        id: number.to_string().into_bytes(),
        sketch: sketch(number).to_vec(),
        ..Page::default()
    });
    let pages: Vec<Page> = pages.collect();
    build.index().add(&entries(&pages), "", 1).unwrap();
    drop(build.finish().unwrap());
    let segment = directory.join("segments/00000000");
    let whole = std::fs::metadata(&segment).unwrap().len();
    for length in [whole / 2, 4096, 0] {
        let index = Index::open(&directory, method.clone(), SPEC, &options).unwrap();
        let sketches: Vec<[u8; 8]> = (0..10_000).map(sketch).collect();
        let query = |sketch| Entry {
            sketch,
            ..Entry::default()
        };
        let queries: Vec<Entry<'_>> = sketches.iter().map(|sketch| query(&sketch[..])).collect();
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

//! One writer at a time, even if files of an open index are removed or replaced.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::model::simhash;
use simtool_core::{Error, ErrorKind, Result};
use simtool_index::{Build, DATABASE, Entry, Index, Options, rescue};

const SPEC: &str = "simhash for locks";

fn create(directory: &Path) -> Index {
    Index::create(directory, simhash(64, 3), SPEC, &Options::default()).unwrap()
}

fn open(directory: &Path, read_only: bool) -> Result<Index> {
    let options = Options {
        read_only,
        ..Options::default()
    };
    Index::open(directory, simhash(64, 3), SPEC, &options)
}

fn add(index: &Index, id: &str) -> Result<()> {
    let sketch = [7; 8];
    let entry = Entry {
        id: id.as_bytes(),
        sketch: &sketch,
        ..Entry::default()
    };
    index.add(&[entry], "", 1).map(drop)
}

fn assert_in_use(opened: Result<Index>) {
    let error = opened.err().expect("refused");
    assert_eq!(error.kind(), ErrorKind::Read);
    let text = error.to_string();
    assert!(
        text.contains("another process has this index open"),
        "{text}"
    );
}

/// Removing the empty file `lock` releases no lock: two writers would lose acknowledged additions
/// of each other.
/// Promise (The index): Only one process at a time changes an index, even if its file `lock` is
/// removed; a database that was removed or replaced while open accepts no changes
#[test]
fn removing_the_lock_file_admits_no_second_writer() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    let index = create(&directory);
    add(&index, "a").unwrap();
    for _ in 0..2 {
        fs::remove_file(directory.join("lock")).unwrap();
        assert_in_use(open(&directory, false));
        assert_in_use(open(&directory, true));
        assert!(
            rescue(
                &directory,
                &temporary.path().join("to"),
                simhash(64, 3),
                SPEC,
                &Options::default()
            )
            .is_err_and(|error| error.to_string().contains("open"))
        );
        // The second process has created the file again.
    }
    add(&index, "b").unwrap();
    drop(index);
    assert_eq!(open(&directory, false).unwrap().info().documents, 2);
    fs::remove_file(directory.join("lock")).unwrap();
    let readers = [
        open(&directory, true).unwrap(),
        open(&directory, true).unwrap(),
    ];
    assert_in_use(open(&directory, false));
    drop(readers);
    assert_eq!(open(&directory, false).unwrap().info().documents, 2);
}

/// The same for an index that is being built.
/// Promise (The index): Only one process at a time …
#[test]
fn removing_the_lock_file_admits_no_second_builder() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    let begin = || Build::create(&directory, simhash(64, 3), SPEC, &Options::default());
    let build = begin().unwrap();
    let entry = Entry {
        id: b"a",
        sketch: &[7; 8],
        ..Entry::default()
    };
    build.index().add(&[entry], "", 1).unwrap();
    fs::remove_file(directory.join("lock")).unwrap();
    let error = begin().err().expect("refused").to_string();
    assert!(
        error.contains("another process has this index open"),
        "{error}"
    );
    assert_eq!(build.finish().unwrap().info().documents, 1);
}

/// An addition to a removed database would end with the process, so it is not acknowledged.
/// Promise (The index): Only one process at a time …
#[test]
fn a_removed_or_replaced_database_refuses_additions() {
    for replaced in [false, true] {
        let temporary = tempfile::tempdir().unwrap();
        let directory = temporary.path().join("index");
        let index = create(&directory);
        add(&index, "a").unwrap();
        let database = directory.join(DATABASE);
        if replaced {
            let copy = temporary.path().join("copy");
            fs::copy(&database, &copy).unwrap();
            fs::rename(&copy, &database).unwrap();
        } else {
            fs::remove_file(&database).unwrap();
        }
        for id in ["b", "c"] {
            let error = add(&index, id).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Write);
            let text = error.to_string();
            assert!(text.contains("removed or replaced"), "{text}");
        }
        assert_eq!(index.info().documents, 1);
        drop(index);
        match replaced {
            true => assert_eq!(open(&directory, false).unwrap().info().documents, 1),
            false => {
                let error = open(&directory, false).err().expect("no database");
                assert!(error.to_string().contains("rescue"), "{error}");
                assert!(!database.exists(), "nothing is put in its place");
            }
        }
    }
}

/// Opening a FIFO would wait for its other end forever.
/// Promise (The index): A FIFO in place of an index file is an error at once
#[test]
fn a_fifo_in_the_place_of_a_file_is_an_error() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    let options = Options {
        seal_documents: 1,
        ..Options::default()
    };
    let build = Build::create(&directory, simhash(64, 3), SPEC, &options).unwrap();
    let entry = Entry {
        id: b"a",
        sketch: &[7; 8],
        ..Entry::default()
    };
    build.index().add(&[entry], "", 1).unwrap();
    drop(build.finish().unwrap());
    let segments: Vec<_> = fs::read_dir(directory.join("segments")).unwrap().collect();
    let segment = segments[0].as_ref().unwrap().path();
    for file in [
        segment,
        directory.join(DATABASE),
        directory.join("lock"),
        directory.join("index.json"),
    ] {
        let aside = temporary.path().join("aside");
        fs::rename(&file, &aside).unwrap();
        assert!(
            Command::new("mkfifo")
                .arg(&file)
                .status()
                .unwrap()
                .success()
        );
        for read_only in [false, true] {
            let refused = open(&directory, read_only);
            let error: Error = refused.err().expect("no regular file");
            let text = error.to_string();
            assert!(
                text.contains("it is no regular file") || text.contains("No such device"),
                "{text}"
            );
        }
        fs::remove_file(&file).unwrap();
        fs::rename(&aside, &file).unwrap();
    }
    assert_eq!(open(&directory, false).unwrap().info().documents, 1);
}

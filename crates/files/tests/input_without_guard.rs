//! A library caller who did not ask for the guard: inputs are read into memory, and fail alike.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use simtool_core::ErrorKind;
use simtool_files::{Input, guard};
use simtool_testing::skipped::skipped;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn open(path: &Path) -> simtool_core::Result<Input> {
    assert!(!guard::is_installed());
    Input::open(path, path.parent().unwrap())
}

#[test]
fn bytes_are_those_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    for size in [0, 1, 4095, 4096, 4097, 1_000_000] {
        let path = directory.path().join(size.to_string());
        let bytes: Vec<u8> = (0..size).map(|i| (i % 253) as u8).collect();
        fs::write(&path, &bytes).unwrap();
        let input = open(&path).unwrap();
        assert!(input.bytes() == bytes);
        assert_eq!((input.len(), input.is_empty()), (size, size == 0));
        input.verify().unwrap();
    }
}

/// Promise (Failing inputs): Without the guard, inputs are read, and changes are still detected
#[test]
fn own_copy_stays_but_a_changed_file_fails() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    fs::write(&path, b"before").unwrap();
    let input = open(&path).unwrap();
    OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap()
        .write_all(b" after")
        .unwrap();
    assert_eq!(input.bytes(), b"before");
    let error = input.verify().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Changed);
    assert!(error.to_string().contains("expected 6 bytes"), "{error}");
    assert!(error.to_string().contains("found 12 bytes"), "{error}");
}

#[test]
fn missing_file_and_directory_say_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let missing = open(&directory.path().join("missing")).err().unwrap();
    assert_eq!(missing.kind(), ErrorKind::Read);
    assert!(
        missing.to_string().contains("check the spelling"),
        "{missing}"
    );
    let folder = open(directory.path()).err().unwrap();
    assert_eq!(folder.kind(), ErrorKind::Read);
    assert!(
        folder
            .to_string()
            .contains("is a directory: name the files in it"),
        "{folder}"
    );
}

/// Promise (Errors and interruptions): Errors name missing files, directories given …
#[test]
fn unreadable_file_is_a_read_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("secret");
    fs::write(&path, b"x").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    match open(&path) {
        Ok(_) => skipped("this user may read everything"),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Read);
            assert!(error.to_string().contains("permission"), "{error}");
        }
    }
}

#[test]
fn file_too_large_for_memory_is_an_error() {
    // More than the address space; only some file systems, tmpfs for one, have such sparse files.
    let is_sparse = |place: &tempfile::TempDir| {
        fs::File::create(place.path().join("sparse"))
            .unwrap()
            .set_len(1 << 50)
            .is_ok()
    };
    let places = [tempfile::tempdir(), tempfile::tempdir_in("/dev/shm")];
    let Some(place) = places.into_iter().flatten().find(is_sparse) else {
        skipped("no file system with sparse files of 1 PiB");
        return;
    };
    let error = open(&place.path().join("sparse")).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Memory);
    assert!(
        error.to_string().contains("1125899906842624 bytes"),
        "{error}"
    );
}

#[test]
fn fifo_is_read_to_its_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fifo");
    let made = std::process::Command::new("mkfifo")
        .arg(&path)
        .status()
        .unwrap();
    assert!(made.success());
    std::thread::scope(|scope| {
        scope.spawn(|| fs::write(&path, b"through the pipe").unwrap());
        let input = open(&path).unwrap();
        assert_eq!(input.bytes(), b"through the pipe");
    });
    assert!(open(Path::new("/dev/null")).unwrap().is_empty());
}

#[test]
fn file_that_the_kernel_makes_up_is_not_empty() {
    assert!(!open(Path::new("/proc/self/status")).unwrap().is_empty());
}

#[test]
fn failing_stream_is_a_read_error() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("cable cut"))
        }
    }
    let error = Input::spool("-", Failing, Path::new("/nonexistent"))
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::Read);
    assert!(error.to_string().contains("cable cut"), "{error}");
}

#[test]
fn bytes_without_a_file_do_not_change() {
    let input = Input::from_bytes("words", b"words".to_vec());
    assert_eq!(input.bytes(), b"words");
    input.verify().unwrap();
}

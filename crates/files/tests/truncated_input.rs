//! A mapped file is truncated, extended or modified while it is read: the process goes on, the
//! file fails, other files are untouched.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use proptest::prelude::*;
use simtool_core::ErrorKind;
use simtool_files::{AtomicFile, Input, guard};
use simtool_testing::skipped::skipped;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

const SIZE: usize = 40 * 4096 + 123;

fn directory() -> TempDir {
    // SAFETY: the inputs are verified, and nothing else handles SIGBUS.
    unsafe { guard::install() }.unwrap();
    tempfile::tempdir().unwrap()
}

fn write_ones(directory: &TempDir, name: &str, size: usize) -> PathBuf {
    let path = directory.path().join(name);
    fs::write(&path, vec![1; size]).unwrap();
    // The past, so that a modification within a tick of the clock is still seen.
    let yesterday = SystemTime::now() - Duration::from_secs(86_400);
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(yesterday)
        .unwrap();
    path
}

fn open(path: &Path) -> Input {
    Input::open(path, Path::new("/nonexistent")).unwrap()
}

fn truncate(path: &Path, size: u64) {
    OpenOptions::new()
        .write(true)
        .open(path)
        .unwrap()
        .set_len(size)
        .unwrap();
}

fn assert_changed(input: &Input, expected: usize, found: usize) {
    let error = input.verify().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Changed);
    assert_eq!(error.file(), Some(input.name()));
    let text = error.to_string();
    assert!(
        text.contains(&format!("expected {expected} bytes")),
        "{text}"
    );
    assert!(text.contains(&format!("found {found} bytes")), "{text}");
}

/// Promise (Failing inputs): An input that is truncated while …
#[test]
fn truncation_becomes_zeros_and_fails_one_input() {
    let directory = directory();
    let path = write_ones(&directory, "short", SIZE);
    let (input, other) = (open(&path), open(&write_ones(&directory, "other", SIZE)));
    truncate(&path, 5000);
    let kept = input.bytes().iter().take_while(|&&byte| byte == 1).count();
    assert_eq!(kept, 5000);
    assert!(input.bytes()[5000..].iter().all(|&byte| byte == 0));
    assert_changed(&input, SIZE, 5000);
    assert!(other.bytes().iter().all(|&byte| byte == 1));
    other.verify().unwrap();
}

#[test]
fn truncation_that_is_undone_still_fails() {
    let directory = directory();
    let path = write_ones(&directory, "again", SIZE);
    let input = open(&path);
    truncate(&path, 0);
    assert_eq!(input.bytes()[SIZE - 1], 0);
    fs::write(&path, vec![1; SIZE]).unwrap();
    assert_changed(&input, SIZE, SIZE);
}

/// Promise (Failing inputs): An input that is truncated while …
#[test]
fn truncation_under_many_readers_fails_every_file_and_no_thread() {
    let directory = directory();
    let read_all = |input: &Input| input.bytes().iter().filter(|&&byte| byte == 1).count();
    std::thread::scope(|scope| {
        for file in 0..8 {
            let path = write_ones(&directory, &file.to_string(), SIZE);
            scope.spawn(move || {
                let input = open(&path);
                std::thread::scope(|readers| {
                    for _ in 0..4 {
                        readers.spawn(|| assert!(read_all(&input) <= SIZE));
                    }
                    truncate(&path, 4096);
                });
                assert!(read_all(&input) >= 4096);
                assert_changed(&input, SIZE, 4096);
            });
        }
        // Meanwhile, slots are taken and freed.
        let steady = write_ones(&directory, "steady", 4096);
        for _ in 0..2000 {
            let input = open(&steady);
            assert_eq!(read_all(&input), 4096);
            input.verify().unwrap();
        }
    });
}

#[test]
fn growing_and_rewritten_files_are_changed() {
    let directory = directory();
    let path = write_ones(&directory, "growing", SIZE);
    let input = open(&path);
    OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap()
        .write_all(b"more")
        .unwrap();
    assert_changed(&input, SIZE, SIZE + 4);

    let path = write_ones(&directory, "rewritten", SIZE);
    let input = open(&path);
    OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .write_all(b"other")
        .unwrap();
    assert_changed(&input, SIZE, SIZE);
}

/// Promise (Failing inputs): A run whose input grows or is …
#[test]
fn modification_whose_time_was_set_back_is_changed() {
    let directory = directory();
    let path = write_ones(&directory, "forged", SIZE);
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let input = open(&path);
    std::thread::sleep(Duration::from_millis(20));
    let mut file = OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all(b"other").unwrap();
    file.set_modified(modified).unwrap();
    assert_changed(&input, SIZE, SIZE);
}

/// Promise (Failing inputs): A run whose input grows or is …
#[test]
fn unlinked_linked_and_replaced_files_keep_their_bytes() {
    let directory = directory();
    let path = write_ones(&directory, "old", SIZE);
    let input = open(&path);
    fs::hard_link(&path, directory.path().join("link")).unwrap();
    input.verify().unwrap();
    let replacement = write_ones(&directory, "new", 10);
    fs::rename(replacement, &path).unwrap();
    fs::remove_file(directory.path().join("link")).unwrap();
    assert!(input.bytes().iter().all(|&byte| byte == 1));
    input.verify().unwrap();
}

#[test]
fn output_written_from_a_truncated_input_does_not_take_the_blame() {
    let directory = directory();
    let path = write_ones(&directory, "source", 3 << 20);
    let input = open(&path);
    truncate(&path, 4096);
    let mut output = AtomicFile::create(&directory.path().join("copy")).unwrap();
    output.write_all(input.bytes()).unwrap();
    assert_changed(&input, 3 << 20, 4096);
}

/// Promise (Failing inputs): Pipes, standard input and files without …
#[test]
fn streams_are_spooled_and_leave_no_file() {
    let directory = directory();
    let text: Vec<u8> = (0..3_000_000_u32).map(|i| (i % 251) as u8).collect();
    let input = Input::spool("-", &text[..], directory.path()).unwrap();
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    assert!(input.bytes() == text);
    assert_eq!(input.name(), Path::new("-"));
    input.verify().unwrap();
    assert!(
        Input::spool("-", &b""[..], directory.path())
            .unwrap()
            .is_empty()
    );
}

#[test]
fn stream_without_a_place_is_a_write_error() {
    // SAFETY: the inputs are verified, and nothing else handles SIGBUS.
    unsafe { guard::install() }.unwrap();
    let error = Input::spool("-", &b"x"[..], Path::new("/nonexistent/place"))
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::Write);
    assert_eq!(error.file(), Some(Path::new("/nonexistent/place")));
}

#[test]
fn more_mappings_than_slots_are_refused_until_one_is_freed() {
    // In a child process, which has the registry for itself.
    const CHILD: &str = "SIMTOOL_TEST_ALL_SLOTS";
    if std::env::var_os(CHILD).is_none() {
        let test = "more_mappings_than_slots_are_refused_until_one_is_freed";
        let output = std::process::Command::new("sh")
            .args([
                "-c",
                "ulimit -n 4096 || exit 7; exec \"$0\" --exact \"$1\" --nocapture",
            ])
            .arg(std::env::current_exe().unwrap())
            .arg(test)
            .env(CHILD, "1")
            .output()
            .unwrap();
        if output.status.code() == Some(7) {
            skipped("no more than 1024 files may be open here");
            return;
        }
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
        return;
    }
    let directory = directory();
    let path = write_ones(&directory, "popular", 4096);
    let mut inputs: Vec<_> = (0..guard::SLOTS).map(|_| open(&path)).collect();
    let error = Input::open(&path, directory.path()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Read);
    assert!(error.to_string().contains("1024"), "{error}");
    inputs.pop();
    open(&path).verify().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_byte_before_the_cut_is_kept(size in 1_usize..50_000, cut in 0_u64..50_000) {
        let directory = directory();
        let path = write_ones(&directory, "random", size);
        let input = open(&path);
        truncate(&path, cut);
        let kept = input.bytes().iter().map(|&byte| usize::from(byte)).sum::<usize>();
        prop_assert_eq!(kept, size.min(cut as usize));
        prop_assert!(input.verify().is_err() || size == cut as usize);
    }
}

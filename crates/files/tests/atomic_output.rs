//! Outputs appear complete under their name or not at all; failures keep what was there.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use proptest::prelude::*;
use simtool_core::ErrorKind;
use simtool_files::AtomicFile;
use simtool_testing::skipped::skipped;
use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

fn directory() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn names(directory: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(directory.path()).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn publish(path: &Path, bytes: &[u8]) {
    let mut output = AtomicFile::create(path).unwrap();
    output.write_all(bytes).unwrap();
    output.publish().unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Promise (Complete outputs): An earlier result is unchanged until the new one is complete;
/// incomplete data never has its name
#[test]
fn old_file_stays_until_publication() {
    let directory = directory();
    let path = directory.path().join("result.txt");
    fs::write(&path, "old").unwrap();
    let mut output = AtomicFile::create(&path).unwrap();
    output.write_all(b"new").unwrap();
    output.flush().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    output.publish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names(&directory), ["result.txt"]);
}

/// Whether files without a name are possible in `directory`.
fn has_unnamed_files(directory: &TempDir) -> bool {
    let mut options = File::options();
    options.write(true).custom_flags(libc::O_TMPFILE);
    options.open(directory.path()).is_ok()
}

#[test]
fn a_killed_process_leaves_no_temporary_file() {
    const CHILD: &str = "SIMTOOL_TEST_KILLED_OUTPUT";
    if let Some(path) = std::env::var_os(CHILD) {
        let mut output = AtomicFile::create(Path::new(&path)).unwrap();
        output.write_all(&vec![7; 3 << 20]).unwrap();
        output.flush().unwrap();
        let mut kill = Command::new("sh");
        kill.args(["-c", "kill -9 $PPID"]).status().unwrap();
        unreachable!("killed");
    }
    let directory = directory();
    if !has_unnamed_files(&directory) {
        return skipped("this file system has no unnamed files");
    }
    let path = directory.path().join("result.txt");
    for old in [None, Some("old")] {
        if let Some(old) = old {
            fs::write(&path, old).unwrap();
        }
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_killed_process_leaves_no_temporary_file"])
            .env(CHILD, &path)
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.signal(), Some(9));
        let expected: &[&str] = if old.is_some() { &["result.txt"] } else { &[] };
        assert_eq!(names(&directory), expected);
    }
    assert_eq!(fs::read(&path).unwrap(), b"old");
}

#[test]
fn a_file_that_appears_while_another_one_is_written_is_replaced() {
    let directory = directory();
    let path = directory.path().join("n".repeat(255));
    let mut output = AtomicFile::create(&path).unwrap();
    output.write_all(b"new").unwrap();
    fs::write(&path, "appeared").unwrap();
    output.publish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names(&directory).len(), 1);
}

/// Promise (Complete outputs): An earlier result is unchanged until …
#[test]
fn unpublished_file_vanishes() {
    let directory = directory();
    let path = directory.path().join("result.txt");
    let mut output = AtomicFile::create(&path).unwrap();
    output.write_all(&vec![7; 3 << 20]).unwrap();
    drop(output);
    assert!(names(&directory).is_empty());
    fs::write(&path, "old").unwrap();
    let mut output = AtomicFile::create(&path).unwrap();
    output.write_all(&vec![7; 3 << 20]).unwrap();
    drop(output);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(&directory), ["result.txt"]);
}

/// Promise (Complete outputs): Links, permissions, devices and pipes as …
#[test]
fn permissions_are_those_of_a_new_or_of_the_old_file() {
    let directory = directory();
    let (plain, path) = (
        directory.path().join("plain"),
        directory.path().join("result"),
    );
    File::create(&plain).unwrap();
    publish(&path, b"1");
    assert_eq!(mode(&path), mode(&plain));
    for kept in [0o600, 0o640, 0o666, 0o755] {
        fs::set_permissions(&path, Permissions::from_mode(kept)).unwrap();
        publish(&path, b"2");
        assert_eq!(mode(&path), kept);
    }
}

#[test]
fn file_or_directory_without_write_permission_is_an_error() {
    let directory = directory();
    let path = directory.path().join("result");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    match AtomicFile::create(&path) {
        Ok(_) => skipped("this user may write everything"),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Write);
            assert!(error.to_string().contains("no permission"), "{error}");
            fs::set_permissions(directory.path(), Permissions::from_mode(0o555)).unwrap();
            let error = AtomicFile::create(&directory.path().join("new"))
                .err()
                .unwrap();
            assert!(error.to_string().contains("no permission"), "{error}");
        }
    }
}

/// Promise (Complete outputs): Links, permissions, devices and pipes as outputs work as usual
#[test]
fn link_stays_and_what_it_points_to_is_replaced() {
    let directory = directory();
    let place = |name: &str| directory.path().join(name);
    fs::create_dir(place("folder")).unwrap();
    fs::write(place("folder/real"), "old").unwrap();
    symlink("folder/real", place("link")).unwrap();
    symlink("folder/later", place("dangling")).unwrap();
    symlink("dangling", place("twice")).unwrap();
    publish(&place("link"), b"new");
    publish(&place("twice"), b"made");
    assert_eq!(fs::read(place("folder/real")).unwrap(), b"new");
    assert_eq!(fs::read(place("folder/later")).unwrap(), b"made");
    for link in ["link", "dangling", "twice"] {
        assert!(
            fs::symlink_metadata(place(link)).unwrap().is_symlink(),
            "{link}"
        );
    }
    symlink("circle", place("circle")).unwrap();
    assert_eq!(
        AtomicFile::create(&place("circle")).err().unwrap().kind(),
        ErrorKind::Write
    );
}

#[test]
fn directories_and_missing_directories_are_named() {
    let directory = directory();
    let error = |path: &Path| AtomicFile::create(path).err().unwrap();
    let folder = error(directory.path());
    assert_eq!(
        (folder.kind(), folder.file()),
        (ErrorKind::Write, Some(directory.path()))
    );
    assert!(
        folder
            .to_string()
            .contains("it is a directory: name a file in it"),
        "{folder}"
    );
    let slash = error(&directory.path().join("new/"));
    assert!(slash.to_string().contains("it is a directory"), "{slash}");
    let missing = error(&directory.path().join("missing/result"));
    assert!(
        missing.to_string().contains("its directory does not exist"),
        "{missing}"
    );
    for nothing in ["", "..", "/"] {
        assert_eq!(
            error(Path::new(nothing)).kind(),
            ErrorKind::Write,
            "{nothing:?}"
        );
    }
}

#[test]
fn longest_names_work() {
    let directory = directory();
    let path = directory.path().join("n".repeat(255));
    publish(&path, b"x");
    assert_eq!(fs::read(path).unwrap(), b"x");
}

/// Promise (Complete outputs): Links, permissions, devices and pipes as …
#[test]
fn devices_pipes_and_descriptors_are_written_directly() {
    publish(Path::new("/dev/null"), b"gone");
    assert!(!fs::metadata("/dev/null").unwrap().is_file());

    let directory = directory();
    let fifo = directory.path().join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| fs::read(&fifo).unwrap());
        publish(&fifo, b"through the pipe");
        assert_eq!(reader.join().unwrap(), b"through the pipe");
    });
    assert_eq!(names(&directory), ["fifo"]);

    let mut log = tempfile::tempfile().unwrap();
    log.write_all(b"before ").unwrap();
    publish(
        Path::new(&format!("/proc/self/fd/{}", log.as_raw_fd())),
        b"after",
    );
    let mut text = String::new();
    std::io::Seek::rewind(&mut log).unwrap();
    log.read_to_string(&mut text).unwrap();
    assert_eq!(text, "before after");
}

/// Promise (Complete outputs): A full disk, or a limit on file sizes, is an error; the earlier
/// result is unchanged
#[test]
fn full_device_reads_well_and_no_later_step_succeeds() {
    let path = Path::new("/dev/full");
    let mut output = AtomicFile::create(path).unwrap();
    let cause = output.write_all(&vec![0; 3 << 20]).unwrap_err();
    let error = output.error(cause);
    assert_eq!((error.kind(), error.file()), (ErrorKind::Write, Some(path)));
    let text = error.to_string();
    assert!(
        text.starts_with("/dev/full: cannot be written (the disk is full"),
        "{text}"
    );
    assert!(text.contains("No space left on device"), "{text}");
    assert!(output.flush().is_err());
    let error = output.publish().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Write);
    assert!(
        error.to_string().contains("an earlier write failed"),
        "{error}"
    );

    let mut small = AtomicFile::create(path).unwrap();
    small.write_all(b"fits the buffer").unwrap();
    assert!(
        small
            .publish()
            .unwrap_err()
            .to_string()
            .contains("the disk is full")
    );
}

/// Promise (Complete outputs): A full disk, or a limit …
#[test]
fn limit_reached_while_writing_keeps_the_old_file() {
    // In a child process whose files may hold only a few KiB.
    const CHILD: &str = "SIMTOOL_TEST_OUTPUT";
    if let Some(path) = std::env::var_os(CHILD) {
        let path = Path::new(&path);
        let mut output = AtomicFile::create(path).unwrap();
        output.write_all(&[7; 100_000]).unwrap();
        let error = output.publish().unwrap_err();
        assert_eq!((error.kind(), error.file()), (ErrorKind::Write, Some(path)));
        assert!(
            error.to_string().contains("larger than the file system"),
            "{error}"
        );
        return;
    }
    let directory = directory();
    let path = directory.path().join("result");
    fs::write(&path, "old").unwrap();
    let test = "limit_reached_while_writing_keeps_the_old_file";
    let child = Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 16; exec \"$0\" --exact \"$1\" --nocapture",
        ])
        .arg(std::env::current_exe().unwrap())
        .arg(test)
        .env(CHILD, &path)
        .output()
        .unwrap();
    assert!(
        child.status.success(),
        "{}",
        String::from_utf8_lossy(&child.stderr)
    );
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(&directory), ["result"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn pieces_of_any_size_arrive_in_order(sizes in prop::collection::vec(0_usize..2_500_000, 0..6)) {
        let directory = directory();
        let path = directory.path().join("result");
        let mut output = AtomicFile::create(&path).unwrap();
        let mut expected = Vec::new();
        for (piece, size) in sizes.into_iter().enumerate() {
            let bytes: Vec<u8> = (0..size).map(|i| (i % 241 + piece) as u8).collect();
            output.write_all(&bytes).unwrap();
            expected.extend(bytes);
        }
        output.publish().unwrap();
        prop_assert!(fs::read(&path).unwrap() == expected);
    }
}

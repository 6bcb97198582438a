//! The files of `kept/`: where they are, and how they are compressed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::slice::from_ref;

use serde_json::{Value, json};
use simtool::ErrorKind;
use simtool::corpus::Format;
use simtool::engine::Progress;
use simtool::jobs::dedup::{SkippedRecords, WriteMode};

use crate::dump::setup::{Packed, file, job, refusal, resources, run, written};

fn line(id: usize, text: usize) -> String {
    let text = format!("the words of text {text} ").repeat(40);
    format!("{}\n", json!({"id": id, "text": text}))
}

fn is_there(out: &Path, directory: &str, input: &Path) -> bool {
    let name = input.strip_prefix("/").unwrap();
    out.join(directory).join(name).exists()
}

/// The value of `summary.json`.
fn unwritten_files(out: &Path) -> Value {
    let summary = fs::read(out.join("summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    summary["unwritten_files"].clone()
}

/// It has no file, or with `empty_files` a valid empty one. A file that never had documents is copied.
/// Promise (Deduplication): A file whose documents are all dropped is not written, in any format,
/// and the summary counts it; with `--empty-files` it is a valid empty one. WARC files with other
/// records are written, and so are files with records that could not be read
#[test]
fn a_file_whose_documents_are_all_dropped_is_not_written() {
    for packed in [Packed::Plain, Packed::Gzip(300), Packed::Zstd(300)] {
        let all: String = (0..5).map(|id| line(id, 1)).collect();
        let (_first, first) = file(&packed.pack(line(9, 1).as_bytes()));
        let (_second, second) = file(&packed.pack(all.as_bytes()));
        let (_third, third) = file(b"");
        let mut job = job();
        job.write = WriteMode::Kept;
        job.removed = true;
        job.reading.format = Some(Format::Jsonl);
        let inputs = [first, second, third];
        for empty_files in [false, true] {
            job.dump.empty_files = empty_files;
            let (summary, out, files) = written(&job, &inputs);
            let out = out.path();
            assert_eq!((summary.kept(), summary.dropped()), (1, 5));
            let there = |directory| {
                inputs
                    .each_ref()
                    .map(|input| is_there(out, directory, input))
            };
            assert_eq!(there("kept"), [true, empty_files, true], "{packed:?}");
            assert_eq!(there("removed"), [empty_files, true, empty_files]);
            let expected = u64::from(!empty_files);
            assert_eq!(
                (summary.unwritten, unwritten_files(out)),
                (expected, expected.into())
            );
            if empty_files {
                assert_eq!(packed.unpack(&files[1]), b"", "{packed:?}");
            }
        }
    }
}

/// Records that could not be read are not dropped, unless the settings say so.
/// Promise (Deduplication): A file whose documents are all …
#[test]
fn a_file_with_unreadable_records_is_written() {
    let (_first, first) = file(line(9, 1).as_bytes());
    let (_second, second) = file(format!("{}{{\n", line(1, 1)).as_bytes());
    let mut job = job();
    job.reading.format = Some(Format::Jsonl);
    let inputs = [first, second];
    for mode in [WriteMode::Kept, WriteMode::Annotated] {
        job.write = mode;
        for skipped in [SkippedRecords::Keep, SkippedRecords::Drop] {
            job.dump.skipped = skipped;
            let (_, out, _) = written(&job, &inputs);
            // Annotated duplicates stay in their file.
            let has_rest = skipped == SkippedRecords::Keep || mode == WriteMode::Annotated;
            assert_eq!(is_there(out.path(), mode.name(), &inputs[1]), has_rest);
        }
    }
}

/// A file in members of five lines, of which one line is a duplicate: all other members are copied.
/// Promise (Deduplication): Compressed members without dropped documents are copied unchanged
#[test]
fn members_without_dropped_documents_are_copied() {
    let lines: Vec<String> = (0..100).map(|id| line(id, id % 99)).collect();
    for gzip in [true, false] {
        let packed = |text: &str| match gzip {
            true => Packed::Gzip(1 << 20).pack(text.as_bytes()),
            false => Packed::Zstd(1 << 20).pack(text.as_bytes()),
        };
        let members: Vec<Vec<u8>> = lines.chunks(5).map(|five| packed(&five.concat())).collect();
        let (_directory, path) = file(&members.concat());
        let mut job = job();
        job.write = WriteMode::Kept;
        // Chunks end with lines, members within chunks or across their ends.
        for chunk_bytes in [1, 7000, 100_000] {
            job.reading.chunk_bytes = chunk_bytes;
            job.dump.compression_level = None;
            let (_, _out, files) = written(&job, from_ref(&path));
            let copied = members
                .iter()
                .filter(|member| memchr::memmem::find(&files[0], member).is_some());
            match chunk_bytes {
                100_000 => assert_eq!(copied.count(), members.len() - 1),
                7000 => assert!((5..20).contains(&copied.count())),
                _ => {}
            }
            let kind = if gzip {
                Packed::Gzip(1)
            } else {
                Packed::Zstd(1)
            };
            assert_eq!(kind.unpack(&files[0]), lines[..99].concat().as_bytes());
            // With a compression level, all members are compressed again.
            job.dump.compression_level = Some(9);
            let (_, _out, files) = written(&job, from_ref(&path));
            assert!(memchr::memmem::find(&files[0], &members[3]).is_none());
            assert_eq!(kind.unpack(&files[0]), lines[..99].concat().as_bytes());
        }
    }
}

#[test]
fn compression_levels_out_of_range_are_refused() {
    let text = (0..5).map(|id| line(id, 1)).collect::<String>();
    let refused = |packed: Packed, level| {
        let (_directory, path) = file(&packed.pack(text.as_bytes()));
        let mut job = job();
        job.write = WriteMode::Kept;
        job.dump.compression_level = Some(level);
        let out = tempfile::tempdir().unwrap();
        let resources = resources(1, out.path());
        run(&job, &[path], &[], out.path(), &resources, &Progress::new()).err()
    };
    let error = refused(Packed::Gzip(1000), 10).unwrap();
    assert!(error.to_string().contains("choose 0 to 9"), "{error}");
    let error = refused(Packed::Zstd(1000), 0).unwrap();
    assert!(error.to_string().contains("choose 1 to 19"), "{error}");
    for (packed, level) in [
        (Packed::Plain, 99),
        (Packed::Gzip(1000), 0),
        (Packed::Zstd(1000), 19),
    ] {
        assert!(refused(packed, level).is_none(), "{packed:?} {level}");
    }
}

/// Promise (Deduplication): Inputs that would be written to one file of kept/ are refused before
/// they are read; files behind symbolic links below `-o` are refused too
#[test]
fn inputs_that_would_share_a_file_are_refused_before_they_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::create_dir_all(path("w/y")).unwrap();
    fs::write(path("x"), line(0, 0)).unwrap();
    fs::write(path("y"), line(0, 0)).unwrap();
    fs::write(path("w/x"), line(1, 1)).unwrap();
    fs::write(path("w/y/x"), line(2, 2)).unwrap();
    // Steps upwards are left out of the names of the output.
    for [first, second] in [["w/../x", "w/x"], ["w/../y", "w/y/x"]] {
        let inputs = [path(first), path(second)];
        let out = tempfile::tempdir().unwrap();
        let resources = resources(1, out.path());
        let mut job = job();
        job.write = WriteMode::Kept;
        let error = refusal(run(
            &job,
            &inputs,
            &[],
            out.path(),
            &resources,
            &Progress::new(),
        ));
        assert_eq!(error.kind(), ErrorKind::Parameter);
        assert!(error.to_string().contains(first), "{error}");
        assert!(error.to_string().contains(second), "{error}");
        assert!(fs::read_dir(out.path()).unwrap().next().is_none());
        job.write = WriteMode::Ids;
        run(&job, &inputs, &[], out.path(), &resources, &Progress::new()).unwrap();
    }
}

/// Promise (Deduplication): Inputs that would be written to …
#[test]
fn nothing_is_written_through_a_link_below_the_output() {
    let (_directory, path) = file((0..5).map(|id| line(id, 1)).collect::<String>().as_bytes());
    let (out, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    symlink(outside.path(), out.path().join("kept")).unwrap();
    let mut job = job();
    job.write = WriteMode::Kept;
    job.reading.format = Some(Format::Jsonl);
    let resources = resources(1, out.path());
    let inputs = from_ref(&path);
    let progress = Progress::new();
    let error = refusal(run(&job, inputs, &[], out.path(), &resources, &progress));
    assert_eq!(error.kind(), ErrorKind::Write);
    assert!(
        error.to_string().contains("kept: is a symbolic link"),
        "{error}"
    );
    assert!(fs::read_dir(outside.path()).unwrap().next().is_none());
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 1);
}

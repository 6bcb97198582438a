//! The second reading: files with few wanted documents are read at their places.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use simtool::corpus::discover;
use simtool::engine::Progress;
use simtool::io::{Faults, Operation};
use simtool::jobs::dedup::DedupJob;
use simtool::jobs::{Against, BeginOutcome, CheckedJob, Invocation};
use simtool::{ErrorKind, Result};

use crate::dump::setup::{self, Packed, job, lines, resources};

/// Id, kept id, shared shingles, all shingles.
type Pair = (String, String, u64, u64);

const DOCUMENTS: usize = 5000;
/// Each is near the document this many places before it.
const NEAR: [usize; 7] = [9, 700, 701, 1888, 3000, 4500, 4999];
const BACK: usize = 8;

fn text(number: usize) -> String {
    let of = match NEAR.contains(&number) {
        true => number - BACK,
        false => number,
    };
    let words: Vec<String> = (0..150)
        .map(|word| format!("w{}", of * 150 + word))
        .collect();
    let mut words = words.join(" ");
    if of != number {
        words += " more words at the end";
    }
    words
}

/// The pairs of the definition.
fn expected() -> Vec<Pair> {
    let shingles = |number: usize| -> HashSet<Vec<String>> {
        let text = text(number);
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        words.windows(3).map(<[String]>::to_vec).collect()
    };
    let pair = |&number: &usize| {
        let (a, b) = (shingles(number - BACK), shingles(number));
        let counts = (a.intersection(&b).count(), a.union(&b).count());
        let ids = (number.to_string(), (number - BACK).to_string());
        (ids.0, ids.1, counts.0 as u64, counts.1 as u64)
    };
    NEAR.iter().map(pair).collect()
}

fn found(out: &Path) -> Vec<Pair> {
    let of = |pair: &serde_json::Value| {
        let text = |name: &str| pair[name].as_str().unwrap().to_owned();
        let count = |name: &str| pair[name].as_u64().unwrap();
        (text("id"), text("kept"), count("shared"), count("shingles"))
    };
    lines(&out.join("duplicates.jsonl"))
        .iter()
        .map(of)
        .collect()
}

/// The same documents in every form; the file is much larger than what has to be read again.
fn forms() -> Vec<(&'static str, Vec<u8>)> {
    let all = || (0..DOCUMENTS).map(|number| (number, text(number)));
    let lines: Vec<String> = all()
        .map(|(number, text)| format!("{{\"id\":\"{number}\",\"text\":\"{text}\"}}\n"))
        .collect();
    let pages: String = all()
        .map(|(number, text)| format!("{number}\n{text}\x0c"))
        .collect();
    let records: Vec<String> = all()
        .map(|(number, text)| {
            format!(
                "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: {number}\r\n\
                 Content-Length: {}\r\n\r\n{text}\r\n\r\n",
                text.len()
            )
        })
        .collect();
    let whole = lines.concat();
    let members = |records: &[String]| -> Vec<u8> {
        let pack = |record: &String| Packed::Gzip(usize::MAX).pack(record.as_bytes());
        records.iter().flat_map(pack).collect()
    };
    vec![
        ("a.jsonl", whole.clone().into()),
        ("marked.jsonl", format!("\u{feff}{whole}").into()),
        ("members.jsonl.gz", members(&lines)),
        ("split.jsonl.gz", Packed::Gzip(7777).pack(whole.as_bytes())),
        (
            "frames.jsonl.zst",
            Packed::Zstd(50_000).pack(whole.as_bytes()),
        ),
        (
            "one.jsonl.zst",
            Packed::Zstd(usize::MAX).pack(whole.as_bytes()),
        ),
        ("pages.txt", pages.into()),
        ("a.warc.wet", records.concat().into()),
        ("a.warc.wet.gz", members(&records)),
    ]
}

fn run(job: &DedupJob, path: PathBuf, out: &Path, threads: usize) -> Result<()> {
    let resources = resources(threads, out);
    setup::run(job, &[path], &[], out, &resources, &Progress::new()).map(drop)
}

#[test]
fn far_apart_documents_have_the_pairs_of_the_definition_in_every_form() {
    let expected = expected();
    for (name, bytes) in forms() {
        for threads in [1, 3] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join(name);
            fs::write(&path, &bytes).unwrap();
            let out = directory.path().join("out");
            run(&job(), path, &out, threads).unwrap();
            assert_eq!(found(&out), expected, "{name} {threads}");
        }
    }
}

/// Runs the job on a file that `change` changes after the first reading.
fn run_with_change(change: impl Fn(&Path) + Send + Sync + 'static) -> Result<Vec<Pair>> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.jsonl");
    fs::write(&path, &forms()[0].1).unwrap();
    let out = directory.path().join("out");
    let job = job();
    let sources = discover(std::slice::from_ref(&path), &[], &job.reading).unwrap();
    let invocation = Invocation {
        against: Against::Itself,
        arguments: &[],
        sources: &sources,
        left_out: &[],
        also_read: &[],
        out: &out,
        remote: None,
        restart: false,
    };
    let faults = Faults::decided_by(move |operation, name| {
        if operation == Operation::Create && name.ends_with("gathered") {
            change(&path);
        }
        Ok(())
    });
    let resources = resources(2, directory.path());
    match CheckedJob::new(&job)?.begin_with_faults(&invocation, &resources, &faults)? {
        BeginOutcome::Complete(_) => unreachable!(),
        BeginOutcome::Unfinished(run) => run.run(&Progress::new())?,
    };
    Ok(found(&out))
}

/// Replaces the first word of a document by one of the same length; the time of the file is set back.
fn change_text(path: &Path, number: usize) {
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    let lines = fs::read_to_string(path).unwrap();
    let before = format!("\"id\":\"{number}\",\"text\":\"w");
    let after = before.replace("\"w", "\"v");
    assert_eq!(lines.matches(&before).count(), 1);
    fs::write(path, lines.replace(&before, &after)).unwrap();
    let file = File::options().append(true).open(path).unwrap();
    file.set_modified(modified).unwrap();
}

/// Promise (Failing inputs): A run whose input grows or is …
#[test]
fn only_documents_that_are_read_again_are_compared_with_the_first_reading() {
    // Beside wanted documents, and not one.
    let other = |path: &Path| change_text(path, 2500);
    assert_eq!(run_with_change(other).unwrap(), expected());
    for wanted in [1888, 1880] {
        let error = run_with_change(move |path| change_text(path, wanted)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Changed, "{error}");
        assert!(error.to_string().contains("a.jsonl: changed"), "{error}");
    }
}

/// Promise (Failing inputs): A run whose input grows or is …
#[test]
fn a_file_that_grows_or_shrinks_after_the_first_reading_is_an_error() {
    let lengths: [fn(u64) -> u64; 3] = [|bytes| bytes + 1, |bytes| bytes - 1, |_| 0];
    for length in lengths {
        let resize = move |path: &Path| {
            let file = File::options().write(true).open(path).unwrap();
            file.set_len(length(file.metadata().unwrap().len()))
                .unwrap();
        };
        let error = run_with_change(resize).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Changed, "{error}");
    }
}

//! `--refuse-above`: a run that would drop too much of a source writes nothing, and goes on when the
//! limit is changed.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use simtool::engine::Progress;
use simtool::jobs::dedup::{DedupJob, WriteMode};
use simtool::{Error, ErrorKind, Result};

use crate::dump::setup::{check, contents, job, resources, run, walk};

fn file(directory: &Path, name: &str, texts: &[&str]) -> PathBuf {
    let path = directory.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let line = |(number, text): (usize, &&str)| {
        let name = name.replace('/', "-");
        format!(
            "{}\n",
            json!({"id": format!("{name}{number}"), "text": text})
        )
    };
    let lines: String = texts.iter().enumerate().map(line).collect();
    fs::write(&path, lines).unwrap();
    path
}

fn inputs(directory: &Path) -> Vec<PathBuf> {
    let copy = "the words of a text that many pages of this source have in common with others";
    let other = "an entirely different text which is copied less often than the first one was";
    vec![
        file(
            directory,
            "a.jsonl",
            &[copy, other, "one of its own", "another one"],
        ),
        file(
            directory,
            "b.jsonl",
            &[copy, copy, other, "nothing else", "something else"],
        ),
        file(directory, "c.jsonl", &["an undisturbed page"]),
    ]
}

fn attempt(
    job: &DedupJob,
    inputs: &[PathBuf],
    out: &Path,
) -> Result<simtool::jobs::dedup::DedupSummary> {
    run(job, inputs, &[], out, &resources(2, out), &Progress::new())
}

fn refused(job: &DedupJob, inputs: &[PathBuf], out: &Path) -> Error {
    attempt(job, inputs, out).err().unwrap()
}

/// Promise (Deduplication): `--refuse-above` stops a run that would drop more of a source before
/// anything is written, and a run with another limit goes on from the decisions to the same output;
/// the output of a finished run is checked too
#[test]
fn a_run_that_loses_too_much_writes_nothing_and_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let inputs = inputs(directory.path());
    let out = directory.path().join("out");
    fs::create_dir(&out).unwrap();
    for write in [WriteMode::Kept, WriteMode::Annotated] {
        let mut job = job();
        job.write = write;
        // Three of five documents of b are dropped.
        job.loss_limit = Some("59.9%".parse().unwrap());
        let error = refused(&job, &inputs, &out);
        assert_eq!(error.kind(), ErrorKind::Parameter);
        let message = error.to_string();
        for part in [
            "nothing was written",
            "more than 59.9% of 1 of 3 sources",
            "b.jsonl: 3 of 5 documents (60.0%)",
            "2 as duplicates of a.jsonl0: the words of a text",
            "1 as duplicates of a.jsonl1: an entirely different",
            "goes on from the decisions",
        ] {
            assert!(message.contains(part), "{part}: {message}");
        }
        assert!(
            !message.contains("c.jsonl") && !message.contains("a.jsonl:"),
            "{message}"
        );
        // Only the work directory is there.
        assert!(
            walk(&out)
                .iter()
                .all(|path| path.starts_with(out.join(".simtool")))
        );
        assert!(out.join(".simtool/decided").exists());
        // The first reading is not repeated: it would find other texts.
        let changed = fs::metadata(out.join(".simtool/segments"))
            .unwrap()
            .modified()
            .unwrap();
        refused(&job, &inputs, &out);
        let again = fs::metadata(out.join(".simtool/segments"))
            .unwrap()
            .modified()
            .unwrap();
        assert_eq!(changed, again);
        job.loss_limit = Some("60%".parse().unwrap());
        let summary = attempt(&job, &inputs, &out).unwrap();
        assert_eq!(summary.dropped(), 3);
        check(&out);

        // The output is that of a run without a limit, except that it names the limit.
        let plain = directory.path().join("plain");
        fs::create_dir(&plain).unwrap();
        job.loss_limit = None;
        attempt(&job, &inputs, &plain).unwrap();
        let without = |out: &Path| {
            let mut files = contents(out);
            files.retain(|name, _| !name.ends_with("summary.json") && !name.ends_with("run.json"));
            files
        };
        assert_eq!(without(&out), without(&plain));
        fs::remove_dir_all(&plain).unwrap();
        fs::remove_dir_all(&out).unwrap();
        fs::create_dir(&out).unwrap();
    }
}

/// Promise (Deduplication): `--refuse-above` stops a run that would …
#[test]
fn a_finished_run_is_checked_too() {
    let directory = tempfile::tempdir().unwrap();
    let inputs = inputs(directory.path());
    let out = directory.path().join("out");
    fs::create_dir(&out).unwrap();
    let mut job = job();
    attempt(&job, &inputs, &out).unwrap();
    let before = contents(&out);
    job.loss_limit = Some("0.5".parse().unwrap());
    let message = refused(&job, &inputs, &out).to_string();
    assert!(
        message.contains("of an earlier run without this limit"),
        "{message}"
    );
    assert!(
        message.contains("b.jsonl: 3 of 5 documents (60.0%)"),
        "{message}"
    );
    job.loss_limit = Some("0.6".parse().unwrap());
    attempt(&job, &inputs, &out).unwrap();
    assert_eq!(contents(&out), before);
}

/// A copied file of one document loses all of it, which says nothing about its source.
/// Promise (Deduplication): `--refuse-above` stops a run that would …
#[test]
fn files_of_one_document_count_by_directory() {
    let directory = tempfile::tempdir().unwrap();
    let words = "a page of some words which are the same in two of the files of this directory";
    let mut inputs = Vec::new();
    for (name, text) in [
        ("x/1.txt", words),
        (
            "x/2.txt",
            "the second page has quite other words than the first one",
        ),
        ("y/1.txt", words),
        (
            "y/2.txt",
            "but the fourth one is a page of a kind that occurs nowhere else",
        ),
        ("y/3.txt", words),
    ] {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        inputs.push(path);
    }
    let out = directory.path().join("out");
    fs::create_dir(&out).unwrap();
    let mut job = job();
    job.loss_limit = Some("0.5".parse().unwrap());
    let message = refused(&job, &inputs, &out).to_string();
    assert!(message.contains("of 1 of 2 sources"), "{message}");
    assert!(
        message.contains("/y: 2 of 3 documents (66.7%)"),
        "{message}"
    );
    job.loss_limit = Some("0.7".parse().unwrap());
    attempt(&job, &inputs, &out).unwrap();
}

/// The counts of the summary, and its largest clusters.
#[test]
fn the_summary_has_counts_of_each_file_and_the_largest_clusters() {
    let directory = tempfile::tempdir().unwrap();
    let mut inputs = inputs(directory.path());
    let broken = directory.path().join("d.jsonl");
    fs::write(
        &broken,
        "{\"text\": 1}\n{\"id\":\"near\",\"text\":\"the words of a text that many \
                        pages of this source have in common with most\"}\n",
    )
    .unwrap();
    inputs.push(broken);
    let out = directory.path().join("out");
    fs::create_dir(&out).unwrap();
    let mut job = job();
    job.verification.least.thousandths = 500;
    let summary = attempt(&job, &inputs, &out).unwrap();
    let text: Value = serde_json::from_slice(&fs::read(out.join("summary.json")).unwrap()).unwrap();
    let of = |input: &Value| ["seen", "kept", "dropped", "skipped"].map(|name| input[name].clone());
    let counts: Vec<_> = text["inputs"].as_array().unwrap().iter().map(of).collect();
    let expected = [[4, 4, 0, 0], [5, 2, 3, 0], [1, 1, 0, 0], [2, 0, 1, 1]];
    assert_eq!(counts, expected.map(|counts| counts.map(Value::from)));
    let sum = |place: usize| {
        counts
            .iter()
            .map(|counts| counts[place].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!([sum(0), sum(2)], [summary.seen(), summary.dropped()]);

    let [first, second] = &summary.largest[..] else {
        panic!("{:?}", summary.largest);
    };
    assert_eq!(
        (first.size, first.same_text, first.same_words, first.near),
        (4, 2, 0, 1)
    );
    assert_eq!(
        (&first.kept.id[..], &first.last.id[..]),
        ("a.jsonl0", "near")
    );
    assert_eq!(first.kept.file, Some(inputs[0].display().to_string()));
    let beginning = first.kept.beginning.as_deref().unwrap();
    assert!(
        beginning.starts_with("the words of a text that many"),
        "{beginning}"
    );
    assert!(
        first
            .least_similarity
            .is_some_and(|least| (0.5..1.0).contains(&least))
    );
    assert_eq!((second.size, second.least_similarity), (2, None));
    // A finished run has the same.
    assert_eq!(
        attempt(&job, &inputs, &out).unwrap().largest,
        summary.largest
    );
}

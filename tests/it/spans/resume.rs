//! Interrupted runs resume, and their output is that of an uninterrupted run.

use std::path::{Path, PathBuf};

use simtool::ErrorKind;
use simtool::engine::Progress;
use simtool::jobs::passages::Action;
use simtool::jobs::passages::spans::Job;

use crate::passages::resume::Run;
use crate::passages::{Text, contents, json_of, run, write};
use crate::spans::setup::{job, resources};

fn inputs(directory: &Path) -> Vec<PathBuf> {
    let text = |number: usize| {
        let word = |place: usize| format!("w{} ", (number * 31 + place * 7) % (place + 9));
        let text: String = (0..60).map(word).collect();
        Text {
            id: format!("d{number}"),
            url: String::new(),
            text,
        }
    };
    let all: Vec<Text> = (0..900).map(text).collect();
    let names = ["a.jsonl", "b.jsonl.gz", "c.jsonl.zst"];
    let paths: Vec<PathBuf> = names.iter().map(|name| directory.join(name)).collect();
    for (path, documents) in paths.iter().zip(all.chunks(300)) {
        write(path, documents);
    }
    paths
}

fn cutting() -> Job {
    let mut job = job();
    job.action = Action::Cut;
    job.remains.words = 3;
    job
}

/// Promise (Repeated stretches of text): Interrupted, failed and killed runs resume to the same
/// bytes
#[test]
fn a_run_with_many_interruptions_gives_the_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let paths = inputs(directory.path());
    let run = Run {
        search: &cutting(),
        paths: &paths,
        against: &[],
        resources,
    };
    run.assert_resumes_after_interruptions();
}

/// Promise (Repeated stretches of text): Interrupted, failed and killed runs resume …
#[test]
fn a_run_that_fails_at_any_change_of_its_directory_resumes_to_the_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let paths = inputs(directory.path());
    let run = Run {
        search: &cutting(),
        paths: &paths,
        against: &[],
        resources,
    };
    run.assert_resumes_after_failures();
}

#[test]
fn a_finished_run_is_not_repeated_and_another_job_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let paths = inputs(directory.path());
    let out = tempfile::tempdir().unwrap();
    let job = cutting();
    let all = resources(&job, 2, out.path());
    let first = run(&job, &paths, &[], out.path(), &all, &Progress::new()).unwrap();
    let before = contents(out.path());
    let progress = Progress::new();
    let again = run(&job, &paths, &[], out.path(), &all, &progress).unwrap();
    assert_eq!(first, again);
    assert!(progress.finished().is_empty());
    assert_eq!(contents(out.path()), before);
    let other = Job {
        action: Action::Mark,
        ..crate::spans::setup::job()
    };
    let error = run(&other, &paths, &[], out.path(), &all, &progress).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Changed);
    assert!(error.to_string().contains("settings.action was"), "{error}");
    let command = json_of(&out.path().join("run.json"));
    assert_eq!(command["job"]["settings"]["command"], "spans");
}

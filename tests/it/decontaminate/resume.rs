//! Interrupted runs resume, and their output is that of an uninterrupted run.

use std::path::{Path, PathBuf};

use simtool::jobs::passages::Action;
use simtool::jobs::passages::decontaminate::Job;

use crate::decontaminate::same_answer::files;
use crate::decontaminate::setup::{job, resources};
use crate::passages::documents;
use crate::passages::resume::Run;

fn inputs(directory: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let word =
        |number: usize, place: usize| format!("w{} ", (number * 31 + place * 7) % (place + 9));
    let text = |number: usize| (0..60).map(|place| word(number, place)).collect::<String>();
    let all: Vec<String> = (0..600).map(text).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let items: Vec<&str> = all.iter().step_by(9).map(|text| &text[40..90]).collect();
    let references = files(&directory.join("a"), &documents(&items), 40);
    (
        files(&directory.join("b"), &documents(&all), 200),
        references,
    )
}

fn cutting() -> Job {
    let mut job = job();
    job.action = Action::Cut;
    job.remains.words = 3;
    job.most_documents = Some(40);
    job
}

/// Promise (Parts of evaluation sets): Interrupted, failed and killed runs resume to the same bytes
#[test]
fn a_run_with_many_interruptions_gives_the_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let (paths, references) = inputs(directory.path());
    let run = Run {
        search: &cutting(),
        paths: &paths,
        against: &references,
        resources,
    };
    run.assert_resumes_after_interruptions();
}

/// Promise (Parts of evaluation sets): Interrupted, failed and killed runs resume …
#[test]
fn a_run_that_fails_at_any_change_of_its_directory_resumes_to_the_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let (paths, references) = inputs(directory.path());
    let run = Run {
        search: &cutting(),
        paths: &paths,
        against: &references,
        resources,
    };
    run.assert_resumes_after_failures();
}

//! Interrupted runs resume, and their output is that of an uninterrupted run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use simtool::corpus::{Source, discover};
use simtool::engine::{Progress, Resources};
use simtool::io::Faults;
use simtool::jobs::dedup::{Against, Invocation};
use simtool::jobs::passages::decontaminate::Job;
use simtool::jobs::passages::{Action, BeginOutcome, Runnable, Summary};
use simtool::{ErrorKind, Result};

use crate::passages::{check, contents, documents, json_of, run};
use crate::same_answer::files;
use crate::setup::{job, resources};

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

#[test]
fn a_run_with_many_interruptions_gives_the_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let (paths, references) = inputs(directory.path());
    let job = cutting();
    let whole = tempfile::tempdir().unwrap();
    let all = resources(&job, 2, whole.path());
    run(
        &job,
        &paths,
        &references,
        whole.path(),
        &all,
        &Progress::new(),
    )
    .unwrap();
    let out = tempfile::tempdir().unwrap();
    let mut interruptions = 0u64;
    loop {
        let progress = Arc::new(Progress::new());
        let watched = Arc::clone(&progress);
        let wait = Duration::from_micros(500 + 1500 * interruptions);
        let stopper = thread::spawn(move || {
            thread::sleep(wait);
            watched.stop();
        });
        let resources = resources(&job, 1 + interruptions as usize % 3, out.path());
        let result = run(&job, &paths, &references, out.path(), &resources, &progress);
        stopper.join().unwrap();
        match result {
            Ok(_) => break,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted, "{error}"),
        }
        interruptions += 1;
    }
    assert!(interruptions > 2, "{interruptions} interruptions");
    assert_eq!(contents(out.path()), contents(whole.path()));
    let command = json_of(&out.path().join("run.json"));
    assert_eq!(command["job"]["settings"]["command"], "decontaminate");
}

fn begin(
    job: &Job,
    [sources, references]: [&[Source]; 2],
    out: &Path,
    resources: &Resources,
    faults: &Faults,
) -> Result<Summary> {
    let invocation = Invocation {
        against: Against::Documents(references),
        arguments: &[],
        sources,
        left_out: &[],
        also_read: &[],
        out,
        restart: false,
    };
    match job.begin_with_faults(&invocation, resources, faults)? {
        BeginOutcome::Complete(summary) => Ok(*summary),
        BeginOutcome::Unfinished(run) => run.run(&Progress::new()),
    }
}

#[test]
fn a_run_that_fails_at_any_change_of_its_directory_resumes_to_the_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let (paths, references) = inputs(directory.path());
    let job = cutting();
    let sources = discover(&paths, &[], &job.reading).unwrap();
    let references = discover(&references, &[], &job.reading).unwrap();
    let both: [&[Source]; 2] = [&sources, &references];
    let whole = tempfile::tempdir().unwrap();
    let all = resources(&job, 2, whole.path());
    let operations = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&operations);
    let counting = Faults::decided_by(move |_, _| {
        counter.fetch_add(1, Ordering::Relaxed);
        Ok(())
    });
    begin(&job, both, whole.path(), &all, &counting).unwrap();
    let expected = contents(whole.path());
    let count = operations.load(Ordering::Relaxed);
    assert!(count > 40, "{count} changes");
    for failing in (0..count).step_by(3) {
        let out = tempfile::tempdir().unwrap();
        let resources = resources(&job, 2, out.path());
        let at = AtomicU64::new(0);
        let faults = Faults::decided_by(move |_, path| {
            match at.fetch_add(1, Ordering::Relaxed) >= failing {
                true => Err(std::io::Error::other(format!("at {}", path.display()))),
                false => Ok(()),
            }
        });
        let failed = begin(&job, both, out.path(), &resources, &faults);
        let error = failed.expect_err("a change fails");
        assert_eq!(error.kind(), ErrorKind::Write, "{error}");
        begin(&job, both, out.path(), &resources, &Faults::default()).unwrap();
        check(out.path());
        assert_eq!(
            contents(out.path()),
            expected,
            "change {failing} of {count}"
        );
    }
}

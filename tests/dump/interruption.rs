//! Interrupted runs go on, and their output is that of a run that was not.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use simtool::corpus::discover;
use simtool::engine::Progress;
use simtool::jobs::dedup::{Against, Invocation, Job, KnownDocuments, Nearest, WriteMode};
use simtool::kernel::Level;
use simtool::sketch::Method;
use simtool::{ErrorKind, Result};

use crate::documents::{Random, documents};
use crate::setup::{Form, check, job, refusal, resources, run, write};

/// Names and bytes of all files but the one that tells the time.
fn contents(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("timings.json") {
                let name = path.strip_prefix(directory).unwrap().display().to_string();
                files.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn a_run_with_many_interruptions_gives_the_same_bytes() {
    let inputs = tempfile::tempdir().unwrap();
    let all = documents(5, 2000);
    let paths: Vec<_> = [Form::Jsonl, Form::JsonlGzip, Form::JsonlZstd]
        .into_iter()
        .enumerate()
        .map(|(number, form)| {
            let path = inputs.path().join(format!("{number}"));
            write(&path, form, &all[number * 600..number * 600 + 600]);
            path
        })
        .collect();
    let mut job = job();
    job.write = WriteMode::Annotated;
    let whole = tempfile::tempdir().unwrap();
    let quiet = resources(2, whole.path());
    run(&job, &paths, &[], whole.path(), &quiet, &Progress::new()).unwrap();
    check(whole.path());

    let out = tempfile::tempdir().unwrap();
    let (mut random, mut interruptions) = (Random::new(9), 0);
    loop {
        let progress = Arc::new(Progress::new());
        let (watched, wait) = (
            Arc::clone(&progress),
            random.below(3000 + 400 * interruptions),
        );
        let stopper = thread::spawn(move || {
            thread::sleep(Duration::from_micros(wait));
            watched.stop();
        });
        let resources = resources(1 + random.below(3) as usize, out.path());
        let result = run(&job, &paths, &[], out.path(), &resources, &progress);
        stopper.join().unwrap();
        match result {
            Ok(_) => break,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted, "{error}"),
        }
        interruptions += 1;
    }
    assert!(interruptions > 3, "{interruptions} interruptions");
    assert_eq!(contents(out.path()), contents(whole.path()));
}

#[test]
fn another_job_does_not_go_on_from_there() {
    let inputs = tempfile::tempdir().unwrap();
    let path = inputs.path().join("a");
    write(&path, Form::Jsonl, &documents(1, 50));
    let out = tempfile::tempdir().unwrap();
    let stopped = Progress::new();
    stopped.stop();
    let resources = resources(1, out.path());
    let inputs = [path.clone()];
    let error = refusal(run(&job(), &inputs, &[], out.path(), &resources, &stopped));
    assert_eq!(error.kind(), ErrorKind::Interrupted);

    let mut other = job();
    other.verification.thousandths = 700;
    let error = refusal(run(
        &other,
        &inputs,
        &[],
        out.path(),
        &resources,
        &Progress::new(),
    ));
    assert_eq!(error.kind(), ErrorKind::Changed);
    assert!(
        error
            .to_string()
            .contains("settings.verification.similarity[0] was 600, is 700"),
        "{error}"
    );

    write(&path, Form::Jsonl, &documents(2, 50));
    let error = refusal(run(
        &job(),
        &inputs,
        &[],
        out.path(),
        &resources,
        &Progress::new(),
    ));
    assert!(
        error.to_string().contains("inputs[0].modified was"),
        "{error}"
    );
}

/// A collection of which nothing is near anything, and which may change.
struct Changing(u64);

impl KnownDocuments for Changing {
    fn documents(&self) -> u64 {
        self.0
    }

    fn method(&self) -> Result<Box<dyn Method>> {
        let method =
            simtool::sketch::hashed::SimHashSettings::default().method(64, Level::best())?;
        Ok(method)
    }

    fn expect(&self, _: &Job) -> Result<()> {
        Ok(())
    }

    fn nearest(&self, sketches: &[&[u8]], _: usize) -> Result<Vec<Option<Nearest>>> {
        Ok(vec![None; sketches.len()])
    }

    fn describe(&self) -> Value {
        self.0.into()
    }

    fn state(&self) -> Result<Value> {
        Ok(self.0.into())
    }
}

#[test]
fn a_run_against_known_documents_goes_on_only_if_they_are_the_same() {
    let inputs = tempfile::tempdir().unwrap();
    let path = inputs.path().join("a");
    write(&path, Form::Jsonl, &documents(1, 50));
    let out = tempfile::tempdir().unwrap();
    let sources = discover(&[path], &[], &job().reading).unwrap();
    let go_on = |known: &Changing, progress: &Progress| {
        let place = Invocation {
            against: Against::Known(known),
            sources: &sources,
            left_out: &[],
            also_read: &[],
            out: out.path(),
            restart: false,
        };
        let mut job = job();
        job.against_only = true;
        job.run(&place, &resources(1, out.path()), progress)
    };
    let stopped = Progress::new();
    stopped.stop();
    let error = refusal(go_on(&Changing(7), &stopped));
    assert_eq!(error.kind(), ErrorKind::Interrupted);
    let error = refusal(go_on(&Changing(8), &Progress::new()));
    assert_eq!(error.kind(), ErrorKind::Changed);
    assert!(error.to_string().contains("against was 7, is 8"), "{error}");
    let summary = go_on(&Changing(7), &Progress::new()).unwrap();
    assert_eq!((summary.seen(), summary.dropped()), (50, 0));
}

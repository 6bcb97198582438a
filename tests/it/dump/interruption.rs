//! Interrupted runs resume, and their output is that of an uninterrupted run.

use serde_json::Value;
use simtool::corpus::discover;
use simtool::engine::Progress;
use simtool::jobs::dedup::{UrlRule, WriteMode};
use simtool::jobs::{Against, Asked, CheckedJob, Invocation, KnownCopy, KnownDocuments, Sketching};
use simtool::kernel::Level;
use simtool::sketch::SignedMethod;
use simtool::{ErrorKind, Result};

use crate::dump::documents::{Random, documents};
use crate::dump::setup::{Form, check, contents, job, refusal, resources, run, write};

/// Promise (Deduplication): Interrupted runs resume, also with other threads, and give the same
/// bytes
/// Promise (Methods and their evaluation): The bytes of the HTML page …
#[test]
fn a_run_with_many_interruptions_gives_the_same_bytes() {
    for url in [UrlRule::Ignored, UrlRule::First] {
        interrupt_many_times(url);
    }
}

fn interrupt_many_times(url: UrlRule) {
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
    job.url = url;
    job.write = WriteMode::Annotated;
    job.page = true;
    let uninterrupted = tempfile::tempdir().unwrap();
    let path = uninterrupted.path();
    run(
        &job,
        &paths,
        &[],
        path,
        &resources(2, path),
        &Progress::new(),
    )
    .unwrap();
    check(path);

    let out = tempfile::tempdir().unwrap();
    let (mut random, mut interruptions) = (Random::new(9), 0);
    loop {
        let progress = Progress::new();
        progress.stop_at_check(1 + random.below(1 + interruptions * interruptions));
        let resources = resources(1 + random.below(3) as usize, out.path());
        match run(&job, &paths, &[], out.path(), &resources, &progress) {
            Ok(_) => break,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted, "{error}"),
        }
        interruptions += 1;
    }
    assert!(interruptions > 3, "{interruptions} interruptions");
    assert_eq!(contents(out.path()), contents(uninterrupted.path()));
}

/// Promise (Deduplication): An interrupted run is not resumed with another job or changed inputs;
/// the message says where they differ
#[test]
fn another_job_does_not_resume_an_interrupted_run() {
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
    other.verification.least.thousandths = 700;
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

/// Known documents that match nothing, in a number that may change.
struct Changing(u64);

impl KnownDocuments for Changing {
    fn documents(&self) -> u64 {
        self.0
    }

    fn method(&self) -> Result<SignedMethod> {
        let method =
            simtool::sketch::hashed::SimHashSettings::default().method(64, Level::best())?;
        Ok(SignedMethod::new(method, None))
    }

    fn expect(&self, _: &Sketching<'_>) -> Result<()> {
        Ok(())
    }

    fn copied(&self, asked: &[Asked<'_>], _: usize) -> Result<Vec<Option<KnownCopy>>> {
        Ok(vec![None; asked.len()])
    }

    fn estimates(&self) -> bool {
        false
    }

    fn describe(&self) -> Value {
        self.0.into()
    }

    fn state(&self) -> Result<Value> {
        Ok(self.0.into())
    }
}

/// Promise (Deduplication): With `--against INDEX`, a document is … (a run goes on only if the
/// index is as it was)
#[test]
fn a_run_against_known_documents_resumes_only_if_they_are_the_same() {
    let inputs = tempfile::tempdir().unwrap();
    let path = inputs.path().join("a");
    write(&path, Form::Jsonl, &documents(1, 50));
    let out = tempfile::tempdir().unwrap();
    let sources = discover(&[path], &[], &job().reading).unwrap();
    let resume = |known: &Changing, progress: &Progress| {
        let invocation = Invocation {
            against: Against::Known(known),
            arguments: &[],
            sources: &sources,
            left_out: &[],
            also_read: &[],
            out: out.path(),
            remote: None,
            restart: false,
        };
        let mut job = job();
        job.against_only = true;
        CheckedJob::new(&job)?.run(&invocation, &resources(1, out.path()), progress)
    };
    let stopped = Progress::new();
    stopped.stop();
    let error = refusal(resume(&Changing(7), &stopped));
    assert_eq!(error.kind(), ErrorKind::Interrupted);
    let error = refusal(resume(&Changing(8), &Progress::new()));
    assert_eq!(error.kind(), ErrorKind::Changed);
    assert!(error.to_string().contains("against was 7, is 8"), "{error}");
    let summary = resume(&Changing(7), &Progress::new()).unwrap();
    assert_eq!((summary.seen(), summary.dropped()), (50, 0));
}

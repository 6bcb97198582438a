//! Searches that are interrupted or fail: they resume, and their output is that of an undisturbed run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use simtool::corpus::discover;
use simtool::engine::Progress;
use simtool::io::Faults;
use simtool::jobs::passages::{Action, PassageSearch, PassageSummary};
use simtool::jobs::shards::WriteFormat;
use simtool::jobs::{Against, BeginOutcome, CheckedJob, Invocation};
use simtool::{ErrorKind, Result};

use super::{check, contents, documents, files, json_of, resources, run};

/// A search, its inputs, and those that it compares with.
struct Run<'a, S> {
    search: &'a S,
    paths: &'a [PathBuf],
    against: &'a [PathBuf],
}

impl<S: PassageSearch> Run<'_, S> {
    /// Interrupts a run at later and later checks; its output is that of one without interruptions.
    fn assert_resumes_after_interruptions(&self) {
        let run = |threads: usize, out: &Path, progress: &Progress| {
            let resources = resources(self.search, threads, out);
            run(
                self.search,
                self.paths,
                self.against,
                out,
                &resources,
                progress,
            )
        };
        let whole = tempfile::tempdir().unwrap();
        run(2, whole.path(), &Progress::new()).unwrap();
        let out = tempfile::tempdir().unwrap();
        let mut interruptions = 0u64;
        loop {
            let progress = Progress::new();
            progress.stop_at_check(1 + interruptions * interruptions);
            match run(1 + interruptions as usize % 3, out.path(), &progress) {
                Ok(_) => break,
                Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted, "{error}"),
            }
            interruptions += 1;
        }
        assert!(interruptions > 2, "{interruptions} interruptions");
        assert_eq!(contents(out.path()), contents(whole.path()));
    }

    /// Lets runs fail at every third change of a path of their directory for which `is_meant` holds,
    /// of which there are more than `least`; each resumes to the same output.
    fn assert_resumes_after_failures_at(&self, is_meant: fn(&Path) -> bool, least: u64) {
        let whole = tempfile::tempdir().unwrap();
        let operations = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&operations);
        let counting = Faults::decided_by(move |_, path| {
            counter.fetch_add(is_meant(path).into(), Ordering::Relaxed);
            Ok(())
        });
        self.begin(whole.path(), &counting).unwrap();
        let expected = contents(whole.path());
        let count = operations.load(Ordering::Relaxed);
        assert!(count > least, "{count} changes");
        for failing in (0..count).step_by(3) {
            let out = tempfile::tempdir().unwrap();
            let at = AtomicU64::new(0);
            let faults = Faults::decided_by(move |_, path| {
                match at.fetch_add(is_meant(path).into(), Ordering::Relaxed) >= failing {
                    true => Err(std::io::Error::other(format!("at {}", path.display()))),
                    false => Ok(()),
                }
            });
            let error = self.begin(out.path(), &faults).expect_err("a change fails");
            assert_eq!(error.kind(), ErrorKind::Write, "{error}");
            self.begin(out.path(), &Faults::default()).unwrap();
            check(out.path());
            assert_eq!(
                contents(out.path()),
                expected,
                "change {failing} of {count}"
            );
        }
    }

    /// A finished run is not repeated, and one of the job `other` is refused in its place.
    fn assert_is_not_repeated(&self, other: &S) {
        let out = tempfile::tempdir().unwrap();
        let resources = resources(self.search, 2, out.path());
        let run = |search: &S, progress: &Progress| {
            let (paths, against) = (self.paths, self.against);
            run(search, paths, against, out.path(), &resources, progress)
        };
        let first = run(self.search, &Progress::new()).unwrap();
        let before = contents(out.path());
        let progress = Progress::new();
        assert_eq!(run(self.search, &progress).unwrap(), first);
        assert!(progress.finished().is_empty());
        assert_eq!(contents(out.path()), before);
        let error = run(other, &progress).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Changed);
        assert!(error.to_string().contains("settings.action was"), "{error}");
        let stored = json_of(&out.path().join("run.json"));
        let command = stored["job"]["settings"]["command"].as_str().unwrap();
        // A search is in the module of its command.
        assert!(std::any::type_name::<S>().contains(&format!("::{command}::")));
    }

    fn begin(&self, out: &Path, faults: &Faults) -> Result<PassageSummary> {
        let reading = &self.search.common().reading;
        let sources = discover(self.paths, &[], reading)?;
        let references = match self.against {
            [] => Vec::new(),
            against => discover(against, &[], reading)?,
        };
        let invocation = Invocation {
            against: match references.is_empty() {
                true => Against::Itself,
                false => Against::Documents(&references),
            },
            arguments: &[],
            sources: &sources,
            left_out: &[],
            also_read: &[],
            out,
            remote: None,
            restart: false,
        };
        let resources = resources(self.search, 2, out);
        let checked = CheckedJob::new(self.search)?;
        match checked.begin_with_faults(&invocation, &resources, faults)? {
            BeginOutcome::Complete(summary) => Ok(*summary),
            BeginOutcome::Unfinished(run) => run.run(&Progress::new()),
        }
    }
}

/// Documents in three files, and items that are parts of them.
fn inputs(directory: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let word =
        |number: usize, place: usize| format!("w{}\n", (number * 31 + place * 7) % (place + 9));
    let text = |number| (0..60).map(|place| word(number, place)).collect();
    let all: Vec<String> = (0..600).map(text).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let items: Vec<&str> = all.iter().step_by(9).map(|text| &text[40..90]).collect();
    let references = files(&directory.join("a"), &documents(&items), 40);
    let paths = files(&directory.join("b"), &documents(&all), 200);
    (paths, references)
}

/// Evaluates an expression with a `Run` of each search; `setup` has the helpers of the search.
macro_rules! for_each_search {
    ($run:ident => $check:expr) => {{
        let directory = tempfile::tempdir().unwrap();
        let (paths, items) = inputs(directory.path());
        for_each_search!(lines, &paths, &[], $run => $check);
        for_each_search!(spans, &paths, &[], $run => $check);
        for_each_search!(decontaminate, &paths, &items, $run => $check);
    }};
    ($search:ident, $paths:expr, $against:expr, $run:ident => $check:expr) => {{
        use crate::$search::setup;
        let $run = Run {
            search: &setup::cutting(),
            paths: $paths,
            against: $against,
        };
        $check
    }};
}

/// Promise (Repeated units): Interrupted, failed and killed runs resume to the same bytes; a
/// finished one is not repeated
/// Promise (Repeated stretches of text): Interrupted, failed and killed runs resume to the same
/// bytes
/// Promise (Parts of evaluation sets): Interrupted, failed and killed runs resume to the same bytes
#[test]
fn a_run_with_many_interruptions_gives_the_same_bytes() {
    for_each_search!(run => run.assert_resumes_after_interruptions());
}

/// Promise (Repeated units): Interrupted, failed and killed runs resume …
/// Promise (Repeated stretches of text): Interrupted, failed and killed runs resume …
/// Promise (Parts of evaluation sets): Interrupted, failed and killed runs resume …
#[test]
fn a_run_that_fails_at_any_change_of_its_directory_resumes_to_the_same_bytes() {
    for_each_search!(run => run.assert_resumes_after_failures_at(|_| true, 40));
}

/// Promise (Repeated units): Interrupted, failed and killed runs resume …
#[test]
fn a_finished_run_is_not_repeated_and_another_job_is_refused() {
    for_each_search!(run => run.assert_is_not_repeated(&setup::job()));
}

/// Promise (Repeated units): Shards of changed documents have …
#[test]
fn a_run_that_fails_while_it_writes_shards_resumes_to_the_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let (paths, _) = inputs(directory.path());
    let mut job = crate::lines::setup::cutting();
    (job.common.action, job.common.remains.words) = (Action::Mask, 0);
    (job.common.shards.format, job.common.shards.bytes) = (WriteFormat::JsonlZstd, 20_000);
    job.common.page = false;
    let run = Run {
        search: &job,
        paths: &paths[..1],
        against: &[],
    };
    // The shards, and their counts in the work directory.
    let is_shard = |path: &Path| path.to_string_lossy().contains("/masked");
    run.assert_resumes_after_failures_at(is_shard, 5);
}

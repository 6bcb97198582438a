//! Runs that are interrupted, that fail or that are killed, and their output after they resume.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use simtool::corpus::discover;
use simtool::engine::{Progress, Resources};
use simtool::io::Faults;
use simtool::jobs::passages::{Search, Summary};
use simtool::jobs::{Against, BeginOutcome, CheckedJob, Invocation};
use simtool::{ErrorKind, Result};

use super::{check, contents, run};

/// A search, its inputs, and those that it compares with.
pub struct Run<'a, S> {
    pub search: &'a S,
    pub paths: &'a [PathBuf],
    pub against: &'a [PathBuf],
    /// The resources with a number of threads and an output directory.
    pub resources: fn(&S, usize, &Path) -> Resources,
}

impl<S: Search> Run<'_, S> {
    /// Interrupts a run at later and later checks; its output is that of one without interruptions.
    pub fn assert_resumes_after_interruptions(&self) {
        let run = |threads: usize, out: &Path, progress: &Progress| {
            let resources = (self.resources)(self.search, threads, out);
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

    /// Lets runs fail at every third change of their directory; each resumes to the same output.
    pub fn assert_resumes_after_failures(&self) {
        self.assert_resumes_after_failures_at(|_| true, 40);
    }

    /// The same for changes of paths for which `is_meant` holds, of which there are more than
    /// `least`.
    pub fn assert_resumes_after_failures_at(&self, is_meant: fn(&Path) -> bool, least: u64) {
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

    fn begin(&self, out: &Path, faults: &Faults) -> Result<Summary> {
        let reading = self.search.common().reading;
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
        let resources = (self.resources)(self.search, 2, out);
        let checked = CheckedJob::new(self.search)?;
        match checked.begin_with_faults(&invocation, &resources, faults)? {
            BeginOutcome::Complete(summary) => Ok(*summary),
            BeginOutcome::Unfinished(run) => run.run(&Progress::new()),
        }
    }
}

/// Kills the process that writes to `out` later and later, twice or more before it is complete; its
/// output is that of one that writes to `whole` and is not killed. `command` makes a command for an
/// output in `directory`.
pub fn assert_resumes_after_kills(directory: &Path, command: impl Fn(&str) -> Command) {
    let whole = command("whole").output().unwrap();
    let messages = String::from_utf8_lossy(&whole.stderr);
    assert_eq!(whole.status.code(), Some(0), "{messages}");
    let names = |name: &str| contents(&directory.join(name));
    let (mut kills, mut wait) = (0, Duration::from_millis(20));
    loop {
        let mut child = command("out").spawn().unwrap();
        thread::sleep(wait);
        if let Some(status) = child.try_wait().unwrap() {
            assert_eq!(status.code(), Some(0));
            assert_eq!(names("out"), names("whole"));
            if kills > 1 {
                break;
            }
            // It was faster than the kills.
            std::fs::remove_dir_all(directory.join("out")).unwrap();
            (kills, wait) = (0, wait / 3);
            continue;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        wait = wait * 3 / 2 + Duration::from_millis(1);
    }
}

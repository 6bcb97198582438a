//! Runs that are interrupted, that fail or that are killed, and their output after they resume.

#![allow(dead_code, reason = "each test program uses a part of it")]

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

/// A run on `in.jsonl` that was killed in its first reading, after it had saved a part of it.
pub struct KilledRun<'a, C> {
    directory: &'a Path,
    command: C,
}

impl<'a, C: Fn(&str) -> Command> KilledRun<'a, C> {
    /// Runs `command` for the output `out` until the file `saved` of the work directory has
    /// `least` bytes, and kills it.
    pub fn new(directory: &'a Path, (saved, least): (&str, u64), command: C) -> KilledRun<'a, C> {
        let work = directory.join("out/.simtool");
        for _ in 0..50 {
            let mut child = command("out").spawn().unwrap();
            let is_saved = || {
                work.join(saved)
                    .metadata()
                    .is_ok_and(|file| file.len() >= least)
            };
            while !is_saved() && child.try_wait().unwrap().is_none() {
                thread::sleep(Duration::from_millis(1));
            }
            child.kill().unwrap();
            child.wait().unwrap();
            if work.exists() && !work.join("gathered").exists() {
                return KilledRun { directory, command };
            }
            // It was faster.
            std::fs::remove_dir_all(directory.join("out")).unwrap();
        }
        panic!("the first reading is too short");
    }

    /// Resumes the run; returns the exit code and the messages.
    pub fn resume(&self) -> (Option<i32>, String) {
        let output = (self.command)("out").output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        (output.status.code(), messages.into_owned())
    }

    /// Replaces the first `old` of the input, which was read already, so that the run does not
    /// notice; returns the input as it was.
    pub fn replace(&self, old: &str, new: &str) -> Vec<u8> {
        let path = self.directory.join("in.jsonl");
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        self.write(text.replacen(old, new, 1).as_bytes());
        bytes
    }

    /// Writes the input with the time that it has.
    pub fn write(&self, bytes: &[u8]) {
        let path = self.directory.join("in.jsonl");
        let modified = path.metadata().unwrap().modified().unwrap();
        std::fs::write(&path, bytes).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(modified).unwrap();
    }

    /// The output is that of a run that is not killed.
    pub fn assert_equals_a_whole_run(&self) {
        let whole = (self.command)("whole").output().unwrap();
        assert_eq!(whole.status.code(), Some(0));
        let names = |name: &str| contents(&self.directory.join(name));
        assert!(names("out") == names("whole"), "another output");
    }

    /// The first reading goes on where it was, and does not notice a change before that; the second
    /// one reads everything and does.
    pub fn assert_goes_on_in_two_readings(&self, old: &str, new: &str) {
        let before = self.replace(old, new);
        let (code, messages) = self.resume();
        assert_eq!(code, Some(2), "{messages}");
        assert!(messages.contains("first reading begun, "), "{messages}");
        assert!(messages.contains("changed"), "{messages}");
        self.write(&before);
        let (code, messages) = self.resume();
        assert_eq!(code, Some(0), "{messages}");
        assert!(messages.contains("first reading complete"), "{messages}");
        self.assert_equals_a_whole_run();
    }
}

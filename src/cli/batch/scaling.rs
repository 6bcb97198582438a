//! `--scaling` of a batch job.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use simtool::engine::Progress;
use simtool::io::remote::Client;
use simtool::{Error, ErrorKind, Result};
use simtool_objects::location;
use xxhash_rust::xxh3::Xxh3;

use super::{InputArgs, RunArgs};
use crate::cli::output::directory_of;
use crate::cli::process::exit::Finish;
use crate::cli::process::interrupt::stoppable;
use crate::cli::process::scaling::{Measured, compare, temporary_directory};

/// The only file of an output that differs between equal runs.
const TIMINGS: &str = "timings.json";

/// Measures a command with more and more threads, `runs` times each.
///
/// `call` runs it with a number of threads and an output directory. These are beside that of `input`,
/// and removed again: only the table remains.
///
/// # Errors
/// Errors of [`compare`] and of `call`.
pub fn measure(
    (input, run): (&InputArgs, &RunArgs),
    runs: usize,
    client: &Client,
    call: impl Fn(usize, PathBuf, &Arc<Progress>) -> Result<()>,
) -> Result<Finish> {
    if location::scheme(&input.output).is_some() {
        let message = "--scaling makes directories beside that of --output, so this must be local";
        return Err(Error::new(ErrorKind::Parameter, message));
    }
    let beside = directory_of(&input.output);
    compare(run.resources.thread_count(), runs, |threads| {
        let place = temporary_directory(beside)?;
        let progress = Arc::new(Progress::new());
        let called = call(threads, place.path().to_owned(), &progress);
        // An interrupted run cannot be resumed, as its output is removed.
        progress.check()?;
        called?;
        // The run has ended, and a signal may not end the process before its output is removed.
        let _stoppable = stoppable(&progress, client);
        let times = times(&place.path().join(TIMINGS))?;
        let output = digest(place.path(), &progress)?;
        drop(place);
        progress.check()?;
        Ok(Measured { times, output })
    })?;
    Ok(Finish::Complete)
}

/// The times of the stages, outside them, and of all.
fn times(path: &Path) -> Result<Vec<(String, Duration)>> {
    let text = fs::read(path).map_err(|cause| Error::unreadable(path, cause))?;
    let timings: Value = serde_json::from_slice(&text).map_err(|cause| {
        let message = format!("{} is damaged", path.display());
        Error::new(ErrorKind::Content, message).caused_by(cause.into())
    })?;
    let seconds = |value: &Value| {
        Duration::from_secs_f64(value["seconds"].as_f64().unwrap_or_default().max(0.0))
    };
    let stages = timings["stages"].as_array().into_iter().flatten();
    let mut times: Vec<(String, Duration)> = stages
        .map(|stage| {
            (
                stage["stage"].as_str().unwrap_or_default().to_owned(),
                seconds(stage),
            )
        })
        .collect();
    let total = seconds(&timings);
    let staged: Duration = times.iter().map(|(_, time)| *time).sum();
    times.push(("files".to_owned(), total.saturating_sub(staged)));
    times.push(("total".to_owned(), total));
    Ok(times)
}

/// The digest of all files in a directory, but the timings.
fn digest(directory: &Path, progress: &Progress) -> Result<u128> {
    let mut files = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(next) = directories.pop() {
        let unreadable = |cause| Error::unreadable(&next, cause);
        for entry in fs::read_dir(&next).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            match path.is_dir() {
                true => directories.push(path),
                false => files.push(path),
            }
        }
    }
    files.sort();
    let mut all = Hashing(Xxh3::new());
    for path in files {
        progress.check()?;
        let name = path.strip_prefix(directory).unwrap_or(&path);
        if name != Path::new(TIMINGS) {
            all.0.update(name.as_os_str().as_bytes());
            let copied = File::open(&path).and_then(|mut file| io::copy(&mut file, &mut all));
            let length = copied.map_err(|cause| Error::unreadable(&path, cause))?;
            all.0.update(&length.to_le_bytes());
        }
    }
    Ok(all.0.digest128())
}

struct Hashing(Xxh3);

impl io::Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

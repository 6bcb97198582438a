//! What a finished output directory says of the run that made it: `run.json`.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::xxh3_128;

use super::journal::{digest_value, parse_mark};
use super::made::{FileMark, Made};
use super::outputs::{Outputs, Written, remove_output};
use super::{checked, path_text};
use crate::io::{Faults, directory};
use crate::{Error, ErrorKind, Result};

/// The job and the outputs of a finished run.
pub const RUN: &str = "run.json";
/// Published last.
pub const SUMMARY: &str = "summary.json";
/// The only output whose length another run does not repeat.
pub const TIMINGS: &str = "timings.json";

/// A finished run.
pub struct FinishedRun {
    /// Settings and inputs.
    pub job: Value,
    /// All outputs but `run.json` itself and `timings.json`.
    outputs: Vec<Written>,
}

impl FinishedRun {
    /// What `out` says; `None` if no run has finished there.
    ///
    /// # Errors
    /// [`ErrorKind::Read`]; [`ErrorKind::Content`] if the file is not what was written.
    pub fn read(out: &Path) -> Result<Option<FinishedRun>> {
        let path = out.join(RUN);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => {
                return Err(Error::new(ErrorKind::Read, "cannot be read")
                    .in_file(path)
                    .caused_by(cause));
            }
        };
        let run = checked::decode(&text).and_then(FinishedRun::parse);
        run.map(Some).ok_or_else(|| {
            let message = "does not say what run made the files here: it is damaged, or not made \
                           by simtool (move it away, or choose another -o)";
            Error::new(ErrorKind::Content, message).in_file(path)
        })
    }

    fn parse(mut object: Map<String, Value>) -> Option<FinishedRun> {
        let job = object.remove("job")?;
        let output = |value: &Value| {
            let name = path_text::decode(value.get("file")?)?;
            let mark = parse_mark(value)?;
            path_text::is_below(&name).then_some(Written { name, mark })
        };
        let outputs = object.get("outputs")?.as_array()?.iter().map(output);
        Some(FinishedRun {
            job,
            outputs: outputs.collect::<Option<_>>()?,
        })
    }

    /// The files of the run in `out`. Its `timings.json`, which no record describes, is taken for
    /// the one that is there.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if they cannot be read.
    pub fn made(&self, out: &Path) -> Result<Made> {
        let mut made = Made::default();
        for Written { name, mark } in &self.outputs {
            made.add(name, *mark);
        }
        for name in [RUN, TIMINGS] {
            made.add_found(out, Path::new(name))?;
        }
        Ok(made)
    }

    /// Publishes `run.json` for a run of `job`, with the outputs that are recorded and the `summary`
    /// that will be.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn publish(job: &Value, outputs: &Outputs, out: &Path, summary: &str) -> Result<()> {
        let special = [RUN, SUMMARY, TIMINGS].map(Path::new);
        let mut listed = outputs.written();
        listed.retain(|output| !special.contains(&output.name.as_path()));
        listed.push(Written {
            name: SUMMARY.into(),
            mark: FileMark {
                bytes: summary.len() as u64,
                digest: xxh3_128(summary.as_bytes()),
                stamp: None,
            },
        });
        let listed = listed.iter().map(|Written { name, mark }| {
            json!({
                "file": path_text::encode(name),
                "bytes": mark.bytes,
                "xxh3_128": digest_value(mark.digest),
            })
        });
        let object = [
            ("job".to_owned(), job.clone()),
            ("outputs".to_owned(), listed.collect()),
        ];
        let text = checked::encode(object.into_iter().collect());
        let mut file = outputs.create(&out.join(RUN))?;
        file.write_all(text.as_bytes())
            .map_err(|cause| file.error(cause))?;
        file.publish()
    }

    /// Fails if an output is missing or has another length.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] naming it.
    pub fn check_outputs(&self, out: &Path) -> Result<()> {
        for Written { name, mark } in &self.outputs {
            let path = out.join(name);
            let message = match fs::metadata(&path) {
                Ok(found) if found.len() == mark.bytes => continue,
                Ok(_) => {
                    "was changed since the run finished (move it away or remove it, and add \
                     --restart to make the whole output again)"
                }
                Err(_) => {
                    "is missing since the run finished (add --restart to make the whole output \
                     again)"
                }
            };
            return Err(Error::new(ErrorKind::Changed, message).in_file(path));
        }
        Ok(())
    }

    /// Removes all outputs of the run: the summary first, so that nothing incomplete looks
    /// finished, and `run.json` last. What was changed since stays, unless it is among those that
    /// are known to be `own`.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn remove(&self, out: &Path, own: &BTreeSet<PathBuf>, faults: &Faults) -> Result<()> {
        let made = self.made(out)?;
        let remove = |name: &Path| match own.contains(name) || made.is_own(out, name)? == Some(true)
        {
            true => remove_output(out, name, faults),
            false => Ok(()),
        };
        remove(Path::new(SUMMARY))?;
        // The order has to survive a power loss.
        directory::sync(out, faults)?;
        remove(Path::new(TIMINGS))?;
        for output in &self.outputs {
            remove(&output.name)?;
        }
        directory::sync(out, faults)?;
        remove(Path::new(RUN))
    }
}

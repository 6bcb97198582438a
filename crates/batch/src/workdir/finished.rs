//! The record of a finished run in its output directory: `run.json`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::xxh3_128;

use crate::workdir::files::{checksummed, path_text};
use crate::workdir::outputs::journal::{digest_value, parse_mark};
use crate::workdir::outputs::output_files::{OutputRecord, Outputs};
use crate::workdir::outputs::place::{OutputMetadata, Place};
use crate::workdir::outputs::recorded_files::{FileMark, OutputStamp, RecordedFiles};
use crate::{Error, ErrorKind, Result};
use simtool_files::{Faults, directory};

/// The file with the job and the outputs of a finished run.
pub const RUN: &str = "run.json";
/// Published last; its presence marks the output as complete.
pub const SUMMARY: &str = "summary.json";
/// The only output whose length may differ between equal runs.
pub const TIMINGS: &str = "timings.json";

/// The summary of the run that finished in `place`, as `parse` understands it.
///
/// # Errors
/// [`ErrorKind::Content`] if the file is not a summary; [`ErrorKind::Read`].
pub fn parsed_summary<T>(place: &Place, parse: impl FnOnce(&Value) -> Option<T>) -> Result<T> {
    let name = Path::new(SUMMARY);
    let text = place.contents(name)?;
    let summary = text.and_then(|text| serde_json::from_slice(&text).ok());
    summary.as_ref().and_then(parse).ok_or_else(|| {
        let message = "is damaged: it lacks the counts of a finished run (remove it, and add \
                       --restart to make the whole output again)";
        Error::new(ErrorKind::Content, message).in_file(place.shown(name))
    })
}

/// A finished run.
pub struct FinishedRun {
    /// Settings and inputs.
    pub job: Value,
    /// All outputs but `run.json` itself and `timings.json`.
    outputs: Vec<OutputRecord>,
}

impl FinishedRun {
    /// The run that finished there; `None` if there is none.
    ///
    /// # Errors
    /// [`ErrorKind::Read`]; [`ErrorKind::Content`] if the file is damaged.
    pub fn read(place: &Place) -> Result<Option<FinishedRun>> {
        let Some(text) = place.contents(Path::new(RUN))? else {
            return Ok(None);
        };
        let run = checksummed::decode(&text).and_then(FinishedRun::parse);
        run.map(Some).ok_or_else(|| {
            let message = "does not say what run made the files here: it is damaged, or not made \
                           by simtool (move it away, or choose another -o)";
            Error::new(ErrorKind::Content, message).in_file(place.shown(Path::new(RUN)))
        })
    }

    fn parse(mut object: Map<String, Value>) -> Option<FinishedRun> {
        let job = object.remove("job")?;
        let output = |value: &Value| {
            let name = path_text::decode(value.get("file")?)?;
            let mark = parse_mark(value)?;
            path_text::is_below(&name).then_some(OutputRecord { name, mark })
        };
        let outputs = object.get("outputs")?.as_array()?.iter().map(output);
        Some(FinishedRun {
            job,
            outputs: outputs.collect::<Option<_>>()?,
        })
    }

    /// The names of the outputs that are listed.
    pub fn names(&self) -> impl Iterator<Item = &Path> {
        self.outputs.iter().map(|output| output.name.as_path())
    }

    /// The files of the run. The digests of `run.json` and `timings.json` are not
    /// recorded: undamaged files of these names, with their own checksums, are taken to be of this
    /// run.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if they cannot be read.
    pub fn recorded(&self, place: &Place) -> Result<RecordedFiles> {
        let mut recorded = RecordedFiles::default();
        for OutputRecord { name, mark } in &self.outputs {
            recorded.add(name, mark.clone());
        }
        recorded.add_found(place, Path::new(RUN))?;
        let timings = place.contents(Path::new(TIMINGS)).ok().flatten();
        if timings.is_some_and(|text| checksummed::decode(&text).is_some()) {
            recorded.add_found(place, Path::new(TIMINGS))?;
        }
        Ok(recorded)
    }

    /// Publishes `run.json` for a run of `job`, with the recorded outputs and the text `summary`,
    /// which is published next.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn publish(job: &Value, outputs: &Outputs, out: &Path, summary: &str) -> Result<()> {
        let special = [RUN, SUMMARY, TIMINGS].map(Path::new);
        let mut listed = outputs.written();
        listed.retain(|output| !special.contains(&output.name.as_path()));
        listed.push(OutputRecord {
            name: SUMMARY.into(),
            mark: FileMark {
                bytes: summary.len() as u64,
                digest: xxh3_128(summary.as_bytes()),
                stamp: None,
            },
        });
        let listed = listed.iter().map(|OutputRecord { name, mark }| {
            let mut output = json!({
                "file": path_text::encode(name),
                "bytes": mark.bytes,
                "xxh3_128": digest_value(mark.digest),
            });
            if let Some(OutputStamp::Object { etag }) = &mark.stamp {
                output["stamp"] = json!({"etag": etag});
            }
            output
        });
        let text = checksummed::encode([("job", job), ("outputs", &listed.collect())]);
        let mut file = outputs.create(&out.join(RUN))?;
        file.write_all(text.as_bytes())
            .map_err(|cause| file.error(cause))?;
        file.publish()
    }

    /// Checks that no output is missing or has changed. Files that were modified after the summary
    /// was published are read; of others, only the length is compared.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] naming it; [`ErrorKind::Write`] if it cannot be read.
    pub fn check_outputs(&self, place: &Place) -> Result<()> {
        let summary = place.found(Path::new(SUMMARY))?;
        let finished = summary.and_then(|summary| summary.modified);
        for OutputRecord { name, mark } in &self.outputs {
            let is_older = |found: &OutputMetadata| {
                let modified = found.modified;
                modified.is_some_and(|time| Some(time) <= finished)
            };
            let is_equal = || Ok(place.digest(name)? == Some((mark.bytes, mark.digest)));
            let message = match place.found(name)? {
                Some(found) if found.bytes == mark.bytes && (is_older(&found) || is_equal()?) => {
                    continue;
                }
                Some(_) => {
                    "was changed since the run finished (move it away or remove it, and add \
                     --restart to make the whole output again)"
                }
                None => {
                    "is missing since the run finished (add --restart to make the whole output \
                     again)"
                }
            };
            return Err(Error::new(ErrorKind::Changed, message).in_file(place.shown(name)));
        }
        Ok(())
    }

    /// Removes all outputs of the run: the summary first, so that incomplete output never looks
    /// finished, and `run.json` last. Files that were changed since are kept, unless they are in
    /// `own`, the files that the record of an unfinished run names.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn remove(&self, place: &Place, own: &BTreeSet<PathBuf>, faults: &Faults) -> Result<()> {
        let (out, recorded) = (&place.out, self.recorded(place)?);
        let remove =
            |name: &Path| match own.contains(name) || recorded.is_own(place, name)? == Some(true) {
                true => place.remove(name, faults),
                false => Ok(()),
            };
        remove(Path::new(SUMMARY))?;
        // The order has to survive a power failure.
        directory::sync(out, faults)?;
        remove(Path::new(TIMINGS))?;
        for output in &self.outputs {
            remove(&output.name)?;
        }
        directory::sync(out, faults)?;
        remove(Path::new(RUN))
    }
}

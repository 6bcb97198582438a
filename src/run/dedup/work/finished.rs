//! What a finished output directory says of the run that made it: `run.json`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::outputs::{Outputs, remove_output};
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
    /// The outputs by name, with their lengths; without the three files named above.
    outputs: Vec<(PathBuf, u64)>,
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
                           by simtool (choose another -o, or remove the files)";
            Error::new(ErrorKind::Content, message).in_file(path)
        })
    }

    fn parse(mut object: Map<String, Value>) -> Option<FinishedRun> {
        let job = object.remove("job")?;
        let output = |value: &Value| {
            let name = path_text::decode(value.get("file")?)?;
            path_text::is_below(&name).then_some((name, value.get("bytes")?.as_u64()?))
        };
        let outputs = object.get("outputs")?.as_array()?.iter().map(output);
        Some(FinishedRun {
            job,
            outputs: outputs.collect::<Option<_>>()?,
        })
    }

    /// The names of all its files, below the directory of the outputs.
    pub fn names(&self) -> impl Iterator<Item = PathBuf> {
        let outputs = self.outputs.iter().map(|(name, _)| name.clone());
        outputs.chain([RUN, SUMMARY, TIMINGS].map(PathBuf::from))
    }

    /// Publishes `run.json` for a run of `job`, with the outputs that are recorded.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn publish(job: &Value, outputs: &Outputs, out: &Path) -> Result<()> {
        let special = [RUN, SUMMARY, TIMINGS].map(Path::new);
        let listed = outputs.written();
        let listed = listed
            .iter()
            .filter(|(name, _)| !special.contains(&name.as_path()))
            .map(|(name, bytes)| json!({"file": path_text::encode(name), "bytes": bytes}));
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
        for (name, bytes) in &self.outputs {
            let path = out.join(name);
            let found = fs::metadata(&path).ok().map(|found| found.len());
            if found != Some(*bytes) {
                let message = "is missing or was changed since the run finished (add --restart to \
                               make the whole output again)";
                return Err(Error::new(ErrorKind::Changed, message).in_file(path));
            }
        }
        Ok(())
    }

    /// Removes all outputs of the run: the summary first, so that nothing incomplete looks
    /// finished, and `run.json` last.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn remove(&self, out: &Path, faults: &Faults) -> Result<()> {
        remove_output(out, Path::new(SUMMARY), faults)?;
        // The order has to survive a power loss.
        directory::sync(out, faults)?;
        remove_output(out, Path::new(TIMINGS), faults)?;
        for (name, _) in &self.outputs {
            remove_output(out, name, faults)?;
        }
        directory::sync(out, faults)?;
        remove_output(out, Path::new(RUN), faults)
    }
}

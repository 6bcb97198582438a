//! The output directory of a command that resumes: refusals, and messages about it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use simtool::{Error, ErrorKind, Result};

use crate::cli::screen::message;

/// Refuses a file where the output directory `out` is to be.
///
/// # Errors
/// [`ErrorKind::Parameter`].
pub fn refuse_file(out: &Path) -> Result<()> {
    let mut existing = out.ancestors().filter(|path| path.exists());
    match existing.next() {
        Some(path) if !path.is_dir() => {
            let message = "is a file, and -o names a directory for several files (choose another \
                           name for -o)";
            Err(Error::new(ErrorKind::Parameter, message).in_file(path))
        }
        _ => Ok(()),
    }
}

/// Refuses an output directory that is also an input: a repeated run would read its own output. The
/// output of an earlier run, as in `dedup * -o out`, is left out instead.
///
/// # Errors
/// [`ErrorKind::Parameter`].
pub fn refuse_own_input(output: &Path, inputs: &[PathBuf]) -> Result<()> {
    let identity = |path: &Path| {
        let found = fs::metadata(path).ok()?;
        Some((found.dev(), found.ino()))
    };
    let Some(out) = identity(output) else {
        return Ok(());
    };
    let is_output = |path: &&PathBuf| identity(path) == Some(out);
    let is_known = ["run.json", ".simtool/job.json"]
        .iter()
        .any(|name| output.join(name).exists());
    match inputs.iter().find(is_output) {
        Some(path) if !is_known => {
            let message = "is an input and the output directory (choose another --output)";
            Err(Error::new(ErrorKind::Parameter, message).in_file(path))
        }
        _ => Ok(()),
    }
}

/// Refuses to `restart` in a directory that is named as an input: it would be removed, not read.
///
/// # Errors
/// [`ErrorKind::Parameter`].
pub fn refuse_removed_input(restart: bool, excepted: &[PathBuf]) -> Result<()> {
    match excepted.first() {
        Some(path) if restart => {
            let message = "is to be read, and is the output directory as well, whose files \
                           --restart would remove (choose another -o)";
            Err(Error::new(ErrorKind::Parameter, message).in_file(path))
        }
        _ => Ok(()),
    }
}

/// Reports the work directory if it is kept because it has files that are not simtool's.
pub fn say_what_stays(out: &Path) {
    let directory = out.join(".simtool");
    if directory.exists() {
        message::say(&format!(
            "{}: kept, because it has files that simtool did not write",
            directory.display()
        ));
    }
}

/// Adds how to continue to the error of an interruption.
pub fn explain_stop(error: Error, out: &Path, has_stream: bool) -> Error {
    match error.kind() {
        ErrorKind::Interrupted if has_stream => {
            let message = "interrupted: standard input and pipes cannot be read again, so the same \
                           command starts from the beginning";
            Error::new(ErrorKind::Interrupted, message)
        }
        ErrorKind::Interrupted => {
            let message = format!(
                "interrupted: the same command resumes from {}",
                out.join(".simtool").display()
            );
            Error::new(ErrorKind::Interrupted, message)
        }
        _ => error,
    }
}

//! Documents at the places that a report states.

use std::path::{Path, PathBuf};

use simtool::corpus::Source;
use simtool::jobs::explain::{FoundDocument, Lookup};
use simtool::{Error, ErrorKind, Result};

use super::listed::At;
use crate::cli::reading::found::check_text_field;

/// The flag that names the field of the text.
pub const TEXT_FIELD: &str = "--text-field";

/// The document at a place that the report `list` states; `flag` names the field of its text.
///
/// # Errors
/// [`ErrorKind::Changed`] if another document is there; those of finding and reading it.
pub fn listed(list: &Path, at: &At, lookup: &Lookup<'_>, flag: &str) -> Result<FoundDocument> {
    let file = file_of_run(list, Path::new(&at.file))?;
    check_file(&file, lookup, flag)?;
    let found = lookup.at(&file, at.member, at.start)?;
    if found.place.length == at.length {
        return Ok(found);
    }
    let message = format!(
        "changed since: the document at {} is of {} bytes, and was of {}",
        at.start, found.place.length, at.length
    );
    Err(Error::new(ErrorKind::Changed, message).in_file(&at.file))
}

/// The path of `file` in the report `list`. It is relative to the directory in which the report was made: the
/// current directory, or a directory above the report.
fn file_of_run(list: &Path, file: &Path) -> Result<PathBuf> {
    if file.exists() {
        return Ok(file.to_owned());
    }
    let real = list.canonicalize().unwrap_or_else(|_| list.to_owned());
    let above = real.ancestors().skip(1);
    let found = above
        .map(|directory| directory.join(file))
        .find(|path| path.exists());
    found.ok_or_else(|| {
        let message = format!(
            "is neither here nor in a directory above {} (run the command in the directory in \
             which the report was made)",
            list.display()
        );
        Error::new(ErrorKind::Read, message).in_file(file)
    })
}

/// Refuses a file of which no document has the field of the text, which `flag` names.
///
/// # Errors
/// Errors of [`check_text_field`] and of opening the file.
pub fn check_file(file: &Path, lookup: &Lookup<'_>, flag: &str) -> Result<()> {
    let source = Source::of_file(file, lookup.reading)?;
    check_text_field(flag, &[source], lookup.reading)
}

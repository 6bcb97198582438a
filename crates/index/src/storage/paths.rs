//! Where the files of an index are.

use std::path::{Path, PathBuf};

use super::database::NAME as DATABASE;
use crate::Result;
use crate::io::directory;

/// The directory of the segments.
pub const SEGMENTS: &str = "segments";
/// Prefix of the names of sidecar files, which are written next to an index before it is created.
pub const BESIDE: &str = "settings-";

/// The file of segment number `number`.
pub fn segment_path(index: &Path, number: u64) -> PathBuf {
    index.join(SEGMENTS).join(segment_name(number))
}

/// The segment files in the directory of an index, by number, listed or not. Files and directories
/// with other names are not the index's.
pub fn numbered_segments(index: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let numbered = |path: PathBuf| Some((segment_number(path.file_name()?.to_str()?)?, path));
    Ok(directory::list(&index.join(SEGMENTS))?
        .into_iter()
        .filter_map(numbered)
        .collect())
}

/// The number of the segment with the file name `name`; `None` if it is not that of a segment.
fn segment_number(name: &str) -> Option<u64> {
    let number = name.parse().ok()?;
    (segment_name(number) == name).then_some(number)
}

fn segment_name(number: u64) -> String {
    format!("{number:08}")
}

/// Whether there is nothing at `index`, or an empty directory.
///
/// # Errors
/// [`ErrorKind::Read`](crate::ErrorKind::Read) if the directory cannot be read.
pub fn is_unused(index: &Path) -> Result<bool> {
    Ok(!directory::exists(index)? || index.is_dir() && directory::list(index)?.is_empty())
}

/// The index that `path` is inside of, if there is one: files in it would be taken for its own.
pub fn enclosing(path: &Path) -> Option<PathBuf> {
    let whole = std::path::absolute(path).ok()?;
    let real = match whole.canonicalize() {
        Ok(real) => real.parent()?.to_owned(),
        Err(_) => whole.parent()?.canonicalize().ok()?,
    };
    let is_index = |parent: &&Path| parent.join(DATABASE).is_file();
    real.ancestors().find(is_index).map(Path::to_owned)
}

//! The description of inputs by which a run knows that it may resume an earlier one.

use std::fs;
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde_json::{Value, json};

use crate::workdir::path_value;
use crate::{Error, Result};
use simtool_corpus::Source;

/// The files of sources with sizes, times, formats and compressions.
///
/// # Errors
/// [`ErrorKind::Read`] if the metadata of one cannot be read.
pub fn described_inputs(sources: &[Source]) -> Result<Vec<Value>> {
    sources.iter().map(describe).collect()
}

fn describe(source: &Source) -> Result<Value> {
    let path = path_value(&source.path);
    // Both can be read in this run only.
    if source.is_stream() || !source.has_file() {
        return Ok(json!({"path": path, "stream": true}));
    }
    if let Some(object) = &source.object {
        return Ok(json!({
            "path": path,
            "object": object.identity(),
            "format": source.format.name(),
            "compression": source.compression.name(),
        }));
    }
    let modified =
        modified(&source.file()).map_err(|cause| Error::unreadable(&source.path, cause))?;
    Ok(json!({
        "path": path,
        "bytes": source.bytes,
        "modified": modified,
        "format": source.format.name(),
        "compression": source.compression.name(),
    }))
}

/// The modification time of a file, in seconds with nine decimals.
///
/// # Errors
/// Errors of reading it.
pub fn modified(file: &Path) -> io::Result<String> {
    let modified = fs::metadata(file)?.modified()?;
    let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(format!("{}.{:09}", since.as_secs(), since.subsec_nanos()))
}

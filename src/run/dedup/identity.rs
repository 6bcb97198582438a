//! What tells a job from another one: its settings, and its inputs as they were.

use serde_json::{Value, json};

use crate::corpus::Source;
use crate::{Error, ErrorKind, Result};

use super::work::path_value;
use super::{Against, Job, Place};

/// The layout of the work directory.
const LAYOUT: u32 = 3;

/// What another run has to share to go on from what this one left.
///
/// # Errors
/// [`ErrorKind::Read`] if an input cannot be looked at; those of the known documents.
pub fn identity(job: &Job, place: &Place<'_>) -> Result<Value> {
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "layout": LAYOUT,
        "settings": job.settings(),
        "inputs": all(place.sources)?,
        "against": match place.against {
            Against::Known(known) => known.state()?,
            against => all(against.documents())?.into(),
        },
    }))
}

fn all(sources: &[Source]) -> Result<Vec<Value>> {
    sources.iter().map(describe).collect()
}

fn describe(source: &Source) -> Result<Value> {
    let path = path_value(&source.path);
    if source.is_stream() {
        return Ok(json!({"path": path, "stream": true}));
    }
    let modified = std::fs::metadata(source.file())
        .and_then(|data| data.modified())
        .map_err(|cause| {
            Error::new(ErrorKind::Read, "cannot be read")
                .in_file(&source.path)
                .caused_by(cause)
        })?;
    let since = modified
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    Ok(json!({
        "path": path,
        "bytes": source.bytes,
        "modified": format!("{}.{:09}", since.as_secs(), since.subsec_nanos()),
        "format": source.format.name(),
        "compression": source.compression.name(),
    }))
}

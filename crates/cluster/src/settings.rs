//! What a cluster needs of a method, and the settings that it does not have.

use simtool_batch::dedup::DedupJob;
use simtool_core::sketch::{Method, Shape};
use simtool_core::{Error, ErrorKind, Result};

/// Whether the sketches of a method are fingerprints, which have a Hamming distance and are short
/// enough to be stored with each key.
pub fn has_fingerprints(method: &dyn Method) -> bool {
    matches!(method.shape(), Shape::Bits { .. })
}

/// Refuses settings that a cluster does not have.
///
/// # Errors
/// [`ErrorKind::Parameter`].
pub fn check(job: &DedupJob) -> Result<()> {
    let spec = &job.method;
    if !job.is_by_equality() && !spec.required_counts().is_empty() {
        return refuse(format!(
            "method {}: needs statistics of the whole collection, which are not counted on a cluster \
             (use the command, or another method)",
            spec.name()
        ));
    }
    if job.verification.least.is_containment() {
        return refuse(
            "similarity containment: a cluster compares whole documents only (use the command)"
                .into(),
        );
    }
    if job.min_sources > 1 {
        return refuse("min-sources: the files of clusters are not counted on a cluster".into());
    }
    Ok(())
}

fn refuse(message: String) -> Result<()> {
    Err(Error::new(ErrorKind::Parameter, message))
}

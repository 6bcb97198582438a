//! What a cluster needs of a method, and the settings that it does not have.

use simtool_batch::dedup::DedupJob;
use simtool_core::sketch::{Method, Shape};
use simtool_core::{Error, ErrorKind, Result};

/// Whether the sketches of a method are fingerprints, which have a Hamming distance and are short
/// enough to be stored with each key.
pub fn has_fingerprints(method: &dyn Method) -> bool {
    matches!(method.shape(), Shape::Bits { .. })
}

/// Refuses settings that a cluster does not have; with `has_references`, the input is compared with other
/// documents.
///
/// # Errors
/// [`ErrorKind::Parameter`].
pub fn check(job: &DedupJob, has_references: bool) -> Result<()> {
    let spec = &job.method;
    if !job.is_by_equality() && !spec.required_counts().is_empty() {
        return refuse(format!(
            "method {}: needs statistics of the whole collection, which are not counted on a cluster \
             (use the command, or another method)",
            spec.name()
        ));
    }
    let least = job.verification.least;
    if least.is_containment() && has_references {
        // Documents of references come first, so they may be parts of later ones.
        return refuse(
            "similarity containment: a cluster compares the input with itself only (use the command to \
             compare it with others)"
                .into(),
        );
    }
    if least.is_containment() {
        let parameters = spec.list().into_iter();
        let mut own = parameters.filter(|(name, _)| name == "similarity");
        if own.next().is_none_or(|(_, share)| share != least.share()) {
            return refuse(format!(
                "method {}: a cluster does not list refused pairs of containment (leave the similarity \
                 of the method out)",
                spec.name()
            ));
        }
    }
    if job.min_sources > 1 {
        return refuse("min-sources: the files of clusters are not counted on a cluster".into());
    }
    Ok(())
}

fn refuse(message: String) -> Result<()> {
    Err(Error::new(ErrorKind::Parameter, message))
}

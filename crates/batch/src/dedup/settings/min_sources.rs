//! The least number of sources that documents of a kept cluster come from.

use simtool_corpus::Source;

use super::job::{DedupJob, WriteMode};
use crate::scope::{Scope, numbered_sources};
use crate::{Error, ErrorKind, Result};

/// Refuses settings with which the number of sources has no meaning.
///
/// # Errors
/// [`ErrorKind::Parameter`].
pub fn check(job: &DedupJob) -> Result<()> {
    let message = match job.min_sources {
        0 => "min_sources 0: expected 1 (any document) or more",
        1 => return Ok(()),
        _ if job.drop_all => {
            "keep none drops what occurs more than once, and min_sources what occurs in few \
             sources, so nothing would be kept"
        }
        _ if job.within == Scope::Source => {
            "within source, a cluster has documents of one source, so min_sources would drop all \
             documents"
        }
        _ if job.verification.least.is_containment() => {
            "similarity containment cannot be combined with min_sources: a source that has a part \
             of a document would count for all of it"
        }
        _ if job.write == WriteMode::Annotated => {
            "annotated output has all documents, so it cannot be combined with min_sources: \
             select them by duplicate_cluster_sources"
        }
        _ => return Ok(()),
    };
    Err(Error::new(ErrorKind::Parameter, message))
}

/// Refuses inputs of fewer sources than each kept document needs.
///
/// # Errors
/// [`ErrorKind::Parameter`].
pub fn check_inputs(job: &DedupJob, inputs: &[Source]) -> Result<()> {
    let sources = numbered_sources(inputs).into_iter().max();
    match sources.map(|last| last + 1) {
        Some(sources) if sources < job.min_sources => {
            let message = format!(
                "min_sources {}: the input has {sources} (input files, or directories of files \
                 that are one document each), so all documents would be dropped",
                job.min_sources
            );
            Err(Error::new(ErrorKind::Parameter, message))
        }
        _ => Ok(()),
    }
}

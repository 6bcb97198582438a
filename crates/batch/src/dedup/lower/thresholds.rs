//! The lower thresholds that a run tells about.

use crate::dedup::settings::job::DedupJob;

/// In thousandths.
const THRESHOLDS: [u32; 3] = [700, 600, 500];

/// Those below the similarity of the job, in thousandths, the highest first: none if the job removes
/// documents for other reasons than their similarity to one kept document.
pub fn thresholds(job: &DedupJob) -> impl Iterator<Item = u32> {
    let least = job.verification.least;
    let is_by_similarity = !least.is_containment() && job.min_sources <= 1 && job.keep_copies <= 1;
    let is_lower = move |threshold: &u32| is_by_similarity && *threshold < least.thousandths;
    THRESHOLDS.into_iter().filter(is_lower)
}

//! Warnings: settings without effect, and text that may be misread.

use super::job::{Job, Rule};
use super::per::Per;
use super::totals::Totals;
use crate::corpus::{Compression, Source};
use crate::jobs::dedup::Warning;

/// The warnings of a run with these `totals` over the input `sources`.
pub fn warnings(job: &Job, totals: &Totals, sources: &[Source]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |setting: &str, documents, message| {
        warnings.push(Warning {
            setting: setting.to_owned(),
            documents,
            message,
        });
    };
    let documents = totals.all.documents;
    let read = documents.seen - documents.skipped;
    if documents.seen == 0 {
        warn("inputs", 0, "the inputs hold no documents".to_owned());
    }
    if read > 0 && totals.all.units == 0 {
        let message = format!("unit {}: no document has one", job.kind);
        warn("unit", read, message);
    }
    if totals.skipped_references > 0 {
        let message = format!(
            "against: {} of {} documents could not be read, so their units are not counted",
            totals.skipped_references,
            totals.references + totals.skipped_references
        );
        warn("against", totals.skipped_references, message);
    }
    if job.per() == Per::Site && totals.without_site > 0 {
        let message = format!(
            "per site: {} of {read} documents have no URL with a host; their units are counted \
             together",
            totals.without_site
        );
        warn("per", totals.without_site, message);
    }
    if let Rule::Listed(listed) = &job.rule
        && listed.is_empty()
    {
        warn(
            "remove_listed",
            0,
            "remove_listed: the list is empty".to_owned(),
        );
    }
    let is_compressed = |source: &Source| source.compression != Compression::None;
    if job.dump.compression_level.is_some() && !sources.iter().any(is_compressed) {
        let message = "compression_level: no input is compressed, so nothing is".to_owned();
        warn("compression_level", 0, message);
    }
    for (documents, message) in totals.doubts.messages(sources) {
        warn("text", documents, message);
    }
    warnings
}

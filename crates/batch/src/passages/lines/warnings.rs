//! Warnings of settings without effect.

use super::job::{LinesJob, Rule, Threshold};
use super::per::Per;
use crate::passages::report::totals::SearchTotals;
use crate::skeleton::warning::Warning;

/// The warnings of a search for units that saw these `totals`.
pub fn warnings(job: &LinesJob, totals: &SearchTotals) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let documents = totals.all.documents;
    let read = documents.seen - documents.skipped;
    if read > 0 && totals.all.units == 0 {
        let message = format!("unit {}: no document has one", job.kind);
        warnings.push(Warning::new("unit", read, message));
    }
    if job.per() == Per::Site && totals.without_site > 0 {
        let message = format!(
            "within site: {} of {read} documents have no URL with a host; their units are counted \
             together",
            totals.without_site
        );
        warnings.push(Warning::new("within", totals.without_site, message));
    }
    let all = read + totals.references;
    if let Rule::Repeated {
        threshold: Threshold::InDocuments(least),
        ..
    } = &job.rule
        && (1..*least).contains(&all)
    {
        let message = format!(
            "in_documents {least}: only {all} documents were read, so no unit can be in that many \
             (lower in_documents to 2 or more, or set unit to line)"
        );
        warnings.push(Warning::new("in_documents", all, message));
    }
    if let Rule::Listed(listed) = &job.rule
        && listed.is_empty()
    {
        let message = "remove_listed: the list is empty".to_owned();
        warnings.push(Warning::new("remove_listed", 0, message));
    }
    warnings
}

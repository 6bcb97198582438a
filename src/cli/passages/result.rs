//! The result of a command, in one line.

use serde_json::{Value, json};
use simtool::jobs::passages::{Names, PassageSummary};

use crate::cli::batch::{left_out, unwritten};
use crate::cli::screen::amount::{counted, megabytes};

/// The counts of documents and of what was `found`, which is a part of a sentence.
pub fn counts(
    summary: &PassageSummary,
    names: &Names,
    found: &str,
    files_left_out: usize,
) -> String {
    let documents = summary.documents;
    let listed = match documents.skipped {
        0 => "",
        _ => " (listed in skipped.jsonl)",
    };
    let references = match summary.references {
        (_, 0) => String::new(),
        (all, skipped) => {
            let against = names.against;
            format!("; {skipped} of {all} documents of --{against} skipped")
        }
    };
    let unwritten = unwritten(summary.unwritten.unwrap_or_default());
    format!(
        "{} seen = {} kept + {} dropped + {} skipped{listed}; {found}, {} of {}, in \
         {}{unwritten}{references}{}",
        counted(documents.seen, "document"),
        documents.kept,
        documents.dropped,
        documents.skipped,
        megabytes(summary.repeated_bytes),
        megabytes(summary.bytes.seen),
        counted(summary.changed, "document"),
        left_out(files_left_out),
    )
}

/// The fields of the event `result`, besides the time.
pub fn fields(summary: &PassageSummary, names: &Names, files_left_out: usize) -> Value {
    let documents = summary.documents;
    let [different, removed] = names.counts;
    json!({
        "left_out": files_left_out,
        "seen": documents.seen,
        "kept": documents.kept,
        "dropped": documents.dropped,
        "skipped": documents.skipped,
        "skipped_against": summary.references.1,
        "changed": summary.changed,
        "unwritten_files": summary.unwritten,
        "units": summary.units,
        different: summary.different,
        removed: summary.removed,
        "repeated_bytes": summary.repeated_bytes,
        "bytes": summary.bytes.seen,
    })
}

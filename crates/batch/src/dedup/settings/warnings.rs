//! Warnings: settings without effect, documents that were not read, text that may be misread.

use simtool_core::dedup::keep::Policy;
use simtool_corpus::{Compression, Reading, Source};
use simtool_engine::doubts::Doubts;

use super::job::DedupJob;
use super::source_code::source_code;
use super::url_rule::{URL, UrlRule};
use crate::skeleton::warning::Warning;
use crate::table::document_table::DocumentCounts;

/// The warnings of a run that saw `counts` in `sources`.
///
/// `without_key` has, for each policy that is compared, the number of documents without a key.
pub fn warnings(
    job: &DedupJob,
    counts: &DocumentCounts,
    without_key: &[u64],
    doubts: &Doubts,
    sources: &[Source],
) -> Vec<Warning> {
    let read = counts.seen - counts.skipped;
    let all = |count: u64| read > 0 && count == read;
    let mut warnings = Vec::new();
    let mut warn = |setting: &str, documents, message| {
        warnings.push(Warning::new(setting, documents, message));
    };
    if counts.seen == 0 {
        let message = "the inputs hold no documents".to_owned();
        warn("inputs", 0, message);
    }
    if counts.without_text > 0 {
        let message = format!(
            "text_field {:?}: {} of {} documents have no text there and were skipped",
            job.reading.text_field, counts.without_text, counts.seen
        );
        warn("text_field", counts.without_text, message);
    }
    if counts.skipped_references > 0 {
        warn(
            "against",
            counts.skipped_references,
            unread_references(job, counts),
        );
    }
    let fields = |reading: Reading| [reading.id_field, reading.url_field, reading.date_field];
    let usual = fields(Reading::default()).into_iter();
    let usual = usual.zip(counts.without_field);
    let settings = [
        ("id_field", ", so documents are called by file and start"),
        ("url_field", ""),
        ("date_field", ""),
    ];
    let given = fields(job.reading.clone()).into_iter().zip(settings);
    for ((usual, without), (name, (setting, so))) in usual.zip(given) {
        if name != usual && without > 0 && without == counts.with_fields {
            let message = format!("{setting} {name:?}: no document has it{so}");
            warn(setting, without, message);
        }
    }
    for (policy, without) in job.keep.compared().iter().zip(without_key) {
        let wanted = match policy {
            Policy::First | Policy::Longest | Policy::MostShingles => continue,
            Policy::Newest => "a date that can be read",
            Policy::ShortestUrl => "a URL",
            Policy::Field(_) | Policy::Smallest(_) => {
                "this field with a string, a number or a boolean"
            }
        };
        if all(*without) {
            let so = match job.keep.compared().len() {
                1 => "the first copy stays",
                _ => "it decides nothing",
            };
            let message = format!("keep {policy}: no document has {wanted}, so {so}");
            warn("keep", read, message);
        }
    }
    if let (Some(missing), 1..) = (job.within.missing(), counts.without_group) {
        let count = counts.without_group;
        let message = format!(
            "within {}: {count} of {read} documents {missing}; they form a group of their own",
            job.within
        );
        warn("within", count, message);
    }
    for (documents, message) in url_messages(job, counts) {
        warn("method", documents, message);
    }
    let is_compressed = |source: &Source| source.compression != Compression::None;
    if job.dump.compression_level.is_some() && !sources.iter().any(is_compressed) {
        let message = "compression_level: no input is compressed, so nothing is".to_owned();
        warn("compression_level", 0, message);
    }
    if let Some((documents, message)) = source_code(job, sources) {
        warn("tokenizer", documents, message);
    }
    for (documents, message) in doubts.messages(sources) {
        warn("text", documents, message);
    }
    warnings
}

/// What documents lack whose URLs are compared.
fn url_messages(job: &DedupJob, counts: &DocumentCounts) -> Vec<(u64, String)> {
    let read = counts.seen - counts.skipped;
    let with = read - counts.without_page;
    if job.url == UrlRule::Ignored || read == 0 {
        return Vec::new();
    }
    let name = format!("method {URL}");
    let mut messages = Vec::new();
    match counts.without_page {
        0 => {}
        without if with == 0 => messages.push((
            without,
            format!(
                "{name}: no document has an absolute URL with a host, so none is dropped by it"
            ),
        )),
        without => messages.push((
            without,
            format!(
                "{name}: {without} of {read} documents have no absolute URL with a host; none of \
                 them is dropped by it"
            ),
        )),
    }
    match counts.undated {
        0 => {}
        undated if undated == with => messages.push((
            undated,
            format!(
                "{name}: no document has a date that can be read, so of each URL the last one in \
                 the input stays"
            ),
        )),
        undated => messages.push((
            undated,
            format!(
                "{name}: {undated} of {with} documents with a URL have no date that can be read; \
                 they count as the oldest"
            ),
        )),
    }
    messages
}

/// The warning about documents of the reference that could not be read.
fn unread_references(job: &DedupJob, counts: &DocumentCounts) -> String {
    let without_text = match counts.references_without_text {
        0 => String::new(),
        count => format!(
            " ({count} have no text in the field {:?})",
            job.reading.text_field
        ),
    };
    format!(
        "against: {} of {} documents could not be read{without_text}; what repeats them is not \
         found, and skipped.jsonl lists them",
        counts.skipped_references,
        counts.references + counts.skipped_references,
    )
}

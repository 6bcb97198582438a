//! Kept, dropped and skipped documents; dropped ones by method.

use crate::dedup::{DedupPage, MethodRow};
use crate::html::{Cell, escape, meter, table};
use crate::number;

/// The totals, the reasons of skipped documents, and the methods.
pub(super) fn section(page: &DedupPage) -> String {
    totals(page) + &skipped(page) + &methods(page)
}

fn totals(page: &DedupPage) -> String {
    let totals = page.totals;
    let kept = totals.seen - totals.dropped - totals.skipped;
    let kept_bytes = totals.text_bytes.saturating_sub(totals.dropped_bytes);
    let row = |name: &str, kind: &str, documents: u64, bytes: Option<u64>| {
        vec![
            Cell::new(name.to_owned(), None),
            documents_cell(documents, totals.seen, kind),
            bytes.map_or(Cell::new(number::NONE.to_owned(), None), |bytes| {
                bytes_cell(bytes, totals.text_bytes)
            }),
        ]
    };
    let rows = [
        row("Kept", "near", kept, Some(kept_bytes)),
        row("Dropped", "far", totals.dropped, Some(totals.dropped_bytes)),
        row("Skipped", "far", totals.skipped, None),
    ];
    let header = ["Outcome", "Documents", "Text"].map(str::to_owned);
    table("Documents and text of the input", &header, &rows, false)
}

/// `part` of `whole` documents, with a bar.
pub(super) fn documents_cell(part: u64, whole: u64, kind: &str) -> Cell {
    if whole == 0 {
        return Cell::new(number::NONE.to_owned(), None);
    }
    let percent = number::percent(part, whole);
    let small = format!("{} of {}", escape(&percent), number::count(whole));
    let share = part as f64 / whole as f64;
    meter(&number::count(part), share, kind, &small)
}

/// `part` of `whole` bytes.
pub(super) fn bytes_cell(part: u64, whole: u64) -> Cell {
    let percent = number::percent(part, whole);
    Cell::number(number::size(part), &escape(&percent), None)
}

fn skipped(page: &DedupPage) -> String {
    if page.skipped.is_empty() {
        return String::new();
    }
    let reasons = page.skipped.iter();
    let reasons: Vec<String> = reasons
        .map(|(reason, count)| {
            let count = number::count(*count);
            format!("{count} <code>{}</code>", escape(reason))
        })
        .collect();
    format!(
        "<p>Documents that could not be read, by reason: {}.</p>\n",
        reasons.join(", ")
    )
}

fn methods(page: &DedupPage) -> String {
    let totals = page.totals;
    if page.methods.is_empty() {
        return String::new();
    }
    let row = |method: &MethodRow| {
        let name = format!("<bdi>{}</bdi>", escape(&method.name));
        vec![
            Cell::number(name, method.note, None),
            documents_cell(method.documents, totals.dropped, "far"),
            bytes_cell(method.bytes, totals.dropped_bytes),
        ]
    };
    let rows: Vec<Vec<Cell>> = page.methods.iter().map(row).collect();
    let header = ["Method", "Dropped documents", "Dropped text"].map(str::to_owned);
    let table = table("Dropped documents by method", &header, &rows, false);
    format!("<h3>By method</h3>\n{table}")
}

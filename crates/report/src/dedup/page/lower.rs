//! What lower thresholds would drop.

use super::pairs::{MARKS, pairs};
use crate::dedup::{DedupPage, LowerThreshold};
use crate::html::{Cell, table};
use crate::number;

/// The estimated numbers of documents, and the least similar pairs that each threshold adds; empty if
/// lower thresholds were not looked at.
pub(super) fn section(page: &DedupPage) -> String {
    let Some(lower) = &page.lower else {
        return String::new();
    };
    let header = ["--similarity", "Further documents dropped", "95 % interval"].map(str::to_owned);
    let row = |threshold: &LowerThreshold| {
        let interval = match lower.is_whole() {
            true => number::NONE.to_owned(),
            false => {
                let [low, high] = lower.interval(threshold).map(number::count);
                format!("{low} to {high}")
            }
        };
        vec![
            Cell::new(share(threshold.thousandths), None),
            Cell::new(number::count(lower.documents(threshold)), None),
            Cell::new(interval, None),
        ]
    };
    let rows: Vec<Vec<Cell>> = lower.thresholds.iter().map(row).collect();
    let [sampled, of] = [lower.sampled, lower.of].map(number::count);
    let from = match lower.is_whole() {
        true => format!("All {of} documents that differ in their words were"),
        false => format!("A sample of {sampled} of {of} documents that differ in their words was"),
    };
    let mut html = format!(
        "<p>How many more documents a lower <code>--similarity</code> would drop, at most. {from} \
         compared with the most similar documents that are kept before them.</p>\n{}",
        table("Documents by lower thresholds", &header, &rows, false)
    );
    html += &format!(
        "<p>The least similar pairs that each threshold accepts, and the next higher one does not. \
         {MARKS}</p>\n"
    );
    for threshold in &lower.thresholds {
        if !threshold.pairs.is_empty() {
            html += &format!(
                "<h3>Only at {}</h3>\n{}",
                share(threshold.thousandths),
                pairs(&threshold.pairs, ["earlier", "later"], page.is_containment)
            );
        }
    }
    html
}

fn share(thousandths: u32) -> String {
    (f64::from(thousandths) / 1000.0).to_string()
}

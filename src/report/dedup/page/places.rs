//! Dropped documents by source and by site.

use super::document::shortened;
use super::totals::{bytes_cell, documents_cell};
use crate::report::dedup::{Largest, Page, Totals};
use crate::report::html::{Cell, table};
use crate::report::number;

/// A row for each of the files with the most dropped documents.
pub(super) fn sources(page: &Page) -> String {
    rows(&page.sources, ["Source", "source"], "")
}

/// A row for each of the sites with the most dropped documents.
pub(super) fn sites(page: &Page) -> String {
    let intro = "<p>The site of a document is the host of its URL. All counts are exact.</p>\n";
    let sites = page.sites.as_ref();
    sites.map_or(String::new(), |sites| rows(sites, ["Site", "site"], intro))
}

/// `names` are the heading of the column and the noun.
fn rows(largest: &Largest, [heading, noun]: [&str; 2], intro: &str) -> String {
    if largest.rows.is_empty() {
        return String::new();
    }
    let mut rows: Vec<Vec<Cell>> = (largest.rows.iter())
        .map(|row| {
            let name = format!("<bdi>{}</bdi>", shortened(&row.name));
            cells(name, row.totals)
        })
        .collect();
    if largest.others > 0 {
        let plural = if largest.others == 1 { "" } else { "s" };
        let name = format!("{} other {noun}{plural}", number::count(largest.others));
        rows.push(cells(name, largest.rest));
    }
    if largest.without.seen > 0 {
        rows.push(cells(format!("without a {noun}"), largest.without));
    }
    let header = [heading, "Dropped documents", "Dropped text"].map(str::to_owned);
    let label = format!("Dropped documents by {noun}");
    format!("{intro}{}", table(&label, &header, &rows, false))
}

fn cells(name: String, totals: Totals) -> Vec<Cell> {
    let skipped = match totals.skipped {
        0 => String::new(),
        skipped => format!("{} skipped", number::count(skipped)),
    };
    vec![
        Cell::number(name, &skipped, None),
        documents_cell(totals.dropped, totals.seen, "far"),
        bytes_cell(totals.dropped_bytes, totals.text_bytes),
    ]
}

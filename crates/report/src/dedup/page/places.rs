//! Dropped documents by source and by site.

use super::document::shortened;
use super::totals::{bytes_cell, documents_cell};
use crate::dedup::{DedupPage, ShownSites, Totals};
use crate::html::{Cell, capital, table};
use crate::number;
use crate::places::Places;

/// A row for each of the files, or directories of small files, with the most dropped documents.
pub(super) fn sources(page: &DedupPage) -> String {
    let names = page.sources.noun();
    let intro = match names {
        ["source", _] => "",
        _ => "<p>The files have few documents each, so they are counted by directory.</p>\n",
    };
    rows(&page.sources, Totals::default(), names, intro)
}

/// A row for each of the sites with the most dropped documents.
pub(super) fn sites(page: &DedupPage) -> String {
    let intro = "<p>The site of a document is the host of its URL. All counts are exact.</p>\n";
    page.sites.as_ref().map_or(String::new(), |sites| {
        let ShownSites { places, without } = sites;
        rows(places, *without, ["site", "sites"], intro)
    })
}

/// `one` and `many` are nouns; documents `without` belong to none of the places.
fn rows(places: &Places<Totals>, without: Totals, [one, many]: [&str; 2], intro: &str) -> String {
    if places.rows.is_empty() {
        return String::new();
    }
    let mut rows: Vec<Vec<Cell>> = (places.rows.iter())
        .map(|row| {
            let name = format!("<bdi>{}</bdi>", shortened(&row.name));
            cells(name, row.note(), row.totals)
        })
        .collect();
    if places.others > 0 {
        let noun = if places.others == 1 { one } else { many };
        let name = format!("{} other {noun}", number::count(places.others));
        rows.push(cells(name, String::new(), places.rest));
    }
    if without.seen > 0 {
        rows.push(cells(format!("without a {one}"), String::new(), without));
    }
    let header = [&capital(one), "Dropped documents", "Dropped text"].map(str::to_owned);
    let label = format!("Dropped documents by {one}");
    format!("{intro}{}", table(&label, &header, &rows, false))
}

fn cells(name: String, note: String, totals: Totals) -> Vec<Cell> {
    let skipped = match totals.skipped {
        0 => String::new(),
        skipped => format!("{} skipped", number::count(skipped)),
    };
    let comma = if note.is_empty() || skipped.is_empty() {
        ""
    } else {
        ", "
    };
    vec![
        Cell::number(name, &format!("{note}{comma}{skipped}"), None),
        documents_cell(totals.dropped, totals.seen, "far"),
        bytes_cell(totals.dropped_bytes, totals.text_bytes),
    ]
}

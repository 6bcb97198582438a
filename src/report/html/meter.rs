//! A part of a whole, with a bar under it.

use super::table::Cell;
use crate::report::number;

/// A cell with `part` of `whole`, a bar of the CSS class `kind`, and a note in small print, as HTML.
/// It sorts by the share.
pub(in crate::report) fn meter(part: u64, whole: u64, kind: &str, small: &str) -> Cell {
    let label = |number: u64| number::count(number);
    meter_of((part, label(part)), (whole, label(whole)), kind, small)
}

/// Like [`meter`], with a text for each number, as HTML.
pub(in crate::report) fn meter_of(
    (part, part_label): (u64, String),
    (whole, whole_label): (u64, String),
    kind: &str,
    small: &str,
) -> Cell {
    if whole == 0 {
        return Cell::new(number::NONE.to_owned(), None);
    }
    let share = part as f64 / whole as f64;
    let html = format!(
        "<span class=\"of\">{part_label} <span>of {whole_label}</span></span>\
         <svg class=\"bar {kind}\" viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" \
         aria-hidden=\"true\"><rect class=\"track\" width=\"100\" height=\"4\"/>\
         <rect width=\"{:.2}\" height=\"4\"/></svg><small>{small}</small>",
        100.0 * share,
    );
    Cell::new(html, Some(share))
}

//! A share of a whole, with a bar under it.

use super::table::Cell;

/// A cell with a number, a bar of the CSS class `kind` for `share`, and a note in small print; number
/// and note are HTML. It sorts by the share.
pub(crate) fn meter(number: &str, share: f64, kind: &str, small: &str) -> Cell {
    let html = format!(
        "<span class=\"of\">{number}</span>\
         <svg class=\"bar {kind}\" viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" \
         aria-hidden=\"true\"><rect class=\"track\" width=\"100\" height=\"4\"/>\
         <rect width=\"{:.2}\" height=\"4\"/></svg><small>{small}</small>",
        100.0 * share,
    );
    Cell::new(html, Some(share))
}

//! The pairs that verification refused.

use super::pairs::{MARKS, pairs};
use crate::dedup::DedupPage;
use crate::number;

/// The number of refused pairs, and the nearest of those that are listed; empty if nothing is
/// verified.
pub(super) fn section(page: &DedupPage) -> String {
    let Some(refused) = &page.refused else {
        return String::new();
    };
    let intro = format!(
        "<p>The method found <b>{}</b> candidate pairs whose similarity, counted exactly, is below \
         that of duplicates (at most 20 are counted for a document). These documents are kept, unless \
         they are near another one.",
        number::count(refused.count)
    );
    match refused.listed {
        _ if refused.count == 0 => {
            "<p>No candidate pair of the method has a similarity below that of duplicates.</p>\n"
                .to_owned()
        }
        None => {
            format!("{intro} Add <code>--refused</code> to list them and to see the nearest.</p>\n")
        }
        Some(listed) => format!(
            "{intro} <code>refused.jsonl</code> lists {} of them. These are the most similar of \
             the listed ones, at most three with the same earlier document. {MARKS}</p>\n{}",
            number::count(listed),
            pairs(&refused.nearest, ["earlier", "later"], page.is_containment)
        ),
    }
}

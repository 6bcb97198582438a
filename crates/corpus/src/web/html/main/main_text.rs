//! The lines of a page that are its main text.

use super::super::choice::choose;
use super::context::MAIN;
use super::features::features;
use super::lines::PageLines;
use super::weights::is_main;
use crate::web::html::visible_text::visible_text;

/// Appends the [chosen](choose) text of a page; `false` if it has none.
///
/// The text is lines of the [visible text](visible_text). O(length) time and memory for any bytes:
/// pages of more lines or elements than usual, and those whose text is mostly in templates, have no
/// main text.
pub(in crate::web) fn main_text(html: &str, out: &mut Vec<u8>) -> bool {
    let Some(page) = PageLines::read(html.as_bytes()) else {
        return false;
    };
    if page.has_templates {
        let mut visible = Vec::new();
        visible_text(html.as_bytes(), &mut visible);
        if visible.len() > page.text.len() {
            return false;
        }
    }
    let is_main: Vec<bool> = features(&page).map(|line| is_main(&line)).collect();
    let found = page.chosen(|number| is_main[number]);
    let declared = page.chosen(|number| page.lines[number].context & MAIN != 0);
    choose(&found, &declared, || page.text, out)
}

//! The text of the article, or what is used instead.

use super::super::choice::choose;
use super::{main_element, readability};
use crate::web::visible_text::visible_text;

/// Appends the [chosen](choose) text of a page, `false` if it has none.
pub(in crate::web) fn article_text(html: &str, out: &mut Vec<u8>) -> bool {
    let mut article = Vec::new();
    if let Some(found) = readability::article(html) {
        visible_text(found.as_bytes(), &mut article);
    }
    let declared = main_element::text(html.as_bytes());
    let visible = || {
        let mut text = Vec::new();
        visible_text(html.as_bytes(), &mut text);
        text
    };
    choose(&article, &declared, visible, out)
}

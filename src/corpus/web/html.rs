//! The text of an HTML page: its article, or all that is visible.
//!
//! The article is what dom_smoothie makes of the page, a port of Mozilla's Readability. Pages it
//! finds no article in, pages that would take it too long, and builds without the feature `html`
//! fall back to the [visible text](super::visible_text).

use super::HtmlText;
use super::visible_text::visible_text;

/// Appends the text of `html` to `out`.
///
/// Never fails and never panics. For [`HtmlText::Visible`] O(length) time; for [`HtmlText::Main`]
/// the pages handed on are bounded in size, elements and depth.
pub fn text(html: &str, which: HtmlText, out: &mut Vec<u8>) {
    let start = out.len();
    #[cfg(feature = "html")]
    if which == HtmlText::Main
        && let Some(article) = article::article(html)
    {
        visible_text(article.as_bytes(), out);
        if out.len() - start >= article::LEAST_BYTES {
            return;
        }
        out.truncate(start);
    }
    let _ = which;
    visible_text(html.as_bytes(), out);
}

#[cfg(feature = "html")]
mod article;

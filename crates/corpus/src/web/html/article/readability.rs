//! Extraction of the article of a page by dom_smoothie.

use dom_query::Document;
use dom_smoothie::{Config, Readability};

use super::work::Work;
use crate::contained::contained;
use crate::web::cost::Cost;

/// The maximum length of a page that is searched for an article.
const MAX_BYTES: usize = 8 << 20;

/// The HTML of the article in `html`; `None` if there is none or the search would take too many
/// steps. The steps are estimated before the page is parsed, and again on its tree.
///
/// A panic of the libraries is caught and counts as "no article".
pub(super) fn article(html: &str) -> Option<String> {
    if html.len() > MAX_BYTES || Cost::of(html.as_bytes()).is_too_high() {
        return None;
    }
    contained(|| {
        let config = Config {
            disable_json_ld: true,
            ..Config::default()
        };
        let document = Document::from(html);
        if Work::of(&document).is_too_much() {
            return None;
        }
        let article = Readability::with_document(document, None, Some(config))
            .ok()?
            .parse()
            .ok()?;
        Some(article.content.to_string())
    })
    .ok()
    .flatten()
}

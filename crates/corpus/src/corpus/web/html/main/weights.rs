//! What decides whether a line belongs to the main text.
//!
//! The weights were fitted by logistic regression (`scripts/main-text`) to half of the pages of two
//! collections with known main text, and rounded. docs/PERFORMANCE.md has the quality on the others.

use super::context::{
    ARTICLE, ASIDE, BODY, COMMENT, CONTROL, Context, FOOTER, HEADER, HEADING, LIST, MAIN,
    NAVIGATION, NOTICE, QUOTE, RELATED,
};
use super::features::Features;

/// The least sum of a line of the main text.
const THRESHOLD: i32 = 1599;

/// The weights of elements around a line.
const CONTEXTS: [(Context, i32); 14] = [
    (HEADING, 9),
    (LIST, 5),
    (QUOTE, 32),
    (NAVIGATION, -4),
    (FOOTER, -14),
    (HEADER, -10),
    (ASIDE, -8),
    (COMMENT, -24),
    (NOTICE, -42),
    (CONTROL, -12),
    (RELATED, -5),
    (MAIN, 6),
    (ARTICLE, 12),
    (BODY, 17),
];

/// Whether a line with these features belongs to the main text.
pub(super) fn is_main(line: &Features) -> bool {
    let contexts = CONTEXTS.iter().filter(|(bit, _)| line.context & bit != 0);
    let contexts: i32 = contexts.map(|(_, weight)| 64 * weight).sum();
    let sum = 5 * line.prose + 7 * line.next_length - 3 * line.links - 11 * line.near_links
        + 8 * line.kind_length
        + 25 * line.kind_share
        + 23 * line.parent_share
        + if line.is_core { 64 * 17 } else { 0 }
        - if line.context & MAIN == 0 {
            6 * line.main_share
        } else {
            0
        }
        - if line.context & ARTICLE != 0 { 14 } else { 12 } * line.article_share
        - if line.context & BODY != 0 {
            11 * line.body_share
        } else {
            0
        };
    sum + contexts >= THRESHOLD
}

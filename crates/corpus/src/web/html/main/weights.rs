//! What decides whether a line belongs to the main text.
//!
//! The weights were fitted by logistic regression to half of the pages of two collections with known
//! main text, and rounded. docs/measurements/performance.md has the quality on other pages.

use super::context::{
    ARTICLE, ASIDE, BODY, COMMENT, CONTROL, Context, DETAIL, FIGURE, FOOTER, HEADER, HEADING, LIST,
    MAIN, NAVIGATION, NOTICE, QUOTE, RELATED,
};
use super::features::Features;

/// The least sum of a line of the main text.
const THRESHOLD: i32 = 1255;

/// The weights of elements around a line.
const CONTEXTS: [(Context, i32); 16] = [
    (HEADING, 6),
    (LIST, 4),
    (QUOTE, 25),
    (FIGURE, -16),
    (DETAIL, -15),
    (NAVIGATION, -5),
    (FOOTER, -17),
    (HEADER, -11),
    (ASIDE, -11),
    (COMMENT, -40),
    (NOTICE, -42),
    (CONTROL, -16),
    (RELATED, -8),
    (MAIN, 6),
    (ARTICLE, 11),
    (BODY, 19),
];

/// Whether a line with these features belongs to the main text.
pub(super) fn is_main(line: &Features) -> bool {
    let contexts = CONTEXTS.iter().filter(|(bit, _)| line.context & bit != 0);
    let contexts: i32 = contexts.map(|(_, weight)| 64 * weight).sum();
    let within = |bit, inside: i32, outside: i32| {
        if line.context & bit != 0 {
            inside
        } else {
            outside
        }
    };
    let sum = 4 * line.prose - 4 * line.links + 8 * line.next_length - 11 * line.near_links
        + 7 * line.kind_length
        + 21 * line.kind_share
        + 24 * line.parent_share
        + if line.is_core { 64 * 13 } else { 0 }
        + within(MAIN, 0, -5) * line.main_share
        + within(ARTICLE, -15, -14) * line.article_share
        + within(BODY, -13, 0) * line.body_share;
    sum + contexts >= THRESHOLD
}

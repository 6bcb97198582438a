//! The choice between the text that an extractor found and other text of the page.
//!
//! An extractor finds paragraphs. On a page with little prose it may find a cookie notice, a login
//! form or a help text, which all pages of the site share. With such a text, different pages would be
//! equal. So an article is used alone only if it is long. Elements that the page declares as its
//! main part take precedence over most articles. Otherwise, a short article is used together with
//! other text of the page.

use ahash::AHashSet;
use xxhash_rust::xxh3::xxh3_64;

/// A shorter article is ignored, and so are shorter declared elements.
const MIN_BYTES: usize = 100;

/// A shorter article is uncertain: the extractor prefers longer ones, and found none. (Readability
/// retries with weaker rules below the same number of characters.)
const CERTAIN_BYTES: usize = 500;

/// An article of a page with declared main elements is used if at least a quarter of it is in them,
/// or if it is more than three times as long.
const OUTSIDE: usize = 4;
const LONGER: usize = 3;

/// A short article is compared together with at most five times as much other text. So two pages
/// with different articles in the same surroundings have a similarity of about 5/7 at most.
const SURROUNDINGS: usize = 5;

/// Appends the main text of a page, given the text that an extractor found, that of the elements
/// which the page declares as its main part, and all visible text; `false` if it has none.
///
/// It is the first of these that a page has:
///
/// 1. Its declared main elements, unless there is a long article in them or a much longer one
///    elsewhere.
/// 2. A long article (of [`CERTAIN_BYTES`]).
/// 3. A short article that is a small part of the visible text, followed by a [sample](sample) of
///    the other visible lines.
///
/// A page with none of these has no main text.
pub(super) fn choose(
    article: &[u8],
    declared: &[u8],
    visible: impl FnOnce() -> Vec<u8>,
    out: &mut Vec<u8>,
) -> bool {
    let is_certain = article.len() >= CERTAIN_BYTES;
    if declared.len() >= MIN_BYTES {
        let is_meant = || {
            article.len() > LONGER * declared.len()
                || OUTSIDE * shared_bytes(article, declared) >= article.len()
        };
        let is_used = is_certain && is_meant();
        out.extend_from_slice(if is_used { article } else { declared });
        return true;
    }
    if is_certain {
        out.extend_from_slice(article);
        return true;
    }
    if article.len() < MIN_BYTES {
        return false;
    }
    let visible = visible();
    let is_small = visible.len() > (1 + SURROUNDINGS) * article.len();
    if is_small {
        sample(article, &visible, out);
    }
    is_small
}

/// The number of bytes in lines of `text` that are also lines of `other`.
fn shared_bytes(text: &[u8], other: &[u8]) -> usize {
    let known: AHashSet<&[u8]> = lines(other).collect();
    let shared = lines(text).filter(|line| known.contains(line));
    shared.map(|line| line.len() + 1).sum()
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n')
}

/// Appends `article` and a sample of the lines of `visible` that are not in it, in their order.
///
/// The sample has at most [`SURROUNDINGS`] times the bytes of the article. The lines with the
/// smallest hashes are chosen, so two pages with mostly equal lines have mostly equal samples.
fn sample(article: &[u8], visible: &[u8], out: &mut Vec<u8>) {
    let known: AHashSet<&[u8]> = lines(article).collect();
    let mut chosen: Vec<(u64, usize, &[u8])> = lines(visible)
        .enumerate()
        .filter(|(_, line)| !known.contains(line))
        .map(|(number, line)| (xxh3_64(line), number, line))
        .collect();
    chosen.sort_unstable();
    let mut left = SURROUNDINGS * article.len();
    chosen.retain_mut(|(_, _, line)| {
        *line = &line[..floor_char_boundary(line, left.saturating_sub(1))];
        left = left.saturating_sub(line.len() + 1);
        !line.is_empty()
    });
    chosen.sort_unstable_by_key(|&(_, number, _)| number);
    out.extend_from_slice(article);
    for (_, _, line) in chosen {
        out.push(b'\n');
        out.extend_from_slice(line);
    }
}

/// The largest length of at most `most` bytes at which the UTF-8 text `line` can be cut.
fn floor_char_boundary(line: &[u8], most: usize) -> usize {
    let is_inside = |length: &usize| line.get(*length).is_some_and(|byte| byte & 0xc0 == 0x80);
    (0..=most.min(line.len()))
        .rev()
        .find(|length| !is_inside(length))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Promise (Deduplication): Different pages of a site are …
    #[test]
    fn short_articles_in_long_surroundings_differ() {
        let menu = (0..400).map(|number| format!("\nItem {number} of the menu"));
        let menu: String = menu.collect();
        let of = |article: &str| {
            let mut out = Vec::new();
            sample(
                article.as_bytes(),
                format!("{article}{menu}").as_bytes(),
                &mut out,
            );
            out
        };
        let [one, two] = [
            ("The ferry", "left at nine"),
            ("A cold wind", "blew all day"),
        ]
        .map(|(first, second)| of(&format!("{first} {}", second.repeat(10))));
        let shared = shared_bytes(&one, &two);
        assert!(
            10 * shared < 9 * one.len() && 2 * shared > one.len(),
            "{shared}"
        );
    }

    proptest! {
        #[test]
        fn samples_are_bounded_parts_of_the_page(
            article in "[a-c汉\n]{1,20}",
            visible in "[a-c汉\n]{0,300}",
        ) {
            let mut out = Vec::new();
            sample(article.as_bytes(), visible.as_bytes(), &mut out);
            let text = String::from_utf8(out).unwrap();
            prop_assert!(text.len() <= (1 + SURROUNDINGS) * article.len());
            let rest = text.strip_prefix(article.as_str()).unwrap();
            let mut known = visible.split('\n');
            for line in rest.split('\n').skip(1) {
                // A line that was cut is a prefix of a visible line.
                prop_assert!(known.any(|whole| whole.starts_with(line)));
            }
        }
    }
}

//! The rows of truth.tsv: planted and unrelated pairs.

use super::compose::Token;
use super::settings::Script;

/// The first line of truth.tsv.
pub(super) const HEADER: &[u8] = b"a\tb\tlabel\tscore\n";

/// The sizes of the intersection and of the union of the words of two pages: Σ min and Σ max of the
/// counts of each word. Their quotient is the Jaccard similarity of the two multisets.
pub(super) fn similarity(one: &[Token], other: &[Token]) -> (u64, u64) {
    let (one, other) = (sorted_words(one), sorted_words(other));
    let (mut left, mut right, mut shared) = (0, 0, 0);
    while left < one.len() && right < other.len() {
        let (word, another) = (one[left], other[right]);
        shared += u64::from(word == another);
        left += usize::from(word <= another);
        right += usize::from(another <= word);
    }
    (shared, (one.len() + other.len()) as u64 - shared)
}

fn sorted_words(page: &[Token]) -> Vec<(Script, u64)> {
    let mut words: Vec<_> = page
        .iter()
        .map(|token| (token.script, token.rank))
        .collect();
    words.sort_unstable();
    words
}

/// Appends the row of a planted pair, whose label depends on its similarity.
///
/// `exact` for equal texts, then `minor` from 0.95, `edited` from 0.80, `heavy` from 0.50 and
/// `distant` below.
pub(super) fn write_planted(
    ids: [&str; 2],
    (shared, all): (u64, u64),
    equal_texts: bool,
    out: &mut Vec<u8>,
) {
    let label = if equal_texts {
        "exact"
    } else if shared * 100 >= all * 95 {
        "minor"
    } else if shared * 100 >= all * 80 {
        "edited"
    } else if shared * 100 >= all * 50 {
        "heavy"
    } else {
        "distant"
    };
    write_row(ids, label, (shared, all), out);
}

/// Appends the row of two independent pages, unless their similarity is 0.5 or more by chance,
/// which may happen with a vocabulary of a few words.
pub(super) fn write_unrelated(ids: [&str; 2], (shared, all): (u64, u64), out: &mut Vec<u8>) {
    if shared * 2 < all {
        write_row(ids, "unrelated", (shared, all), out);
    }
}

/// Appends a row. The score is the similarity with six decimals, rounded down.
fn write_row(ids: [&str; 2], label: &str, (shared, all): (u64, u64), out: &mut Vec<u8>) {
    let millionths = shared * 1_000_000 / all.max(1);
    let (whole, part) = (millionths / 1_000_000, millionths % 1_000_000);
    let row = format!("{}\t{}\t{label}\t{whole}.{part:06}\n", ids[0], ids[1]);
    out.extend_from_slice(row.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::compose::Punctuation;

    fn page(ranks: &[u64]) -> Vec<Token> {
        let token = |&rank| Token {
            rank,
            script: Script::English,
            is_name: false,
            number: 0,
            punctuation: Punctuation::None,
        };
        ranks.iter().map(token).collect()
    }

    #[test]
    fn repeated_words_count_repeatedly() {
        for (one, other, expected) in [
            (&[1, 2, 3][..], &[3, 2, 1][..], (3, 3)),
            (&[1, 1, 2], &[1, 2, 2], (2, 4)),
            (&[1, 1, 1], &[1], (1, 3)),
            (&[1], &[2], (0, 2)),
            (&[], &[], (0, 0)),
        ] {
            assert_eq!(similarity(&page(one), &page(other)), expected);
        }
    }

    #[test]
    fn pages_similar_by_chance_are_not_labelled_unrelated() {
        let mut out = Vec::new();
        write_unrelated(["a", "b"], (1, 1), &mut out);
        write_unrelated(["a", "b"], (1, 2), &mut out);
        assert!(out.is_empty());
        write_unrelated(["a", "b"], (1, 3), &mut out);
        assert_eq!(out, b"a\tb\tunrelated\t0.333333\n");
    }

    #[test]
    fn labels_depend_on_the_similarity() {
        for (kept, label) in [
            (100, "exact\t1.0"),
            (95, "minor\t0.95"),
            (94, "edited"),
            (79, "heavy"),
            (49, "distant"),
        ] {
            let mut out = Vec::new();
            write_planted(["a", "b"], (kept, 100), kept == 100, &mut out);
            let row = String::from_utf8(out).unwrap();
            assert!(row.starts_with(&format!("a\tb\t{label}")), "{row}");
        }
    }
}

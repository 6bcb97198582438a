//! What was planted: the rows of truth.tsv.

use super::compose::Token;

/// The first line of truth.tsv.
pub(super) const HEADER: &[u8] = b"a\tb\tlabel\tscore\n";

/// How many words two pages share, and how many they have together: Σ min and Σ max of each word's
/// counts. Their quotient is the Jaccard similarity of the two multisets of words.
pub(super) fn likeness(one: &[Token], other: &[Token]) -> (u64, u64) {
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

fn sorted_words(page: &[Token]) -> Vec<(super::lexicon::Script, u64)> {
    let mut words: Vec<_> = page
        .iter()
        .map(|token| (token.script, token.rank))
        .collect();
    words.sort_unstable();
    words
}

/// Appends the row of a planted pair: its label is the class that its likeness falls into.
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

/// Appends the row of two pages that were made independently of each other, unless they came out
/// as alike as an edited copy: from a vocabulary of a few words they may.
pub(super) fn write_unrelated(ids: [&str; 2], (shared, all): (u64, u64), out: &mut Vec<u8>) {
    if shared * 2 < all {
        write_row(ids, "unrelated", (shared, all), out);
    }
}

/// The score is the likeness as a decimal of six places, rounded down.
fn write_row(ids: [&str; 2], label: &str, (shared, all): (u64, u64), out: &mut Vec<u8>) {
    let millionths = shared * 1_000_000 / all.max(1);
    let (whole, part) = (millionths / 1_000_000, millionths % 1_000_000);
    let row = format!("{}\t{}\t{label}\t{whole}.{part:06}\n", ids[0], ids[1]);
    out.extend_from_slice(row.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::synthetic::compose::Mark;
    use crate::corpus::synthetic::lexicon::Script;

    fn page(ranks: &[u64]) -> Vec<Token> {
        let token = |&rank| Token {
            rank,
            script: Script::English,
            name: false,
            number: 0,
            mark: Mark::None,
        };
        ranks.iter().map(token).collect()
    }

    #[test]
    fn counts_words_as_often_as_they_stand() {
        for (one, other, expected) in [
            (&[1, 2, 3][..], &[3, 2, 1][..], (3, 3)),
            (&[1, 1, 2], &[1, 2, 2], (2, 4)),
            (&[1, 1, 1], &[1], (1, 3)),
            (&[1], &[2], (0, 2)),
            (&[], &[], (0, 0)),
        ] {
            assert_eq!(likeness(&page(one), &page(other)), expected);
        }
    }

    #[test]
    fn pages_alike_by_chance_are_not_called_unrelated() {
        let mut out = Vec::new();
        write_unrelated(["a", "b"], (1, 1), &mut out);
        write_unrelated(["a", "b"], (1, 2), &mut out);
        assert!(out.is_empty());
        write_unrelated(["a", "b"], (1, 3), &mut out);
        assert_eq!(out, b"a\tb\tunrelated\t0.333333\n");
    }

    #[test]
    fn labels_follow_the_likeness() {
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

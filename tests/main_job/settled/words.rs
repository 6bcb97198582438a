//! Words, their ranks and their weights.

use super::{gives, job, ranks, thrice};
use crate::oracle::Job;

/// Promise (Correct answers): `result.txt` follows the definition, word by word and page by page
#[test]
fn a_word_is_a_maximal_run_of_ascii_letters() {
    // don't: don, t. abc123def: abc, def. é is two bytes that separate.
    let articles = "x\ndon't abc123def caf\u{e9}s _under_score DON";
    ranks(
        articles,
        "",
        &["don", "abc", "caf", "def", "s", "score", "t", "under"],
    );
    for (apart, together) in [
        ("Don't", "dont"),
        ("abc123def", "abcDef"),
        ("na\u{ef}ve", "nave"),
    ] {
        let letters = |byte: char| {
            if byte.is_ascii_alphabetic() {
                byte
            } else {
                ' '
            }
        };
        let spaced: String = apart.chars().map(letters).collect();
        let articles = format!("1\n{apart}\x0c2\n{spaced}\x0c3\n{together}");
        let samples = format!("s\n{}\x0ct\n{together}.", apart.to_ascii_uppercase());
        let job = job(3, 8, &articles, &samples, "11110000\n11110000\n00001111\n");
        gives(&job, "s\n0:1 2 \nt\n0:3 \n");
    }
}

#[test]
fn a_word_has_at_least_one_letter_and_any_number_of_them() {
    let real = "x".repeat(78);
    for letters in [
        1, 12, 13, 25, 26, 49, 50, 51, 78, 255, 256, 4095, 4096, 4097, 70_000,
    ] {
        let (own, other) = ("y".repeat(letters), "y".repeat(letters + 1));
        let articles = format!("own\n{own} {own} {real}\x0cother\n{other}\x0creal\n{real}");
        let samples = format!("s\n{}\x0creal\n{}", own.to_uppercase(), real.to_uppercase());
        let job = job(3, 9, &articles, &samples, &thrice(3));
        gives(&job, "s\n0:own \nreal\n0:real \n");
    }
}

#[test]
fn frequencies_come_from_the_articles_alone() {
    // Only the first word, a, is a feature, although the sample has more b.
    let articles = "1\na a b\x0c2\nb\x0c3\na";
    let job = job(1, 4, articles, "s\nb b b b b b a\x0ct\nb b b", "1111\n");
    gives(&job, "s\n0:1 3 \nt\n0:2 \n");
}

/// Promise (Correct answers): `result.txt` follows the definition, word by …
#[test]
fn stop_words_are_folded_on_both_sides_and_removed_before_ranking() {
    let articles = "1\nThe the THE of a";
    for stop_words in [
        "THE\r\nof",
        "the OF\n",
        "\u{feff}The\tOf\r\n",
        "of\x0bthe\x0c",
        " of\n\n\nthe",
    ] {
        let job = Job {
            stop_words: stop_words.into(),
            ..job(1, 4, articles, "s\nA\x0ct\nthe of", "1111\n")
        };
        gives(&job, "s\n0:1 \nt\n");
    }
    // Tokens, not runs of letters: none of these is a word.
    let job = Job {
        stop_words: "the. t-he th,e t'h'e".into(),
        ..job(1, 4, articles, "s\nA\x0ct\nthe", "1111\n")
    };
    gives(&job, "s\nt\n0:1 \n");
}

#[test]
fn every_length_of_stop_words() {
    for letters in [1, 12, 13, 25, 26, 78, 5000] {
        let stop_word = "z".repeat(letters);
        let articles = format!("1\n{stop_word} {stop_word} {stop_word} a");
        let job = Job {
            stop_words: stop_word.to_uppercase().into(),
            ..job(
                1,
                4,
                &articles,
                &format!("s\na\x0ct\n{stop_word}"),
                "1111\n",
            )
        };
        gives(&job, "s\n0:1 \nt\n");
    }
}

/// Promise (Correct answers): `result.txt` follows the definition, word by …
#[test]
fn ties_are_ranked_by_the_bytes_of_the_folded_word() {
    ranks("1\nb a c B A C d", "", &["a", "b", "c", "d"]);
    ranks("1\nZ y aa a ab B", "", &["a", "aa", "ab", "b", "y", "z"]);
    let long = [
        "a".repeat(26),
        "a".repeat(27),
        "b".repeat(40),
        "c".repeat(13),
        "d".repeat(12),
    ];
    let words: Vec<&str> = long.iter().map(String::as_str).collect();
    let articles = format!(
        "1\n{} {} {} {} {}",
        long[3], long[1], long[4], long[0], long[2]
    );
    ranks(&articles, "", &words);
    // Of b, a and C one is a feature.
    let job = job(1, 4, "1\nb\x0c2\na\x0c3\nC", "s\nA\x0ct\nb c", "1111\n");
    gives(&job, "s\n0:2 \nt\n0:1 3 \n");
}

/// Promise (Correct answers): `result.txt` follows the definition, word by …
#[test]
fn a_sum_must_exceed_zero() {
    // Columns of 1: a only, b only, both, neither. Page 1 has sums 0, 0, 2, -2.
    let table = "1010\n0110\n";
    let articles = "1\na b\x0c2\na a b\x0c3\na b b";
    let samples = "zero\na b\x0ca\na\x0cb\nb\x0cnone\n";
    let job = Job {
        distance: 0,
        ..job(2, 4, articles, samples, table)
    };
    gives(&job, "zero\n0:1 \na\n0:2 \nb\n0:3 \nnone\n");
}

#[test]
fn weights_are_counts() {
    // The word with the higher count decides; equal counts give a sum of 0.
    let job = Job {
        distance: 0,
        ..job(
            2,
            2,
            "1\na a a b b\x0c2\na a b b b",
            "s\na a b\x0ct\na b b\x0cu\nb a",
            "10\n01\n",
        )
    };
    gives(&job, "s\n0:1 \nt\n0:2 \nu\n");
}

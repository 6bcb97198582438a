//! Pages, their ids, and the bytes around them.

use super::{gives, job};
use crate::oracle::Job;

#[test]
fn id_lines_are_no_text() {
    let articles = "b b b\nb\x0c\n\nb b b\na a\x0c a a\n";
    let job = job(1, 4, articles, "a b\n\x0cb a\na", "1111\n");
    gives(&job, "a b\n0:b b b a a \nb a\n0:b b b \n");
}

/// Promise (Correct answers): `result.txt` follows the definition, word by …
#[test]
fn a_form_feed_anywhere_separates() {
    let articles = "1\na\x0c2\nb\x0c3\x0c\x0c4 \na\x0c";
    let job = job(2, 8, articles, "\x0c\x0cs\na\x0ct", "11110000\n00001111\n");
    gives(&job, "s\n0:1 4 \nt\n0:3 \n");
}

#[test]
fn the_given_files_begin_with_a_blank_line_and_end_with_a_form_feed() {
    let job = job(
        1,
        4,
        "1\na\n\x0c\n2\na\n",
        "\n1s\na\n\x0c\n2s\na\n\x0c",
        "1111\n",
    );
    gives(&job, "1s\n0:1 2 \n2s\n0:1 2 \n");
}

#[test]
fn blank_lines_before_the_id_are_skipped() {
    let job = job(
        1,
        4,
        "\n \n\t\r\n\r\n1\n\n\na\x0c\r\n\r\n2\na",
        "\n\n\ns\na",
        "1111\n",
    );
    gives(&job, "s\n0:1 2 \n");
}

#[test]
fn ids_are_trimmed_of_spaces_tabs_and_carriage_returns_and_may_hold_spaces() {
    let articles = " \t\r first  page \t\r\na\x0c\r\rsecond\tpage\r\r\na\x0cthird \x0bpage\x0b\na";
    let job = job(1, 4, articles, "  a sample \t \r\na", "1111\n");
    gives(
        &job,
        "a sample\n0:first  page second\tpage third \x0bpage\x0b \n",
    );
}

#[test]
fn byte_order_marks_are_skipped_at_the_start_of_every_file() {
    let job = Job {
        stop_words: "\u{feff}the".into(),
        ..job(
            1,
            4,
            "\u{feff}1\nthe the a",
            "\u{feff}\u{feff}s\na",
            "\u{feff}1111\n",
        )
    };
    gives(&job, "\u{feff}s\n0:1 \n");
    let job = Job {
        articles: vec!["\u{feff}1\na".into(), "\u{feff}2\na".into()],
        ..job
    };
    gives(&job, "\u{feff}s\n0:1 2 \n");
    let job = Job {
        articles: vec!["\u{feff}".into()],
        ..job
    };
    gives(&job, "\u{feff}s\n");
}

#[test]
fn chunks_without_an_id_are_no_pages() {
    let job = job(
        1,
        4,
        "\x0c1\na\x0c\x0c \r\n\t\n\x0c2\na\x0c\n",
        "\x0c \x0cs\na\x0c\n\x0c",
        "1111\n",
    );
    gives(&job, "s\n0:1 2 \n");
}

#[test]
fn a_page_without_words_matches_by_its_zero_fingerprint() {
    // 3's only word is a stop word, 4's is no feature.
    let job = Job {
        stop_words: "the".into(),
        ..job(
            1,
            4,
            "1\n\x0c2\na a\x0c3\nthe\x0c4\nb\x0c5\n12.3",
            "s\x0ct\nthe\x0cu\na",
            "1111\n",
        )
    };
    gives(&job, "s\n0:1 3 4 5 \nt\n0:1 3 4 5 \nu\n0:2 \n");
}

/// Promise (Correct answers): `result.txt` follows the definition, word by …
#[test]
fn crlf_in_any_file_changes_nothing() {
    let plain = Job {
        stop_words: "the\nof\n".into(),
        ..job(
            2,
            8,
            "1\nthe a b\na\n\x0c\n2\nb of\n",
            "\ns\na\nb a\n\x0ct\nb\n",
            "11110000\n00001111\n",
        )
    };
    gives(&plain, "s\n0:1 \nt\n0:2 \n");
    let crlf = |text: &[u8]| {
        text.split(|&byte| byte == b'\n')
            .collect::<Vec<_>>()
            .join(&b"\r\n"[..])
    };
    for files in 0..16 {
        let mut job = plain.clone();
        let all = [
            &mut job.articles[0],
            &mut job.samples,
            &mut job.stop_words,
            &mut job.hash_table,
        ];
        for (file, _) in all
            .into_iter()
            .zip(0..)
            .filter(|(_, number)| files >> number & 1 == 1)
        {
            *file = crlf(file);
        }
        gives(&job, "s\n0:1 \nt\n0:2 \n");
    }
}

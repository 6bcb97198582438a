//! N, M, distances, and the rows of the hash table.

use super::{fails, gives, job};
use crate::check;
use crate::oracle::Job;
use simtool::ErrorKind;
use simtool::jobs::main_job;

#[test]
fn features_beyond_the_vocabulary() {
    let table = "111100\n001111\n".to_owned() + &"101010\n".repeat(9998);
    for features in [2, 3, 10_000] {
        let job = job(features, 6, "1\na a b\x0c2\nb", "s\na\x0ct\nb", &table);
        gives(&job, "s\n0:1 \nt\n0:2 \n");
    }
    let job = job(10_000, 6, "", "s\na", &table);
    gives(&job, "s\n");
}

#[test]
fn more_than_10_000_features_or_128_columns_are_refused() {
    for (features, columns, numbers) in [
        (10_001, 64, ["10001", "10000"]),
        (10_000, 129, ["129", "128"]),
        (usize::MAX, 1, ["18446744073709551615", "10000"]),
        (0, 64, ["0", "1"]),
        (1, 0, ["0", "1"]),
    ] {
        let error = main_job::MainJob::new(features, columns, 0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Parameter);
        let text = error.to_string();
        assert!(numbers.iter().all(|number| text.contains(number)), "{text}");
    }
    assert!(main_job::MainJob::new(10_000, 128, 128).is_ok());
    let error = main_job::MainJob::new(1, 8, 9).unwrap_err().to_string();
    assert!(error.contains('9') && error.contains('8'), "{error}");
}

#[test]
fn every_row_must_be_there_whatever_the_vocabulary() {
    // Three rows are required, although there is at most one word.
    for articles in ["1\na", "1\n", ""] {
        let with = |table: &str| job(3, 4, articles, "s\na", table);
        let cases = [
            ("1111\n0000\n", ["3", "2"]),
            ("1111\n0000", ["3", "2"]),
            ("", ["3", "0"]),
            ("\u{feff}", ["3", "0"]),
            ("1111\n0000\n111\n", ["line 3", "found 3"]),
            ("1111\r\n0000\r\n111\r\n", ["line 3", "found 3"]),
            ("1111\n0000\n111", ["line 3", "4"]),
            ("1111\n\n0000\n1111\n", ["line 2", "found 0"]),
            ("1111\n0020\n1111\n", ["line 2", "column 3"]),
            ("1111\n0000\n111 1\n", ["line 3", "column 4"]),
            ("1111\n0000\n1 1 1 1\n", ["line 3", "column 2"]),
            ("1111\n\x000000\n1111\n", ["line 2", "column 1"]),
        ];
        for (table, parts) in cases {
            let error = fails(&with(table));
            assert_eq!(error.kind(), ErrorKind::Content);
            let text = error.to_string();
            assert!(
                parts.iter().all(|part| text.contains(part)),
                "{table:?}: {text}"
            );
        }
        // Only the first N rows and their first M digits are examined.
        for table in [
            "11111\n00002\n1111x\nrubbish",
            "1111\n0000\n1111",
            "1111\n0000\n1111\r",
        ] {
            check(&with(table));
        }
    }
}

#[test]
fn the_least_and_the_most_columns_and_features() {
    let wide = [
        "1".repeat(128),
        "0".repeat(64) + &"1".repeat(64),
        "01".repeat(64),
    ]
    .join("\n");
    let articles = "1\na a a a b b c\x0c2\na a b b b\x0c3\nc\x0c4\nb";
    let samples = "s\na\x0ct\nb\x0cu\nc\x0cv\n";
    for columns in [63, 64, 65, 127, 128] {
        check(&job(3, columns, articles, samples, &wide));
        check(&job(1, columns, articles, samples, &wide));
    }
    let most = job(3, 128, articles, samples, &wide);
    gives(&most, "s\n0:1 \nt\n0:2 4 \nu\n0:3 \nv\n");
    // The only bit is a's; every page is within distance 1.
    gives(
        &job(1, 1, articles, samples, "1\n"),
        "s\n0:1 2 \n1:3 4 \nt\n0:3 4 \n1:1 2 \nu\n0:3 4 \n1:1 2 \nv\n0:3 4 \n1:1 2 \n",
    );
    gives(
        &job(1, 1, articles, samples, "0\n"),
        "s\n0:1 2 3 4 \nt\n0:1 2 3 4 \nu\n0:1 2 3 4 \nv\n0:1 2 3 4 \n",
    );
}

/// Promise (Correct answers): `result.txt` follows the definition, word by …
#[test]
fn equal_ids_and_equal_pages_are_all_listed_in_article_order() {
    let articles = "b\na\x0ca\na\x0cb\na\x0cb\nc\x0cb\na\x0ca\na";
    let job = Job {
        articles: vec![articles.into(), articles.into()],
        ..job(1, 4, "", "s\na\x0cs\na", "1111\n")
    };
    gives(
        &job,
        "s\n0:b a b b a b a b b a \ns\n0:b a b b a b a b b a \n",
    );
}

#[test]
fn the_result_lists_distances_0_to_3_where_there_are_any() {
    // Each word sets as many bits as the id of its page says.
    let table = "111111\n011111\n001111\n000111\n000011\n";
    let articles = "six\na\x0cfive\nb\x0cfour\nc\x0cthree\nd\x0ctwo\ne\x0cagain six\na\x0cnone\n\x0cmore a\na a a a";
    let samples = "A\na\x0cB\nb\x0cE\ne\x0cZ\n";
    let expected = "A\n0:six again six more a \n1:five \n2:four \n3:three \n\
                    B\n0:five \n1:six four again six more a \n2:three \n3:two \n\
                    E\n0:two \n1:three \n2:four none \n3:five \n\
                    Z\n0:none \n2:two \n3:three \n";
    gives(&job(5, 6, articles, samples, table), expected);
    let none = job(5, 6, "six\na\x0c", "Z\n\x0cY", table);
    gives(&none, "Z\nY\n");
    gives(&job(5, 6, articles, "", table), "");
}

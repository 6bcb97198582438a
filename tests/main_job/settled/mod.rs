//! Questions that the specification leaves open: one test for each, with the answer written out.

mod numbers;
mod pages;
mod words;

use crate::oracle::Job;
use crate::{all_resources, check, run};
use simtool::Error;

/// N features, M columns, distance 3.
fn job(features: usize, columns: usize, articles: &str, samples: &str, table: &str) -> Job {
    Job {
        features,
        columns,
        distance: 3.min(columns),
        articles: vec![articles.into()],
        samples: samples.into(),
        stop_words: Vec::new(),
        hash_table: table.into(),
    }
}

/// Rows that give every feature three columns of its own. Pages that differ by one feature are at
/// distance 3; pages that have different features are at distance 6.
fn thrice(features: usize) -> String {
    let row =
        |feature| (0..features).map(move |other| if other == feature { "111" } else { "000" });
    (0..features)
        .map(|feature| row(feature).collect::<String>() + "\n")
        .collect()
}

#[track_caller]
fn gives(job: &Job, expected: &str) {
    let result = check(job);
    assert_eq!(
        result.escape_ascii().to_string(),
        expected.as_bytes().escape_ascii().to_string()
    );
}

#[track_caller]
fn fails(job: &Job) -> Error {
    assert_eq!(job.result(), None);
    let mut errors: Vec<Error> = all_resources()
        .iter()
        .map(|resources| run(job, resources).unwrap_err())
        .collect();
    let texts: Vec<String> = errors.iter().map(Error::to_string).collect();
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
    errors.swap_remove(0)
}

/// Checks the ranking, read off the distance of pages of one word from a page without words.
#[track_caller]
fn ranks(articles: &str, stop_words: &str, words: &[&str]) {
    let unary = (1..=words.len()).map(|ones| "1".repeat(ones) + &"0".repeat(words.len() - ones));
    let samples: Vec<String> = words.iter().map(|word| format!("s\n{word}")).collect();
    let job = Job {
        distance: words.len(),
        stop_words: stop_words.into(),
        ..job(
            words.len(),
            words.len(),
            &format!("{articles}\x0czero"),
            &samples.join("\x0c"),
            &unary.collect::<Vec<_>>().join("\n"),
        )
    };
    let result = String::from_utf8(check(&job)).unwrap();
    let blocks = result.split("s\n").skip(1).zip(words).zip(1..);
    for ((block, word), rank) in blocks {
        let found = block
            .lines()
            .find(|line| line.split([':', ' ']).any(|id| id == "zero"));
        assert!(
            found.unwrap().starts_with(&format!("{rank}:")),
            "{word}: {block}"
        );
    }
}

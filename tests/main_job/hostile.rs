//! Any bytes, compared with the oracle.

use crate::corpora::hash_table;
use crate::oracle::Job;
use crate::{check_with, resources};
use proptest::prelude::*;
use simtool::engine::Resources;
use simtool::kernel::Level;

/// Pieces of text that form words, lines and pages by chance. The words are few, so ties are
/// frequent.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let words = ["a", "b", "B", "ab", "Ba", "c", "d", "e"].map(|word| word.as_bytes().to_vec());
    let separators = [
        "\n", "\n", "\n", "\r\n", "\r", " ", " ", " ", "\t", "\x0b", "\0", "'", "1", "é",
        "\u{feff}",
    ];
    let separators = separators.map(|separator| separator.as_bytes().to_vec());
    let lengths = [11, 12, 13, 24, 25, 26, 64, 78, 4095, 4096, 4097];
    let run = (
        prop::sample::select(lengths.to_vec()),
        prop::sample::select(b"aAbz".to_vec()),
    );
    prop_oneof![
        8 => prop::sample::select(words.to_vec()),
        8 => prop::sample::select(separators.to_vec()),
        2 => Just(b"\n\x0c".to_vec()),
        2 => Just(b"\x0c".to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
        1 => run.prop_map(|(letters, letter)| vec![letter; letters]),
        1 => (1u8..26, 1usize..30).prop_map(|(first, letters)| (0..letters).map(|place| b'a' + (first + place as u8) % 26).collect()),
    ]
}

fn text(pieces: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(piece(), pieces).prop_map(|pieces| pieces.concat())
}

/// Random resources for each available level.
fn any_resources() -> impl Strategy<Value = Vec<Resources>> {
    let spare = [0, 1, 1000, 100_000, 2 << 20, 1 << 30];
    let one = (1usize..=4, prop::sample::select(spare.to_vec()));
    prop::collection::vec(one, 3).prop_map(|all| {
        let levels = Level::available().zip(all);
        levels
            .map(|(level, (threads, spare))| resources(threads, spare, level))
            .collect()
    })
}

prop_compose! {
    fn any_job(pieces: usize)(
        features in 1usize..=50,
        (columns, distance) in (1usize..=128).prop_flat_map(|columns| (Just(columns), prop_oneof![0..=3.min(columns), 0..=columns])),
        articles in prop::collection::vec(text(0..pieces), 0..4),
        samples in text(0..pieces),
        stop_words in text(0..4),
        seed in 1u64..,
        crlf: bool,
    ) -> Job {
        let hash_table = hash_table(features, columns, seed);
        let hash_table = match crlf {
            true => String::from_utf8_lossy(&hash_table).replace('\n', "\r\n").into(),
            false => hash_table,
        };
        Job { features, columns, distance, articles, samples, stop_words, hash_table }
    }
}

proptest! {
    /// Promise (Reproducible answers): The result has the same bytes …
    #[test]
    fn pieces_of_text(job in any_job(80), resources in any_resources()) {
        check_with(&job, &resources);
    }

    /// Promise (Failing inputs): Inputs may hold any bytes: control characters, invalid UTF-8, no
    /// pages, one page, no articles, no samples
    #[test]
    fn any_bytes(
        job in any_job(1),
        articles in prop::collection::vec(any::<u8>(), 0..600),
        samples in prop::collection::vec(any::<u8>(), 0..100),
        stop_words in prop::collection::vec(any::<u8>(), 0..20),
        resources in any_resources(),
    ) {
        check_with(&Job { articles: vec![articles], samples, stop_words, ..job }, &resources);
    }

    /// Promise (Failing inputs): A hash table is accepted or refused by its content; the message
    /// names file, line and both numbers
    #[test]
    fn hash_tables_are_accepted_and_refused_alike(
        job in any_job(5),
        hash_table in "\u{feff}?([01]{1,3}[01 2\r]{0,2}(\n|\r\n)){0,5}[01]{0,5}",
        features in 1usize..5,
        columns in 1usize..5,
    ) {
        let job = Job { features, columns, distance: 1, hash_table: hash_table.into(), ..job };
        let result = crate::run(&job, &resources(1, 0, Level::best()));
        prop_assert_eq!(result.ok().map(|(result, _)| result), job.result());
    }

    /// Promise (Reproducible answers): Several files, split between pages, give the result of one
    #[test]
    fn articles_may_be_cut_at_page_borders(
        job in any_job(60),
        articles in text(0..100),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..5),
        resources in any_resources(),
    ) {
        let whole = Job { articles: vec![articles.clone()], ..job };
        let expected = check_with(&whole, &resources[..1]);
        let borders: Vec<usize> = (0..articles.len()).filter(|&place| articles[place] == b'\x0c').collect();
        let mut cuts: Vec<usize> = if borders.is_empty() { Vec::new() } else {
            cuts.iter().map(|cut| borders[cut.index(borders.len())] + 1).collect()
        };
        cuts.extend([0, articles.len()]);
        cuts.sort_unstable();
        let parts: Vec<Vec<u8>> = cuts.windows(2).map(|cut| articles[cut[0]..cut[1]].to_vec()).collect();
        // A byte-order mark is skipped at the start of a file, but is part of an id elsewhere.
        prop_assume!(!parts.iter().any(|part| part.starts_with(b"\xef\xbb\xbf")));
        prop_assert_eq!(check_with(&Job { articles: parts, ..whole }, &resources), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn any_number_of_features(
        job in any_job(300),
        features in prop_oneof![51usize..1000, 9_000usize..=10_000],
        seed in 1u64..,
        resources in any_resources(),
    ) {
        let hash_table = hash_table(features, job.columns, seed);
        check_with(&Job { features, hash_table, ..job }, &resources);
    }
}

#[test]
fn every_number_of_features_and_columns() {
    let words: Vec<String> = (0..52)
        .map(|number| crate::corpora::word(number * 3000))
        .collect();
    let texts = words
        .iter()
        .zip(1..)
        .map(|(word, number)| format!("{number}\n{word} {}", words[..number].join(" ")));
    let articles = texts.collect::<Vec<_>>().join("\x0c");
    let all = Level::available()
        .map(|level| resources(2, 1 << 20, level))
        .collect::<Vec<_>>();
    for (features, columns) in (1..=50)
        .zip((1..).step_by(3))
        .chain((1..=50).zip(79..=128))
        .chain((1..=128).map(|columns| (20, columns)))
    {
        let job = Job {
            features,
            columns,
            distance: columns / 3,
            articles: vec![articles.clone().into()],
            samples: articles[..200].into(),
            stop_words: words[7].clone().into(),
            hash_table: hash_table(features, columns, 99),
        };
        if columns <= 128 {
            check_with(&job, &all[features % all.len()..][..1]);
        }
    }
}

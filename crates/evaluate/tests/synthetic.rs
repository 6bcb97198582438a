//! The synthetic corpus has the same bytes everywhere, a correct truth.tsv, and the statistics of
//! natural text.

#![allow(clippy::unwrap_used)] // The helpers of tests may fail as tests do.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use simtool_core::ErrorKind;
use simtool_evaluate::synthetic::{
    Corpus, CorpusSettings, CorpusSummary, Extent, Language, Millionths, write_directory,
};
use xxhash_rust::xxh3::xxh3_128;

const FILES: [&str; 5] = [
    "article.txt",
    "sample.txt",
    "stopwords.txt",
    "hashvalue.txt",
    "truth.tsv",
];

fn write(settings: &CorpusSettings, directory: &Path) -> CorpusSummary {
    write_directory(&Corpus::new(settings).unwrap(), directory).unwrap()
}

fn files(directory: &Path) -> Vec<Vec<u8>> {
    FILES
        .map(|name| fs::read(directory.join(name)).unwrap())
        .to_vec()
}

fn generate(settings: &CorpusSettings) -> Vec<Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    write(settings, directory.path());
    files(directory.path())
}

fn small(language: Language) -> CorpusSettings {
    CorpusSettings {
        extent: Extent::Documents(60),
        words_per_document: 90,
        language,
        samples: 15,
        duplicates: Millionths(300_000),
        rows: 50,
        columns: 70,
        ..CorpusSettings::default()
    }
}

/// The settings of the command in testdata/README.md.
fn example() -> CorpusSettings {
    CorpusSettings {
        seed: 2026,
        extent: Extent::Documents(150),
        words_per_document: 110,
        rows: 1000,
        columns: 64,
        ..CorpusSettings::default()
    }
}

/// Pages by ID. They are split by the definition of the file format, without code of the generator.
fn pages(file: &[u8]) -> Vec<(String, String)> {
    let text = std::str::from_utf8(file).unwrap();
    text.split('\u{c}')
        .filter(|page| !page.is_empty())
        .map(|page| page.trim_start().split_once('\n').unwrap())
        .map(|(id, text)| (id.to_owned(), text.to_owned()))
        .collect()
}

/// Runs of ASCII letters in lower case, and single letters beyond ASCII, with their counts.
fn words(text: &str) -> HashMap<String, u64> {
    let mut counts = HashMap::new();
    let spaced: String = text
        .chars()
        .map(|character| match character {
            'a'..='z' | 'A'..='Z' => character.to_ascii_lowercase().to_string(),
            _ if character.is_alphabetic() => format!(" {character} "),
            _ => " ".to_owned(),
        })
        .collect();
    for word in spaced.split_whitespace() {
        *counts.entry(word.to_owned()).or_default() += 1;
    }
    counts
}

/// Promise (Reproducible answers): A generated corpus is the same on every machine
#[test]
fn bytes_are_pinned() {
    let hashes = [Language::English, Language::Chinese, Language::Mixed]
        .map(|language| format!("{:032x}", xxh3_128(&generate(&small(language)).concat())));
    assert_eq!(
        hashes,
        [
            "89119b7b4dee4e77e46b730c6f7ed1b5",
            "36dcc1058b8374f294987024c15cb6b5",
            "525d376bc6fde84aabe29575b7fdeef5"
        ]
    );
}

/// Promise (Reproducible answers): A generated corpus is the same …
#[test]
fn the_example_in_testdata_is_what_its_command_makes() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/example");
    let (made, kept) = (generate(&example()), files(&directory));
    for (index, name) in FILES.iter().enumerate() {
        assert!(made[index] == kept[index], "{name} differs");
    }
}

/// Promise (Reproducible answers): A generated corpus is the same …
#[test]
fn threads_change_nothing() {
    let settings = CorpusSettings {
        extent: Extent::Bytes(3 << 20),
        ..small(Language::Mixed)
    };
    let with_threads = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| generate(&settings))
    };
    let one = with_threads(1);
    assert!(one == with_threads(2));
    assert!(one == with_threads(7));
}

#[test]
fn the_seed_and_settings_of_pages_change_the_pages() {
    let same = small(Language::English);
    let pages = |settings: &CorpusSettings| generate(settings).swap_remove(0);
    let reference = pages(&same);
    let changes: [fn(&mut CorpusSettings); 6] = [
        |settings| settings.seed = 2,
        |settings| settings.vocabulary = 1000,
        |settings| settings.exponent = Millionths(900_000),
        |settings| settings.rare_share = Millionths(500_000),
        |settings| settings.duplicates = Millionths(0),
        |settings| settings.strengths = vec![Millionths(500_000)],
    ];
    for change in changes {
        let mut settings = same.clone();
        change(&mut settings);
        assert!(pages(&settings) != reference, "{settings:?}");
    }
}

/// Recomputes similarity and label of every row from the texts of the pages.
fn check_truth(settings: &CorpusSettings) {
    let made = generate(settings);
    let texts: HashMap<String, String> =
        pages(&made[0]).into_iter().chain(pages(&made[1])).collect();
    let truth = std::str::from_utf8(&made[4]).unwrap();
    let mut rows = truth.lines();
    assert_eq!(rows.next(), Some("a\tb\tlabel\tscore"));
    for row in rows {
        let fields: Vec<&str> = row.split('\t').collect();
        let [a, b, label, score] = fields[..] else {
            panic!("{row}")
        };
        assert!(b.starts_with("article-") && a != b);
        let (one, other) = (words(&texts[a]), words(&texts[b]));
        let count = |counts: &HashMap<String, u64>| counts.values().sum::<u64>();
        let shared: u64 = one
            .iter()
            .map(|(word, count)| *count.min(other.get(word).unwrap_or(&0)))
            .sum();
        let all = count(&one) + count(&other) - shared;
        let millionths = shared * 1_000_000 / all;
        assert_eq!(
            score,
            format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
        );
        let expected = match millionths {
            _ if texts[a] == texts[b] => "exact",
            950_000.. => "minor",
            800_000.. => "edited",
            500_000.. => "heavy",
            _ => "distant",
        };
        assert!(
            label == expected || label == "unrelated",
            "{row}: expected {expected}"
        );
        assert!(label != "unrelated" || millionths < 500_000, "{row}");
    }
}

#[test]
fn truth_holds() {
    for language in [Language::English, Language::Chinese, Language::Mixed] {
        check_truth(&small(language));
    }
}

#[test]
fn strengths_give_their_classes() {
    let settings = CorpusSettings {
        words_per_document: 400,
        ..small(Language::English)
    };
    let classes = [
        (0, "exact"),
        (20_000, "minor"),
        (100_000, "edited"),
        (300_000, "heavy"),
    ];
    for (share, class) in classes.into_iter().chain([(900_000, "distant")]) {
        let strengths = vec![Millionths(share)];
        let truth = generate(&CorpusSettings {
            strengths,
            ..settings.clone()
        })
        .swap_remove(4);
        let truth = String::from_utf8(truth).unwrap();
        let planted = truth
            .lines()
            .skip(1)
            .filter(|row| !row.contains("unrelated"));
        let (hits, misses): (Vec<&str>, Vec<&str>) = planted.partition(|row| row.contains(class));
        // The number of edits is rounded up, and kinds of edits differ in their effect: some pages
        // are in a neighbouring class.
        assert!(hits.len() > 9 * misses.len(), "{class}: {misses:?}");
        assert!(hits.len() + misses.len() == 18 + 8, "{truth}");
    }
}

#[test]
fn duplicates_and_samples_are_as_many_as_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let settings = small(Language::English);
    let summary = write(&settings, directory.path());
    let made = files(directory.path());
    let (articles, samples) = (pages(&made[0]), pages(&made[1]));
    assert_eq!(summary.documents, 60);
    assert_eq!(summary.article_bytes, made[0].len() as u64);
    assert_eq!((summary.duplicates, summary.samples), (18, 15));
    assert_eq!((articles.len(), samples.len()), (60, 15));
    assert_eq!(articles[12].0, "article-000012");
    assert_eq!(samples[14].0, "sample-000014");
    let truth = String::from_utf8(made[4].clone()).unwrap();
    let planted = |kind: &str| {
        let rows = truth.lines().filter(|row| row.starts_with(kind));
        rows.filter(|row| !row.contains("unrelated")).count()
    };
    assert_eq!((planted("article-"), planted("sample-")), (18, 12));
}

#[test]
fn hash_table_and_stop_words_have_their_shape() {
    let made = generate(&small(Language::Mixed));
    let table = std::str::from_utf8(&made[3]).unwrap();
    assert_eq!(table.lines().count(), 50);
    assert!(table.lines().all(|row| row.len() == 70));
    let ones = table.bytes().filter(|&digit| digit == b'1').count();
    let zeros = table.bytes().filter(|&digit| digit == b'0').count();
    assert!(
        ones + zeros == 3500 && (1600..1900).contains(&ones),
        "{ones} ones"
    );
    let stop_words = std::str::from_utf8(&made[2]).unwrap();
    assert!(stop_words.starts_with("the\nof\nand\n"));
    assert_eq!(stop_words.lines().count(), 320);
}

#[test]
fn english_resembles_a_natural_corpus() {
    let made = generate(&CorpusSettings {
        extent: Extent::Bytes(4 << 20),
        ..CorpusSettings::default()
    });
    let text = std::str::from_utf8(&made[0]).unwrap();
    let counts = words(text);
    let total: u64 = counts.values().sum();
    let share = |count: u64, percent_low: f64, percent_high: f64| {
        let percent = count as f64 * 100.0 / total as f64;
        assert!(
            (percent_low..percent_high).contains(&percent),
            "{percent} %"
        );
    };
    share(text.len() as u64, 650.0, 690.0);
    share(counts["the"], 3.0, 4.5);
    share(
        counts
            .iter()
            .filter(|(word, _)| word.len() > 12)
            .map(|(_, count)| count)
            .sum(),
        0.4,
        0.6,
    );
    let mut ranked: Vec<u64> = counts.into_values().collect();
    ranked.sort_unstable_by(|left, right| right.cmp(left));
    share(ranked[1160], 0.005, 0.009);
    let lengths: Vec<usize> = pages(&made[0]).iter().map(|(_, text)| text.len()).collect();
    assert!(lengths.iter().max().unwrap() > &(15 * lengths.iter().min().unwrap()));
}

#[test]
fn rare_words_are_new_words() {
    let settings = CorpusSettings {
        extent: Extent::Bytes(2 << 20),
        rare_share: Millionths(500_000),
        duplicates: Millionths(0),
        ..CorpusSettings::default()
    };
    let counts = words(std::str::from_utf8(&generate(&settings)[0]).unwrap());
    let total: u64 = counts.values().sum();
    // Half of the words are rare, and one word in eight repeats another one of its page.
    assert!(
        counts.len() as u64 > total * 40 / 100,
        "{} of {total}",
        counts.len()
    );
}

#[test]
fn sizes_are_near_the_request() {
    for (bytes, language) in [
        (200_000, Language::English),
        (3_000_000, Language::English),
        (3_000_000, Language::Chinese),
        (3_000_000, Language::Mixed),
    ] {
        let settings = CorpusSettings {
            extent: Extent::Bytes(bytes),
            words_per_document: 100,
            language,
            ..CorpusSettings::default()
        };
        let found = generate(&settings)[0].len() as u64;
        assert!(
            found.abs_diff(bytes) <= bytes * 3 / 100 + 5000,
            "{bytes}: {found}"
        );
    }
}

#[test]
fn parameters_out_of_range_are_refused_before_anything_is_written() {
    let settings = CorpusSettings {
        vocabulary: 0,
        ..CorpusSettings::default()
    };
    let error = Corpus::new(&settings).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Parameter);
    assert_eq!(error.to_string(), "vocabulary 0: expected 1 to 68719476736");
}

/// Promise (Complete outputs): The generator does not replace files that it did not make
#[test]
fn files_of_the_user_are_not_replaced_and_a_generated_corpus_is() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("sample.txt"), "mine").unwrap();
    let corpus = Corpus::new(&small(Language::English)).unwrap();
    let error = write_directory(&corpus, directory.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Parameter);
    assert!(error.to_string().contains("sample.txt exists"), "{error}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);

    let own = directory.path().join("new");
    write_directory(&corpus, &own).unwrap();
    write(
        &CorpusSettings {
            seed: 9,
            ..small(Language::English)
        },
        &own,
    );
    assert_eq!(fs::read_dir(&own).unwrap().count(), 5);
    assert!(
        files(&own)
            == generate(&CorpusSettings {
                seed: 9,
                ..small(Language::English)
            })
    );
}

#[test]
fn a_directory_that_cannot_be_made_is_an_error_of_writing() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let corpus = Corpus::new(&small(Language::English)).unwrap();
    for target in [file.clone(), file.join("below")] {
        let error = write_directory(&corpus, &target).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Write, "{error}");
        assert!(error.file().unwrap().starts_with(&file));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_small_corpus_is_well_formed(
        seed: u64,
        documents in 1_u64..12,
        words_per_document in 1_u64..40,
        vocabulary in 1_u64..50,
        exponent in 0_u32..=3_000_000,
        duplicates in 0_u32..=500_000,
        strength in 0_u32..=1_000_000,
        rare in 0_u32..=1_000_000,
        samples in 0_u64..8,
        language in prop_oneof![
            Just(Language::English), Just(Language::Chinese), Just(Language::Mixed)
        ],
    ) {
        check_truth(&CorpusSettings {
            seed,
            extent: Extent::Documents(documents),
            words_per_document,
            language,
            vocabulary,
            exponent: Millionths(exponent),
            rare_share: Millionths(rare),
            samples,
            duplicates: Millionths(duplicates),
            strengths: vec![Millionths(0), Millionths(strength)],
            rows: 1,
            columns: 1,
            stop_words: 60,
        });
    }
}

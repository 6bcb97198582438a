//! Corpora whose N most frequent words are difficult to determine.
//!
//! The library guesses likely words from a sample, counts those exactly and bounds all others by
//! the sums of hash buckets. Whatever the guess, the result must be the oracle's. The corpora here
//! make the guess wrong, the bounds loose and the counts around the N-th place nearly equal. Pages
//! of a few words have fingerprints of many columns, so that a wrong feature changes the result.

use crate::corpora::{Random, hash_table, page, pages, shuffled, word};
use crate::oracle::Job;
use crate::{all_resources, check, check_with, resources, run};
use simtool::kernel::Level;
use simtool::kernel::probe::line_of;
use simtool::vocabulary::bucket_of_key;

/// A job whose samples are pages of the words around the N-th place of its articles.
fn job(features: usize, articles: Vec<u8>) -> Job {
    let mut job = Job {
        features,
        columns: 100,
        distance: 12,
        articles: vec![articles],
        hash_table: hash_table(features, 100, features as u64),
        ..Job::default()
    };
    let ranking = Job {
        features: features + 20,
        ..job.clone()
    }
    .ranking();
    let around = ranking[features.min(ranking.len()).saturating_sub(20)..].iter();
    let words: Vec<String> = around
        .map(|word| String::from_utf8_lossy(word).into())
        .collect();
    // One page for each word around the N-th place, and one of all first words.
    let mut samples: Vec<Vec<u8>> = words
        .iter()
        .enumerate()
        .map(|(number, word)| page(&number.to_string(), std::slice::from_ref(word)))
        .collect();
    samples.push([b"first\n".to_vec(), ranking.join(&b' ')].concat());
    job.samples = samples.join(&b'\x0c');
    // One more article has every word once, which does not change the ranking.
    let all = Job {
        features: usize::MAX,
        ..job.clone()
    }
    .ranking();
    job.articles
        .push([b"all\n".to_vec(), all.join(&b' ')].concat());
    job
}

/// The least memory with scalar code, little memory, and plenty.
fn some_resources() -> Vec<simtool::engine::Resources> {
    let best = Level::best();
    vec![
        resources(1, 0, Level::Scalar),
        resources(2, 300_000, best),
        resources(4, 1 << 30, best),
    ]
}

/// Promise (Correct answers): The ranking is exact for misleading …
#[test]
fn a_flat_distribution() {
    let words = shuffled((0..100_000).map(|number| (word(number * 4), 1)), 1);
    for features in [1, 100, 10_000] {
        check_with(&job(features, pages(&words, 500)), &some_resources());
    }
}

/// How often the suspects were counted with the least memory; compares the results, too.
fn passes_with_least_memory(words: &[String], features: usize, threads: &[usize]) -> Vec<usize> {
    let job = Job {
        articles: vec![pages(words, 2)],
        ..job(features, pages(words, words.len()))
    };
    let tight: Vec<_> = threads
        .iter()
        .map(|&threads| resources(threads, 0, Level::best()))
        .collect();
    check_with(&job, &tight);
    let passes = |resources| run(&job, resources).unwrap().1.ranking.passes;
    tight.iter().map(passes).collect()
}

/// Promise (Bounded memory): The least memory suffices for any vocabulary of the main job, in time
/// linear in the text. Suspects (words outside the lexicon that might be among the N most frequent)
/// that do not fit are sorted in temporary files after one more reading; the files take at most 24
/// bytes for each occurrence (48 for words of more than 25 letters)
#[test]
fn more_suspects_than_memory_holds() {
    // Every word occurs once or twice, so all are suspects. However many there are, they are
    // counted at most twice: until memory is full, and by sorting them on disk.
    for (count, threads) in [(70_000, &[1][..]), (160_000, &[1, 2, 3])] {
        let words = (0..count).map(|number| (word(number), 1 + number % 89 / 88));
        let passes = passes_with_least_memory(&shuffled(words, 11), 10_000, threads);
        assert!(passes.iter().all(|&passes| passes <= 2), "{passes:?}");
        assert_eq!(passes[0], 2, "{count} words fitted");
    }
}

/// Promise (Bounded memory): The least memory suffices for any …
#[test]
fn more_long_suspects_than_memory_holds() {
    // Ties among hashed words of equal first letters, and among these and shorter words.
    let long = |number: usize| match number % 3 {
        0 => "p".repeat(26) + &word(number),
        1 => word(number) + &"q".repeat(22 + number % 9),
        _ => word(number),
    };
    let words = (0..90_000).map(|number| (long(number), 1 + number % 89 / 88));
    let words = shuffled(words, 12);
    for features in [1000, 1100, 10_000] {
        let passes = passes_with_least_memory(&words, features, &[1, 2]);
        assert_eq!(passes, [2, 2]);
    }
}

#[test]
fn words_of_13_to_25_letters() {
    // Neither a key of twelve letters nor a hash.
    let long = |number: usize| {
        word(number) + &word(number * 7)[..1 + number % 4] + "elephants" + &"s".repeat(number % 9)
    };
    let words = shuffled((0..12_000).map(|number| (long(number), 1 + number % 3)), 2);
    assert!(words.iter().all(|word| (13..=25).contains(&word.len())));
    for features in [1, 50, 5000, 5537, 6000, 10_000] {
        check_with(&job(features, pages(&words, 300)), &some_resources());
    }
}

/// Promise (Correct answers): The ranking is exact for misleading …
#[test]
fn words_of_more_than_25_letters() {
    // Ties among such words must be ranked alphabetically.
    let long = |number: usize| word(number * 31 % 4001) + &"x".repeat(22 + number % 60);
    let words = shuffled((0..4000).map(|number| (long(number), 1 + number % 2)), 3);
    for features in [1, 10, 1999, 2000, 2001, 3990] {
        check_with(&job(features, pages(&words, 100)), &some_resources());
    }
}

/// Promise (Correct answers): Every feature counts, up to 10 000 features
#[test]
fn ten_thousand_long_features() {
    let long = |number: usize| word(number * 40) + &"q".repeat(30);
    let words: Vec<String> = (0..10_500).map(long).collect();
    check_with(&job(10_000, pages(&words, 100)), &some_resources());
}

/// Promise (Correct answers): Every feature counts, up to 10 …
#[test]
fn ten_thousand_features_in_a_sixteenth_of_all_lines() {
    let words: Vec<String> = of_one_line(16).take(10_200).collect();
    check_with(&job(10_000, pages(&words, 100)), &some_resources());
}

#[test]
fn long_prefixes_in_common() {
    let prefixes = [
        "p".repeat(11),
        "p".repeat(12),
        "p".repeat(24),
        "p".repeat(25),
        "p".repeat(26),
        "p".repeat(300),
    ];
    let all = prefixes.iter().flat_map(|prefix| {
        (0..200).flat_map(move |number| {
            [
                prefix.clone() + &word(number),
                prefix[..prefix.len() - 1].to_owned() + &word(number)[3..],
            ]
        })
    });
    let mut all: Vec<String> = all.collect();
    all.sort();
    all.dedup();
    let words = shuffled(
        all.into_iter()
            .enumerate()
            .map(|(number, word)| (word, 1 + number % 2)),
        4,
    );
    for features in [1, 3, 30, 300, 900] {
        check_with(&job(features, pages(&words, 60)), &some_resources());
    }
}

fn key(word: &str) -> u64 {
    let letters = word.bytes().zip(0..);
    letters.fold(0, |key, (letter, place)| {
        key | u64::from(letter & 31) << (55 - 5 * place)
    })
}

/// Words whose keys satisfy `collides`.
fn colliding(collides: impl Fn(u64) -> bool) -> impl Iterator<Item = String> {
    let all = (0..26 * 26 * 26 * 26).flat_map(|number| {
        let word = word(number);
        [word.clone() + "s", word]
    });
    all.filter(move |word| collides(key(word)))
}

/// Words in the first line of a lexicon of `lines` lines.
fn of_one_line(lines: usize) -> impl Iterator<Item = String> {
    colliding(move |key| line_of(key, lines) == 0)
}

#[test]
fn frequent_words_that_share_a_line_of_the_lexicon() {
    for lines in [4096, 8192, 38, 750, 7500] {
        let crowd = of_one_line(lines).take(40);
        let others = (0..3000).map(|number| (word(number * 150 + 7), 1 + number % 20));
        let words = shuffled(
            crowd
                .zip(0..)
                .map(|(word, number)| (word, 21 + number % 5))
                .chain(others),
            lines as u64,
        );
        for features in [20, 50, 1000] {
            check_with(&job(features, pages(&words, 200)), &some_resources());
        }
    }
}

/// Promise (Correct answers): The ranking is exact for misleading …
#[test]
fn all_features_share_a_line() {
    for features in [9_usize, 50, 100] {
        let lines = (features * 6).div_ceil(8).max(16);
        let words = shuffled(
            of_one_line(lines).take(features + 5).zip(3..),
            features as u64,
        );
        check(&job(features, pages(&words, 40)));
    }
}

/// Promise (Correct answers): The ranking is exact for misleading …
#[test]
fn words_that_share_a_bucket() {
    // The bound of each word in a bucket is the sum of their counts, so each could be the N-th.
    let crowd: Vec<String> = colliding(|key| bucket_of_key(key, 14) == 0)
        .take(50)
        .collect();
    let mut words = vec!["decoy".to_owned(); 6000];
    let rare = crowd
        .iter()
        .cloned()
        .zip((1..).map(|number| number % 7 + 1));
    words.extend(shuffled(
        rare.chain((0..60).map(|number| (word(number), 4))),
        5,
    ));
    words.extend(vec!["decoy".to_owned(); 40_000]);
    for features in [2, 10, 40, 80, 105] {
        check_with(&job(features, pages(&words, 500)), &some_resources());
    }
}

#[test]
fn around_the_whole_vocabulary() {
    for vocabulary in [1, 2, 63, 1000] {
        let words = shuffled(
            (0..vocabulary).map(|number| (word(number * 400), 1 + number % 3)),
            6,
        );
        for features in [vocabulary - 1, vocabulary, vocabulary + 1, 2 * vocabulary] {
            if features > 0 {
                check_with(&job(features, pages(&words, 20)), &some_resources());
            }
        }
    }
}

#[test]
fn one_document() {
    let words = shuffled((0..30_000).map(|number| (word(number), 1 + number % 4)), 7);
    check_with(&job(1000, page("only", &words)), &some_resources());
    check(&job(1, page("tiny", &[word(5)])));
    check(&job(1, b"no word".to_vec()));
}

/// Whether a page of 32 KiB in an input of 4 MiB overlaps one of the samples of the tests below: 25
/// or 32 pieces of 8 KiB at equal distances.
fn is_sampled(page: usize) -> bool {
    let pieces_in = |distance: usize| {
        (0..128)
            .map(move |piece| piece * distance)
            .any(|start| (start..=start + (8 << 10)).contains(&(page << 15)) || start >> 15 == page)
    };
    pieces_in((4 << 20) / 25) || pieces_in((4 << 20) / 32)
}

/// Text of 4 MiB whose sampled pages have only words of `decoys`, so that the sample has none of
/// the `frequent` words.
fn misleading(frequent: &[String], decoys: &[String]) -> Vec<u8> {
    let mut articles = Vec::new();
    let mut random = Random(8);
    for page_number in 0..128 {
        let words = if is_sampled(page_number) {
            decoys
        } else {
            frequent
        };
        articles.extend(format!("page {page_number}\n").bytes());
        let end = (page_number + 1) * (32 << 10) - 1;
        while articles.len() < end {
            let word = &words[random.below(words.len()).min(random.below(words.len()))];
            articles.extend(word.bytes());
            articles.push(b' ');
        }
        articles.truncate(end);
        articles.push(b'\x0c');
    }
    articles
}

/// Promise (Correct answers): The ranking is exact for misleading samples, flat distributions, long
/// words and colliding hashes
#[test]
fn a_sample_that_misleads() {
    let decoys: Vec<String> = (0..2000).map(|number| word(number) + "decoy").collect();
    let short: Vec<String> = (0..3000).map(|number| word(number * 9)).collect();
    let long = |word: &String| word.clone() + &"z".repeat(1 + word.len() * 7 % 40);
    let mixed: Vec<String> = short
        .iter()
        .enumerate()
        .map(|(number, word)| {
            if number % 3 == 0 {
                long(word)
            } else {
                word.clone()
            }
        })
        .collect();
    for (features, frequent) in [(1, &short), (100, &short), (2500, &mixed)] {
        let job = job(features, misleading(frequent, &decoys));
        check_with(&job, &some_resources());
        let (_, summary) = run(&job, &resources(2, 1 << 30, Level::best())).unwrap();
        assert!(
            summary.ranking.passes > 0,
            "the sample saw the frequent words"
        );
    }
}

/// Promise (Correct answers): The ranking is exact for misleading …
#[test]
fn close_races_at_the_last_place() {
    // Words of equal count, one more and one less, each spread over all units or in one only.
    for count in [2, 7, 200] {
        let contenders = (0..60).map(|number| (word(number * 77 % 60), count + number % 3 - 1));
        let mut words = shuffled(contenders, count as u64);
        let spread: Vec<String> = (60..90)
            .flat_map(|number| vec![word(number); count])
            .collect();
        for (place, word) in spread.into_iter().enumerate() {
            let place = place * 37 % words.len();
            words.insert(place, word);
        }
        words.extend(
            (90..120).flat_map(|number| vec![word(number) + &"w".repeat(number % 40); count]),
        );
        for features in [1, 19, 20, 21, 39, 40, 41, 60, 80, 100] {
            check_with(&job(features, pages(&words, 30)), &some_resources());
        }
    }
}

/// Promise (Correct answers): The ranking is exact for misleading …
#[test]
fn frequent_stop_words_that_the_sample_missed() {
    let decoys: Vec<String> = (0..200).map(|number| word(number) + "decoy").collect();
    let frequent: Vec<String> = (0..400)
        .map(|number| word(number * 5) + &"s".repeat([0, 9, 30][number % 3]))
        .collect();
    let mut job = job(50, misleading(&frequent, &decoys));
    job.stop_words = frequent
        .iter()
        .step_by(2)
        .map(|word| word.to_uppercase() + "\n")
        .collect::<String>()
        .into();
    check_with(&job, &some_resources());
    // Stop words that share a line with each other, seen by the sample or not.
    let crowd: Vec<String> = of_one_line(4096).take(20).collect();
    let words = shuffled(
        crowd
            .iter()
            .map(|word| (word.clone(), 30))
            .chain((0..500).map(|number| (word(number * 3), 3))),
        9,
    );
    let mut job = self::job(30, pages(&words, 100));
    job.stop_words = crowd[..15].join(" ").into();
    check_with(&job, &all_resources());
}

#[test]
fn more_than_65_536_words_in_a_unit() {
    let words = shuffled(
        (0..90_000).map(|number| (word(number * 5), 1 + number % 2)),
        10,
    );
    check_with(&job(10_000, page("one unit", &words)), &some_resources());
}

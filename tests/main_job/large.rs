//! Inputs that are difficult only because of their size.

use crate::corpora::{Random, hash_table, word};
use crate::oracle::Job;
use crate::{check_with, resources, run};
use simtool::engine::Resources;
use simtool::kernel::Level;

fn job(features: usize, articles: Vec<u8>, samples: &[u8]) -> Job {
    Job {
        features,
        columns: 64,
        distance: 3,
        articles: vec![articles],
        samples: samples.to_vec(),
        hash_table: hash_table(features, 64, 7),
        ..Job::default()
    }
}

/// The least memory, and one GiB more.
fn extremes() -> [Resources; 2] {
    [
        resources(2, 0, Level::best()),
        resources(4, 1 << 30, Level::best()),
    ]
}

/// A page of at least `bytes` bytes of random words.
fn long_page(id: &str, bytes: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let mut page = format!("{id}\n").into_bytes();
    while page.len() < bytes {
        page.extend(word(random.below(300) * random.below(300)).bytes());
        page.push(if random.below(10) == 0 { b'\n' } else { b' ' });
    }
    page
}

/// The words of a page of more than 2 MiB are not kept in memory: its text is read again.
#[test]
fn a_page_too_large_to_keep_its_words() {
    let long = long_page("five megabytes", 5 << 20, 1);
    let articles = [
        b"a\nabc".to_vec(),
        long.clone(),
        b"b\nabc aaaa".to_vec(),
        long_page("short", 3000, 2),
    ];
    check_with(&job(200, articles.join(&b'\x0c'), &long), &extremes());
}

/// Promise (Failing inputs): Inputs may have any size: words …
#[test]
fn a_page_repeated_16_times_has_the_fingerprint_of_the_page() {
    // Every count, and so every sum, is sixteen times that of the part.
    let part = long_page("part", (20 << 20) / 16, 3);
    let text = part.strip_prefix(b"part").unwrap();
    let whole = [b"whole".to_vec(), text.repeat(16)].concat();
    let expected = job(100, part.clone(), &part).result().unwrap();
    assert_eq!(expected, b"part\n0:part \n");
    let articles = [part.clone(), whole].join(&b'\x0c');
    for resources in extremes() {
        let (result, _) = run(&job(100, articles.clone(), &part), &resources).unwrap();
        assert_eq!(result, b"part\n0:part whole \n");
    }
}

/// Promise (Failing inputs): Inputs may have any size: words and pages of many megabytes, very many
/// pages
#[test]
fn words_of_several_megabytes() {
    let runs = [
        vec![b'q'; 3 << 20],
        vec![b'Q'; (3 << 20) + 1],
        b"qr".repeat(1 << 20),
    ];
    let articles = [
        [b"1\n".to_vec(), runs[0].clone()].concat(),
        [b"2\n".to_vec(), runs[1].clone()].concat(),
        [b"3\nb ".to_vec(), runs[2].clone(), b" a".to_vec()].concat(),
        b"4\na b".to_vec(),
    ];
    let articles = articles.join(&b'\x0c');
    for features in [2, 3, 4, 5] {
        let sample = [
            b"s\n".to_vec(),
            runs[0].to_ascii_uppercase(),
            b"\x0ct\nb".to_vec(),
        ]
        .concat();
        check_with(&job(features, articles.clone(), &sample), &extremes());
    }
}

#[test]
fn the_most_frequent_word_may_be_megabytes_long() {
    let run = vec![b'z'; 2 << 20];
    let articles = [
        b"1\n".to_vec(),
        run.clone(),
        b" ".to_vec(),
        run.to_ascii_uppercase(),
        b"\x0c2\na b c".to_vec(),
    ];
    let sample = [b"s\n".to_vec(), run].concat();
    let result = check_with(&job(1, articles.concat(), &sample), &extremes());
    assert_eq!(result, b"s\n0:1 \n");
}

/// Promise (Failing inputs): Inputs may have any size: words …
#[test]
fn a_hundred_thousand_tiny_pages() {
    // The hits of one sample do not fit into the least memory, so its output is then written in
    // pieces.
    let articles = b"a\n\x0c".repeat(100_000);
    let result = check_with(&job(5, articles, b"s\n\x0ct\nword"), &extremes());
    assert_eq!(
        result,
        [
            b"s\n0:".to_vec(),
            b"a ".repeat(100_000),
            b"\nt\n0:".to_vec(),
            b"a ".repeat(100_000),
            b"\n".to_vec()
        ]
        .concat()
    );
}

/// Promise (Bounded memory): The least memory also suffices for … (the answers are the same)
#[test]
fn many_hits_are_the_same_with_little_memory_at_every_distance() {
    let mut random = Random(4);
    let mut articles = Vec::new();
    for number in 0..20_000 {
        articles.extend(
            format!(
                "{number}\n{} {}\x0c",
                word(random.below(6)),
                word(random.below(6))
            )
            .bytes(),
        );
    }
    let samples = (0..40)
        .map(|number| format!("s{number}\n{}\x0c", word(number % 7)))
        .collect::<String>();
    for (columns, distance) in [(5, 3), (8, 8), (66, 40)] {
        let job = Job {
            columns,
            distance,
            hash_table: hash_table(6, columns, columns as u64),
            ..job(6, articles.clone(), samples.as_bytes())
        };
        check_with(&job, &extremes());
    }
}

#[test]
fn many_samples() {
    // The output is written in several batches of samples, the last one incomplete.
    let mut random = Random(5);
    let mut pages = |count: usize| {
        let page = |number| {
            format!(
                "{number}\n{} {}",
                word(random.below(40)),
                word(random.below(40))
            )
        };
        (0..count)
            .map(page)
            .collect::<Vec<_>>()
            .join("\x0c")
            .into_bytes()
    };
    let articles = pages(2000);
    let samples = pages(3001);
    check_with(&job(40, articles, &samples), &extremes());
}

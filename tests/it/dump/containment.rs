//! `--similarity containment:SHARE`: documents that others contain.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::slice::from_ref;

use proptest::prelude::*;
use serde_json::{Value, json};
use simtool::dedup::keep::{KeepOrder, Policy};
use simtool::engine::{Progress, Resources};
use simtool::jobs::dedup::{ClusterRule, DedupJob, Scope, WriteMode, spec_for_verification};
use simtool::kernel::Level;
use simtool::text::{LeastSimilarity, Tokenizer};

use crate::dump::documents::{Random, Text};
use crate::dump::setup::{
    Form, check, contents, job, lines, refused_setting, resources, run, write,
};

/// Documents with fewer words are compared for equality alone.
const MIN_WORDS: usize = 8;

/// A job by containment with shingles of three words.
fn containment(thousandths: u32) -> DedupJob {
    let mut job = job();
    job.verification.least = LeastSimilarity::containment(thousandths);
    job.method = spec_for_verification("shingles", job.verification).unwrap();
    job.keep = Policy::MostShingles.into();
    job
}

/// Documents that contain parts of each other: passages, passages of passages, several passages of
/// one, pages of a template, edited and equal copies, short ones, in English and Chinese.
fn documents(seed: u64, count: usize) -> Vec<Text> {
    let mut random = Random::new(seed);
    let mut texts: Vec<Vec<String>> = Vec::new();
    for _ in 0..count {
        let is_chinese = random.below(4) == 0;
        let new = |random: &mut Random, most: u64| -> Vec<String> {
            let length = random.below(most);
            let word = |random: &mut Random| match is_chinese {
                true => char::from_u32(0x4e00 + random.below(300) as u32).map(String::from),
                false => Some(format!(" w{}", random.below(400))),
            };
            (0..length).filter_map(|_| word(random)).collect()
        };
        let part = |random: &mut Random, of: &[String]| {
            let begin = random.below(of.len() as u64 + 1) as usize;
            let length = random.below((of.len() - begin) as u64 + 1) as usize;
            of[begin..begin + length].to_vec()
        };
        let earlier = |random: &mut Random| match texts.len() as u64 {
            0 => Vec::new(),
            earlier => texts[random.below(earlier) as usize].clone(),
        };
        let text = match random.below(9) {
            0 | 1 => new(&mut random, 120),
            2 | 3 => {
                let of = earlier(&mut random);
                part(&mut random, &of)
            }
            4 => [
                new(&mut random, 40),
                earlier(&mut random),
                new(&mut random, 9),
            ]
            .concat(),
            5 => {
                let parts = [(); 2].map(|()| {
                    let of = earlier(&mut random);
                    part(&mut random, &of)
                });
                parts.concat()
            }
            6 => {
                let mut edited = earlier(&mut random);
                for _ in 0..=edited.len() / 20 {
                    if !edited.is_empty() {
                        let place = random.below(edited.len() as u64) as usize;
                        edited[place] = " other".to_owned();
                    }
                }
                edited
            }
            7 => {
                let upper = earlier(&mut random).into_iter();
                upper.map(|word| word.to_uppercase()).collect()
            }
            _ => new(&mut random, 12),
        };
        texts.push(text);
    }
    let document = |(number, words): (usize, Vec<String>)| Text {
        id: format!("d{number}"),
        url: format!("https://site{}.example/", number % 3),
        date: String::new(),
        text: words.concat(),
    };
    texts.into_iter().enumerate().map(document).collect()
}

/// A document that is dropped, the kept one, and the shared shingles of those of the dropped one;
/// `None` for equal words.
type Found = (String, String, Option<(u64, u64)>);

/// By the definition: compares all pairs. The first `references` documents are those of --against.
fn naive(job: &DedupJob, documents: &[Text], references: usize) -> Vec<Found> {
    struct Page {
        words: Vec<Vec<u8>>,
        shingles: BTreeSet<Vec<Vec<u8>>>,
    }
    let page = |text: &Text| {
        let mut words: Vec<Vec<u8>> = Vec::new();
        Tokenizer::new(job.tokenizer, Level::Scalar)
            .for_each_word(text.text.as_bytes(), &mut |word| words.push(word.to_vec()));
        let width = job.verification.shingle.min(words.len()).max(1);
        let shingles = words.windows(width).map(<[_]>::to_vec).collect();
        Page { words, shingles }
    };
    let pages: Vec<Page> = documents.iter().map(page).collect();
    let is_reference = |number: usize| number < references;
    let mut order: Vec<usize> = (0..documents.len()).collect();
    order.sort_by_key(|&number| {
        let size = pages[number].shingles.len();
        (!is_reference(number), std::cmp::Reverse(size), number)
    });
    let mut found: BTreeMap<usize, Found> = BTreeMap::new();
    let id = |number: usize| documents[number].id.clone();
    // The first of the documents with the same words is compared for all of them.
    let first_of = |number: usize| {
        let mut same = order
            .iter()
            .filter(|&&other| pages[other].words == pages[number].words);
        *same.next().unwrap()
    };
    for (rank, &kept) in order.iter().enumerate() {
        let may_remove = is_reference(kept) || references == 0 || !job.against_only;
        let words = &pages[kept].words;
        if !may_remove || words.is_empty() || found.contains_key(&kept) || first_of(kept) != kept {
            continue;
        }
        for &other in &order[rank + 1..] {
            let first = first_of(other);
            if is_reference(other) || found.contains_key(&other) {
                continue;
            }
            let (a, b) = (&pages[kept], &pages[other]);
            let shared = a.shingles.intersection(&b.shingles).count() as u64;
            let of = b.shingles.len() as u64;
            let is_long = a.words.len() >= MIN_WORDS && b.words.len() >= MIN_WORDS;
            let is_contained = shared * 1000 >= of * u64::from(job.verification.least.thousandths);
            // One with the words of a reference is dropped for that one.
            let is_compared = !is_reference(first);
            let evidence = match first == kept {
                true => None,
                false if is_long && is_contained && is_compared => Some((shared, of)),
                false => continue,
            };
            found.insert(other, (id(other), id(kept), evidence));
        }
    }
    found.into_values().collect()
}

fn found(pairs: &[Value]) -> Vec<Found> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let found = pairs.iter().map(|pair| {
        let counts = pair["shared"].as_u64().zip(pair["shingles"].as_u64());
        let share = counts.map_or(1.0, |(shared, of)| shared as f64 / of as f64);
        assert!((pair["similarity"].as_f64().unwrap() - share).abs() < 1e-12);
        (text(&pair["id"]), text(&pair["kept"]), counts)
    });
    found.collect()
}

/// The output of a run on `all`, of which the first `references` documents are those of --against.
fn output(
    job: &DedupJob,
    all: &[Text],
    references: usize,
    resources: &Resources,
) -> tempfile::TempDir {
    let (directory, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let [old, new] = ["old", "new"].map(|name| directory.path().join(name));
    write(&old, Form::Jsonl, &all[..references]);
    write(&new, Form::Jsonl, &all[references..]);
    let old = if references > 0 { from_ref(&old) } else { &[] };
    let progress = Progress::new();
    run(job, from_ref(&new), old, out.path(), resources, &progress).unwrap();
    check(out.path());
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Promise (Deduplication): By containment, the dropped documents are those of all pairs: each
    /// has the least share of its shingles in its kept copy, which has more of them; a document is
    /// not dropped for a part of it, whatever the order, also with `--against` and within groups
    #[test]
    fn the_result_is_that_of_the_definition(
        seed in any::<u64>(),
        count in 1usize..110,
        references in 0usize..50,
        thousandths in prop_oneof![1u32..1000, Just(1000), Just(950), Just(500), Just(50)],
        threads in 1usize..4,
        against_only in any::<bool>(),
    ) {
        let all = documents(seed, count);
        let references = references.saturating_sub(15).min(count - 1);
        let mut job = containment(thousandths);
        job.against_only = against_only && references > 0;
        let expected = naive(&job, &all, references);
        let temporary = tempfile::tempdir().unwrap();
        let out = output(&job, &all, references, &resources(threads, temporary.path()));
        let pairs = lines(&out.path().join("duplicates.jsonl"));
        prop_assert_eq!(found(&pairs), expected);
    }

    /// Promise (Deduplication): By containment, the dropped documents are …
    #[test]
    fn groups_are_compared_alone(seed in any::<u64>(), thousandths in 1u32..=1000) {
        let all = documents(seed, 90);
        let mut job = containment(thousandths);
        job.within = Scope::Site;
        let mut expected: Vec<Found> = (0..3)
            .flat_map(|site| {
                let of_site: Vec<Text> = all.iter().skip(site).step_by(3).cloned().collect();
                naive(&job, &of_site, 0)
            })
            .collect();
        expected.sort_by_key(|(id, ..)| id[1..].parse::<usize>().unwrap());
        let temporary = tempfile::tempdir().unwrap();
        let out = output(&job, &all, 0, &resources(2, temporary.path()));
        prop_assert_eq!(found(&lines(&out.path().join("duplicates.jsonl"))), expected);
    }
}

/// A text, a half of it, and a half of that.
/// Promise (Deduplication): By containment, the dropped documents are …
#[test]
fn parts_are_dropped_in_every_order() {
    let words = |range: std::ops::Range<usize>| -> String {
        range.map(|number| format!("w{number} ")).collect()
    };
    let texts = [words(0..80), words(10..50), words(20..40)];
    let orders = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    for order in orders {
        let text = |(number, place): (usize, &usize)| Text {
            id: format!("d{number}"),
            url: String::new(),
            date: String::new(),
            text: texts[*place].clone(),
        };
        let all: Vec<Text> = order.iter().enumerate().map(text).collect();
        let temporary = tempfile::tempdir().unwrap();
        let out = output(&containment(1000), &all, 0, &resources(1, temporary.path()));
        let longest = order.iter().position(|place| *place == 0).unwrap();
        let expected = (0..3).filter(|number| *number != longest).map(|number| {
            let of = [78, 38, 18][order[number]];
            (format!("d{number}"), format!("d{longest}"), Some((of, of)))
        });
        let pairs = lines(&out.path().join("duplicates.jsonl"));
        assert_eq!(found(&pairs), expected.collect::<Vec<_>>());
    }
}

/// A long new document is not dropped because a short one of --against is a part of it.
/// Promise (Deduplication): By containment, the dropped documents are …
#[test]
fn a_document_is_not_dropped_for_a_part_of_it() {
    let text = |id: &str, words: std::ops::Range<usize>| Text {
        id: id.to_owned(),
        url: String::new(),
        date: String::new(),
        text: words.map(|number| format!("w{number} ")).collect(),
    };
    let all = [
        text("d0", 0..30),
        text("d1", 0..90),
        text("d2", 5..25),
        text("d3", 40..70),
    ];
    let temporary = tempfile::tempdir().unwrap();
    let out = output(&containment(900), &all, 1, &resources(1, temporary.path()));
    let expected = [("d2", "d0", 18), ("d3", "d1", 28)];
    let expected = expected.map(|(id, kept, of)| (id.into(), kept.into(), Some((of, of))));
    assert_eq!(
        found(&lines(&out.path().join("duplicates.jsonl"))),
        expected
    );
}

#[test]
fn further_policies_decide_among_equally_many_shingles() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("input");
    let line = |id: &str, date: &str, text: &str| {
        let line = json!({"id": id, "date": date, "text": text});
        format!("{line}\n")
    };
    let text = "one two three four five six seven eight nine ten";
    let input = line("old", "2001-01-01", text)
        + &line("new", "2003-01-01", &text.to_uppercase())
        + &line("part", "2009-01-01", &text[8..]);
    fs::write(&path, input).unwrap();
    let mut job = containment(1000);
    job.keep = KeepOrder::parse("newest")
        .unwrap()
        .after(&Policy::MostShingles)
        .unwrap();
    let found = found(&crate::dump::setup::pairs(&job, from_ref(&path), &[], 2));
    let pair = |id: &str, evidence| (id.to_owned(), "new".to_owned(), evidence);
    assert_eq!(found, [pair("old", None), pair("part", Some((6, 6)))]);
}

/// With the least memory, the shingles fill several blocks: they and their index take about four times
/// what is left for a block.
/// Promise (Deduplication): By containment, the dropped documents are …
#[test]
fn the_output_does_not_depend_on_memory_and_threads() {
    let mut random = Random::new(77);
    let mut texts: Vec<Vec<u64>> = Vec::new();
    for number in 0..900 {
        let new: Vec<u64> = (0..1200).map(|_| random.below(100_000)).collect();
        let text = match number % 3 {
            0 => new,
            _ => {
                let of = &texts[random.below(number) as usize];
                let begin = random.below(of.len() as u64 - 10) as usize;
                [&new[..random.below(30) as usize], &of[begin..]].concat()
            }
        };
        texts.push(text);
    }
    let all: Vec<Text> = (texts.iter().enumerate())
        .map(|(number, words)| Text {
            id: format!("d{number}"),
            url: String::new(),
            date: String::new(),
            text: words.iter().map(|word| format!("{word} ")).collect(),
        })
        .collect();
    let mut job = containment(900);
    job.write = WriteMode::Kept;
    job.refused = true;
    job.page = true;
    let temporary = tempfile::tempdir().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("input");
    write(&path, Form::Jsonl, &all);
    let outputs = [(1, 1), (3, 1), (2, 40)].map(|(threads, factor)| {
        let mut resources = resources(threads, temporary.path());
        resources.memory_bytes *= factor;
        let out = tempfile::tempdir().unwrap();
        let (inputs, progress) = (from_ref(&path), Progress::new());
        run(&job, inputs, &[], out.path(), &resources, &progress).unwrap();
        check(out.path());
        contents(out.path())
    });
    assert!(outputs[0][&PathBuf::from("duplicates.jsonl")].len() > 100_000);
    assert!(outputs.iter().all(|output| *output == outputs[0]));
}

#[test]
fn settings_that_would_drop_or_miss_the_wrong_ones_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("input");
    write(&path, Form::Jsonl, &documents(1, 9));
    type Spoil = fn(&mut DedupJob);
    let spoils: [(Spoil, &str); 7] = [
        (
            |job| job.method = crate::dump::setup::job().method,
            "the method simhash proposes documents that are similar as a whole",
        ),
        (
            |job| job.method = job.method.with("measure", "resemblance").unwrap(),
            "the method shingles proposes documents that are similar as a whole",
        ),
        (
            |job| job.verification.shingle = 5,
            "shingles of 3 words, and 5 are verified",
        ),
        (
            |job| job.verification.least.thousandths = 799,
            "only documents of which 0.8 are contained",
        ),
        (
            |job| job.clusters = ClusterRule::Components,
            "one short text would be one cluster",
        ),
        (
            |job| job.drop_all = true,
            "because another one is a part of it",
        ),
        (
            |job| job.keep = Policy::Longest.into(),
            "longest has to begin with most-shingles",
        ),
    ];
    for (spoil, part) in spoils {
        let mut job = containment(800);
        spoil(&mut job);
        let message = refused_setting(&job, &path);
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn reports_say_what_is_measured() {
    let all = documents(3, 120);
    let mut job = containment(600);
    job.page = true;
    job.refused = true;
    let temporary = tempfile::tempdir().unwrap();
    let out = output(&job, &all, 0, &resources(2, temporary.path()));
    let summary = fs::read(out.path().join("summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    let settings = &summary["settings"];
    assert_eq!(
        settings["verification"],
        json!({"shingle": 3, "measure": "containment", "similarity": [600, 1000]})
    );
    assert_eq!(settings["keep"], "most-shingles");
    let page = fs::read_to_string(out.path().join("page.html")).unwrap();
    for part in [
        "verified: 0.6 of the shingles of 3 words of a dropped document are in the kept one",
        "similarity is the share of those of the dropped document that the kept one has",
        "shingles of the dropped document are in the kept one",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

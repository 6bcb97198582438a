//! Policies: which copy of a group is kept, and what is written.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::slice::from_ref;

use serde_json::{Value, json};
use simtool::ErrorKind;
use simtool::corpus::Format;
use simtool::dedup::keep::{KeepOrder, Policy};
use simtool::engine::Progress;
use simtool::jobs::dedup::{ClusterRule, DedupJob, Scope, WriteMode};

use crate::dump::documents::{Random, Text, documents};
use crate::dump::oracle;
use crate::dump::setup::{Form, check, found, job, lines, pairs, refusal, resources, run, write};

fn one_file(form: Form, documents: &[Text]) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("input");
    write(&path, form, documents);
    (directory, path)
}

/// Promise (Deduplication): The kept copy is the best by `--keep`, by any number of policies;
/// `--against` and `--keep none` work as defined
#[test]
fn the_best_copy_is_kept() {
    let all = documents(3, 200);
    let (_directory, path) = one_file(Form::Jsonl, &all);
    type Rank = fn(&Text) -> (i64, String);
    let policies: [(Policy, Rank); 4] = [
        (Policy::Longest, |document| {
            (-(document.text.len() as i64), String::new())
        }),
        (Policy::ShortestUrl, |document| {
            (document.url.len() as i64, String::new())
        }),
        (Policy::Newest, |document| {
            let digits: String = document.date.chars().filter(char::is_ascii_digit).collect();
            (-digits.parse::<i64>().unwrap(), String::new())
        }),
        (Policy::Field("n".into()), |document| {
            (-document.id[1..].parse::<i64>().unwrap(), String::new())
        }),
    ];
    for (policy, rank) in policies {
        let mut job = job();
        job.reading.fields = vec!["n".into()];
        job.keep = policy.clone().into();
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|&number| rank(&all[number]));
        let expected = oracle::duplicates(&job, &all, &order);
        let pairs = found(&pairs(&job, from_ref(&path), &[], 2));
        let ids = |found: &[crate::dump::setup::Found]| {
            found
                .iter()
                .map(|(id, kept, ..)| (id.clone(), kept.clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(&pairs), ids(&expected), "{policy}");
    }
}

/// Several policies: each decides where those before it do not, and the input order at last.
/// Promise (Deduplication): The kept copy is the best …
#[test]
fn later_policies_decide_ties() {
    let all = documents(15, 250);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("input");
    // Few scores, some of them missing, numbers or strings.
    let score = |number: usize| match number % 7 {
        0 => Value::Null,
        1 | 2 => json!(0.25),
        3 | 4 => json!(0.75),
        5 => json!("a string, which comes after all numbers"),
        _ => json!(0.75),
    };
    let line = |(number, text): (usize, &Text)| {
        let line = json!({
            "id": text.id, "url": text.url, "date": text.date, "text": text.text,
            "score": score(number),
        });
        format!("{line}\n")
    };
    fs::write(&path, all.iter().enumerate().map(line).collect::<String>()).unwrap();
    let scored = |number: usize| match score(number) {
        Value::Number(score) => (0, (-1000.0 * score.as_f64().unwrap()) as i64),
        Value::String(_) => (1, 0),
        _ => (2, 0),
    };
    let length = |number: usize| -(all[number].text.len() as i64);
    let url = |number: usize| all[number].url.len() as i64;
    type Rank<'a> = &'a dyn Fn(usize) -> [i64; 4];
    let of_score = |number: usize| {
        let (kind, score) = scored(number);
        [kind, score]
    };
    let orders: [(&str, Rank<'_>); 3] = [
        ("field:score,longest,first", &|number| {
            let [kind, score] = of_score(number);
            [kind, score, length(number), 0]
        }),
        ("shortest-url,field:score,longest", &|number| {
            let [kind, score] = of_score(number);
            [url(number), kind, score, length(number)]
        }),
        ("longest,shortest-url", &|number| {
            [length(number), url(number), 0, 0]
        }),
    ];
    for (text, rank) in orders {
        let mut job = job();
        job.keep = KeepOrder::parse(text).unwrap();
        job.reading.fields = job.fields();
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|&number| (rank(number), number));
        let expected = oracle::duplicates(&job, &all, &order);
        let pairs = found(&pairs(&job, from_ref(&path), &[], 2));
        assert_eq!(pairs, expected, "{text}");
        assert!(pairs.len() > 40);
    }
}

/// Promise (Deduplication): `--within` gives what a run of its …
#[test]
fn sites_keep_their_own_copies() {
    let all = documents(4, 200);
    let (_directory, path) = one_file(Form::Jsonl, &all);
    let mut job = job();
    job.within = Scope::Site;
    let found = found(&pairs(&job, &[path], &[], 2));
    // The definition, one site at a time.
    let site = |document: &Text| document.url.split('/').nth(2).unwrap().to_owned();
    let sites: BTreeSet<String> = all.iter().map(site).collect();
    assert_eq!(sites.len(), 3);
    let mut expected = Vec::new();
    for name in sites {
        let of_site: Vec<Text> = all
            .iter()
            .filter(|text| site(text) == name)
            .cloned()
            .collect();
        let order: Vec<usize> = (0..of_site.len()).collect();
        let own = oracle::duplicates(&job, &of_site, &order);
        assert!(!own.is_empty(), "{name}");
        expected.extend(own);
    }
    let number = |found: &crate::dump::setup::Found| found.0[1..].parse::<usize>().unwrap();
    expected.sort_by_key(number);
    assert_eq!(found, expected);
}

/// Promise (Deduplication): The kept copy is the best …
#[test]
fn drop_all_keeps_no_copy_of_a_group() {
    let all = documents(7, 200);
    let (_directory, path) = one_file(Form::Jsonl, &all);
    let usual = pairs(&job(), from_ref(&path), &[], 2);
    let mut job = job();
    job.drop_all = true;
    let pairs = pairs(&job, &[path], &[], 2);
    let kept: BTreeSet<_> = usual.iter().map(|pair| pair["kept"].to_string()).collect();
    assert_eq!(pairs.len(), usual.len() + kept.len());
    let alone: Vec<&Value> = pairs.iter().filter(|pair| pair["kept"].is_null()).collect();
    assert_eq!(alone.len(), kept.len());
    // A copy is not compared with itself.
    let evidence = [
        "kept_file",
        "kept_start",
        "kept_url",
        "distance",
        "estimate",
        "similarity",
        "shared",
        "shingles",
    ];
    for pair in alone {
        assert!(evidence.iter().all(|field| pair[field].is_null()), "{pair}");
        assert!(kept.contains(&pair["id"].to_string()));
    }
}

/// With N copies, those that are dropped are the ones after the first N of each cluster in keep
/// order.
/// Promise (Deduplication): `--keep-copies N` keeps the first N documents of each cluster in keep
/// order, alone and within groups
#[test]
fn the_first_copies_of_a_cluster_are_kept() {
    let all = documents(13, 300);
    let (_directory, path) = one_file(Form::Jsonl, &all);
    let length = |id: &Value| {
        let number: usize = id.as_str().unwrap()[1..].parse().unwrap();
        (usize::MAX - all[number].text.len(), number)
    };
    for (within, clusters) in [
        (Scope::Global, ClusterRule::Star),
        (Scope::Site, ClusterRule::Star),
        (Scope::Site, ClusterRule::Components),
    ] {
        let mut job = job();
        job.keep = Policy::Longest.into();
        job.within = within;
        job.clusters = clusters;
        let one = pairs(&job, from_ref(&path), &[], 2);
        for copies in [2, 3, 100] {
            job.keep_copies = copies;
            let some = pairs(&job, from_ref(&path), &[], 2);
            let is_dropped = |pair: &&Value| {
                let before = one.iter().filter(|other| {
                    other["kept"] == pair["kept"] && length(&other["id"]) < length(&pair["id"])
                });
                // The kept document is the first copy.
                1 + before.count() >= copies as usize
            };
            let expected: Vec<&Value> = one.iter().filter(is_dropped).collect();
            assert_eq!(some.iter().collect::<Vec<_>>(), expected);
        }
    }
}

#[test]
fn copies_cannot_be_counted_where_none_or_others_are_kept() {
    let all = documents(1, 20);
    let (_directory, path) = one_file(Form::Jsonl, &all);
    let (_other, against) = one_file(Form::Jsonl, &all);
    let out = tempfile::tempdir().unwrap();
    let resources = resources(1, out.path());
    let refused = |job: &DedupJob, against: &[PathBuf]| {
        let (inputs, progress) = (from_ref(&path), Progress::new());
        let error = refusal(run(job, inputs, against, out.path(), &resources, &progress));
        assert_eq!(error.kind(), ErrorKind::Parameter);
        error.to_string()
    };
    let mut job = job();
    job.keep_copies = 2;
    assert!(refused(&job, &[against]).contains("whose copies are not counted"));
    job.drop_all = true;
    assert!(refused(&job, &[]).contains("keeps no copy"));
    job.keep_copies = 0;
    assert!(refused(&job, &[]).contains("expected 1 to"));
}

#[test]
fn components_join_what_stars_keep_apart() {
    let all = documents(8, 300);
    let (_directory, path) = one_file(Form::Jsonl, &all);
    let stars = pairs(&job(), from_ref(&path), &[], 2);
    let mut job = job();
    job.clusters = ClusterRule::Components;
    let components = pairs(&job, &[path], &[], 2);
    assert!(components.len() >= stars.len());
    // A kept document is not dropped for another one.
    let dropped: BTreeSet<_> = components
        .iter()
        .map(|pair| pair["id"].to_string())
        .collect();
    assert!(
        components
            .iter()
            .all(|pair| !dropped.contains(&pair["kept"].to_string()))
    );
}

fn written(job: &DedupJob, form: Form, all: &[Text]) -> (tempfile::TempDir, PathBuf, Vec<Value>) {
    let (directory, path) = one_file(form, all);
    let out = directory.path().join("out");
    fs::create_dir(&out).unwrap();
    run(
        job,
        from_ref(&path),
        &[],
        &out,
        &resources(2, &out),
        &Progress::new(),
    )
    .unwrap();
    check(&out);
    let pairs = lines(&out.join("duplicates.jsonl"));
    let relative = path.strip_prefix("/").unwrap();
    let target = out.join(job.write.name()).join(relative);
    (directory, target, pairs)
}

/// Promise (Deduplication): The written dump has all documents …
#[test]
fn the_dump_is_written_without_duplicates() {
    let all = documents(9, 300);
    let mut job = job();
    job.write = WriteMode::Kept;
    for form in [Form::Jsonl, Form::JsonlGzip, Form::JsonlZstd, Form::Pages] {
        let (_directory, target, pairs) = written(&job, form, &all);
        // The kept documents have no duplicates, and are all that were not dropped.
        let again = tempfile::tempdir().unwrap();
        let resources = resources(1, again.path());
        let mut reading = job.clone();
        reading.write = WriteMode::Ids;
        let summary = run(
            &reading,
            &[target],
            &[],
            again.path(),
            &resources,
            &Progress::new(),
        )
        .unwrap();
        assert_eq!(summary.dropped(), 0, "{form:?}");
        assert_eq!(summary.seen() as usize, all.len() - pairs.len());
        let dropped: Vec<&str> = pairs
            .iter()
            .map(|pair| pair["id"].as_str().unwrap())
            .collect();
        let expected = all
            .iter()
            .map(|document| document.id.as_str())
            .filter(|id| !dropped.contains(id));
        let ids = lines(&again.path().join("kept.jsonl"));
        let ids: Vec<&str> = ids
            .iter()
            .map(|line| line["id"].as_str().unwrap())
            .collect();
        assert_eq!(ids, expected.collect::<Vec<_>>());
    }
}

/// Promise (Deduplication): The written dump has all documents …
#[test]
fn duplicates_are_annotated() {
    let all = documents(10, 200);
    let mut job = job();
    job.write = WriteMode::Annotated;
    let (_directory, target, pairs) = written(&job, Form::Jsonl, &all);
    let annotated = lines(&target);
    assert_eq!(annotated.len(), all.len());
    let duplicates: Vec<(&Value, &Value)> = annotated
        .iter()
        .filter(|line| !line["duplicate_of"].is_null())
        .map(|line| (&line["id"], &line["duplicate_of"]))
        .collect();
    let expected: Vec<(&Value, &Value)> = pairs
        .iter()
        .map(|pair| (&pair["id"], &pair["kept"]))
        .collect();
    assert_eq!(duplicates, expected);
}

#[test]
fn formats_that_cannot_be_annotated_are_refused() {
    let (_directory, path) = one_file(Form::Pages, &documents(1, 20));
    let mut job = job();
    job.write = WriteMode::Annotated;
    job.reading.format = Some(Format::FormFeed);
    let out = tempfile::tempdir().unwrap();
    let resources = resources(1, out.path());
    let error = refusal(run(
        &job,
        &[path],
        &[],
        out.path(),
        &resources,
        &Progress::new(),
    ));
    assert_eq!(error.kind(), ErrorKind::Parameter);
    assert!(error.to_string().contains("no place for a mark"), "{error}");
}

/// Pages with the same words in random order: all pairs are candidates, and none is verified. The
/// last page is the first in keep order.
#[test]
fn the_first_refusals_in_keep_order_are_listed() {
    const PAGES: usize = 300;
    let mut random = Random::new(5);
    let mut words: Vec<String> = (0..60).map(|number| format!("word{number}")).collect();
    let mut all = documents(1, PAGES);
    for page in &mut all {
        for end in (1..words.len()).rev() {
            words.swap(end, random.below(end as u64 + 1) as usize);
        }
        page.text = words.join(" ");
    }
    let first_kept = |number: usize| (number + 1).max(PAGES - 20);
    let expected: Vec<(String, String)> = (0..PAGES)
        .flat_map(|number| (first_kept(number)..PAGES).map(move |kept| (number, kept)))
        .map(|(number, kept)| (format!("d{number}"), format!("d{kept}")))
        .collect();
    let (_directory, path) = one_file(Form::Jsonl, &all);
    for clusters in [ClusterRule::Star, ClusterRule::Components] {
        for threads in [1, 3] {
            let mut job = job();
            job.clusters = clusters;
            job.reading.fields = vec!["n".into()];
            job.keep = Policy::Field("n".into()).into();
            job.refused = true;
            let out = tempfile::tempdir().unwrap();
            let resources = resources(threads, out.path());
            let inputs = from_ref(&path);
            run(&job, inputs, &[], out.path(), &resources, &Progress::new()).unwrap();
            check(out.path());
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let found: Vec<(String, String)> = lines(&out.path().join("refused.jsonl"))
                .iter()
                .map(|line| (text(&line["id"]), text(&line["kept"])))
                .collect();
            assert_eq!(found, expected);
        }
    }
}

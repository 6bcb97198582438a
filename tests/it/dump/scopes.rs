//! Scopes: documents are compared within their group only, as if each group were deduplicated
//! alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};
use simtool::ErrorKind;
use simtool::dedup::keep::Policy;
use simtool::engine::Progress;
use simtool::jobs::dedup::{ClusterRule, DedupJob, Scope};
use simtool::sketch::registry::Spec;

use crate::dump::documents::{Random, Text, documents};
use crate::dump::setup::{check, job, lines, refusal, resources, run};

/// A document with its groups: file, value of the field `dump`.
#[derive(Clone)]
struct Grouped {
    text: Text,
    file: usize,
    dump: Option<u64>,
}

const FILES: usize = 3;

fn grouped(seed: u64, count: usize, groups: u64) -> Vec<Grouped> {
    let mut random = Random::new(seed ^ 1);
    let all = documents(seed, count).into_iter();
    let mut all: Vec<Grouped> = all
        .map(|text| Grouped {
            text,
            file: random.below(FILES as u64) as usize,
            // A group without a name is a group too.
            dump: random.below(groups + 1).checked_sub(1),
        })
        .collect();
    // In the order in which the files are read.
    all.sort_by_key(|document| document.file);
    all
}

fn write(directory: &Path, all: &[Grouped]) -> Vec<PathBuf> {
    let mut files = vec![String::new(); FILES];
    for Grouped { text, file, dump } in all {
        let line = json!({
            "id": text.id, "url": text.url, "date": text.date, "text": text.text, "dump": dump,
        });
        files[*file] += &format!("{line}\n");
    }
    fs::create_dir_all(directory).unwrap();
    let files = files.into_iter().enumerate();
    files
        .map(|(number, lines)| {
            let path = directory.join(format!("{number}.jsonl"));
            fs::write(&path, lines).unwrap();
            path
        })
        .collect()
}

/// What a run found: (dropped, kept, method, similarity) of each pair, and the refused pairs.
type Answer = (BTreeSet<[String; 4]>, u64);

fn answer(job: &DedupJob, all: &[Grouped], references: &[Grouped], threads: usize) -> Answer {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let inputs = write(&path("new"), all);
    let against = match references {
        [] => Vec::new(),
        references => write(&path("old"), references),
    };
    let out = path("out");
    fs::create_dir(&out).unwrap();
    let resources = resources(threads, &out);
    run(job, &inputs, &against, &out, &resources, &Progress::new()).unwrap();
    check(&out);
    let text = |value: &Value| value.to_string();
    let pairs = lines(&out.join("duplicates.jsonl"));
    let pairs = pairs
        .iter()
        .map(|pair| ["id", "kept", "method", "similarity"].map(|name| text(&pair[name])));
    let summary = fs::read(out.join("summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    (pairs.collect(), summary["refused"].as_u64().unwrap())
}

/// The union of the answers for each group alone.
fn of_groups_alone(
    job: &DedupJob,
    all: &[Grouped],
    references: &[Grouped],
    group: impl Fn(&Grouped) -> String,
) -> Answer {
    let mut groups: BTreeMap<String, [Vec<Grouped>; 2]> = BTreeMap::new();
    for (which, documents) in [all, references].into_iter().enumerate() {
        for document in documents {
            let of_group = groups.entry(group(document)).or_default();
            of_group[which].push(document.clone());
        }
    }
    let (mut union, mut refused) = (BTreeSet::new(), 0);
    for [all, references] in groups.into_values() {
        if job.against_only && references.is_empty() {
            // Nothing is dropped. Components compare documents of the input with each other, too:
            // a chain of them may lead to a reference, if only in another group.
            if job.clusters == ClusterRule::Components {
                let among_themselves = DedupJob {
                    against_only: false,
                    ..job.clone()
                };
                refused += answer(&among_themselves, &all, &[], 1).1;
            }
            continue;
        }
        let (pairs, more) = answer(job, &all, &references, 1);
        union.extend(pairs);
        refused += more;
    }
    (union, refused)
}

fn group_of(scope: &Scope, document: &Grouped) -> String {
    match scope {
        Scope::Site => document.text.url.split('/').nth(2).unwrap().to_owned(),
        Scope::Source => document.file.to_string(),
        _ => format!("{:?}", document.dump),
    }
}

fn scoped(scope: &Scope, method: &str, clusters: ClusterRule, keep: Policy) -> DedupJob {
    let mut job = job();
    job.method = Spec::parse(method).unwrap();
    job.clusters = clusters;
    job.keep = keep.into();
    job.within = scope.clone();
    job.reading.fields = job.fields();
    job
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Promise (Deduplication): `--within` gives what a run of its own for each group would give,
    /// also with `--against`, for every rule, policy and number of threads
    #[test]
    fn groups_are_deduplicated_as_if_each_were_alone(
        seed in any::<u64>(),
        count in 2usize..140,
        groups in 1u64..20,
        references in prop_oneof![Just(0), 1usize..60],
        against_only in any::<bool>(),
        scope in prop::sample::select(vec![
            Scope::Site, Scope::Source, Scope::Field("dump".into()),
        ]),
        method in prop::sample::select(vec![
            "simhash:distance=8,stop-words=keep", "minhash:similarity=0.6,shingle=3",
            "shingles:similarity=0.6", "exact",
        ]),
        clusters in prop::sample::select(vec![ClusterRule::Star, ClusterRule::Components]),
        keep in prop::sample::select(vec![Policy::First, Policy::Longest]),
        threads in 1usize..4,
    ) {
        let references = if scope == Scope::Source { 0 } else { references.min(count - 1) };
        let all = grouped(seed, count, groups);
        let (old, new) = all.split_at(references);
        let mut job = scoped(&scope, method, clusters, keep);
        job.against_only = against_only && references > 0;
        let found = answer(&job, new, old, threads);
        job.within = Scope::Global;
        let expected = of_groups_alone(&job, new, old, |document| group_of(&scope, document));
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn languages_are_deduplicated_apart() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.jsonl");
    let english = "it is a text of some length, which everyone can tell is written in English";
    let line = |id: &str, language: Value| {
        json!({"id": id, "text": english, "lang": language}).to_string()
    };
    let all = [
        line("said", json!("en")),
        line("detected", Value::Null),
        line("region", json!("en-GB")),
        line("wrong", json!("fr")),
        line("wrong again", json!("fra_Latn")),
        json!({"id": "unknown", "text": "1 2 3 4 5 6 7 8 9 10"}).to_string(),
        json!({"id": "unknown too", "text": "1 2 3 4 5 6 7 8 9 10"}).to_string(),
    ];
    fs::write(&path, all.join("\n")).unwrap();
    let mut job = job();
    job.within = Scope::Language;
    job.reading.fields = job.fields();
    let pairs = crate::dump::setup::pairs(&job, &[path], &[], 1);
    let pairs: Vec<[&str; 2]> = pairs
        .iter()
        .map(|pair| ["id", "kept"].map(|name| pair[name].as_str().unwrap()))
        .collect();
    let expected = [
        ["detected", "said"],
        ["region", "said"],
        ["wrong again", "wrong"],
        ["unknown too", "unknown"],
    ];
    assert_eq!(pairs, expected);
}

/// The headers of WET files name languages and dates.
#[test]
fn fields_of_web_archives_are_their_headers() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.wet");
    let mut archive = String::new();
    for (id, language) in [("a", "eng"), ("b", "deu,eng"), ("c", "eng"), ("d", "de")] {
        let body = "a text of ten words, all of which are the same everywhere";
        archive += &format!(
            "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <urn:{id}>\r\n\
             WARC-Identified-Content-Language: {language}\r\nContent-Length: {}\r\n\r\n\
             {body}\r\n\r\n",
            body.len()
        );
    }
    fs::write(&path, archive).unwrap();
    let kept = |scope: Scope| {
        let mut job = job();
        job.within = scope;
        job.reading.fields = job.fields();
        let pairs = crate::dump::setup::pairs(&job, std::slice::from_ref(&path), &[], 1);
        let of = |pair: &Value| (pair["id"].to_string(), pair["kept"].to_string());
        pairs.iter().map(of).collect::<Vec<_>>()
    };
    let pair = |id: &str, kept: &str| (format!("\"urn:{id}\""), format!("\"urn:{kept}\""));
    assert_eq!(kept(Scope::Language), [pair("c", "a"), pair("d", "b")]);
    let header = Scope::Field("warc-identified-content-language".into());
    assert_eq!(kept(header), [pair("c", "a")]);
}

#[test]
fn scopes_without_a_meaning_are_refused() {
    let all = grouped(1, 20, 2);
    let directory = tempfile::tempdir().unwrap();
    let inputs = write(&directory.path().join("new"), &all);
    let against = write(&directory.path().join("old"), &all);
    let out = directory.path().join("out");
    fs::create_dir(&out).unwrap();
    let resources = resources(1, &out);
    let mut job = job();
    job.within = Scope::Source;
    let error = refusal(run(
        &job,
        &inputs,
        &against,
        &out,
        &resources,
        &Progress::new(),
    ));
    assert_eq!(error.kind(), ErrorKind::Parameter);
    assert!(error.to_string().contains("with another file"), "{error}");
    // A field that the reader does not pass on would be a group of all documents.
    job.within = Scope::Field("dump".into());
    let error = refusal(run(&job, &inputs, &[], &out, &resources, &Progress::new()));
    assert!(error.to_string().contains("not requested"), "{error}");
}

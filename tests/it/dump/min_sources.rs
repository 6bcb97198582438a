//! The sources and sites of clusters, and `--min-sources`, compared with their definition.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};
use simtool::dedup::keep::Policy;
use simtool::engine::Progress;
use simtool::jobs::dedup::{ClusterRule, DedupJob, Scope, UrlRule, WriteMode};
use simtool::sketch::registry::Spec;

use crate::dump::documents::{Random, Text, documents};
use crate::dump::oracle;
use crate::dump::setup::{Form, check, job, lines, resources, run, write};

/// Documents of some files, in order. Some have no URL.
fn files(seed: u64, count: usize, files: u64) -> Vec<Vec<Text>> {
    let mut random = Random::new(seed);
    let mut all: Vec<Vec<Text>> = vec![Vec::new(); files as usize];
    // The numbers in ids ascend in the order of the files.
    for (number, mut document) in documents(seed, count).into_iter().enumerate() {
        if random.below(4) == 0 {
            document.url.clear();
        }
        all[number * files as usize / count].push(document);
    }
    all
}

fn write_files(directory: &Path, files: &[Vec<Text>]) -> Vec<PathBuf> {
    let write_one = |(number, documents): (usize, &Vec<Text>)| {
        let path = directory.join(format!("f{number}.jsonl"));
        write(&path, Form::Jsonl, documents);
        path
    };
    files.iter().enumerate().map(write_one).collect()
}

/// The reports of a run that lists the kept documents.
struct Reports {
    summary: Value,
    duplicates: Vec<Value>,
    clusters: Vec<Value>,
    kept: Vec<Value>,
}

fn reports(job: &DedupJob, inputs: &[PathBuf]) -> Reports {
    let out = tempfile::tempdir().unwrap();
    let job = DedupJob {
        write: WriteMode::Ids,
        ..job.clone()
    };
    let resources = resources(2, out.path());
    run(&job, inputs, &[], out.path(), &resources, &Progress::new()).unwrap();
    check(out.path());
    let lines = |name: &str| lines(&out.path().join(name));
    let summary = std::fs::read(out.path().join("summary.json")).unwrap();
    Reports {
        summary: serde_json::from_slice(&summary).unwrap(),
        duplicates: lines("duplicates.jsonl"),
        clusters: lines("clusters.jsonl"),
        kept: lines("kept.jsonl"),
    }
}

/// The definition: id, id of the kept document, method of documents that are dropped for few
/// sources, and size, sources and sites of the cluster of each dropped document.
fn naive(job: &DedupJob, files: &[Vec<Text>]) -> Vec<Value> {
    let all = files.concat();
    let order: Vec<usize> = (0..all.len()).collect();
    let found = oracle::duplicates(job, &all, &order);
    let kept_of: BTreeMap<&String, &String> = found.iter().map(|pair| (&pair.0, &pair.1)).collect();
    let first = |id: &String| kept_of.get(id).copied().unwrap_or(id).clone();
    let mut clusters: BTreeMap<String, Vec<(usize, &Text)>> = BTreeMap::new();
    for (file, documents) in files.iter().enumerate() {
        for document in documents {
            let cluster = clusters.entry(first(&document.id)).or_default();
            cluster.push((file, document));
        }
    }
    let line = |document: &Text| {
        let members = &clusters[&first(&document.id)];
        let sources: BTreeSet<usize> = members.iter().map(|(file, _)| *file).collect();
        let hosts = members
            .iter()
            .filter_map(|(_, member)| member.url.split('/').nth(2));
        let sites = hosts.collect::<BTreeSet<&str>>().len();
        let kept = kept_of.get(&document.id);
        let counts = [members.len(), sources.len(), sites];
        let is_dropped = kept.is_some() || sources.len() < job.min_sources as usize;
        is_dropped.then(|| json!([document.id, kept, kept.is_none(), counts]))
    };
    all.iter().filter_map(line).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Promise (Deduplication): `--min-sources K` keeps the documents whose cluster has documents
    /// of at least K sources, and lists all others; the sources and sites of clusters are exact
    #[test]
    fn what_few_sources_have_is_dropped(seed in 0..1000u64, sources in 3..7u64, least in 1..4u32) {
        let files = files(seed, 120, sources);
        let directory = tempfile::tempdir().unwrap();
        let inputs = write_files(directory.path(), &files);
        let job = DedupJob { min_sources: least, ..job() };
        let reports = reports(&job, &inputs);
        let line = |line: &Value| {
            let counts = ["size", "sources", "sites"].map(|name| &line[format!("cluster_{name}")]);
            json!([line["id"], line["kept"], line["method"] == "few-sources", counts])
        };
        let expected = naive(&job, &files);
        prop_assert_eq!(reports.duplicates.iter().map(line).collect::<Vec<_>>(), &expected[..]);
        // `check` has compared the counts of the summary.
        let few = expected.iter().filter(|line| line[2] == true).count();
        prop_assert_eq!(few > 0, least > 1);
        let counted = reports.summary["dropped_by"]["few-sources"].as_u64();
        prop_assert_eq!(counted, (least > 1).then_some(few as u64));
    }
}

/// The clusters are those of a run without the flag.
/// Promise (Deduplication): `--min-sources K` keeps …
#[test]
fn clusters_of_enough_sources_are_kept_as_without_the_flag() {
    type Change = fn(&mut DedupJob);
    let changes: [Change; 6] = [
        |job| job.keep = Policy::Longest.into(),
        |job| job.clusters = ClusterRule::Components,
        |job| job.within = Scope::Site,
        |job| job.keep_copies = 2,
        |job| job.url = UrlRule::First,
        |job| job.method = Spec::parse("exact").unwrap(),
    ];
    for (number, change) in changes.iter().enumerate() {
        let directory = tempfile::tempdir().unwrap();
        let inputs = write_files(directory.path(), &files(40 + number as u64, 240, 5));
        let mut job = job();
        change(&mut job);
        let usual = reports(&job, &inputs);
        let mut enough = BTreeSet::new();
        for cluster in &usual.clusters {
            let members = cluster["members"].as_array().unwrap();
            let distinct = |values: Vec<&str>| values.into_iter().collect::<BTreeSet<_>>().len();
            let text = |name: &'static str| members.iter().filter_map(move |m| m[name].as_str());
            let sources = distinct(text("file").collect());
            let sites = distinct(
                text("url")
                    .filter_map(|url| url.split('/').nth(2))
                    .collect(),
            );
            assert_eq!(cluster["sources"], sources, "{cluster}");
            assert_eq!(cluster["sites"], sites, "{cluster}");
            if sources >= 2 {
                enough.extend(members.iter().map(|member| member["id"].to_string()));
            }
        }
        job.min_sources = 2;
        let some = reports(&job, &inputs);
        let is_enough = |line: &&Value| enough.contains(&line["id"].to_string());
        let expected: Vec<&Value> = usual.kept.iter().filter(is_enough).collect();
        assert!(
            !expected.is_empty() && expected.len() < usual.kept.len(),
            "{number}"
        );
        assert_eq!(some.kept.iter().collect::<Vec<_>>(), expected, "{number}");
        assert_eq!(some.clusters.len(), usual.clusters.len());
        // What was dropped before has the same evidence.
        let dropped: BTreeSet<String> = usual.duplicates.iter().map(Value::to_string).collect();
        let listed: BTreeSet<String> = some.duplicates.iter().map(Value::to_string).collect();
        assert!(dropped.is_subset(&listed), "{number}");
    }
}

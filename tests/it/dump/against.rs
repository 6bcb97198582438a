//! `--against`: new documents that duplicate a reference or another new document are dropped.

use std::collections::BTreeSet;
use std::fs;

use proptest::prelude::*;
use serde_json::Value;
use simtool::ErrorKind;
use simtool::dedup::keep::Policy;
use simtool::engine::Progress;
use simtool::jobs::dedup::{ClusterRule, DedupJob};
use simtool::sketch::registry::Spec;

use crate::dump::documents::{Text, documents};
use crate::dump::oracle;
use crate::dump::setup::{Form, Found, check, found, job, lines, refusal, resources, run, write};

/// Runs a job on `all`, of which the first `references` documents are the references. Returns the
/// list of pairs and the summary.
fn against(job: &DedupJob, all: &[Text], references: usize, threads: usize) -> (Vec<Value>, Value) {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let (old, new) = all.split_at(references);
    let half = references / 2;
    write(&path("old-1"), Form::Pages, &old[..half]);
    write(&path("old-2"), Form::Jsonl, &old[half..]);
    write(&path("new"), Form::Jsonl, new);
    let out = path("out");
    fs::create_dir(&out).unwrap();
    run(
        job,
        &[path("new")],
        &[path("old-1"), path("old-2")],
        &out,
        &resources(threads, &out),
        &Progress::new(),
    )
    .unwrap();
    check(&out);
    let summary = fs::read(out.join("summary.json")).unwrap();
    let pairs = lines(&out.join("duplicates.jsonl"));
    (pairs, serde_json::from_slice(&summary).unwrap())
}

/// Whether the document of this name is one of the first `references`.
fn is_reference(id: &str, references: usize) -> bool {
    id[1..].parse::<usize>().unwrap() < references
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Promise (Deduplication): The kept copy is the best …
    /// Promise (Deduplication): With `--against`, a document is dropped if it repeats one of those
    /// documents or another new one, and none of those is dropped; with `--against-only`, only the
    /// former
    #[test]
    fn the_result_is_that_of_the_definition(
        seed in any::<u64>(),
        count in 2usize..160,
        references in 1usize..80,
        distance in 0u32..20,
        thousandths in 300u32..1000,
        threads in 1usize..4,
        against_only in any::<bool>(),
        longest in any::<bool>(),
    ) {
        let references = references.min(count - 1);
        let mut job = job();
        job.against_only = against_only;
        let method = format!("simhash:distance={distance},stop-words=keep");
        job.method = Spec::parse(&method).unwrap();
        job.verification.least.thousandths = thousandths;
        let all = documents(seed, count);
        let mut order: Vec<usize> = (0..count).collect();
        if longest {
            job.keep = Policy::Longest.into();
            // A form feed that ends a page does not count as text.
            order.sort_by_key(|&number| std::cmp::Reverse(all[number].text.len()));
        }
        let expected = oracle::duplicates_against(&job, &all, &order, references);
        let (pairs, summary) = against(&job, &all, references, threads);
        let found = found(&pairs);
        prop_assert_eq!(&found, &expected);
        let of_references = |(_, kept, ..): &&Found| is_reference(kept, references);
        let count = found.iter().filter(of_references).count();
        prop_assert_eq!(summary["dropped_against"].as_u64(), Some(count as u64));
        if against_only {
            prop_assert_eq!(count, found.len());
        }
    }
}

#[test]
fn duplicates_within_the_input_are_dropped_too() {
    let all = documents(6, 260);
    let (usual, _) = against(&job(), &all, 100, 2);
    let mut only = job();
    only.against_only = true;
    let (only, _) = against(&only, &all, 100, 2);
    let ids = |pairs: &[Value]| -> BTreeSet<String> {
        pairs.iter().map(|pair| pair["id"].to_string()).collect()
    };
    assert!(!only.is_empty());
    assert!(ids(&usual).is_superset(&ids(&only)));
    let within = usual
        .iter()
        .filter(|pair| !is_reference(pair["kept"].as_str().unwrap(), 100));
    assert!(within.count() > 0);
}

/// A document that a chain of pairs connects with a reference is dropped for the reference.
/// Promise (Deduplication): With `--against`, a document is dropped …
#[test]
fn components_drop_no_reference() {
    let all = documents(8, 300);
    for against_only in [false, true] {
        let mut job = job();
        job.clusters = ClusterRule::Components;
        job.against_only = against_only;
        let (pairs, summary) = against(&job, &all, 150, 2);
        let found = found(&pairs);
        assert!(found.iter().all(|(id, ..)| !is_reference(id, 150)));
        let for_reference = found.iter().filter(|(_, kept, ..)| is_reference(kept, 150));
        let count = for_reference.count();
        assert!(count > 0);
        assert_eq!(summary["dropped_against"], count);
        assert_eq!(found.len() == count, against_only);
        // Stars drop a subset: both documents of each of their pairs are in one component.
        job.clusters = ClusterRule::Star;
        let (stars, _) = against(&job, &all, 150, 2);
        let ids = |pairs: &[Value]| -> BTreeSet<String> {
            pairs.iter().map(|pair| pair["id"].to_string()).collect()
        };
        assert!(ids(&pairs).is_superset(&ids(&stars)));
    }
}

#[test]
fn drop_all_is_refused_with_references() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("input");
    write(&path, Form::Jsonl, &documents(1, 10));
    let mut job = job();
    job.drop_all = true;
    let out = tempfile::tempdir().unwrap();
    let inputs = std::slice::from_ref(&path);
    let resources = resources(1, out.path());
    let error = refusal(run(
        &job,
        inputs,
        inputs,
        out.path(),
        &resources,
        &Progress::new(),
    ));
    assert_eq!(error.kind(), ErrorKind::Parameter);
    assert!(
        error.to_string().contains("keep none needs an input"),
        "{error}"
    );
}

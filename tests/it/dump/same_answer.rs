//! The result does not depend on files, formats, chunks and threads.

use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::Value;
use simtool::jobs::dedup::DedupJob;
use simtool::sketch::registry::Spec;

use crate::dump::documents::{Text, documents};
use crate::dump::oracle;
use crate::dump::setup::{Form, Found, found, job, pairs, write};

/// Equal documents have the share 1/1 or n/n, depending on how they were found; here all are 1/1.
fn reduced(found: Vec<Found>) -> Vec<Found> {
    let reduce = |(id, kept, distance, (shared, all)): Found| {
        let verified = if shared == all { (1, 1) } else { (shared, all) };
        (id, kept, distance, verified)
    };
    found.into_iter().map(reduce).collect()
}

/// The list of pairs of the documents, split into one file for each form.
fn pairs_in_files(
    job: &DedupJob,
    documents: &[Text],
    forms: &[Form],
    threads: usize,
) -> Vec<Value> {
    let directory = tempfile::tempdir().unwrap();
    let each = documents.len().div_ceil(forms.len()).max(1);
    let paths: Vec<PathBuf> = documents
        .chunks(each)
        .zip(forms)
        .enumerate()
        .map(|(number, (documents, form))| {
            let path = directory.path().join(format!("{number:03}"));
            write(&path, *form, documents);
            path
        })
        .collect();
    pairs(job, &paths, &[], threads)
}

fn in_files(job: &DedupJob, documents: &[Text], forms: &[Form], threads: usize) -> Vec<Found> {
    found(&pairs_in_files(job, documents, forms, threads))
}

/// Methods of every kind: without sketches, with fingerprints, with keys, with sketches of variable
/// length, and with corpus statistics.
const METHODS: [&str; 11] = [
    "exact",
    "normalized",
    "simhash:bits=128,distance=10,weights=log-tf",
    "simhash:features=2,distance=10,stop-words=keep",
    "simhash:bits=128,distance=10,weights=top,top=50,stop-words=keep",
    "simhash:distance=10,weights=tf-idf",
    "simhash:bits=32,distance=6",
    "minhash:shingle=3",
    "mirror-5",
    "content-seen:distance=8",
    "character-codes:weights=tf-idf",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Promise (Deduplication): The dropped documents, their kept copies and the reasons follow the
    /// definition, pair by pair, for any split into files, formats, compression, chunks and threads
    #[test]
    fn the_result_is_that_of_the_definition(
        seed in any::<u64>(),
        count in 1usize..120,
        distance in 0u32..20,
        thousandths in 300u32..1000,
        threads in 1usize..4,
        chunk_bytes in 1usize..20_000,
        section_bytes in 4u64..30_000,
        forms in prop::collection::vec(
            prop::sample::select(vec![Form::Jsonl, Form::JsonlGzip, Form::JsonlZstd, Form::Pages]),
            1..5,
        ),
    ) {
        let mut job = job();
        let method = format!("simhash:distance={distance},stop-words=keep");
        job.method = Spec::parse(&method).unwrap();
        job.verification.least.thousandths = thousandths;
        job.reading.chunk_bytes = chunk_bytes;
        job.reading.section_bytes = section_bytes;
        let documents = documents(seed, count);
        let order: Vec<usize> = (0..count).collect();
        let expected = oracle::duplicates(&job, &documents, &order);
        prop_assert_eq!(reduced(in_files(&job, &documents, &forms, threads)), reduced(expected));
    }

    /// Promise (Deduplication): The dropped documents, their kept copies …
    /// Promise (Methods and their evaluation): Every method gives one deduplication result for all
    /// ways to store the documents
    #[test]
    fn every_method_gives_one_result(
        seed in any::<u64>(),
        method in 0usize..METHODS.len(),
        chunk_bytes in 1usize..20_000,
        section_bytes in 4u64..30_000,
    ) {
        let mut job = job();
        job.method = Spec::parse(METHODS[method]).unwrap();
        let documents = documents(seed, 150);
        let run = |job: &DedupJob, forms: &[Form], threads| {
            let pairs = pairs_in_files(job, &documents, forms, threads);
            let evidence = |pair: &Value| {
                ["id", "kept", "method", "distance", "estimate", "similarity", "shared"]
                    .map(|field| pair[field].clone())
            };
            pairs.iter().map(evidence).collect::<Vec<_>>()
        };
        let expected = run(&job, &[Form::Jsonl], 1);
        prop_assert!(!expected.is_empty());
        job.reading.chunk_bytes = chunk_bytes;
        job.reading.section_bytes = section_bytes;
        let forms = [Form::JsonlZstd, Form::Pages, Form::JsonlGzip];
        prop_assert_eq!(run(&job, &forms, 3), expected);
    }
}

/// Promise (Deduplication): A million equal documents cost no more than a million different ones
#[test]
fn equal_documents_are_dropped_for_the_first() {
    let mut all = documents(1, 1);
    all[0].text = "the same words in each of these documents, every time".to_owned();
    let all: Vec<Text> = (0..3000)
        .map(|number| Text {
            id: format!("d{number}"),
            ..all[0].clone()
        })
        .collect();
    let found = in_files(&job(), &all, &[Form::Jsonl], 2);
    assert_eq!(found.len(), 2999);
    assert!(found.iter().all(|(_, kept, distance, verified)| {
        (kept.as_str(), *distance, *verified) == ("d0", 0, (1, 1))
    }));
}

#[test]
fn no_document_or_one_has_no_duplicate() {
    assert!(in_files(&job(), &[], &[Form::Jsonl], 2).is_empty());
    assert!(in_files(&job(), &documents(1, 1), &[Form::Pages], 1).is_empty());
}

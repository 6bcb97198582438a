//! The main job, `simtool N M`, against its definition.
//!
//! `settled` tests each question that the specification leaves open. `hostile` compares any bytes
//! with the oracle. `ranking` has corpora whose N most frequent words are difficult to determine.
//! `large` has large inputs, and `stopped` runs that end early.
//!
//! Promise (Reproducible answers): The result has the same bytes … (every test goes through all
//! kinds of resources)

#![allow(clippy::unwrap_used)]

mod corpora;
mod hostile;
mod large;
mod oracle;
mod ranking;
mod settled;
mod stopped;

use oracle::Job;
use simtool::engine::{Progress, Resources};
use simtool::jobs::main_job::{self, MainJobInputs, MainJobSummary};
use simtool::kernel::Level;

/// Resources from the least memory, in which nothing is kept, to plenty. The result must not depend
/// on them.
fn all_resources() -> Vec<Resources> {
    let mut all = Vec::new();
    for level in Level::available() {
        for (threads, spare_bytes) in [(1, 0), (2, 200_000), (3, 3 << 20), (4, 1 << 30)] {
            all.push(resources(threads, spare_bytes, level));
        }
    }
    all
}

fn resources(threads: usize, spare_bytes: u64, level: Level) -> Resources {
    Resources {
        threads,
        memory_bytes: Resources::least_memory_bytes(threads) + spare_bytes,
        temporary: std::env::temp_dir(),
        level,
    }
}

/// The result of the library.
fn run(job: &Job, resources: &Resources) -> simtool::Result<(Vec<u8>, MainJobSummary)> {
    let inputs = MainJobInputs {
        articles: job.articles.iter().map(Vec::as_slice).collect(),
        samples: vec![&job.samples],
        stop_words: &job.stop_words,
        hash_table: &job.hash_table,
    };
    let mut result = Vec::new();
    let mut sink = |bytes: &[u8]| {
        result.extend_from_slice(bytes);
        Ok(())
    };
    let job = main_job::MainJob::new(job.features, job.columns, job.distance as u32)?;
    let summary = job.run(&inputs, resources, &Progress::new(), &mut sink)?;
    Ok((result, summary))
}

/// Compares the library with the oracle for some resources; returns the result.
fn check_with(job: &Job, all_resources: &[Resources]) -> Vec<u8> {
    let expected = job.result().expect("the hash table is good");
    let features = job.ranking().len() as u64;
    for resources in all_resources {
        let (result, summary) = run(job, resources).expect("the hash table is good");
        if result != expected {
            let differs = result
                .iter()
                .zip(&expected)
                .take_while(|(a, b)| a == b)
                .count();
            let around = |bytes: &[u8]| {
                let end = bytes.len().min(differs + 80);
                bytes[differs.saturating_sub(80).min(end)..end]
                    .escape_ascii()
                    .to_string()
            };
            panic!(
                "{resources:?}\nat byte {differs}: {}\nexpected: {}",
                around(&result),
                around(&expected)
            );
        }
        assert_eq!(summary.output_bytes, expected.len() as u64);
        assert_eq!(summary.features, features);
    }
    expected
}

/// Compares the library with the oracle for all kinds of resources; returns the result.
fn check(job: &Job) -> Vec<u8> {
    check_with(job, &all_resources())
}

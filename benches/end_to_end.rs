//! Throughput of the whole main job in memory, in bytes per second.

#![allow(clippy::unwrap_used)]

mod corpus;
#[path = "../tests/main_job/oracle.rs"]
mod oracle;

use std::sync::LazyLock;

use corpus::CORPUS;
use divan::{Bencher, counter::BytesCount};
use simtool::engine::{Progress, Resources};
use simtool::jobs::main_job::{MainJob, MainJobInputs};
use simtool::kernel::Level;

fn main() {
    divan::main();
}

const DISTANCE: usize = 3;

/// The result by the definition of the job, with 1000 features and 64 bits.
static EXPECTED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let job = oracle::Job {
        features: 1000,
        columns: 64,
        distance: DISTANCE,
        articles: vec![CORPUS.articles.clone()],
        samples: CORPUS.samples.clone(),
        stop_words: CORPUS.stop_words.clone(),
        hash_table: CORPUS.hash_table.clone(),
    };
    job.result().unwrap()
});

#[divan::bench(args = [1, 2], sample_count = 20)]
fn main_job(bencher: Bencher, threads: usize) {
    assert!(result(threads) == *EXPECTED);
    bencher
        .counter(BytesCount::new(
            CORPUS.articles.len() + CORPUS.samples.len(),
        ))
        .bench(|| result(threads).len());
}

fn result(threads: usize) -> Vec<u8> {
    let inputs = MainJobInputs {
        articles: vec![&CORPUS.articles],
        samples: vec![&CORPUS.samples],
        stop_words: &CORPUS.stop_words,
        hash_table: &CORPUS.hash_table,
    };
    let resources = Resources {
        threads,
        memory_bytes: 1 << 30,
        temporary: std::env::temp_dir(),
        level: Level::best(),
    };
    let mut result = Vec::new();
    let mut sink = |bytes: &[u8]| {
        result.extend_from_slice(bytes);
        Ok(())
    };
    let job = MainJob::new(1000, 64, DISTANCE as u32).unwrap();
    job.run(&inputs, &resources, &Progress::new(), &mut sink)
        .unwrap();
    result
}

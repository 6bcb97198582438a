//! The main job gives the result of its definition with any resources.
//!
//! The threads of the pool may end shortly after a run, which the leak detector would report.
//!
//! Promise (Failing inputs): Inputs may hold any bytes: control …
#![no_main]

#[path = "../../tests/main_job/oracle.rs"]
mod oracle;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use simtool::engine::{Progress, Resources};
use simtool::jobs::main_job::{MainJob, MainJobInputs};
use simtool::kernel::Level;

#[derive(Arbitrary, Debug)]
struct Case {
    features: u16,
    columns: u8,
    distance: u8,
    level: u8,
    threads: u8,
    spare_bytes: u32,
    table: Table,
    stop_words: Vec<u8>,
    samples: Vec<u8>,
    articles: Vec<Vec<u8>>,
}

#[derive(Arbitrary, Debug)]
enum Table {
    /// These rows, repeated as often as necessary.
    Rows(Vec<u128>),
    Bytes(Vec<u8>),
}

fuzz_target!(|case: Case| {
    let features = usize::from(case.features) % 200 + 1;
    let columns = usize::from(case.columns) % 128 + 1;
    let job = oracle::Job {
        features,
        columns,
        distance: usize::from(case.distance) % (columns + 1),
        hash_table: match case.table {
            Table::Bytes(bytes) => bytes,
            Table::Rows(rows) => {
                let rows = rows.iter().chain(&[u128::MAX]).cycle().take(features);
                rows.map(|row| format!("{row:0128b}\n"))
                    .collect::<String>()
                    .into()
            }
        },
        stop_words: case.stop_words,
        samples: case.samples,
        articles: case.articles,
    };
    let expected = job.result();
    let inputs = MainJobInputs {
        articles: job.articles.iter().map(Vec::as_slice).collect(),
        samples: vec![&job.samples],
        stop_words: &job.stop_words,
        hash_table: &job.hash_table,
    };
    let levels: Vec<Level> = Level::available().collect();
    let threads = usize::from(case.threads) % 3 + 1;
    let resources = Resources {
        threads,
        memory_bytes: Resources::least_memory_bytes(threads) + u64::from(case.spare_bytes),
        temporary: std::env::temp_dir(),
        level: levels[usize::from(case.level) % levels.len()],
    };
    let mut result = Vec::new();
    let mut sink = |bytes: &[u8]| {
        result.extend_from_slice(bytes);
        Ok(())
    };
    let job = MainJob::new(job.features, job.columns, job.distance as u32).expect("within limits");
    let done = job.run(&inputs, &resources, &Progress::new(), &mut sink);
    assert_eq!(done.is_ok(), expected.is_some());
    assert!(expected.as_ref().is_none_or(|expected| *expected == result));
});

//! Every row of a table is returned or reported as lost, exactly once, and reading resumes at any
//! batch.
//!
//! Panics of the decoder are caught and become errors, so they must not end the process.
//!
//! Promise (Deduplication): Every parser accepts any bytes; memory …
#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use simtool::corpus::Reading;
use simtool::corpus::parquet::{Batches, Fields, Table};
use tempfile::NamedTempFile;

fuzz_target!(init: std::panic::set_hook(Box::new(report)), |input: &[u8]| {
    let mut file = NamedTempFile::new().expect("space for a file");
    file.write_all(input).expect("space for a file");
    let reading = Reading { chunk_bytes: 64, fields: vec!["k.n".into()], ..Reading::default() };
    let Ok(Ok(table)) = Table::open(file.path(), &reading) else {
        return;
    };
    let found = rows(table.batches(0), &reading);
    let mut next = 0;
    for (number, (first_row, rows, _)) in found.iter().enumerate() {
        assert_eq!(*first_row, next);
        next += rows;
        if number < 4 {
            assert_eq!(self::rows(table.batches(*first_row), &reading), found[number..]);
        }
    }
    assert_eq!(next, table.rows());
});

/// The first row, number of rows and content of every batch, or the lost rows instead.
fn rows(batches: Batches, reading: &Reading) -> Vec<(u64, u64, String)> {
    let rows = batches.map(|batch| match batch.expect("a readable file") {
        Ok((first_row, batch)) => {
            let mut fields = Fields::of(&batch, reading);
            let rows = (0..batch.num_rows()).map(|row| format!("{:?}", fields.row(row)));
            (first_row, batch.num_rows() as u64, rows.collect())
        }
        Err(lost) => (lost.first_row, lost.rows, lost.detail),
    });
    rows.collect()
}

/// Prints the panics of this file and of the crate, which are not caught.
fn report(panic: &std::panic::PanicHookInfo<'_>) {
    let is_caught = |file: &str| file.contains("/arrow-") || file.contains("/parquet-");
    if !panic
        .location()
        .is_some_and(|place| is_caught(place.file()))
    {
        eprintln!("{panic}");
    }
}

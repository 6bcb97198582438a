//! Counts words naively, with one thread and one hash map: the baseline of the main job.
//!
//! `cargo run --release --example naive_count FILE` prints the number of words, of distinct words,
//! and the seconds.

#![allow(clippy::print_stdout)]

use std::path::Path;
use std::time::Instant;

use ahash::AHashMap;
use simtool::corpus::form_feed::pages;
use simtool::io::{Input, guard};
use simtool::{Error, ErrorKind, Result};

fn main() -> Result<()> {
    let usage = || {
        Error::new(
            ErrorKind::Parameter,
            "expected one argument, a file of pages",
        )
    };
    let name = std::env::args_os().nth(1).ok_or_else(usage)?;
    // SAFETY: the inputs are verified, and nothing else handles SIGBUS.
    unsafe { guard::install() }?;
    let start = Instant::now();
    let input = Input::open(Path::new(&name), &std::env::temp_dir())?;
    let mut counts: AHashMap<Vec<u8>, u32> = AHashMap::new();
    let mut word = Vec::new();
    for page in pages(input.bytes()) {
        let runs = page.text.split(|byte| !byte.is_ascii_alphabetic());
        for run in runs.filter(|run| !run.is_empty()) {
            word.clear();
            word.extend_from_slice(run);
            word.make_ascii_lowercase();
            match counts.get_mut(&word) {
                Some(count) => *count += 1,
                None => drop(counts.insert(word.clone(), 1)),
            }
        }
    }
    input.verify()?;
    let words: u64 = counts.values().map(|&count| u64::from(count)).sum();
    let seconds = start.elapsed().as_secs_f64();
    println!("{words} words, {} different, {seconds:.3} s", counts.len());
    Ok(())
}

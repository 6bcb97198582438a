//! Which lines of standard input are near a different line of this run or an earlier one?
//! Lines that are equal to an earlier one are not listed.
//!
//! `cargo run --release --example seen_before -- DIRECTORY < lines.txt`

#![allow(clippy::print_stdout, reason = "its output")]

use std::io::{BufRead, stdin};
use std::path::Path;

use simtool::{Index, Verdict};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args()
        .nth(1)
        .ok_or("usage: seen_before DIRECTORY")?;
    let index = match Path::new(&directory).exists() {
        true => Index::open(&directory)?,
        false => Index::create(&directory)?,
    };
    for line in stdin().lock().lines() {
        let line = line?;
        // An id is at least one byte.
        if line.is_empty() {
            continue;
        }
        let answer = index.add(&line, &line)?;
        if answer.verdict == Verdict::Duplicate {
            let first = String::from_utf8_lossy(&answer.matches[0].id);
            println!("{line}\n    is near {first}");
        }
    }
    Ok(())
}

//! Which lines of standard input repeat an earlier line?
//!
//! `cargo run --release --example near_duplicates < lines.txt`

#![allow(clippy::print_stdout, reason = "its output")]

use std::io::{BufRead, stdin};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let lines = stdin().lock().lines().collect::<Result<Vec<_>, _>>()?;
    for pair in simtool::dedup(&lines)? {
        println!(
            "line {} repeats line {}: {:?}",
            pair.document + 1,
            pair.kept + 1,
            pair.evidence
        );
    }
    Ok(())
}

//! How similar are two files?
//!
//! `cargo run --release --example compare_files -- a.txt b.txt`

#![allow(clippy::print_stdout, reason = "its output")]

use std::fs;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let [a, b] = paths.as_slice() else {
        return Err("usage: compare_files FILE FILE".into());
    };
    let (a, b) = (fs::read(a)?, fs::read(b)?);
    let similarity = simtool::similarity(&a, &b);
    let estimate = simtool::minhash(&a).similarity(&simtool::minhash(&b));
    let distance = simtool::hamming_distance(simtool::simhash(&a), simtool::simhash(&b));
    println!("{similarity} shingles in common, {:.3}", similarity.value());
    println!("MinHash estimates {estimate:.3}");
    println!("SimHash fingerprints differ in {distance} of 64 bits");
    Ok(())
}

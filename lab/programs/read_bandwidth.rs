//! The read bandwidth of a mapped file: an upper bound on the speed of the main job.
//!
//! `cargo run --release --example read_bandwidth FILE THREADS` prints seconds, separated by tabs,
//! for a sum of the bytes and for a search for form feeds: in a new mapping (`first`, including
//! page faults) and in the same one again (`again`, only memory).

#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use simtool::io::{Input, guard};
use simtool::{Error, ErrorKind, Result};

fn main() -> Result<()> {
    let (path, threads) = arguments()?;
    // SAFETY: the inputs are verified, and nothing else handles SIGBUS.
    unsafe { guard::install() }?;
    measure("sum", &path, threads, sum)?;
    measure("form feeds", &path, threads, form_feeds)
}

fn arguments() -> Result<(PathBuf, usize)> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().map(PathBuf::from);
    let threads = arguments.next().and_then(|number| number.parse().ok());
    match (path, threads) {
        (Some(path), Some(threads @ 1..)) => Ok((path, threads)),
        _ => {
            let message = "expected a file and a number of threads";
            Err(Error::new(ErrorKind::Parameter, message))
        }
    }
}

fn measure(name: &str, path: &Path, threads: usize, read: fn(&[u8]) -> u64) -> Result<()> {
    let input = Input::open(path, &std::env::temp_dir())?;
    let timed = || {
        let start = Instant::now();
        let answer = in_parts(input.bytes(), threads, read);
        (answer, start.elapsed().as_secs_f64())
    };
    let ((answer, first), (answer_again, again)) = (timed(), timed());
    assert!(answer == answer_again && answer == read(input.bytes()));
    input.verify()?;
    println!("{name}\t{first:.6}\t{again:.6}");
    Ok(())
}

/// Divides `bytes` among threads and adds up their results.
fn in_parts(bytes: &[u8], threads: usize, read: fn(&[u8]) -> u64) -> u64 {
    // Parts are multiples of a word, so that the sum is independent of the number of threads.
    let share = bytes.len().div_ceil(threads).next_multiple_of(8).max(8);
    let add = |sum: u64, part: u64| sum.wrapping_add(part);
    thread::scope(|scope| {
        let readers: Vec<_> = bytes
            .chunks(share)
            .map(|part| scope.spawn(move || read(part)))
            .collect();
        let answers = readers.into_iter().flat_map(|reader| reader.join());
        answers.fold(0, add)
    })
}

/// The sum of the bytes, eight at a time, limited by memory bandwidth.
fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let rest = rest.iter().map(|&byte| u64::from(byte));
    words.chain(rest).fold(0, u64::wrapping_add)
}

fn form_feeds(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\x0c', bytes).count() as u64
}

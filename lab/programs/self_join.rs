//! Times a self-join of fingerprints of 64 bits and checks its answer.
//!
//! `self_join COUNT K any|pairs uniform|skewed|FILE [THREADS [MEMORY_MIB [check]]]`. A file has a
//! fingerprint in every 8 bytes. Of the others, one in ten is 0 to 3 bits away from an earlier one,
//! and must be found. With `check`, the answers for 1000 fingerprints are compared with brute force.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use simtool::Result;
use simtool::kernel::Level;
use simtool::search::hamming::self_join::{SelfJoin, Watch};
use simtool::search::hamming::{HammingScratch, Index, Strategy};

struct Unwatched;

impl Watch for Unwatched {
    fn reached(&self, _: f64) -> Result<()> {
        Ok(())
    }
}

/// SplitMix64.
fn mix(seed: u64) -> u64 {
    let mixed = (seed ^ seed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

/// Bit `j` is set with a probability between 0.02 and 0.99.
fn skewed(number: u64) -> u64 {
    (0..64u64).fold(0, |bits, bit| {
        let random = mix(mix(number) ^ bit.wrapping_mul(0x9E37_79B9_7F4A_7C15)) & 255;
        bits | u64::from(random < 5 + bit * 249 / 63) << bit
    })
}

/// The earlier fingerprint that a fingerprint is near to, and the bits in which it differs.
fn planted(number: usize) -> Option<(usize, u64)> {
    (number > 0 && number.is_multiple_of(10)).then(|| {
        let random = mix(number as u64 ^ 0xABCD);
        let errors =
            (0..random % 4).fold(0u64, |errors, e| errors | 1 << (random >> (8 + 6 * e) & 63));
        ((random >> 32) as usize % number, errors)
    })
}

fn fingerprints(count: usize, kind: &str) -> Vec<u64> {
    let mut all: Vec<u64> = match kind {
        "uniform" => (0..count as u64).map(|number| mix(number + 1)).collect(),
        "skewed" => (0..count as u64).map(skewed).collect(),
        file => {
            let bytes = std::fs::read(file).unwrap();
            let (all, _) = bytes.as_chunks();
            return all
                .iter()
                .take(count)
                .map(|&bytes| u64::from_le_bytes(bytes))
                .collect();
        }
    };
    for number in 0..count {
        if let Some((other, errors)) = planted(number) {
            all[number] = all[other] ^ errors;
        }
    }
    all
}

/// Processor seconds of this process in user mode.
fn user_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let ticks = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .nth(11)
        .unwrap();
    ticks.parse::<f64>().unwrap() / 100.0
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |place: usize, default: usize| args.get(place).map_or(default, |arg| arg.parse().unwrap());
    let (count, k) = (number(0, 1_000_000), number(1, 3) as u32);
    let (is_any, kind) = (args[2] == "any", args[3].as_str());
    let (threads, memory_mib) = (number(4, 1), number(5, 1024));
    let all = fingerprints(count, kind);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap().install(|| {
        let join = SelfJoin::new(&all[..], 64, k, memory_mib << 20, Level::best())?;
        let (start, user) = (Instant::now(), user_seconds());
        let mut found = vec![false; all.len()];
        let mut reported = None;
        if is_any {
            let marks = join.any(&Unwatched)?;
            for (position, found) in found.iter_mut().enumerate() {
                *found = marks.contains(position as u32);
            }
        } else {
            let (pairs, kept) = (AtomicU64::new(0), Mutex::new(Vec::new()));
            join.pairs(&Unwatched, &|near| {
                pairs.fetch_add(1, Ordering::Relaxed);
                kept.lock().unwrap().push(near.positions);
            })?;
            reported = Some(pairs.into_inner());
            for position in kept.into_inner().unwrap().into_iter().flatten() {
                found[position as usize] = true;
            }
        }
        let (seconds, user) = (start.elapsed().as_secs_f64(), user_seconds() - user);
        let having = found.iter().filter(|found| **found).count();
        println!("{seconds:.2} s ({user:.2} s of processor time), {having} have a neighbour, {reported:?} pairs");
        if matches!(kind, "uniform" | "skewed") && k >= 3 {
            for number in 0..all.len() {
                if let Some((other, _)) = planted(number) {
                    // Of equal fingerprints, pairs are only reported with the first.
                    let is_equal = !is_any && all[number] == all[other];
                    assert!(is_equal || found[number] && found[other], "{number}");
                }
            }
        }
        if args.get(6).is_some() {
            let oracle = Index::build(&all, 64, k, Strategy::BruteForce, Level::best())?;
            let (mut scratch, mut hits) = (HammingScratch::default(), Vec::new());
            for position in (0..all.len()).step_by(all.len() / 1000) {
                oracle.search(all[position], &mut scratch, &mut hits);
                assert_eq!(found[position], hits.len() > 1, "{position}");
            }
            println!("checked");
        }
        Ok(())
    })
}

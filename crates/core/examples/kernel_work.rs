//! Runs one kernel on the first bytes of a prepared input, for counting its instructions.
//!
//! Usage: kernel_work LEVEL KERNEL BYTES TEXT, TEXT being a file of English text. The input has the
//! same size whatever BYTES is, so the instructions of a run with more bytes, less those of a run
//! with fewer, are those of the kernel. `scripts/arm-instructions` counts them.

use std::collections::BTreeMap;
use std::hint::black_box;

use simtool_core::kernel::Level;
use simtool_core::kernel::accumulate::{SignRows, Sums};
use simtool_core::kernel::bitmaps::distances;
use simtool_core::kernel::columns::Columns;
use simtool_core::kernel::hamming::{Fingerprint, TILE, Threshold};
use simtool_core::kernel::members::{BATCH, MemberTable, Members};
use simtool_core::kernel::probe::{KeyTable, Probed};
use simtool_core::kernel::runs::{Class, Runs};
use simtool_core::kernel::words::{LONG, WINDOW_BYTES, Words};

/// The size of the input. BYTES is at most that.
const INPUT_BYTES: usize = 1 << 20;
/// The number of words in the table, the most frequent ones.
const KNOWN: usize = 1000;
/// The number of stop words.
const STOP_WORDS: usize = 150;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, level, kernel, bytes, text] = &arguments[..] else {
        panic!("usage: kernel_work LEVEL KERNEL BYTES TEXT");
    };
    let level: Level = level.parse().expect("a level");
    assert!(level.is_available(), "this processor does not have {level}");
    let bytes: usize = bytes.parse().expect("a number of bytes");
    let text = std::fs::read(text).expect("a readable file");
    let text: Vec<u8> = text.iter().copied().cycle().take(INPUT_BYTES).collect();
    match &kernel[..] {
        "words" => words(level, &text[..bytes]),
        "probe" => probe(level, &text, bytes),
        "accumulate-64" => accumulate(level, 64, bytes),
        "accumulate-128" => accumulate(level, 128, bytes),
        "runs-letters" => runs(level, Class::Letters, &text[..bytes]),
        "runs-digits" => runs(level, Class::LettersDigitsAndBeyond, &text[..bytes]),
        "runs-joined" => runs(level, Class::Joined, &text[..bytes]),
        "columns-64" => columns(level, &random::<u64>(8), bytes / 8),
        "columns-128" => columns(level, &random::<u128>(16), bytes / 16),
        "hamming-64" => hamming(level, &random::<u64>(8), bytes / 8),
        "hamming-128" => hamming(level, &random::<u128>(16), bytes / 16),
        "hamming-tile-64" => hamming_tile(level, &random::<u64>(8), bytes / 8),
        "hamming-tile-128" => hamming_tile(level, &random::<u128>(16), bytes / 16),
        "bitmaps-2" => bitmaps(level, 2, bytes),
        "bitmaps-32" => bitmaps(level, 32, bytes),
        "members" => members(level, &text, bytes),
        _ => panic!("no kernel {kernel}"),
    }
}

/// Pseudo-random numbers of 64 bits.
fn numbers() -> impl Iterator<Item = u64> {
    (1..).map(mixed)
}

/// A permutation of all numbers of 64 bits (splitmix64).
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Random fingerprints of some bytes each.
fn random<F: Fingerprint>(each: usize) -> Vec<F> {
    let words: Vec<u64> = numbers().take(INPUT_BYTES / 8).collect();
    let fingerprints = words.chunks_exact(each / 8);
    fingerprints
        .map(|words| {
            let mut limbs = [0; 4];
            limbs[..words.len()].copy_from_slice(words);
            F::of_limbs(limbs)
        })
        .collect()
}

/// The keys of the words of a text.
fn keys(text: &[u8]) -> Vec<u64> {
    let mut words = Words::new(Level::Scalar);
    let mut keys = Vec::new();
    for window in text.chunks(WINDOW_BYTES) {
        words.fill(window, None);
        keys.extend(words.keys().iter().filter(|key| **key != LONG));
    }
    keys
}

/// The most frequent keys.
fn frequent(keys: &[u64], count: usize) -> Vec<u64> {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for key in keys {
        *counts.entry(*key).or_default() += 1;
    }
    let mut by_count: Vec<(usize, u64)> = counts.into_iter().map(|(key, n)| (n, key)).collect();
    by_count.sort_unstable_by(|a, b| b.cmp(a));
    by_count
        .into_iter()
        .map(|(_, key)| key)
        .take(count)
        .collect()
}

fn words(level: Level, text: &[u8]) {
    let mut words = Words::new(level);
    for window in text.chunks(WINDOW_BYTES) {
        words.fill(window, None);
        black_box(&words);
    }
}

fn runs(level: Level, class: Class, text: &[u8]) {
    let mut runs = Runs::new(class, level);
    for window in text.chunks(WINDOW_BYTES) {
        runs.fill(window);
        black_box(&runs);
    }
}

fn probe(level: Level, text: &[u8], bytes: usize) {
    let keys = keys(text);
    let mut table = KeyTable::new(512, false, level);
    for key in frequent(&keys, KNOWN) {
        table.insert(key);
    }
    let mut found = Probed::default();
    let keys: Vec<u64> = keys.into_iter().cycle().take(INPUT_BYTES / 8).collect();
    for keys in keys[..bytes / 8].chunks(512) {
        table.probe(keys, &mut found);
        black_box(&found);
    }
}

fn accumulate(level: Level, columns: usize, bytes: usize) {
    let words: Vec<u64> = numbers().take(2 * KNOWN).collect();
    let pairs = words.chunks_exact(2);
    let rows: Vec<u128> = pairs
        .map(|pair| u128::from(pair[0]) << 64 | u128::from(pair[1]))
        .collect();
    let mut signs = SignRows::new(columns, &rows, level);
    for row in 0..rows.len() {
        signs.assign(row as u16, row);
    }
    let slots = numbers().map(|number| (number % KNOWN as u64) as u16);
    let slots: Vec<u16> = slots.take(INPUT_BYTES / 8).collect();
    let mut sums = Sums::default();
    for slots in slots[..bytes / (columns / 8)].chunks(512) {
        signs.accumulate(slots, &mut sums);
        black_box(&sums);
    }
}

fn columns<F: Fingerprint>(level: Level, words: &[F], count: usize) {
    let columns = Columns::new(level);
    for words in words[..count].chunks(512) {
        black_box(columns.majority(words));
    }
}

fn hamming<F: Fingerprint>(level: Level, fingerprints: &[F], count: usize) {
    let threshold = Threshold {
        mask: F::low_bits(F::BITS),
        k: 3,
    };
    let mut hits = Vec::new();
    let query = fingerprints[0];
    (F::kernels(level).scan)(&fingerprints[..count], query, threshold, 0, &mut hits);
    black_box(&hits);
}

fn hamming_tile<F: Fingerprint>(level: Level, fingerprints: &[F], count: usize) {
    let threshold = Threshold {
        mask: F::low_bits(F::BITS),
        k: 3,
    };
    let mut hits: [Vec<_>; TILE] = Default::default();
    let queries: &[F; TILE] = fingerprints.first_chunk().expect("eight fingerprints");
    (F::kernels(level).scan_tile)(&fingerprints[..count], queries, threshold, 0, &mut hits);
    black_box(&hits);
}

fn bitmaps(level: Level, words: usize, bytes: usize) {
    let bitmaps = random::<u64>(8);
    let numbers: Vec<u64> = (0..(INPUT_BYTES / 8 / words) as u64).collect();
    let numbers = &numbers[..bytes / 8 / words];
    let mut found = vec![0; numbers.len()];
    distances(level)(&bitmaps[..words], &bitmaps, numbers, &mut found);
    black_box(&found);
}

fn members(level: Level, text: &[u8], bytes: usize) {
    let keys = keys(text);
    let stop_words: Vec<u64> = frequent(&keys, STOP_WORDS).into_iter().map(mixed).collect();
    let table = MemberTable::new(&stop_words).expect("few share their low bits");
    let hashes: Vec<u64> = keys
        .into_iter()
        .map(mixed)
        .cycle()
        .take(INPUT_BYTES / 8)
        .collect();
    let members = Members::new(level);
    for hashes in hashes[..bytes / 8].chunks(BATCH) {
        black_box(members.find(&table, hashes));
    }
}

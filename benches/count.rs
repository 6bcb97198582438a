//! Throughput of word counting on one core, in bytes of text per second. Each word is looked up in
//! the lexicon of likely words. A `Counter` counts it by its slot in the lexicon, or else in a
//! bucket. The baseline is a hash map of all words.

#![allow(clippy::unwrap_used)]

mod corpus;

use ahash::AHashMap;
use corpus::{CORPUS, words};
use divan::{Bencher, counter::BytesCount};
use simtool::kernel::Level;
use simtool::text::Windows;
use simtool::vocabulary::{Counter, Lexicon, Lookup, SampleCounter, Term};

fn main() {
    divan::main();
}

/// As in `crates/batch/src/main_job/guess.rs`: the size of the table of likely words, the words considered
/// for it, and a number of bucket bits within its range.
const TABLE_BYTES: usize = 256 << 10;
const LIKELY_WORDS: usize = 40_000;
const BUCKET_BITS: u32 = 15;

#[divan::bench(args = Level::available(), sample_count = 20)]
fn lexicon_and_buckets(bencher: Bencher, level: Level) {
    let lexicon = likely(level);
    check(&lexicon, level);
    bencher
        .counter(BytesCount::of_slice(&CORPUS.articles))
        .with_inputs(|| Counter::new(&lexicon, BUCKET_BITS))
        .bench_refs(|counter| count(&lexicon, counter, level));
}

#[divan::bench(sample_count = 3)]
fn plain_hash_map(bencher: Bencher) {
    let pages = CORPUS.pages();
    bencher
        .counter(BytesCount::of_slice(&CORPUS.articles))
        .bench(|| {
            let mut counts: AHashMap<Vec<u8>, u32> = AHashMap::new();
            for page in &pages {
                words(page.text).for_each(|word| *counts.entry(word).or_default() += 1);
            }
            counts.len()
        });
}

/// The most frequent words that fit into the table.
fn likely(level: Level) -> Lexicon {
    let mut sample = SampleCounter::default();
    let mut windows = Windows::new(level);
    for page in CORPUS.pages() {
        windows.for_each(page.text, |window| sample.add(window));
    }
    let mut lexicon = Lexicon::likely(TABLE_BYTES, level);
    for (word, _) in sample.most_frequent(LIKELY_WORDS) {
        lexicon.insert(word, true);
    }
    lexicon
}

fn count(lexicon: &Lexicon, counter: &mut Counter, level: Level) {
    let (mut windows, mut lookup) = (Windows::new(level), Lookup::default());
    for page in CORPUS.pages() {
        windows.for_each(page.text, |window| {
            lexicon.look_up(window, &mut lookup);
            counter.add(&lookup);
        });
    }
}

/// Counts of words in the lexicon are exact, and all other words are counted in the buckets.
fn check(lexicon: &Lexicon, level: Level) {
    let mut counter = Counter::new(lexicon, BUCKET_BITS);
    count(lexicon, &mut counter, level);
    let (slots, buckets) = Counter::merge(vec![counter]);
    let mut expected: AHashMap<Term, u64> = AHashMap::new();
    for (word, count) in CORPUS.counts() {
        *expected.entry(Term::from_letters(&word)).or_default() += count;
    }
    for (word, slot) in lexicon.slots() {
        assert_eq!(Some(slots[usize::from(*slot)]), expected.remove(word));
    }
    let outside: u64 = expected.values().sum();
    assert_eq!(buckets.bounds().iter().sum::<u64>(), outside);
}

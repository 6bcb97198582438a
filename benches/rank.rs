//! Time to rank the N most frequent words on one core. The first benchmark ranks from the first
//! counts and finds the suspects. The second one also counts the suspects in a second reading.

#![allow(clippy::unwrap_used)]

mod corpus;

use std::sync::LazyLock;

use corpus::CORPUS;
use divan::{Bencher, counter::BytesCount};
use simtool::kernel::Level;
use simtool::text::Windows;
use simtool::vocabulary::{
    Buckets, Counter, ExactCounter, Lexicon, Lookup, RankedWord, Ranking, SampleCounter, Suspects,
    Term,
};

fn main() {
    divan::main();
}

const FEATURES: [usize; 2] = [1000, 10_000];
const BUCKET_BITS: u32 = 17;
/// More words than either ranking needs.
const MAX_WORDS: usize = 40_000;
/// The size of a table with space for the first thousand words, but not for ten thousand.
const TABLE_BYTES: usize = 64 << 10;

/// The result of the first reading.
struct FirstReading {
    lexicon: Lexicon,
    slots: Vec<u64>,
    buckets: Buckets,
}

static FIRST: LazyLock<FirstReading> = LazyLock::new(|| {
    let mut sample = SampleCounter::default();
    let mut windows = Windows::new(Level::best());
    for page in CORPUS.pages() {
        windows.for_each(page.text, |window| sample.add(window));
    }
    let mut lexicon = Lexicon::likely(TABLE_BYTES, Level::best());
    for (word, _) in sample.most_frequent(MAX_WORDS) {
        lexicon.insert(word, true);
    }
    let mut counter = Counter::new(&lexicon, BUCKET_BITS);
    look_up_all(&lexicon, |lookup| counter.add(lookup));
    let (slots, buckets) = Counter::merge(vec![counter]);
    FirstReading {
        lexicon,
        slots,
        buckets,
    }
});

/// Ranks the words of the lexicon, and finds the buckets that may contain others of the ranking.
#[divan::bench(args = FEATURES)]
fn first_counts(bencher: Bencher, features: usize) {
    check(features);
    bencher.bench(|| suspects(features).1.len());
}

/// The same, then a second reading of the text and the final ranking.
#[divan::bench(args = FEATURES, sample_count = 5)]
fn second_reading(bencher: Bencher, features: usize) {
    check(features);
    bencher
        .counter(BytesCount::of_slice(&CORPUS.articles))
        .bench(|| rank(features).len());
}

fn look_up_all(lexicon: &Lexicon, mut visit: impl FnMut(&Lookup)) {
    let (mut windows, mut lookup) = (Windows::new(Level::best()), Lookup::default());
    for page in CORPUS.pages() {
        windows.for_each(page.text, |window| {
            lexicon.look_up(window, &mut lookup);
            visit(&lookup);
        });
    }
}

fn suspects(features: usize) -> (Ranking<'static>, Suspects) {
    let mut ranking = Ranking::new(features);
    let words = FIRST.lexicon.slots().iter();
    ranking.offer(words.map(|&(term, slot)| ranked(term, FIRST.slots[usize::from(slot)])));
    let suspects = ranking.suspects(&FIRST.buckets);
    (ranking, suspects)
}

fn rank(features: usize) -> Vec<Term> {
    let (mut ranking, suspects) = suspects(features);
    let mut counter = ExactCounter::new(&suspects, usize::MAX);
    look_up_all(&FIRST.lexicon, |lookup| {
        assert!(counter.add(lookup.missed_keys(), lookup.missed_terms()));
    });
    let counted = ExactCounter::merge(vec![counter]);
    ranking.offer(counted.into_iter().map(|(term, count)| ranked(term, count)));
    ranking.words().iter().map(|word| word.term).collect()
}

/// The generated words are short enough to be exact terms, so no letters are needed.
fn ranked(term: Term, count: u64) -> RankedWord<'static> {
    RankedWord {
        term,
        count,
        letters: None,
    }
}

/// Compares the ranking with all words sorted.
fn check(features: usize) {
    let mut expected: Vec<(Vec<u8>, u64)> = CORPUS.counts().into_iter().collect();
    expected.sort_by(|(word, count), (other, others)| others.cmp(count).then(word.cmp(other)));
    let words = expected.iter().take(features);
    let terms: Vec<Term> = words.map(|(word, _)| Term::from_letters(word)).collect();
    assert!(rank(features) == terms);
}

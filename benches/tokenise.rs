//! Throughput of finding and packing words, in bytes of text per second, on one core at each
//! instruction-set level.

#![allow(clippy::unwrap_used)]

mod corpus;

use corpus::{CORPUS, words};
use divan::{Bencher, counter::BytesCount};
use simtool::corpus::form_feed::Page;
use simtool::kernel::Level;
use simtool::kernel::words::LONG;
use simtool::text::Windows;
use simtool::vocabulary::Term;

fn main() {
    divan::main();
}

#[divan::bench(args = Level::available(), sample_count = 20)]
fn windows(bencher: Bencher, level: Level) {
    let pages = CORPUS.pages();
    check(&pages, level);
    let bytes: usize = pages.iter().map(|page| page.text.len()).sum();
    bencher
        .counter(BytesCount::new(bytes))
        .with_inputs(|| Windows::new(level))
        .bench_refs(|windows| {
            let mut found = 0;
            for page in &pages {
                windows.for_each(page.text, |window| found += window.keys().len());
            }
            found
        });
}

/// Compares the keys and long words of some pages with those found naively.
fn check(pages: &[Page<'_>], level: Level) {
    let mut windows = Windows::new(level);
    for page in pages.iter().step_by(10) {
        let (mut keys, mut long_words) = (Vec::new(), Vec::new());
        windows.for_each(page.text, |window| {
            keys.extend_from_slice(window.keys());
            let long = window.long_words().map(|ordinal| window.long_word(ordinal));
            long_words.extend(long.map(<[u8]>::to_ascii_lowercase));
        });
        let expected: Vec<Vec<u8>> = words(page.text).collect();
        let key = |word: &Vec<u8>| Term::from_letters(word).key().unwrap_or(LONG);
        assert!(keys.iter().copied().eq(expected.iter().map(key)));
        let expected_long = expected.iter().filter(|word| key(word) == LONG);
        assert!(long_words.iter().eq(expected_long));
    }
}
